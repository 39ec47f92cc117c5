// Small drawings in a line of text: a value that changes, and values on a line.

import { svg } from "./dom.js";
import { share, signed } from "./numbers.js";

const WIDTH = 240, HEIGHT = 22, SIDE = 8, MIDDLE = HEIGHT / 2;
const SHORTEST = 10; // pixels that an arrow needs

const shaft = (start, end) => {
  const dot = (path) => svg("path", { class: "dot", d: `M${end},${MIDDLE}${path}` });
  if (Math.abs(end - start) < SHORTEST) return [dot("m0-5l5,5-5,5-5-5z")];
  const back = end > start ? -9 : 9;
  return [svg("path", { class: "curve dashed", d: `M${start},${MIDDLE}H${end + back}` }), dot(`l${back}-5v10z`)];
};

/**
 * A change, from a ring to an arrowhead, with its intervals.
 * @param {{value: number|null, low?: number|null, high?: number|null}} first
 * @param {{value: number|null, low?: number|null, high?: number|null}} second
 * @param {[number, number]} scale - values at its ends
 * @param {string} name - what it shows
 */
export const arrow = (first, second, [from, to], name) => {
  const along = (value) => Math.min(1, Math.max(0, (value - from) / (to - from)));
  const place = (value) => Number((SIDE + (WIDTH - 2 * SIDE) * along(value)).toFixed(1));
  const track = `M${SIDE},${MIDDLE}H${WIDTH - SIDE}M${place(Math.max(0, from))},${MIDDLE - 5}v10`;
  const parts = [svg("path", { class: "grid", d: track })];
  if ((second.low ?? null) !== null && (second.high ?? null) !== null) {
    const x = place(second.low), width = Math.max(1, place(second.high) - x);
    parts.push(svg("rect", { class: "wash", x, y: 3, width, height: HEIGHT - 6 }));
  }
  if (first.value !== null && second.value !== null) parts.push(...shaft(place(first.value), place(second.value)));
  if (first.value !== null) parts.push(svg("circle", { class: "hole", cx: place(first.value), cy: MIDDLE, r: 4 }));
  const told = `${name}: ${share(first.value)} to ${share(second.value)}`;
  return svg("svg", { class: "arrow", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": told }, ...parts);
};

/** The end of a scale from 0 with room for some gaps, and for most of their limits. */
export const gapScale = (gaps) => {
  const values = gaps.flatMap(({ first, selected }) => [first.value, selected.value]).filter((value) => value !== null);
  return [0, Math.min(1, Math.max(0.1, ...values.map((value) => 1.4 * value)))];
};

const STRIP = { width: 440, height: 58, side: 14 };

/**
 * The decisions of all models about one person: a dot for each decision value, on both sides of 0.
 * @param {{model: number, value: number, is_favourable: boolean}[]} decisions
 * @param {Map<number, string>} special - CSS classes of highlighted models
 * @param {string} name
 * @param {[number, number]|null} [reach] - bounds on the decision values of all near-optimal models, listed or not
 */
export const decisionLine = (decisions, special, name, reach = null) => {
  const most = Math.max(1e-9, ...[...decisions.map((one) => one.value), ...(reach ?? [])].map(Math.abs));
  const { width, height, side } = STRIP, middle = width / 2, line = height - 20;
  const stack = new Map();
  const dot = (one) => {
    const cx = Math.round((middle + one.value / most * (middle - side)) / 3) * 3, level = stack.get(cx) ?? 0;
    stack.set(cx, level + 1);
    const kind = special.get(one.model) ?? (one.is_favourable ? "favourable" : "unfavourable");
    const cy = line - 5 - Math.min(level, 9) * 3.4, r = special.has(one.model) ? 5 : 3;
    return svg("circle", { class: kind, cx, cy, r }, svg("title", {}, `model ${one.model}: ${signed(one.value)}`));
  };
  const place = (value) => Number((middle + value / most * (middle - side)).toFixed(1));
  const band = reach === null ? [] : [svg("rect", { class: "wash", x: place(reach[0]), y: line - 8,
    width: Math.max(1, place(reach[1]) - place(reach[0])), height: 8 },
  svg("title", {}, `all near-optimal models: ${signed(reach[0])} to ${signed(reach[1])}`))];
  const text = (x, anchor, said) => svg("text", { class: "tick", x, y: height - 4, "text-anchor": anchor }, said);
  const loudLast = [...decisions].sort((a, b) => special.has(a.model) - special.has(b.model));
  return svg("svg", { class: "decisions", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": name },
    svg("path", { class: "axis", d: `M${side},${line}H${width - side}M${middle},4V${line + 4}` }),
    ...band, ...loudLast.map(dot), text(middle, "middle", "0"), text(side, "start", signed(-most)),
    text(width - side, "end", signed(most)));
};

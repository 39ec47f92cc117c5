// Highlighted models on top of the marks: model 1, the model in use, the chosen and the focused model.

import { el, svg } from "./dom.js";

/** Paths from the centre of a mark, as in the report. */
export const SHAPES = {
  circle: "m-4,0a4,4,0,1,0,8,0a4,4,0,1,0-8,0z",
  triangle: "m0-6l5.8,10h-11.6z",
  down: "m0,6l5.8-10h-11.6z",
  diamond: "m0-6.5l6.5,6.5-6.5,6.5-6.5-6.5z",
  star: "m0-8l2.1,5.1,5.5.4-4.2,3.5,1.3,5.4-4.7-2.9-4.7,2.9,1.3-5.4-4.2-3.5,5.5-.4z",
  cross: "m-2.3-6.5h4.6v4.2h4.2v4.6h-4.2v4.2h-4.6v-4.2h-4.2v-4.6h4.2z",
  ring: "m-10,0a10,10,0,1,0,20,0a10,10,0,1,0-20,0z",
};
const ORIGINS = { exact: "circle", guided: "triangle", tilted: "down", steered: "down" };
const LETTER = 7.2; // usual width of a letter of a name, in pixels

/** The path of a model's mark, by the search that found it. */
export const shapeOf = (model) => SHAPES[ORIGINS[model.origin] ?? "circle"];

const KEYS = [
  ["plain", "circle", "exact, next best"],
  ["guided", "triangle", "guided search"],
  ["outside", "circle", "not a candidate"],
  ["first", "diamond", "model 1"],
  ["in-use", "cross", "in use"],
  ["chosen", "star", "chosen by the rule"],
  ["focus", "ring", "in focus"],
];

/** The legend of the marks in the plot. */
export const legend = (kinds) => KEYS.filter(([kind]) => kinds.has(kind)).map(([kind, shape, text]) =>
  el("li", {}, svg("svg", { class: `key ${kind}`, viewBox: "-9 -9 18 18", "aria-hidden": "true" },
    svg("path", { d: kind === "focus" ? "m-7,0a7,7,0,1,0,14,0a7,7,0,1,0-14,0z" : `M0,0${SHAPES[shape]}` })), text));

const crosses = (box, others) => others.some((one) =>
  box.x < one.x + one.width && one.x < box.x + box.width && box.y < one.y + one.height && one.y < box.y + box.height);

/** Draws the highlighted models. */
export class Overlay {
  /** @param {string} area - id of the clipping path between the axes */
  constructor(area) {
    this.whiskers = svg("g", { class: "whiskers", "clip-path": `url(#${area})` });
    this.signs = svg("g", { class: "signs" });
    this.over = svg("path", { class: "hovered", d: SHAPES.ring, visibility: "hidden" });
    this.node = svg("g", { class: "overlay", "aria-hidden": "true" }, this.whiskers, this.signs, this.over);
  }

  /** Rings the mark under the pointer. */
  hover(mark) {
    this.over.setAttribute("visibility", mark ? "visible" : "hidden");
    if (mark) this.over.setAttribute("transform", `translate(${mark.x},${mark.y})`);
  }

  /** Models shown with intervals and a name, the least important first. */
  shown({ marks, look }) {
    const { standpoint: { chosen }, current, inUse, committed } = look;
    const of = (number) => marks.get(number)?.model;
    const found = [
      { kind: "first", shape: "diamond", model: of(1), name: "model 1" },
      { kind: "in-use", shape: "cross", model: inUse, name: "in use" },
      { kind: "chosen", shape: "star", model: chosen === 1 ? null : of(chosen), name: `model ${chosen}` },
      { kind: "focus", shape: "ring", model: of(current), name: `model ${current}` },
    ];
    return found.filter(({ model }) => model).map((one) =>
      (one.model.number === committed && one.kind !== "focus" ? { ...one, name: `${one.name}, decided` } : one));
  }

  draw(scatter) {
    const drawn = this.shown(scatter).map((one) => ({ ...one, at: scatter.at(one.model) })).filter(({ at }) => at);
    this.whiskers.replaceChildren(...drawn.map((one) => this._whisker(scatter, one)));
    const taken = drawn.map(({ at }) => this._box(scatter, at));
    const signs = [...drawn].reverse().map((one) => this._sign(scatter, one, taken));
    this.signs.replaceChildren(...signs.reverse());
  }

  /** The box of a mark. */
  _box({ axes }, { performance, gap }) {
    return { x: axes.x(performance) - 7, y: axes.y(gap) - 7, width: 14, height: 14 };
  }

  _whisker(scatter, { kind, model, at }) {
    const { axes } = scatter, across = model.performance, upward = scatter.gapOf(model);
    const x = axes.x(at.performance).toFixed(1), y = axes.y(at.gap).toFixed(1);
    const wide = across.low === null ? "" : `M${axes.x(across.low).toFixed(1)},${y}H${axes.x(across.high).toFixed(1)}`;
    const high = upward.low === null ? "" : `M${x},${axes.y(upward.low).toFixed(1)}V${axes.y(upward.high).toFixed(1)}`;
    return svg("path", { class: `whisker ${kind}`, d: wide + high });
  }

  _sign({ axes }, { kind, shape, name, at }, taken) {
    const x = axes.x(at.performance), y = axes.y(at.gap);
    const parts = [svg("path", { transform: `translate(${x.toFixed(1)},${y.toFixed(1)})`, d: SHAPES[shape] })];
    const place = this._free(axes, x, y, name, taken);
    const isNamed = taken.some((one) => one.name === name);
    if (place && !isNamed) {
      taken.push({ ...place, name });
      parts.push(svg("text", { class: "note", x: place.x, y: place.y + 11 }, name));
    }
    return svg("g", { class: `sign ${kind}` }, ...parts);
  }

  /** Finds room for a name beside a mark: right, left, above or below it. */
  _free(axes, x, y, name, taken) {
    const width = LETTER * name.length, height = 14;
    const tried = [
      { x: x + 13, y: y - 8 }, { x: x - 13 - width, y: y - 8 },
      { x: x - width / 2, y: y - 28 }, { x: x - width / 2, y: y + 13 },
    ].map((one) => ({ ...one, width, height }));
    return tried.find((one) => one.x > axes.left && one.x + width < axes.right + 10 && one.y > axes.top - 8 &&
      one.y + height < axes.bottom + 4 && !crosses(one, taken));
  }
}

// The axes of the scatter plot, and the pixel of a value.

import { svg } from "./dom.js";
import { rounded } from "./numbers.js";

const EDGE = { left: 60, right: 24, top: 12, bottom: 44 };
const LEAST = 0.02; // the narrowest range of an axis
const LETTER = 7; // usual width of a letter of a title, in pixels
const MARGIN = 0.05; // room beside the outermost marks, as a share of the range

const widened = (low, high) => {
  const lacking = Math.max(0, LEAST - (high - low)) / 2;
  const margin = MARGIN * (high - low + 2 * lacking);
  return [low - lacking - margin, high + lacking + margin];
};

const along = ({ from, to }, value) => (value - from) / (to - from);

const extent = (values, start) =>
  values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], start);

/** Axes of performance, from left to right, and of the gap, upwards from 0. */
export class Axes {
  constructor() {
    this.node = svg("g", { class: "axes" });
    this.clip = svg("rect", {});
    this.key = "";
  }

  get left() { return EDGE.left; }

  get right() { return this.width - EDGE.right; }

  get top() { return EDGE.top; }

  get bottom() { return this.height - EDGE.bottom; }

  /** The pixel of a performance. */
  x(value) { return this.left + along(this.across, value) * (this.right - this.left); }

  /** The pixel of a gap. */
  y(value) { return this.bottom - along(this.upward, value) * (this.bottom - this.top); }

  /**
   * Chooses the ranges, and draws the axes if they changed.
   * @returns {boolean} whether marks have to move
   */
  fit({ xs, ys }, { width, height }, words) {
    [this.width, this.height] = [width, height];
    const [left, right] = xs.length ? extent(xs, [Infinity, -Infinity]) : [0, 1];
    const [, top] = extent(ys, [0, LEAST]);
    this.across = rounded(...widened(left, right), Math.max(3, width / 90));
    this.upward = rounded(0, (1 + MARGIN) * top, Math.max(3, height / 55));
    const key = [this.across.from, this.across.to, this.upward.to, width, height].join();
    const isMoved = key !== this.key;
    const isRenamed = words.x !== this.words?.x || words.y !== this.words?.y;
    [this.key, this.words] = [key, words];
    if (isMoved || isRenamed) this._draw();
    return isMoved;
  }

  _draw() {
    const { left, right, top, bottom } = this;
    for (const [name, value] of Object.entries({ x: left, y: top, width: right - left, height: bottom - top })) {
      this.clip.setAttribute(name, value);
    }
    const lines = [
      ...this.across.ticks.map((tick) => `M${this.x(tick).toFixed(1)},${top}V${bottom}`),
      ...this.upward.ticks.map((tick) => `M${left},${this.y(tick).toFixed(1)}H${right}`),
    ];
    this.node.replaceChildren(
      svg("path", { class: "grid", d: lines.join("") }),
      svg("path", { class: "axis", d: `M${left},${top}V${bottom}H${right}` }),
      ...this._ticks(),
      svg("text", { class: "title", x: (left + right) / 2, y: this.height - 8 }, this.words.x),
      svg("text", { class: "title", transform: `translate(14,${(top + bottom) / 2}) rotate(-90)` },
        this._upwardTitle()));
  }

  /** The title of the upward axis, in full if there is room. */
  _upwardTitle() {
    const { y, gap } = this.words, room = this.bottom - this.top;
    return LETTER * y.length < room ? y : gap;
  }

  _ticks() {
    const { across, upward, left, bottom } = this;
    const text = (kind, tick, digits, x, y) => svg("text", { class: `tick ${kind}`, x, y }, tick.toFixed(digits));
    return [
      ...across.ticks.map((tick) => text("across", tick, across.digits, this.x(tick), bottom + 16)),
      ...upward.ticks.map((tick) => text("upward", tick, upward.digits, left - 7, this.y(tick) + 4)),
    ];
  }
}

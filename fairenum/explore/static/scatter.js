// The scatter plot of performance against gap. Marks are appended for new models; nothing is redrawn without need.

import { Axes } from "./axes.js";
import { el, fresh, svg } from "./dom.js";
import { estimate, ranges, share } from "./numbers.js";
import { Overlay, shapeOf } from "./overlay.js";

const NEAR = 16; // how far from a mark a pointer may be, in pixels

/** A plot in a figure, whose marks can be hovered, clicked and visited by keyboard. */
export class Scatter {
  /**
   * @param {HTMLElement} figure
   * @param {(number: number) => void} choose - called with the number of a model
   */
  constructor(figure, choose) {
    this.figure = figure;
    this.choose = choose;
    this.name = fresh("plot");
    this.marks = new Map(); // number -> { model, x, y, node }
    this.look = null; // { standpoint, words, inUse, current, committed }
    this.isWhole = false;
    this._waiting = [];
    this._isAsked = false;
    this._isMoved = false;
    this._build();
    new ResizeObserver(() => this._resized()).observe(figure);
  }

  /** Adds and removes marks. */
  change({ added, removed }) {
    for (const number of removed) {
      this.marks.get(number)?.node.remove();
      this.marks.delete(number);
    }
    this._waiting.push(...added);
    this._soon();
  }

  /** Sets the tolerances and the highlighted models. */
  show(look) {
    if (this.look?.standpoint.tolerances.metric !== look.standpoint.tolerances.metric) this._isMoved = true;
    this.look = look;
    this._soon();
  }

  /** Scales the axes to whole intervals, or to the marks only. */
  showWhole(isWhole) {
    this.isWhole = isWhole;
    this._soon();
  }

  /** Performance and gap of a model; null if undefined. */
  at(model) {
    const performance = model.performance.value, gap = this.gapOf(model).value;
    return performance === null || gap === null ? null : { performance, gap };
  }

  /** The gap that is to be small; undefined without a sensitive column. */
  gapOf(model) { return model.gaps[this.look.standpoint.tolerances.metric] ?? { value: null, low: null, high: null }; }

  _build() {
    this.axes = new Axes();
    this.overlay = new Overlay(this.name);
    this.region = svg("rect", { class: "region" });
    this.rules = svg("path", { class: "limits" });
    this.list = svg("g", { class: "marks", role: "listbox", tabindex: "0", "aria-label": "Models" });
    const area = `url(#${this.name})`;
    this.drawing = svg("svg", { class: "plot" },
      svg("defs", {}, svg("clipPath", { id: this.name }, this.axes.clip)),
      svg("g", { "clip-path": area }, this.region), this.axes.node,
      svg("g", { "clip-path": area }, this.rules), this.list, this.overlay.node);
    this.tip = el("div", { class: "tip", hidden: true, "aria-hidden": "true" });
    this.figure.append(this.drawing, this.tip);
    this.list.addEventListener("keydown", (event) => this._walk(event));
    this.drawing.addEventListener("pointermove", (event) => this._point(this._nearest(event)));
    this.drawing.addEventListener("pointerleave", () => this._point(null));
    this.drawing.addEventListener("click", (event) => this._click(event));
  }

  _resized() {
    const { width, height } = this.figure.getBoundingClientRect();
    if (!width || !height) return;
    this.size = { width, height };
    this.drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this._soon();
  }

  _soon() {
    if (this._isAsked) return;
    this._isAsked = true;
    requestAnimationFrame(() => { this._isAsked = false; this._draw(); });
  }

  _draw() {
    if (!this.look || !this.size) return;
    const joined = this._append();
    const areMoved = this.axes.fit(this._extent(), this.size, this.look.words) || this._isMoved;
    for (const mark of areMoved ? this.marks.values() : joined) this._place(mark);
    this._isMoved = false;
    this._drawRegion();
    this._stand();
    this.overlay.draw(this);
  }

  /** Draws the marks of waiting models. */
  _append() {
    const joined = [];
    for (const model of this._waiting) {
      if (this.marks.has(model.number)) continue;
      const kind = `mark ${model.origin}`;
      const node = svg("path", { role: "option", id: this._id(model.number), class: kind, d: shapeOf(model) });
      const mark = { model, node, x: null, y: null };
      this.marks.set(model.number, mark);
      joined.push(mark);
    }
    this._waiting = [];
    if (joined.length) this.list.append(...joined.map((mark) => mark.node));
    return joined;
  }

  _id(number) { return `${this.name}-${number}`; }

  _place(mark) {
    const at = this.at(mark.model);
    mark.node.setAttribute("visibility", at ? "visible" : "hidden");
    mark.x = at && this.axes.x(at.performance);
    mark.y = at && this.axes.y(at.gap);
    const text = at ? `${share(at.performance)}, gap ${share(at.gap)}` : "not measured";
    mark.node.setAttribute("aria-label", `model ${mark.model.number}: ${text}`);
    if (at) mark.node.setAttribute("transform", `translate(${mark.x.toFixed(1)},${mark.y.toFixed(1)})`);
  }

  /** Everything the axes must include. */
  _extent() {
    const { standpoint, inUse } = this.look, xs = [], ys = [];
    const models = [...this.marks.values()].map((mark) => mark.model);
    for (const at of [...models, ...(inUse ? [inUse] : [])].map((one) => this.at(one))) {
      if (at) { xs.push(at.performance); ys.push(at.gap); }
    }
    if (standpoint.least_performance !== null) xs.push(standpoint.least_performance);
    if (standpoint.gap !== null) ys.push(standpoint.gap);
    for (const { model } of this.isWhole ? this.overlay.shown(this) : []) {
      const { low, high } = model.performance, upper = this.gapOf(model).high;
      if (low !== null) xs.push(low, high);
      if (upper !== null) ys.push(upper);
    }
    return { xs, ys };
  }

  /** Draws the region that the tolerances allow. */
  _drawRegion() {
    const { least_performance: least, gap } = this.look.standpoint, { axes } = this;
    const from = least === null ? axes.left : axes.x(least), upper = gap === null ? axes.top : axes.y(gap);
    const width = Math.max(0, axes.right - from), height = Math.max(0, axes.bottom - upper);
    const sides = Object.entries({ x: from, y: upper, width, height });
    for (const [name, value] of sides) this.region.setAttribute(name, value);
    const upright = least === null ? "" : `M${from},${axes.top}V${axes.bottom}`;
    this.rules.setAttribute("d", upright + (gap === null ? "" : `M${axes.left},${upper}H${axes.right}`));
  }

  /** Marks candidates, and the model in focus. */
  _stand() {
    const candidates = new Set(this.look.standpoint.candidates), { current } = this.look;
    for (const [number, { node }] of this.marks) {
      if (node.classList.contains("outside") === candidates.has(number)) node.classList.toggle("outside");
      const isNow = String(number === current);
      if (node.getAttribute("aria-selected") !== isNow) node.setAttribute("aria-selected", isNow);
    }
    if (this.marks.has(current)) this.list.setAttribute("aria-activedescendant", this._id(current));
  }

  /** Finds the marks nearest to a pointer; null if none is near. */
  _nearest(event) {
    const box = this.drawing.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    let best = null, least = NEAR * NEAR;
    for (const mark of this.marks.values()) {
      if (mark.x === null) continue;
      const far = (mark.x - x) ** 2 + (mark.y - y) ** 2;
      if (far < least) [best, least] = [mark, far];
    }
    return best && [...this.marks.values()].filter((mark) => mark.x === best.x && mark.y === best.y);
  }

  _point(found) {
    this.tip.hidden = !found;
    this.drawing.classList.toggle("pointing", Boolean(found));
    this.overlay.hover(found?.[0] ?? null);
    if (!found) return;
    const [{ model, x, y }] = found;
    const numbers = found.map((mark) => mark.model.number);
    const lines = [`${numbers.length > 1 ? "Models" : "Model"} ${ranges(numbers)}`,
      `${this.look.words.performance} ${estimate(model.performance)}`, `gap ${estimate(this.gapOf(model))}`];
    if (this._told !== lines.join()) this.tip.replaceChildren(...lines.map((line) => el("span", {}, line)));
    this._told = lines.join();
    this.tip.classList.toggle("leftwards", x > this.size.width * 0.55);
    this.tip.style.setProperty("left", `${x}px`);
    this.tip.style.setProperty("top", `${Math.min(y, this.size.height - 90)}px`);
  }

  _click(event) {
    const found = this._nearest(event);
    if (!found) return;
    const numbers = found.map((mark) => mark.model.number);
    this.choose(numbers[(numbers.indexOf(this.look.current) + 1) % numbers.length]);
    this.list.focus({ preventScroll: true });
  }

  /** Moves from model to model: by number, or by gap. */
  _walk(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const numbers = [...this.marks.keys()].filter((number) => this.marks.get(number).x !== null);
    const byGap = [...numbers].sort((a, b) => this.marks.get(b).y - this.marks.get(a).y || a - b);
    const beside = (list, by) => list[Math.min(list.length - 1, Math.max(0, list.indexOf(this.look.current) + by))];
    const moves = { ArrowRight: [numbers, 1], ArrowLeft: [numbers, -1], ArrowUp: [byGap, 1], ArrowDown: [byGap, -1],
      Home: [numbers, -Infinity], End: [numbers, Infinity] };
    if (!moves[event.key]) return;
    event.preventDefault();
    this.choose(beside(...moves[event.key]));
  }
}

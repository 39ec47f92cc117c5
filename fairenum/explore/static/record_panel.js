// The record as a timeline, the newest step first; consecutive steps of a kind share a line.

import { button, chip, el, keepingFocus } from "./dom.js";

const clock = (at) => {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? at : time.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
};

/** Groups equal consecutive steps. */
const grouped = (steps) => {
  const groups = [];
  for (const step of steps) {
    const last = groups.at(-1);
    if (last && last[0].text === step.text && last[0].is_undone === step.is_undone) last.push(step);
    else groups.push([step]);
  }
  return groups;
};

const modelsOf = (group) => {
  const shown = group.flatMap((step) => step.models.match(/\d+/g) ?? []);
  return shown.length > 2 && group.length > 1 ? [shown[0], "to", shown.at(-1)] : shown;
};

/** The record, with undo. */
export class RecordPanel {
  /**
   * @param {HTMLElement} place
   * @param {import("./session.js").Session} session
   * @param {() => void} undo
   */
  constructor(place, session, undo) {
    Object.assign(this, { place, session, undo, earlier: [] });
  }

  update() {
    if (!this.session.isReady) return;
    const { view, words: { steps: sent } } = this.session;
    const first = sent[0]?.number ?? Infinity;
    const steps = [...this.earlier.filter((step) => step.number < first), ...sent];
    const key = JSON.stringify([steps.length, sent, this.session.screen.can_undo]);
    if (key === this._key) return;
    this._key = key;
    const groups = grouped(steps).reverse();
    const undos = new Set(view.timeline.filter(({ taken }) => taken.step === "undo").map(({ number }) => number));
    const last = groups.findIndex((group) => !group[0].is_undone && !undos.has(group[0].number));
    const lines = groups.map((group, place) => this._line(group, place === last));
    const all = lines.length ? el("ol", { class: "timeline", reversed: true }, lines)
      : el("p", { class: "soft" }, "No step yet.");
    const more = steps[0]?.number > 1 ? [button("Earlier steps", () => this._more(steps[0].number))] : [];
    keepingFocus(this.place, () => this.place.replaceChildren(all, ...more));
  }

  _line(group, isLast) {
    const [step] = group, end = group.at(-1), times = group.length;
    return el("li", { class: step.is_undone && "undone" },
      el("div", { class: "when" }, el("span", {}, times > 1 ? `${step.number}–${end.number}` : String(step.number)),
        el("time", { datetime: end.at }, clock(end.at))),
      el("div", { class: "what" }, el("span", {}, step.text, times > 1 ? ` × ${times}` : ""), this._models(group)),
      isLast && this.session.screen.can_undo
        ? button("Undo", this.undo, { class: "step", "aria-label": `Undo: ${end.text}` }) : null);
  }

  _models(group) {
    const model = (one) => chip(one, `model ${one}`, () => this.session.focusOn(Number(one)));
    const shown = modelsOf(group).map((one) => (one === "to" ? " to " : model(one)));
    return shown.length ? el("span", { class: "models" }, ...shown) : null;
  }

  async _more(before) {
    const found = await this.session.ask("Reading the record", "GET", `/timeline?before=${before}`);
    if (!found) return;
    this.earlier = [...found.steps, ...this.earlier];
    this._key = null;
    this.update();
  }
}

// The models as a table, in a chosen order: the same numbers as in the plot, a few at first, more on request.

import { button, el, fresh, head, limited } from "./dom.js";

const AT_FIRST = 50; // lines
const PAUSE = 1000; // milliseconds between two drawings while models stream in: tables are slow

const byGap = (metric) => (a, b) =>
  (a.gaps[metric]?.value ?? Infinity) - (b.gaps[metric]?.value ?? Infinity) || a.number - b.number;
const ORDERS = {
  newest: ["Newest first", () => (a, b) => b.number - a.number],
  loss: ["Least loss first", () => (a, b) => a.loss_ratio - b.loss_ratio || a.number - b.number],
  gap: ["Smallest gap first", byGap],
  performance: ["Best performance first",
    () => (a, b) => b.performance.value - a.performance.value || a.number - b.number],
};

/** The panel of all models. */
export class ModelsPanel {
  /** @param {import("./session.js").Session} session */
  constructor(session) {
    [this.name, this.label, this.session] = ["models", "Models", session];
    this.lines = new Map(); // number -> line
    this.most = AT_FIRST;
    this._at = -Infinity;
    this.body = el("tbody", {});
    this.heads = el("tr", {});
    this.order = el("select", { id: fresh("order"), onchange: () => this._now() },
      Object.entries(ORDERS).map(([value, [text]]) => el("option", { value }, text)));
    this.more = button("Show more", () => { this.most += AT_FIRST; this._now(); });
    const box = el("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": "All models" },
      el("table", { class: "models" }, el("thead", {}, this.heads), this.body));
    const label = el("label", { for: this.order.id }, "Models looked at");
    this.node = el("div", {}, el("div", { class: "field-line" }, label, this.order), box, this.more);
    this.body.addEventListener("click", (event) => this._clicked(event));
  }

  update() {
    const { session } = this;
    if (!session.isReady || (session.busy && performance.now() - this._at < PAUSE)) return;
    this._at = performance.now();
    const { columns } = session.words;
    if (this.heads.textContent !== columns.map(({ heading }) => heading).join("")) {
      this.heads.replaceChildren(...columns.map((column) => head(column)));
    }
    const shown = this._ordered().slice(0, this.most);
    this._list(shown);
    for (const row of shown) this._fill(this.lines.get(row.number), row);
    this.more.hidden = session.listed.size <= this.most;
  }

  _now() {
    this._at = -Infinity;
    this.update();
  }

  _ordered() {
    const { session } = this, [, order] = ORDERS[this.order.value];
    const rows = [...session.listed].map((number) => session.rows.get(number));
    return rows.sort(order(session.standpoint.tolerances.metric));
  }

  /** Adds lines to the table, unless they are there already. */
  _list(shown) {
    const key = shown.map((row) => row.number).join();
    if (key === this._key) return;
    this._key = key;
    const lines = new Map(shown.map((row) => [row.number, this.lines.get(row.number) ?? this._line(row)]));
    this.lines = lines;
    this.body.replaceChildren(...lines.values());
  }

  _line(row) {
    return el("tr", { "data-model": row.number }, this.session.words.columns.map((column) => this._cell(row, column)));
  }

  /** A cell; empty if it depends on tolerances. */
  _cell({ number, cells }, { key, is_word: isWord }) {
    const chip = () => button(cells[key], null, { class: "chip", "aria-label": `model ${number}` });
    return key === "number" ? el("th", { scope: "row", "data-key": key }, chip())
      : el("td", { "data-key": key, class: isWord && "word" }, ...limited(cells[key] ?? ""));
  }

  /** Updates what depends on tolerances and focus. */
  _fill(line, row) {
    const { standpoint, current } = this.session;
    const set = (key, text) => {
      const cell = line.querySelector(`[data-key="${key}"]`);
      if (cell.textContent !== text) cell.replaceChildren(...limited(text));
    };
    set("gap", row.gap_cells[standpoint.tolerances.metric] ?? "–");
    set("candidate", this._candidates().has(row.number) ? "yes" : "no");
    line.classList.toggle("selected", row.number === standpoint.chosen);
    line.toggleAttribute("aria-current", row.number === current);
  }

  _candidates() {
    const { standpoint } = this.session;
    if (this._standpoint !== standpoint) [this._standpoint, this._known] = [standpoint, new Set(standpoint.candidates)];
    return this._known;
  }

  _clicked(event) {
    const line = event.target.closest("tr");
    if (line && !String(getSelection())) this.session.focusOn(Number(line.dataset.model));
  }
}

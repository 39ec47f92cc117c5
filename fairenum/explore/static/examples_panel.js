// The rows that the model in focus leaves out, in clusters, to keep or leave out of all models; and earlier choices.

import { button, byKey, chip, el, fresh } from "./dom.js";
import { ranges, readRows } from "./numbers.js";

const MOST_NAMED = 60;

/** The panel of the examples that are left out. */
export class ExamplesPanel {
  /**
   * @param {import("./session.js").Session} session
   * @param {(row: number) => void} ask - shows the decisions about a row
   */
  constructor(session, ask) {
    [this.name, this.label, this.session, this.ask] = ["examples", "Left out", session, ask];
    this.clusters = el("div", { class: "clusters" });
    this.sets = el("div", { class: "sets" });
    this.node = el("div", {}, this.clusters, this.sets, this._form());
  }

  update() {
    const { session } = this, found = session.focused;
    if (!session.isReady || found === null) return;
    const key = [session.view.left_out, session.view.pinned].join(";");
    if (key === this._key && found === this._found) return;
    [this._key, this._found] = [key, found];
    const cards = found.clusters.map((one, place) => this._cluster(found, one, place));
    this.clusters.replaceChildren(
      el("h3", {}, `Left out by model ${found.model}`),
      cards.length ? el("ul", { class: "cards" }, cards) : el("p", { class: "soft" }, "No training row."));
    this.sets.replaceChildren(
      this._set("Left out of all models", session.view.left_out, "None so far."),
      this._set("Kept in all models", session.view.pinned, "None so far."));
  }

  _cluster({ model, words }, cluster, place) {
    const worded = words.clusters, headings = byKey(worded, worded.headings);
    const { label, group, shared, ...others } = byKey(worded, worded.rows[place]);
    const more = Object.entries(others).map(([key, cell]) => `${headings[key]} ${cell}`).join(" · ");
    const name = `${headings.label} ${label}`, about = `${name}, ${group}`;
    const act = (step, label) => button(label, () => this._take({ step, model, cluster: cluster.index }),
      { "aria-label": `${label}: ${about}`, class: "step" });
    return el("li", { class: "cluster" },
      el("div", {}, el("b", {}, name), el("span", { class: "tag" }, group),
        el("p", {}, shared), el("p", { class: "soft" }, more), this._rows(cluster)),
      el("div", { class: "cluster-buttons" }, act("pin", "Keep"), act("leave_out", "Leave out")));
  }

  _rows({ rows, first_rows: named }) {
    const hidden = rows - named.length;
    return el("details", {}, el("summary", {}, rows === 1 ? "1 row" : `${rows} rows`), this._chips(named, hidden));
  }

  _chips(named, hidden) {
    return el("p", { class: "chips" },
      ...named.map((row) => chip(String(row), `row ${row} as a person`, () => this.ask(row))),
      hidden > 0 ? el("span", { class: "soft" }, `and ${hidden} more`) : null);
  }

  _set(title, rows, none) {
    if (!rows.length) return el("div", { class: "set" }, el("h3", {}, title), el("p", { class: "soft" }, none));
    return el("div", { class: "set" }, el("h3", {}, title, el("span", { class: "tag" }, String(rows.length))),
      el("details", { open: rows.length < MOST_NAMED },
        el("summary", {}, "Rows"), el("p", { class: "soft" }, ranges(rows))));
  }

  /** Rows by their numbers. */
  _form() {
    const id = fresh("rows"), hint = fresh("hint");
    const input = el("input", { id, placeholder: "12, 40-45", inputmode: "numeric", "aria-describedby": hint });
    const take = (step) => async () => {
      const rows = readRows(input.value);
      if (!rows?.length) {
        this.session.tell("trouble", `Rows are numbers like 12, 40-45, not “${input.value}”.`);
        return;
      }
      if (!(await this._take({ step, rows }))) input.value = "";
    };
    return el("div", { class: "set" }, el("h3", {}, "Rows by number"),
      el("div", { class: "field-line" }, el("label", { for: id, class: "hidden-text" }, "Row numbers"), input,
        button("Keep", take("pin"), { class: "step" }), button("Leave out", take("leave_out"), { class: "step" })),
      el("p", { class: "notes", id: hint }, "Training rows, counted from 0. Kept rows are left out by no model."));
  }

  _take(body) { return this.session.step(body, body.step === "pin" ? "Keeping rows" : "Leaving rows out"); }
}

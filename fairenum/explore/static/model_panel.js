// The model in focus: its costs, every gap, and whether it keeps the guardrails.

import { button, el, limited, table } from "./dom.js";
import { strip } from "./strip.js";

const tagsOf = (session, number) => {
  const { standpoint, view } = session;
  return [
    number === view.committed && "decided for",
    number === standpoint.chosen && "chosen by the rule",
    standpoint.candidates.includes(number) ? "candidate" : "not a candidate",
    number === 1 && "least loss",
  ].filter(Boolean);
};

const facts = (session, row) => {
  const cells = { ...row.cells, gap: row.gap_cells[session.standpoint.tolerances.metric] };
  const fact = ({ key, heading }) => el("div", {}, el("dt", {}, heading), el("dd", {}, ...limited(cells[key])));
  const shown = session.words.columns.filter(({ key }) => key !== "number" && cells[key]);
  return el("dl", { class: "facts" }, shown.map(fact));
};

/** The panel of the model in focus. */
export class ModelPanel {
  /**
   * @param {import("./session.js").Session} session
   * @param {(number: number) => void} compare - shows a model beside another one
   */
  constructor(session, compare) {
    [this.name, this.label, this.session, this.compare] = ["model", "Model", session, compare];
    this.node = el("div");
  }

  update() {
    const { session } = this, number = session.current;
    if (!session.isReady || number === null) return;
    const row = session.rows.get(number), found = session.focused;
    const title = el("div", { class: "title-line" }, el("h3", { class: "big" }, `Model ${number}`),
      ...tagsOf(session, number).map((tag) => el("span", { class: "tag" }, tag)));
    const parts = [title, facts(session, row)];
    if (found?.model === number) parts.push(...this._known(found));
    this.node.replaceChildren(...parts, this._buttons(number));
  }

  _known({ words, strip: gaps }) {
    return [
      words.strip && gaps.length ? strip(this.session.withoutShownNotes(words.strip), gaps) : null,
      words.guards && el("div", { class: "guards" }, el("h3", {}, words.guards.title), table(words.guards)),
    ].filter(Boolean);
  }

  _buttons(number) {
    const { chosen } = this.session.standpoint;
    const isElse = chosen !== null && chosen !== number;
    return el("p", { class: "row-buttons" },
      isElse ? button(`Go to model ${chosen}, the chosen one`, () => this.session.focusOn(chosen)) : null,
      number === 1 ? null : button("Beside model 1", () => this.compare(number)));
  }
}

// The decision: a dialog for model, reason and author, and the verdict of the holdout.

import { button, el, form, fresh, list, numberField, say } from "./dom.js";

const labelled = (label, input) => [el("label", { for: input.id }, label), input];

/** The dialog that commits. */
export class CommitDialog {
  /** @param {import("./session.js").Session} session */
  constructor(session) {
    this.session = session;
    const title = fresh("title"), note = fresh("note");
    this.model = numberField(1);
    this.reason = el("textarea", { id: fresh("reason"), rows: "3", required: true });
    this.author = el("input", { id: fresh("author"), required: true, autocomplete: "name" });
    this.what = el("p", { class: "soft" });
    this.note = el("p", { id: note });
    this.wrong = el("p", { class: "dialog-trouble", role: "alert" });
    this.send = el("button", { type: "submit", class: "main" }, "Commit and open the holdout");
    this.node = el("dialog", { "aria-labelledby": title, "aria-describedby": note }, form("", () => this._commit(),
      el("h2", { id: title }, "Decide for a model"), this.note, ...labelled("Model", this.model), this.what,
      ...labelled("Reason", this.reason), ...labelled("Author", this.author), this.wrong,
      el("div", { class: "dialog-buttons" }, button("Cancel", () => this.node.close()), this.send)));
    this.model.addEventListener("input", () => this._describe());
  }

  /** Opens with the model in focus. */
  open() {
    const { session } = this;
    if (!session.isReady || this.node.open) return;
    this.model.max = String(Math.max(...session.listed));
    this.model.value = String(session.current);
    say(this.note, session.words.commit);
    say(this.wrong, "");
    this._describe();
    this.node.showModal();
    this.reason.focus();
  }

  /** Describes the model, so that it is not confused with another. */
  _describe() {
    const { session } = this, number = Number(this.model.value);
    say(this.what, session.listed.has(number) ? this._described(session.rows.get(number)) : "No such model is listed.");
  }

  _described(row) {
    const { words: { columns }, standpoint } = this.session, gap = row.gap_cells[standpoint.tolerances.metric];
    const headings = Object.fromEntries(columns.map(({ key, heading }) => [key, heading]));
    const said = [`${headings.performance} ${row.cells.performance}`, gap && `${headings.gap} ${gap}`,
      row.number === standpoint.chosen && "chosen by the rule"];
    return said.filter(Boolean).join(", ");
  }

  async _commit() {
    if (this.isSending) return;
    this.isSending = true;
    this.send.setAttribute("aria-disabled", "true");
    say(this.wrong, "");
    const [reason, author] = [this.reason.value.trim(), this.author.value.trim()];
    const asked = { model: Number(this.model.value), reason, author };
    const wrong = await this.session.step({ step: "commit", ...asked }, "Opening the holdout", { isQuiet: true });
    this.isSending = false;
    this.send.removeAttribute("aria-disabled");
    if (wrong) { say(this.wrong, wrong); return; }
    this.reason.value = "";
    this.node.close();
    this.session.tell("committed");
  }
}

const LINK = { class: "button main", target: "_blank", rel: "noopener" };

/**
 * Shows the verdict of the holdout on the last decision.
 * @param {HTMLElement} place
 * @param {import("./session.js").Session} session
 */
export const showDecision = (place, session) => {
  const { words, has_report: hasReport, saved } = session.screen, { reportUrl: href } = session.transport;
  place.hidden = !words.decided && !hasReport;
  const key = JSON.stringify([words.decided, hasReport, saved]);
  if (place.hidden || place.dataset.key === key) return;
  place.dataset.key = key;
  const { headline, findings, warnings } = words.decided ?? words;
  const files = [saved.run, saved.page].filter(Boolean).join(", ");
  place.replaceChildren(
    el("p", { class: "kicker" }, "What the holdout says"), el("h2", {}, headline),
    el("details", { open: true }, el("summary", {}, "In detail"),
      list(findings, "prose"), list(warnings, "prose care")),
    el("p", { class: "row-buttons" }, hasReport && href ? el("a", { ...LINK, href }, "Open the report") : null,
      files ? el("span", { class: "soft" }, `Saved beside the record: ${files}`) : null));
};

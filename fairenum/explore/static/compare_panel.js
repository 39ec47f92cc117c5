// Two models side by side: gaps, groups, flipped rows and weights.

import { byKey, chip, el, form, numberField, say, table } from "./dom.js";
import { arrow } from "./drawing.js";
import { strip } from "./strip.js";

const folded = (worded, content, isOpen = false) =>
  el("details", { open: isOpen }, el("summary", {}, worded.title), content);

/** A table with a drawing of the change in each line, after the column `key`. */
const drawn = (worded, key, pairs, scale) => {
  const made = table(worded);
  [...made.querySelectorAll(`[data-key="${key}"]`)].forEach((cell, place) => {
    const pair = pairs[place - 1]; // the first line is that of the headings
    const drawing = pair && arrow({ value: pair.first }, { value: pair.second }, scale, cell.textContent);
    cell.after(el("td", { class: "drawn" }, drawing));
  });
  return made;
};

const weightScale = (pairs) => {
  const most = Math.max(1e-9, ...pairs.flatMap(({ first, second }) => [Math.abs(first), Math.abs(second)]));
  return [-most, most];
};

/** The panel of two models. */
export class ComparePanel {
  /**
   * @param {import("./session.js").Session} session
   * @param {(row: number) => void} ask - shows the decisions about a row
   */
  constructor(session, ask) {
    [this.name, this.label, this.session, this.ask] = ["compare", "Compare", session, ask];
    [this.first, this.second] = [numberField(1), numberField(1)];
    this.isPicked = false;
    this.lead = el("p", { class: "lead", "aria-live": "polite" });
    this.found = el("div", {});
    const send = () => this.pick(this.first.value, this.second.value);
    const picker = form("field-line", send, el("label", { for: this.first.id }, "Model"), this.first,
      el("label", { for: this.second.id }, "beside model"), this.second, el("button", {}, "Compare"));
    this.node = el("div", {}, picker, this.lead, this.found);
  }

  /** Shows two models side by side. */
  pick(first, second) {
    [this.first.value, this.second.value, this.isPicked] = [first, second, true];
    this._look();
  }

  update() {
    const { session } = this;
    if (!session.isReady || session.current === null) return;
    const last = Math.max(...session.listed);
    for (const input of [this.first, this.second]) input.max = last;
    const known = [this.first, this.second].every((input) => session.listed.has(Number(input.value)));
    if (!this.isPicked || !known) this._guess();
    this._look();
  }

  /** Compares the model in focus with model 1 or, if that is in focus, with the chosen model. */
  _guess() {
    const { current, standpoint } = this.session;
    this.isPicked = false;
    this.first.value = 1;
    this.second.value = current === 1 ? standpoint.chosen ?? 1 : current;
  }

  async _look() {
    const key = `/compare?first=${Number(this.first.value)}&second=${Number(this.second.value)}`;
    const wanted = `${key} ${this.session.standpoint.tolerances.metric}`;
    if (wanted === this._shown) return;
    this._shown = wanted;
    const found = await this.session.ask("Comparing", "GET", key);
    if (wanted !== this._shown) return;
    if (!found) {
      this._shown = null;
      return;
    }
    say(this.lead, found.words.headline);
    const words = Object.entries(found.words).map(([name, worded]) =>
      [name, worded?.notes ? this.session.withoutShownNotes(worded) : worded]);
    this.found.replaceChildren(...this._parts({ ...found, words: Object.fromEntries(words) }));
  }

  _parts({ words, strip: gaps, groups, weights, flipped }) {
    return [
      gaps.length ? strip(words.strip, gaps) : null,
      words.groups.rows.length ? folded(words.groups, drawn(words.groups, "group", groups, [0, 1]), true) : null,
      words.flips.rows.length ? folded(words.flips, table(words.flips), true) : null,
      words.flipped ? folded(words.flipped, this._flipped(words.flipped, flipped)) : null,
      words.weights && folded(words.weights, drawn(words.weights, "column", weights, weightScale(weights)), true),
    ].filter(Boolean);
  }

  /** Rows whose decision differs, each with a link to its person. */
  _flipped(worded, flipped) {
    const rows = worded.rows.map((cells, place) => {
      const { row } = flipped[place], named = byKey(worded, cells);
      return Object.values({ ...named, row: chip(named.row, `row ${row} as a person`, () => this.ask(row)) });
    });
    return table({ ...worded, rows });
  }
}

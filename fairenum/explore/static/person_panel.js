// One person: a row of the table, pasted or typed values, and the decision of each model.

import { button, chip, el, form, fresh, list, numberField, say, table } from "./dom.js";
import { decisionLine } from "./drawing.js";
import { ranges } from "./numbers.js";
import { readPerson } from "./paste.js";

const MOST_LISTED = 200;
const PASTED = "a row of the table, with or without its heading; lines of name: value; or JSON";

/** A field for one feature. */
const field = ({ name, kind, values }) => {
  const id = fresh("value"), known = values.filter((value) => value !== null);
  const input = kind === "category"
    ? el("select", { id }, el("option", { value: "" }, "–"), known.map((value) => el("option", { value }, value)))
    : el("input", { id, type: "number", step: "any" });
  return { name, kind, input, node: el("div", { class: "field" }, el("label", { for: id }, name), input) };
};

const setField = ({ kind, input }, value) => {
  const text = value === null || value === undefined ? "" : String(value);
  input.value = text;
  if (kind !== "category" || input.value === text) return;
  input.append(el("option", { value: text }, text)); // a row may have what no training row has
  input.value = text;
};

const valueOf = ({ kind, input: { value } }) => (value === "" ? null : kind === "number" ? Number(value) : value);

/** The panel of a person. */
export class PersonPanel {
  /** @param {import("./session.js").Session} session */
  constructor(session) {
    [this.name, this.label, this.session] = ["person", "Person", session];
    this.who = null;
    this.fields = [];
    this.lead = el("p", { class: "lead", "aria-live": "polite" });
    this.found = el("div", {});
    this.values = form("values", () => this._askValues());
    this.folded = el("details", {}, el("summary", {}, "Values"), this._paster(), this.values);
    this.node = el("div", {}, this._picker(), this.lead, this.found, this.folded);
  }

  /** Shows the decisions about a row. */
  pick(row) {
    this.row.value = row;
    this._ask({ row });
  }

  update() {
    const { session } = this;
    if (!session.isReady) return;
    this._makeFields(session.screen.features);
    if (this.who === null || session.busy) return;
    const key = `${session.screen.revision} ${session.current}`;
    if (key !== this._key) this._ask(this.who);
  }

  _picker() {
    this.row = numberField(0);
    return form("field-line", () => this._ask({ row: Number(this.row.value) }),
      el("label", { for: this.row.id }, "Row of the table"), this.row, el("button", {}, "Show"),
      button("Fill in values", () => { this.folded.open = true; this.fields[0]?.input.focus(); }));
  }

  _paster() {
    const id = fresh("paste");
    const area = el("textarea", { id, rows: "2", placeholder: PASTED });
    return el("div", { class: "paste" }, el("label", { for: id }, "Paste a row"), area,
      button("Read it", () => this._read(area.value)));
  }

  _read(text) {
    const found = readPerson(text, this.fields.map((one) => one.name));
    if (!found) {
      this.session.tell("trouble", `This is no row; paste ${PASTED}.`);
      return;
    }
    for (const one of this.fields) setField(one, found[one.name]);
    this._askValues();
  }

  _makeFields(features) {
    if (this.fields.length === features.length) return;
    this.fields = features.map(field);
    this.values.replaceChildren(...this.fields.map((one) => one.node), el("button", { class: "main" }, "Decide"));
  }

  _askValues() {
    this.row.value = "";
    this._ask({ values: Object.fromEntries(this.fields.map((one) => [one.name, valueOf(one)])) });
  }

  async _ask(who) {
    const { session } = this, body = { ...who, model: session.current };
    this._makeFields(session.screen.features);
    this._key = `${session.screen.revision} ${session.current}`;
    const isNew = JSON.stringify(who) !== JSON.stringify(this.who);
    const found = await session.ask("Asking every model", "POST", "/person", body);
    if (!found) { this.who = isNew ? null : this.who; return; }
    this.who = who;
    for (const one of this.fields) setField(one, found.values[one.name]);
    say(this.lead, found.words.headline);
    this.found.replaceChildren(...this._parts(found));
  }

  _parts({ words, decisions, reach }) {
    const { current, standpoint } = this.session;
    const special = new Map([[standpoint.chosen, "chosen"], [1, "first"], [current, "focus"]]);
    return [
      list(words.warnings, "notes care"),
      decisions.length ? decisionLine(decisions, special, words.headline, reach) : null,
      this._sides(decisions),
      list(words.findings, "prose"),
      list(words.settled, "prose settled"),
      words.weighs && el("details", { open: true }, el("summary", {}, words.weighs.title), table(words.weighs)),
      words.nearest && el("details", {}, el("summary", {}, words.nearest.title), table(words.nearest)),
      el("details", {}, el("summary", {}, "What each model decides"), this._each(decisions)),
    ].filter(Boolean);
  }

  /** The models on each side. */
  _sides(decisions) {
    const side = (name, isFavourable) => {
      const numbers = decisions.filter((one) => one.is_favourable === isFavourable).map((one) => one.model);
      if (!numbers.length) return null;
      return el("div", {}, el("dt", {}, name, el("span", { class: "tag" }, String(numbers.length))),
        el("dd", {}, shortened(ranges(numbers))));
    };
    return el("dl", { class: "sides" }, side("Favourable", true), side("Unfavourable", false));
  }

  _each(decisions) {
    const rows = decisions.slice(0, MOST_LISTED).map(({ model, text }) => [
      chip(String(model), `model ${model}`, () => this.session.focusOn(model)), text]);
    const hidden = decisions.length - rows.length;
    return table({ title: "What each model decides", keys: ["model", "decision"], headings: ["model", "decision"],
      rows, names: 2, marked: null, notes: hidden > 0 ? [`not shown: ${hidden} more`] : [] });
  }
}

const shortened = (text, most = 160) =>
  (text.length > most ? `${text.slice(0, most).replace(/,?[^,]*$/, "")} …` : text);

// Elements from values. Text is only ever set as text, as names and cells of a table are untrusted.

const SVG = "http://www.w3.org/2000/svg";
const INVISIBLE = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

/** Text without control characters that could reorder or hide other text. */
export const plain = (value) => String(value).replace(INVISIBLE, "\ufffd");

const fill = (node, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined)
    .map((child) => (child instanceof Node ? child : plain(child))));
  return node;
};

/**
 * An HTML element. Attributes named `onclick` and the like are listeners; strings among the children are text.
 * @param {string} tag
 * @param {Record<string, unknown>} [attributes]
 * @param {...(Node|string|number|null)} children
 */
export const el = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);

/** An SVG element; see `el`. */
export const svg = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

/** A button. */
export const button = (label, onclick, attributes = {}) =>
  el("button", { type: "button", onclick, ...attributes }, label);

/** A small button with a short text; `name` is its full label. */
export const chip = (label, name, onclick) => button(label, onclick, { class: "chip", "aria-label": name });

/** A list of sentences; null if there are none. */
export const list = (texts, kind) =>
  (texts?.length ? el("ul", { class: kind }, texts.map((text) => el("li", {}, text))) : null);

/** A form that calls a function on Enter, and sends no request. */
export const form = (kind, send, ...children) =>
  el("form", { class: kind, onsubmit: (event) => { event.preventDefault(); send(); } }, ...children);

/** A field for a whole number. */
export const numberField = (least) =>
  el("input", { id: fresh("number"), type: "number", min: least, step: "1", required: true, class: "short" });

/** The heading of a column, with the key of the column. */
export const head = ({ key, heading, is_word: isWord }) =>
  el("th", { scope: "col", "data-key": key, class: isWord && "word" }, heading);

/** The headings of a table, or the cells of one row, by the keys of their columns. */
export const byKey = ({ keys }, cells) => Object.fromEntries(keys.map((key, place) => [key, cells[place]]));

const row = (cells, { keys, names }, isMarked) => el("tr", { class: isMarked && "selected" }, cells.map((cell, place) =>
  (place ? el("td", { "data-key": keys[place], class: place < names && "word" }, cell)
    : el("th", { scope: "row", "data-key": keys[place] }, cell))));

/**
 * A table with the texts of the server, and its notes.
 * @param {{title: string, keys: string[], headings: string[], rows: string[][], names: number, notes: string[],
 *   marked: number|null}} worded
 */
export const table = (worded) => {
  const { title, keys, headings, rows, names, notes, marked } = worded;
  const heads = headings.map((heading, place) => head({ key: keys[place], heading, is_word: place < names }));
  const body = rows.map((cells, place) => row(cells, worded, place === marked));
  return el("div", { class: "table" },
    scrolling(title, el("table", {}, el("thead", {}, el("tr", {}, heads)), el("tbody", {}, body))),
    list(notes, "notes"));
};

/** An estimate as text, with its limits on a separate line. */
export const limited = (text) => {
  const [value, limits] = text.split(" [");
  return limits === undefined ? [text] : [`${value} `, el("span", { class: "limits-text" }, `[${limits}`)];
};

/** A part that scrolls sideways, and can be scrolled by keyboard. */
export const scrolling = (label, ...children) =>
  el("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": label }, ...children);

const nameOf = (node) => node.getAttribute("aria-label") ?? node.textContent;

/** Redraws a part; if it has the focus, the control of the same name gets it, or else the part itself. */
export const keepingFocus = (part, draw) => {
  const held = part.ownerDocument.activeElement, isInside = held !== part && part.contains(held);
  draw();
  if (!isInside || held.isConnected) return;
  const same = [...part.querySelectorAll(held.localName)].find((one) => nameOf(one) === nameOf(held));
  (same ?? part).focus({ preventScroll: true });
};

/** Sets the text of a node if it changed, so that screen readers do not repeat it. */
export const say = (node, text) => {
  const said = plain(text ?? "");
  if (node.textContent !== said) node.textContent = said;
};

let made = 0;

/** An id that is unique even if a document has several of these screens. */
export const fresh = (stem) => `fairenum-${stem}-${made += 1}`;

// Every gap of two models: the texts of the server, with a drawing of each change.

import { byKey, el, list } from "./dom.js";
import { arrow, gapScale } from "./drawing.js";

const line = (cells, headings, gap, scale) => {
  const { gap: name, column, first, second, change } = cells;
  return el("li", { class: gap.is_claim && "claim" },
    el("span", { class: "gap-name" }, name.replace(/^\*/, ""), " ", el("span", { class: "soft" }, `by ${column}`)),
    el("span", { class: "gap-change" }, change),
    arrow(gap.first, gap.selected, scale, `${name} by ${column}`),
    el("span", { class: "gap-values" },
      el("span", {}, el("span", { class: "soft" }, `${headings.first} `), first),
      el("span", {}, el("span", { class: "soft" }, `${headings.second} `), second)));
};

/**
 * The strip of gaps.
 * @param {{title: string, keys: string[], headings: string[], rows: string[][], notes: string[]}} worded
 * @param {{first: object, selected: object, is_claim: boolean}[]} gaps - the same, as numbers
 */
export const strip = (worded, gaps) => {
  const scale = gapScale(gaps), headings = byKey(worded, worded.headings);
  return el("div", { class: "strip" },
    el("h3", {}, worded.title),
    el("ul", { class: "gaps" },
      worded.rows.map((cells, place) => line(byKey(worded, cells), headings, gaps[place], scale))),
    list(worded.notes, "notes"));
};

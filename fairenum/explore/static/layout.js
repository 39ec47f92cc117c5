// The empty screen: its permanent parts, by name.

import { button, el, fresh } from "./dom.js";

const NO_GAP = "No sensitive column was named, so that there is no gap to draw; the table of models has all numbers.";

const named = (parts, name, node) => { parts[name] = node; return node; };

const head = (parts) => el("header", {},
  el("div", { class: "bar" }, el("p", { class: "kicker" }, "Exploration"),
    el("div", { class: "tools" },
      named(parts, "lamp", el("span", { class: "lamp", "data-state": "waiting" }, "connecting")),
      named(parts, "keys", button("Keyboard", null, { "aria-haspopup": "dialog" })),
      named(parts, "theme", button("Dark colours", null)))),
  named(parts, "headline", el("h1", {}, "Preparing the table")),
  el("p", { class: "subject" },
    named(parts, "subject", el("span", {})), named(parts, "warnings", el("span", { class: "care" }))));

const alerts = (parts) => el("div", { class: "alerts" },
  named(parts, "gone", el("div", { class: "trouble", role: "alert", hidden: true })),
  named(parts, "trouble", el("div", { class: "trouble", role: "alert", hidden: true })));

const actions = (parts) => {
  const doing = fresh("doing");
  const act = (name, label, key, attributes = {}) =>
    named(parts, name, button(label, null, { "aria-keyshortcuts": key, ...attributes }));
  return el("div", { class: "actions", role: "group", "aria-label": "Steps" },
    act("next", "Next best", "n", { class: "main" }),
    act("fairer", "Look for fairer", "f"),
    act("keepGoing", "Keep going", "k"),
    act("stop", "Stop", "s", { class: "stop" }),
    named(parts, "working", el("div", { class: "working", hidden: true },
      named(parts, "progress", el("progress", { "aria-labelledby": doing })),
      named(parts, "doing", el("span", { id: doing })))),
    named(parts, "said", el("p", { class: "said", role: "status" })),
    act("undo", "Undo", "u"),
    act("commit", "Commit…", "c", { class: "main", "aria-haspopup": "dialog" }));
};

const plot = (parts) => {
  const title = fresh("title");
  return el("section", { class: "card plot-card", "aria-labelledby": title },
    el("div", { class: "card-head" }, el("h2", { id: title }, "Performance and gap"),
      named(parts, "whole", button("Whole intervals", null, { "aria-pressed": "false" }))),
    named(parts, "figure", el("div", { class: "figure" })),
    named(parts, "gapless", el("p", { class: "soft", hidden: true }, NO_GAP)),
    named(parts, "legend", el("ul", { class: "legend", "aria-label": "Marks" })),
    named(parts, "tolerances", el("form", { class: "tolerances", "aria-label": "Tolerances" })));
};

const record = (parts) => {
  const title = fresh("title");
  return el("section", { class: "card record", "aria-labelledby": title },
    el("div", { class: "card-head" }, el("h2", { id: title }, "The record")),
    named(parts, "record", el("div", { class: "pane-body", tabindex: "0", role: "region", "aria-labelledby": title })));
};

/**
 * Fills a root with the empty screen.
 * @param {HTMLElement} root
 * @returns {Record<string, HTMLElement>} its parts by name
 */
export const layOut = (root) => {
  const parts = { root };
  root.replaceChildren(
    head(parts), alerts(parts),
    named(parts, "decided",
      el("section", { class: "decided", tabindex: "-1", hidden: true, "aria-label": "The decision" })),
    actions(parts),
    el("div", { class: "board" }, plot(parts),
      named(parts, "side", el("section", { class: "card side", "aria-label": "Details" })), record(parts)),
    named(parts, "foot", el("footer", {})));
  return parts;
};

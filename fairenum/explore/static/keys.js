// Single-key shortcuts wherever no text is typed. They can be turned off, which speech input needs.

import { el, fresh } from "./dom.js";

const KEPT = "fairenum-keys";

const TYPED = "input:not([type=range], [type=checkbox]), textarea, select, [contenteditable]";

const keep = (isOn) => {
  try {
    localStorage.setItem(KEPT, isOn ? "on" : "off");
  } catch {
    // a browser without storage
  }
};

const kept = () => {
  try {
    return localStorage.getItem(KEPT) !== "off";
  } catch {
    return true;
  }
};

const line = ([key, text]) =>
  el("div", {}, el("dt", {}, ...key.split(" ").map((one) => el("kbd", {}, one))), el("dd", {}, text));

/** Keys, and the dialog that lists them. */
export class Keys {
  /**
   * @param {HTMLElement} root
   * @param {[string, string, () => void][]} keys - a key, its description, and its function
   * @param {[string, string][]} others - keys of single parts, while focused
   */
  constructor(root, keys, others) {
    this.acts = new Map(keys.map(([key, , act]) => [key, act]));
    const title = fresh("title"), id = fresh("on");
    this.box = el("input", { type: "checkbox", id, onchange: () => keep(this.box.checked) });
    this.box.checked = kept();
    this.node = el("dialog", { "aria-labelledby": title },
      el("form", { method: "dialog" },
        el("h2", { id: title }, "Keyboard"), el("dl", { class: "keys" }, [...keys, ...others].map(line)),
        el("p", { class: "check" }, this.box, el("label", { for: id }, "Single keys act")),
        el("div", { class: "dialog-buttons" }, el("button", { class: "main" }, "Close"))));
    this._hear = (event) => this._pressed(event);
    this.root = root;
    root.ownerDocument.addEventListener("keydown", this._hear);
  }

  open() {
    if (this.node.open) return;
    this.node.showModal();
    this.node.querySelector("button").focus();
  }

  close() { this.root.ownerDocument.removeEventListener("keydown", this._hear); }

  _pressed(event) {
    const { target } = event, isCombined = event.ctrlKey || event.altKey || event.metaKey;
    if (event.defaultPrevented || event.repeat || isCombined || !this.box.checked) return;
    const isHere = target === this.root.ownerDocument.body || this.root.contains(target);
    if (!isHere || target.closest(TYPED) || this.root.querySelector("dialog[open]")) return;
    const act = this.acts.get(event.key);
    if (!act) return;
    event.preventDefault();
    act();
  }
}

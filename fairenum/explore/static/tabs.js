// Panels, of which one is shown and kept up to date.

import { button, el, fresh, keepingFocus } from "./dom.js";

/**
 * @typedef {{name: string, label: string, node: HTMLElement, update: () => void}} Panel
 */

/** Tabs by the WAI-ARIA pattern: arrows move between them, Tab goes into the panel. */
export class Tabs {
  /**
   * @param {HTMLElement} place
   * @param {Panel[]} panels
   */
  constructor(place, panels) {
    this.panels = new Map(panels.map((panel) => [panel.name, panel]));
    this.tabs = new Map(panels.map((panel) => [panel.name, this._tab(panel)]));
    const list = el("div", { class: "tabs", role: "tablist", "aria-label": "Details" }, ...this.tabs.values());
    list.addEventListener("keydown", (event) => this._walk(event));
    place.append(list, ...panels.map((panel) => panel.node));
    this.show(panels[0].name);
  }

  /** Shows a panel; `isFocused` also moves the keyboard focus there. */
  show(name, { isFocused = false } = {}) {
    this.current = name;
    for (const [each, tab] of this.tabs) {
      tab.setAttribute("aria-selected", String(each === name));
      tab.tabIndex = each === name ? 0 : -1;
      this.panels.get(each).node.hidden = each !== name;
    }
    if (isFocused) this.tabs.get(name).focus();
    this.update();
  }

  /** Updates the shown panel. */
  update() {
    const panel = this.panels.get(this.current);
    keepingFocus(panel.node, () => panel.update());
  }

  _tab(panel) {
    const [tab, body] = [fresh("tab"), fresh("panel")];
    Object.assign(panel.node, { id: body, tabIndex: 0, className: `pane pane-${panel.name}` });
    panel.node.setAttribute("role", "tabpanel");
    panel.node.setAttribute("aria-labelledby", tab);
    return button(panel.label, () => this.show(panel.name), { id: tab, role: "tab", "aria-controls": body });
  }

  _walk(event) {
    const names = [...this.tabs.keys()], place = names.indexOf(this.current), last = names.length - 1;
    const [next, before] = [place === last ? 0 : place + 1, place ? place - 1 : last];
    const to = { ArrowRight: next, ArrowLeft: before, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.show(names[to], { isFocused: true });
  }
}

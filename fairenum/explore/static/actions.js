// Buttons for steps, the progress bar and the stop button.

import { say } from "./dom.js";

const PATIENCE = 200; // milliseconds after which work is shown
const MANY = 1000; // models after which Keep going ends by itself
const SOLVES = 25;

const enable = (node, isEnabled) => {
  if (isEnabled) node.removeAttribute("aria-disabled"); // not `disabled`: the focus would be lost
  else node.setAttribute("aria-disabled", "true");
};

/** The bar of steps. */
export class Actions {
  /**
   * @param {Record<string, HTMLElement>} parts
   * @param {import("./session.js").Session} session
   * @param {() => void} commit - opens the dialog
   */
  constructor(parts, session, commit) {
    Object.assign(this, { parts, session });
    this.steps = {
      next: () => session.step({ step: "next", count: 1 }, "Looking for the next best model"),
      fairer: () => session.step({ step: "fairer", solves: SOLVES }, "Looking for fairer models"),
      keepGoing: () => session.step({ step: "next", count: MANY }, "Looking for one model after the other"),
      undo: () => session.step({ step: "undo" }, "Undoing"),
      commit,
      stop: () => session.stop(),
    };
    for (const name of Object.keys(this.steps)) parts[name].addEventListener("click", () => this.act(name));
  }

  /** Runs the action of a button, if it is enabled. */
  act(name) { if (!this.parts[name].hasAttribute("aria-disabled")) this.steps[name](); }

  update() {
    const { session, parts } = this, { busy } = session;
    parts.root.toggleAttribute("data-working", session.isBusy || session.tasks.size > 0);
    const isFree = session.isReady && !session.isBusy && session.connection === "open";
    for (const name of ["next", "fairer", "keepGoing", "commit"]) enable(parts[name], isFree);
    enable(parts.undo, isFree && session.screen.can_undo);
    const isStoppable = session.isBusy ? busy?.can_stop !== false : session.tasks.size > 0;
    enable(parts.stop, isStoppable && session.connection === "open");
    for (const node of parts.root.querySelectorAll("button.step")) enable(node, isFree);
    for (const node of parts.tolerances.querySelectorAll("select, input")) {
      node.disabled = !isFree && !node.matches(":focus");
    }
    this._showWork();
  }

  /** Shows running work once it takes longer than a blink. */
  _showWork() {
    const { session } = this, isAny = session.busy !== null || session.tasks.size > 0;
    if (!isAny) {
      clearTimeout(this.timer);
      this.timer = null;
      this.parts.working.hidden = true;
    } else if (!this.parts.working.hidden || session.busy !== null) this._write();
    else this.timer ??= setTimeout(() => this._write(), PATIENCE);
  }

  _write() {
    const { busy, tasks } = this.session, { progress, doing, working } = this.parts;
    const label = busy?.action ?? [...tasks].find((task) => task.isStep)?.label ?? [...tasks].at(-1)?.label;
    if (!label) return;
    working.hidden = false;
    if (busy?.total) Object.assign(progress, { max: busy.total, value: busy.done });
    else progress.removeAttribute("value");
    const count = busy?.total ? `, ${busy.done} of ${busy.total}` : "";
    say(doing, label + count + (busy && busy.seconds >= 1 ? `, ${busy.seconds.toFixed(0)} s` : ""));
  }
}

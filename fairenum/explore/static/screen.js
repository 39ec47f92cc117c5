// The whole screen of an exploration, in any element, over any transport.

import { Actions } from "./actions.js";
import { CommitDialog, showDecision } from "./commit.js";
import { ComparePanel } from "./compare_panel.js";
import { say } from "./dom.js";
import { ExamplesPanel } from "./examples_panel.js";
import { Keys } from "./keys.js";
import { layOut } from "./layout.js";
import { ModelPanel } from "./model_panel.js";
import { ModelsPanel } from "./models_panel.js";
import { chooseTheme, showConnection, showTrouble } from "./notices.js";
import { legend } from "./overlay.js";
import { PersonPanel } from "./person_panel.js";
import { RecordPanel } from "./record_panel.js";
import { Scatter } from "./scatter.js";
import { Session } from "./session.js";
import { Tabs } from "./tabs.js";
import { Tolerances } from "./tolerances.js";

const PLOT_KEYS = [
  ["← →", "in the plot: model by model"], ["↑ ↓", "in the plot: by the size of the gap"],
  ["Home End", "in the plot: the first, the last"],
];

/** The model in use in the form of a model of the plot. */
const inUse = ({ incumbent: found }) => found && { performance: found.scores.performance, gaps: found.scores };

/** The kinds of marks in the plot. */
const kindsOf = (session) => {
  const { standpoint, view, listed, rows } = session, candidates = new Set(standpoint.candidates);
  const numbers = [...listed];
  return new Set([
    "first", "focus", view.incumbent && "in-use", standpoint.chosen > 1 && "chosen",
    numbers.some((number) => number > 1 && rows.get(number).origin === "exact") && "plain",
    numbers.some((number) => rows.get(number).origin !== "exact") && "guided",
    numbers.some((number) => !candidates.has(number)) && "outside",
  ]);
};

class Screen {
  constructor(root, transport) {
    this.parts = layOut(root);
    this.session = new Session(transport);
    this._makePanels();
    this._makeDialogs(root);
    this._listen();
    this.endTheme = chooseTheme(root, this.parts.theme);
  }

  _makePanels() {
    const { parts, session } = this;
    this.scatter = new Scatter(parts.figure, (number) => session.focusOn(number));
    const ask = (row) => { this.person.pick(row); this.tabs.show("person", { isFocused: true }); };
    this.compare = new ComparePanel(session, ask);
    this.person = new PersonPanel(session);
    const beside = (number) => { this.compare.pick(1, number); this.tabs.show("compare", { isFocused: true }); };
    this.tabs = new Tabs(parts.side, [new ModelPanel(session, beside), new ExamplesPanel(session, ask), this.compare,
      this.person, new ModelsPanel(session)]);
    this.tolerances = new Tolerances(parts.tolerances, session);
    parts.whole.addEventListener("click", () => this._turnWhole());
  }

  _makeDialogs(root) {
    const { parts, session } = this;
    this.dialog = new CommitDialog(session);
    this.actions = new Actions(parts, session, () => this.dialog.open());
    this.record = new RecordPanel(parts.record, session, () => this.actions.act("undo"));
    this.keys = new Keys(root, this._keys(), PLOT_KEYS);
    parts.keys.addEventListener("click", () => this.keys.open());
    root.append(this.dialog.node, this.keys.node);
  }

  _keys() {
    const act = (name) => () => this.actions.act(name), tab = (name) => () => this.tabs.show(name, { isFocused: true });
    return [
      ["n", "next best", act("next")], ["f", "look for fairer", act("fairer")], ["k", "keep going", act("keepGoing")],
      ["s", "stop", act("stop")], ["u", "undo", act("undo")], ["c", "commit", act("commit")],
      ["p", "to the plot", () => this.scatter.list.focus()],
      ["g", "to the chosen model", () => this.session.focusOn(this.session.screen?.view?.standpoint.chosen)],
      ...[...this.tabs.panels.values()].map(({ name, label }, place) => [String(place + 1), label, tab(name)]),
      ["?", "these keys", () => this.keys.open()],
    ];
  }

  _listen() {
    const { session, parts } = this;
    session.on("screen", () => this._showScreen());
    session.on("models", (change) => this.scatter.change(change));
    session.on("standpoint current focus models", () => this._soon());
    session.on("work connection", () => this.actions.update());
    session.on("connection", (message) => {
      showConnection(parts, session, message);
      if (session.connection === "ended") showTrouble(parts.trouble, "");
    });
    session.on("trouble", (text) => showTrouble(parts.trouble, text));
    session.on("said", (text) => { showTrouble(parts.trouble, ""); say(parts.said, text); });
    session.on("committed", () => parts.decided.focus());
  }

  /** Updates everything that depends on standpoint and focus, once a frame. */
  _soon() {
    if (this._isAsked) return;
    this._isAsked = true;
    requestAnimationFrame(() => { this._isAsked = false; if (this.session.isReady) this._showStanding(); });
  }

  _showScreen() {
    const { session, parts } = this, { words, trouble } = session.screen;
    if (trouble && trouble !== session.refused && session.connection !== "ended") showTrouble(parts.trouble, trouble);
    if (!session.isReady) {
      say(parts.headline, trouble ? "The table cannot be explored" : "Preparing the table");
      return;
    }
    parts.root.removeAttribute("aria-busy");
    if (session.transport.reportUrl) parts.root.ownerDocument.title = words.title;
    say(parts.subject, words.subject);
    say(parts.warnings, words.warnings.length ? ` Beware: ${words.warnings.join("; ")}.` : "");
    say(parts.foot, [...words.notes, words.region].filter(Boolean).join(" · "));
    showDecision(parts.decided, session);
    this.record.update();
    this.tolerances.update();
    this._soon();
  }

  _showStanding() {
    const { session, parts } = this, { standpoint, view, words, current } = session;
    say(parts.headline, words.headline);
    parts.gapless.hidden = view.column !== null;
    parts.figure.hidden = parts.legend.hidden = parts.whole.hidden = view.column === null;
    const { performance, gap } = words;
    const named = { performance, gap, x: `${performance} on the selection split`, y: `${gap}, lower is fairer` };
    this.scatter.show({ standpoint, words: named, inUse: inUse(view), current, committed: view.committed });
    const kinds = kindsOf(session), key = [...kinds].join();
    if (key !== this._kinds) parts.legend.replaceChildren(...legend(kinds));
    this._kinds = key;
    this.tolerances.tell();
    this.tabs.update();
    this.actions.update();
  }

  _turnWhole() {
    const isWhole = this.parts.whole.getAttribute("aria-pressed") !== "true";
    this.parts.whole.setAttribute("aria-pressed", String(isWhole));
    this.scatter.showWhole(isWhole);
  }

  close() {
    this.session.close();
    this.keys.close();
    this.endTheme();
    this.parts.root.replaceChildren();
  }
}

/**
 * Shows an exploration.
 * @param {HTMLElement} root - an element of class `fairenum-explore`
 * @param {object} transport - see `overHttp`
 * @returns {() => void} removes it
 */
export const mount = (root, transport) => {
  const screen = new Screen(root, transport);
  screen.session.start();
  return () => screen.close();
};

// Tolerance sliders: a preview while dragged, a recorded step when released.

import { button, el, fresh, say } from "./dom.js";
import { percent } from "./numbers.js";

const PATIENCE = 500; // milliseconds without a key before a slider that is moved by keyboard counts
const SLIDERS = [
  { name: "eps", label: "Training loss above the best, at most", most: 0.5, step: 0.005 },
  { name: "max_performance_drop", label: "Performance given up, at most", most: 0.1, step: 0.005 },
];
const NO_OTHERS = "none"; // a guardrail that takes the place of all that there are

/** The form of tolerances. */
export class Tolerances {
  /**
   * @param {HTMLFormElement} form
   * @param {import("./session.js").Session} session
   */
  constructor(form, session) {
    Object.assign(this, { form, session, isHeld: false });
    form.addEventListener("submit", (event) => event.preventDefault());
    this.metric = el("select", { id: fresh("metric"), onchange: () => this._take({ metric: this.metric.value }) });
    this.sliders = SLIDERS.map((one) => this._slider(one));
    this.guards = el("ul", { class: "guard-list" });
    this.count = el("span", { class: "tag" });
    this.verdict = el("p", { class: "readout" });
    form.append(
      el("div", { class: "field" }, el("label", { for: this.metric.id }, "Gap that is to be small"), this.metric),
      ...this.sliders.map((one) => one.node), this.verdict,
      el("details", { class: "guard-fold" }, el("summary", {}, "Guardrails ", this.count), this.guards, this._adder()));
  }

  /** Shows the exploration's tolerances, unless a slider is being dragged. */
  update() {
    const { session } = this;
    if (!session.isReady) return;
    const { tolerances } = session.view.standpoint;
    this._fillMetrics(session.screen.metrics, tolerances.metric);
    if (!this.isHeld) for (const slider of this.sliders) this._set(slider, tolerances[slider.name]);
    say(this.count, String(tolerances.guards.length));
    if (this.guards.dataset.key !== tolerances.guards.join()) {
      this.guards.dataset.key = tolerances.guards.join();
      this.guards.replaceChildren(...tolerances.guards.map((guard) => this._guard(guard, tolerances.guards)));
    }
    this.tell();
  }

  /** Says which model would be chosen. */
  tell() {
    const { candidates } = this.session.standpoint, { listed, words } = this.session;
    say(this.verdict, `${candidates.length} of ${listed.size} models within. ${words.findings.join(" ")}`);
    this.verdict.classList.toggle("trying", this.session.preview !== null);
  }

  _fillMetrics(metrics, chosen) {
    if (this.metric.options.length !== metrics.length) {
      this.metric.replaceChildren(...metrics.map(({ name, text }) => el("option", { value: name }, text)));
    }
    this.metric.value = chosen;
  }

  _slider(kind) {
    const id = fresh("slider");
    const input = el("input", { id, type: "range", min: "0", max: kind.most.toFixed(3), step: String(kind.step) });
    const output = el("output", { for: id });
    const node = el("div", { class: "slider" }, el("label", { for: id }, kind.label), input, output);
    const slider = { ...kind, input, output, node };
    input.addEventListener("input", () => this._drag(slider));
    input.addEventListener("keydown", () => { slider.byKey = true; });
    input.addEventListener("pointerdown", () => { slider.byKey = false; });
    input.addEventListener("change", () => this._changed(slider));
    input.addEventListener("blur", () => { if (slider.timer) this._settle(slider); });
    return slider;
  }

  _set(slider, value) {
    const { input } = slider;
    if (value > Number(input.max)) input.max = String(value);
    input.value = String(value);
    this._write(slider, value);
  }

  _read({ input }) { return Number(input.value); }

  _write({ input, output }, value) {
    const text = percent(value);
    say(output, text);
    input.setAttribute("aria-valuetext", text);
  }

  /** Slider values that differ from the tolerances. */
  _asked() {
    const { tolerances } = this.session.view.standpoint;
    const moved = this.sliders.map((slider) => [slider.name, this._read(slider)])
      .filter(([name, value]) => value !== tolerances[name]);
    return Object.fromEntries(moved);
  }

  _drag(slider) {
    this.isHeld = true;
    this._write(slider, this._read(slider));
    this.session.tryOut(this._asked());
  }

  _changed(slider) {
    clearTimeout(slider.timer);
    if (slider.byKey) slider.timer = setTimeout(() => this._settle(slider), PATIENCE);
    else this._settle(slider);
  }

  async _settle(slider) {
    clearTimeout(slider.timer);
    slider.timer = null;
    const asked = this._asked();
    if (Object.keys(asked).length) await this._take(asked);
    this.isHeld = false;
    this.session.preview = null;
    this.update();
    this.session.tell("standpoint");
  }

  _take(asked) { return this.session.step({ step: "tolerate", ...asked }, "Choosing under other tolerances"); }

  _guard(guard, all) {
    const others = all.filter((one) => one !== guard);
    const remove = () => this._take({ guards: [NO_OTHERS, ...others] });
    return el("li", {}, el("code", {}, guard),
      button("Remove", remove, { class: "step", "aria-label": `Remove ${guard}` }));
  }

  _adder() {
    const id = fresh("guard");
    const input = el("input", { id, placeholder: "selection_rate=+-0.1" });
    const add = async () => {
      const guard = input.value.trim();
      if (guard && !(await this._take({ guards: [guard] }))) input.value = "";
    };
    input.addEventListener("keydown", (event) => { if (event.key === "Enter") add(); });
    return el("div", { class: "field-line" }, el("label", { for: id }, "Add or change"), input,
      button("Add", add, { class: "step" }));
  }
}

// State of the page: newest screen, models by number, focused model and running work.

const MOST = 500; // models of one request

/**
 * The state of an exploration, kept up to date. Its events: `screen` (everything may have changed), `models` (added or
 * removed), `standpoint` (which models may be chosen), `current` (number of the model in focus), `focus` (its details),
 * `work` (running requests), `connection`, `trouble` (an error) and `said` (a message).
 */
export class Session extends EventTarget {
  /** @param {object} transport - see `overHttp` */
  constructor(transport) {
    super();
    this.transport = transport;
    this.screen = null;
    this.rows = new Map(); // every model that was ever sent, by number
    this.listed = new Set(); // numbers of those that are shown now
    this.current = null;
    this.focused = null;
    this.preview = null;
    this.busy = null;
    this.connection = "waiting";
    this.tasks = new Set();
    this.refused = null; // error of this page's last step, already shown
    this._syncing = null;
  }

  get isReady() { return this.screen !== null && this.screen.view !== null; }

  get view() { return this.screen.view; }

  /** The text of a table without notes that the screen shows elsewhere. */
  withoutShownNotes(worded) {
    return { ...worded, notes: worded.notes.filter((note) => !this.words.notes.includes(note)) };
  }

  /** Candidates under the tolerances: those of the slider being dragged, or those set. */
  get standpoint() { return this.preview?.standpoint ?? this.view.standpoint; }

  get words() { return { ...this.screen.words, ...this.preview?.words }; }

  get isBusy() { return this.busy !== null || [...this.tasks].some((task) => task.isStep); }

  /** Starts to follow the exploration, until `close` is called. */
  start() {
    this.close = this.transport.listen((name, data) => this._heard(name, data));
    return this.sync();
  }

  /** Notifies listeners. */
  tell(topic, detail = null) { this.dispatchEvent(new CustomEvent(topic, { detail })); }

  /** Calls `hear` with the detail of every event of some topics. */
  on(topics, hear) {
    for (const topic of topics.split(" ")) this.addEventListener(topic, (event) => hear(event.detail));
  }

  /** Fetches changes; calls made meanwhile share one further request. */
  sync() {
    this._isStale = true;
    this._syncing ??= this._catchUp().finally(() => { this._syncing = null; });
    return this._syncing;
  }

  /**
   * Takes a step, and shows its outcome.
   * @param {object} body - the request to the server
   * @param {string} label - description of the step for the user
   * @returns {Promise<string|null>} the error message; null if the step was taken
   */
  async step(body, label, { isQuiet = false } = {}) {
    if (this.isBusy) return "Another step is under way.";
    const headers = { "if-match": String(this.screen.revision) };
    const answer = await this.work(label, { isStep: true }, async () => {
      const found = await this.transport.request("POST", "/steps", body, headers);
      this.preview = null;
      await this.sync();
      return found;
    });
    const wrong = answer.status === 200 ? null : errorOf(answer);
    this.refused = wrong;
    if (wrong === null) this.tell("said", answer.data.message ?? "");
    else if (!isQuiet) this.tell("trouble", wrong);
    return wrong;
  }

  /** Stops the running step, and cancels running requests. */
  async stop() {
    const isStep = this.isBusy;
    for (const task of this.tasks) task.abort?.abort();
    if (isStep) await this.transport.request("POST", "/stop", {});
  }

  /**
   * Sends a request that may take long or be cancelled.
   * @returns {Promise<object|null>} the answer; null if there is none, and the user was told why
   */
  async ask(label, method, path, body, abort = new AbortController()) {
    const { signal } = abort;
    const answer = await this.work(label, { abort }, () => this.transport.request(method, path, body, {}, signal));
    if (answer === null || answer.status === 200) return answer?.data ?? null;
    if (answer.status) this.tell("trouble", errorOf(answer));
    return null;
  }

  /** Runs a job that is shown as running work; null if it was cancelled. */
  async work(label, { isStep = false, abort = null }, job) {
    const task = { label, isStep, abort };
    this.tasks.add(task);
    this.tell("work");
    try {
      return await job();
    } catch (error) {
      if (error.name !== "AbortError") throw error;
      return null;
    } finally {
      this.tasks.delete(task);
      this.tell("work");
    }
  }

  /** Puts a model into focus. */
  async focusOn(number) {
    if (!this.listed.has(number)) return;
    this.current = number;
    this.tell("current");
    this._focusing?.abort();
    const abort = (this._focusing = new AbortController());
    const found = await this.ask(`Looking at model ${number}`, "GET", `/focus?model=${number}`, undefined, abort);
    if (found === null || abort.signal.aborted) return;
    this.focused = found;
    this.tell("focus");
  }

  /** Previews the choice under other tolerances; only the newest request counts. */
  async tryOut(tolerances) {
    this._wanted = tolerances;
    if (this._isTrying) return;
    this._isTrying = true;
    while (this._wanted) {
      const asked = this._wanted;
      this._wanted = null;
      const found = await this.ask("Choosing", "POST", "/preview", asked);
      if (!found || this._wanted || this.isBusy) continue;
      this.preview = found;
      this.tell("standpoint");
    }
    this._isTrying = false;
  }

  _heard(name, data) {
    const hears = {
      state: () => { if (data.revision !== this.screen?.revision) this.sync(); },
      progress: () => this._progressed(data),
      trouble: () => { if (data.message !== this.refused) this.tell("trouble", data.message); },
      end: () => this._connected("ended", data.message),
    };
    (hears[name] ?? (() => this._connected(name)))();
  }

  _progressed(busy) {
    const isOver = this.busy !== null && busy === null;
    this.busy = busy;
    this.tell("work");
    if (isOver) this.sync();
  }

  _connected(state, message = "") {
    if (this.connection === "ended" && state === "lost") return;
    const isBack = state === "open" && this.connection !== "open";
    this.connection = state;
    if (state !== "open") this.busy = null;
    this.tell("connection", message);
    if (isBack && this.screen) this.sync();
  }

  async _catchUp() {
    while (this._isStale) {
      this._isStale = false;
      const { status, data } = await this.transport.request("GET", "/state");
      if (status !== 200) return;
      if (data.view) await this._fetchRows(data.numbers);
      this._take(data);
    }
  }

  /** Fetches models that were never sent. */
  async _fetchRows(numbers) {
    let missing = numbers.filter((number) => !this.rows.has(number));
    while (missing.length) {
      const path = `/models?first=${Math.min(...missing)}&last=${Math.max(...missing)}`;
      const { status, data } = await this.transport.request("GET", path);
      if (status !== 200 || !data.models.length) return;
      for (const row of data.models) this.rows.set(row.number, row);
      missing = missing.filter((number) => !this.rows.has(number)).slice(0, MOST);
    }
  }

  _take(screen) {
    this.screen = { ...screen, features: screen.features ?? this.screen?.features ?? [] };
    this.busy = screen.busy;
    if (screen.view) this._list(screen.numbers.filter((number) => this.rows.has(number)));
    this.tell("screen");
    if (screen.view) {
      this.tell("standpoint");
      this._follow(screen.view.current);
    }
    this.tell("work");
  }

  _list(numbers) {
    const now = new Set(numbers);
    const added = numbers.filter((number) => !this.listed.has(number)).map((number) => this.rows.get(number));
    const removed = [...this.listed].filter((number) => !now.has(number));
    this.listed = now;
    if (added.length || removed.length) this.tell("models", { added, removed });
  }

  /** Focuses the model of the last step once it is done. */
  _follow(current) {
    if (this.busy && this.listed.has(this.current)) return;
    const isMoved = current !== this._seen || !this.listed.has(this.current);
    this._seen = current;
    if (isMoved) this.current = current;
    const { focus } = this.screen;
    if (focus?.model !== this.current) { this.focusOn(this.current); return; }
    this._focusing?.abort();
    this.focused = focus;
    this.tell("focus");
  }
}

const errorOf = ({ status, data }) =>
  data?.error ?? (status ? `The server answered with status ${status}.` : "The server does not answer.");

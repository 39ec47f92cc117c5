// Links plots and table. Without it the page shows the same numbers; nothing here computes one, or loads anything.
"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const root = document.documentElement;

  // --- light and dark
  const theme = $("theme");
  const systemIsDark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : systemIsDark.matches);
  const nameTheme = () => { theme.textContent = isDark() ? "Light colours" : "Dark colours"; };
  theme.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; nameTheme(); });
  systemIsDark.addEventListener("change", nameTheme);
  theme.hidden = false;
  nameTheme();

  // --- the data in the page, as a file
  const download = $("download");
  download.addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([$("data").textContent], { type: "application/json" }));
    link.download = download.dataset.name;
    link.click();
    URL.revokeObjectURL(link.href);
  });
  download.hidden = false;
  addEventListener("beforeprint", () => all("details").forEach((one) => { one.open = true; }));

  const table = $("models-table");
  if (!table) return;
  const rows = all("tbody tr", table);
  const marks = all(".marks a");
  const rankOf = (row) => Number(row.id.slice("model-".length));
  const rankNamed = (link) => Number(link.slice("#model-".length));
  const ranksOf = (mark) => mark.dataset.models?.split(" ").map(Number) ?? [rankNamed(mark.getAttribute("href"))];
  const models = rows.filter((row) => rankOf(row) > 0); // row 0 is the model in use
  const rowOf = new Map(rows.map((row) => [rankOf(row), row]));
  const headings = all(".heads th", table);
  // a column is found by the key of its heading, wherever it stands
  const headingOf = Object.fromEntries(headings.map((heading) => [heading.dataset.key, heading]));
  const cell = (row, key) => row.cells[headingOf[key].cellIndex].textContent;

  // --- selection: a row, its marks, the address and the line that reads it out
  let current = null;
  const select = (rank, { focus = null, scroll = true } = {}) => {
    const row = rowOf.get(rank);
    if (!row) return;
    if (row.hidden) clear();
    current = rank;
    for (const one of rows) one.removeAttribute("aria-current");
    row.setAttribute("aria-current", "true");
    for (const mark of marks) mark.classList.toggle("now", ranksOf(mark).includes(rank));
    rove(row);
    readOut(row);
    history.replaceState(null, "", `#${row.id}`);
    if (scroll) reveal(row);
    if (focus) focus.focus({ preventScroll: true });
  };
  const reveal = (row) => {
    const box = table.parentElement, head = table.tHead.offsetHeight;
    if (row.offsetTop - head < box.scrollTop) box.scrollTop = row.offsetTop - head;
    const below = row.offsetTop + row.offsetHeight - box.clientHeight;
    if (below > box.scrollTop) box.scrollTop = below;
  };
  const readOut = (row) => {
    const of = (key) => cell(row, key);
    const measure = headingOf.holdout_performance.textContent;
    const trained = rankOf(row) ? `Model ${rankOf(row)}: training loss ${of("loss_ratio")}, ${of("records_left_out")} left out;` : "The model in use:";
    $("readout").textContent = `${trained} gap ${of("selection_gap")} on the selection split; on the holdout ` +
      `gap ${of("holdout_gap")}, ${measure} ${of("holdout_performance")}, change ${of("change")}, verdict ${of("verdict")}, flips ${of("flips")}.`;
    $("readout").hidden = false;
  };
  const rove = (row) => {
    for (const one of rows) one.querySelector("a").tabIndex = one === row ? 0 : -1;
    for (const plot of all("svg.plot")) {
      const own = all(".marks a", plot);
      const chosen = own.find((mark) => ranksOf(mark).includes(rankOf(row))) || own[0];
      for (const mark of own) mark.tabIndex = mark === chosen ? 0 : -1;
    }
  };
  const nextIn = (ranks) => ranks[(ranks.indexOf(current) + 1) % ranks.length];

  table.tBodies[0].addEventListener("click", (event) => {
    const row = event.target.closest("tr");
    if (!row || String(getSelection())) return;
    event.preventDefault();
    select(rankOf(row), { focus: row.querySelector("a"), scroll: false });
  });
  table.tBodies[0].addEventListener("keydown", (event) => {
    const shown = all("tbody tr", table).filter((row) => !row.hidden);
    const place = shown.indexOf(event.target.closest("tr"));
    const next = { ArrowDown: place + 1, ArrowUp: place - 1, Home: 0, End: shown.length - 1 }[event.key];
    if (next === undefined || !shown[next]) return;
    event.preventDefault();
    select(rankOf(shown[next]), { focus: shown[next].querySelector("a") });
  });
  for (const mark of marks) {
    mark.addEventListener("click", (event) => {
      event.preventDefault();
      const ranks = ranksOf(mark);
      // the mark's own link names its most telling model; clicks go on from there
      const own = rankNamed(mark.getAttribute("href"));
      select(ranks.includes(current) ? nextIn(ranks) : own, { focus: mark });
    });
    mark.addEventListener("keydown", (event) => {
      const own = all(".marks a", mark.ownerSVGElement).filter((one) => !one.classList.contains("off"));
      const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      own.sort((a, b) => ranksOf(a)[0] - ranksOf(b)[0]);
      const next = own[(own.indexOf(mark) + step + own.length) % own.length];
      select(ranksOf(next)[0], { focus: next });
    });
  }

  // --- filters: two tolerances and a brushed area
  const sliders = { loss: $("loss"), drop: $("drop") };
  const limit = (slider) => slider.value / slider.max * slider.dataset.most;
  let brushed = null;
  const written = (value) => (value === 0 ? "0" : value < 0.001 ? value.toExponential(1) : value.toFixed(4));
  const isWithin = (row) => Object.entries(sliders).every(([name, slider]) => row.dataset[name] <= limit(slider) + 1e-12);
  const filter = () => {
    for (const [name, slider] of Object.entries(sliders)) {
      $(`${name}-shown`).textContent = written(limit(slider));
      slider.setAttribute("aria-valuetext", written(limit(slider)));
    }
    for (const row of rows) row.hidden = !(isWithin(row) && (!brushed || brushed.has(rankOf(row))));
    for (const mark of marks) mark.classList.toggle("off", ranksOf(mark).every((rank) => rowOf.get(rank).hidden));
    tell();
  };
  const tell = () => {
    const shown = models.filter((row) => !row.hidden), { least } = table.dataset;
    const isFairer = (row) => least === undefined || row.dataset.gap - least < -5e-13; // than what is in use
    // ties go as in the run: to model 1, else to the one that performs better
    const [fairest] = shown.filter((row) => row.dataset.gap !== "" && isFairer(row))
      .sort((a, b) => a.dataset.gap - b.dataset.gap || (rankOf(b) === 1) - (rankOf(a) === 1) ||
        a.dataset.drop - b.dataset.drop || rankOf(a) - rankOf(b));
    const none = least === undefined || !shown.length ? "." : "; none of these has a smaller gap on the selection split than the model in use.";
    $("filtered").textContent = `${shown.length} of ${models.length} models shown` + (fairest
      ? `; of these, model ${rankOf(fairest)} has the smallest gap on the selection split.` : none);
    $("clear").hidden = rows.every((row) => !row.hidden);
  };
  const clear = () => {
    brushed = null;
    for (const slider of Object.values(sliders)) slider.value = slider.max;
    all(".brush").forEach((one) => one.remove());
    filter();
  };
  for (const slider of Object.values(sliders)) slider.addEventListener("input", filter);
  $("clear").addEventListener("click", clear);
  addEventListener("keydown", (event) => { if (event.key === "Escape") clear(); });

  // --- brush: drag over a plot
  const startBrush = (plot, event) => {
    if (event.button || event.target.closest(".marks a")) return;
    const place = (at) => new DOMPoint(at.clientX, at.clientY).matrixTransform(plot.getScreenCTM().inverse());
    const from = place(event);
    const box = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    box.setAttribute("class", "brush");
    const move = (at) => {
      const to = place(at);
      const sides = { x: Math.min(from.x, to.x), y: Math.min(from.y, to.y), width: Math.abs(to.x - from.x), height: Math.abs(to.y - from.y) };
      for (const [key, value] of Object.entries(sides)) box.setAttribute(key, value);
    };
    const end = () => {
      plot.removeEventListener("pointermove", move);
      const area = box.getBoundingClientRect();
      if (area.width < 4 && area.height < 4) { box.remove(); return; }
      const hit = all(".marks a", plot).filter((mark) => {
        const dot = mark.querySelector(".dot, .hole, circle").getBoundingClientRect();
        const x = dot.x + dot.width / 2, y = dot.y + dot.height / 2;
        return x >= area.left && x <= area.right && y >= area.top && y <= area.bottom;
      });
      brushed = new Set(hit.flatMap(ranksOf));
      filter();
    };
    all(".brush").forEach((one) => one.remove());
    plot.append(box);
    plot.setPointerCapture(event.pointerId);
    plot.addEventListener("pointermove", move);
    plot.addEventListener("pointerup", end, { once: true });
    plot.addEventListener("pointercancel", end, { once: true });
    event.preventDefault();
  };
  for (const plot of new Set(marks.map((mark) => mark.ownerSVGElement))) {
    plot.addEventListener("pointerdown", (event) => startBrush(plot, event));
  }

  // --- sorting: by the number a cell begins with, or by its words
  const sortedBy = (row, key) => {
    const text = cell(row, key).trim();
    const number = parseFloat(text);
    return Number.isNaN(number) ? text : number;
  };
  const compare = (a, b) => (typeof a === typeof b ? (a > b) - (a < b) : typeof a === "number" ? -1 : 1);
  headings.forEach((heading) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const order = heading.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
      headings.forEach((one) => one.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      const ordered = rows.map((row) => [sortedBy(row, heading.dataset.key), row])
        .sort(([a, one], [b, other]) => sign * compare(a, b) || rankOf(one) - rankOf(other));
      table.tBodies[0].append(...ordered.map(([, row]) => row));
    });
  });

  $("controls").hidden = false;
  filter();
  rove(rows[0]);
  const follow = () => { if (/^#model-\d+$/.test(location.hash)) select(rankNamed(location.hash)); };
  addEventListener("hashchange", follow);
  follow();
})();

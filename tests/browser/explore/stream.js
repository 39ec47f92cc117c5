// Streams models to a screen of its own, ten times a second, as a server does, and measures the frames meanwhile. Places
// differ, so that the axes have to grow; candidates change, so that every mark has to be looked at.
async ([total, each, tab]) => {
  const { mount } = await import("/static/screen.js");
  const asked = async (path) => (await fetch(path)).json();
  const pause = (time) => new Promise((done) => setTimeout(done, time));
  const screen = await asked("/state"), { models } = await asked("/models");
  const { metric } = screen.view.standpoint.tolerances;
  let count = 1, revision = 1000, busy = null, handler = null;

  const made = (number) => {
    const model = structuredClone(models[number % models.length]);
    model.number = number;
    model.cells.number = String(number);
    model.performance.value = 0.8 - 0.0002 * ((number * 7919) % 997) * Math.min(1, number / 500);
    model.gaps[metric].value = 0.001 * ((number * 104729) % 211) * (0.2 + number / total);
    return model;
  };
  const step = (number) => ({ number, at: "2026-01-01T10:00:00+00:00", text: "next best", models: `${number}`, is_undone: false });
  const state = () => {
    const numbers = Array.from({ length: count }, (_, place) => place + 1);
    const candidates = numbers.filter((one) => (one * 31 + count) % 5);
    const view = { ...screen.view, standpoint: { ...screen.view.standpoint, candidates, chosen: count }, current: count };
    const words = { ...screen.words, steps: numbers.slice(-50).map(step), subject: `${count} models looked at` };
    return { ...screen, revision, numbers, busy, view, words, steps: count, focus: { ...screen.focus, model: count } };
  };
  const rows = (query) => {
    const first = Number(query.get("first")), last = Math.min(Number(query.get("last")), first + 499);
    return { revision, models: Array.from({ length: last - first + 1 }, (_, place) => made(first + place)) };
  };
  const answers = { "/state": () => JSON.parse(JSON.stringify(state())), "/models": rows, "/focus": () => screen.focus };
  const request = async (method, path) => {
    const { pathname, searchParams } = new URL(path, location.href);
    return { status: 200, data: answers[pathname](searchParams) };
  };
  const listen = (hears) => { handler = hears; hears("open"); return () => {}; };

  const root = document.getElementById("explore").cloneNode();
  document.getElementById("explore").replaceWith(root);
  mount(root, { request, listen, reportUrl: null });
  await pause(100);
  [...root.querySelectorAll("[role=tab]")].find((one) => one.textContent === tab).click();

  const frames = [];
  let last = performance.now(), isOver = false;
  const frame = (now) => { frames.push(now - last); last = now; if (!isOver) requestAnimationFrame(frame); };
  requestAnimationFrame(frame);
  while (count < total) {
    count = Math.min(total, count + each);
    revision += each;
    busy = { action: "looking for the next best model", done: count, total, seconds: 1, can_stop: true };
    handler("state", { revision, models: count });
    handler("progress", busy);
    await pause(100);
  }
  busy = null;
  handler("progress", null);
  await pause(300);
  isOver = true;
  return frames;
}

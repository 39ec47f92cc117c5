// Transport between page and server: fetch and server-sent events. A notebook has its own transport.

const RETRY = 2000; // milliseconds between attempts to reconnect
const EVENTS = ["state", "progress", "trouble", "end"];

const parsed = async (response) => {
  try {
    return await response.json();
  } catch {
    return null;
  }
};

const request = async (method, path, body, headers = {}, signal = undefined) => {
  const options = { method, headers, signal, credentials: "same-origin", cache: "no-store" };
  if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers = { ...headers, "content-type": "application/json" };
  }
  try {
    const response = await fetch(path, options);
    return { status: response.status, data: await parsed(response) };
  } catch (error) {
    if (error.name === "AbortError") throw error;
    return { status: 0, data: null };
  }
};

/** Listens for events until closed; reconnects whenever the server is gone. */
const listen = (handler) => {
  let source = null, timer = null, isOver = false;
  const look = async () => {
    const { status } = await request("GET", "/state");
    if (isOver) return;
    if (status === 200) open();
    else lose(status === 403 ? "refused" : "lost");
  };
  const lose = (how) => {
    source?.close();
    handler(how);
    timer = setTimeout(look, RETRY);
  };
  const open = () => {
    source = new EventSource("/events");
    source.onopen = () => handler("open");
    source.onerror = () => { if (!isOver) lose("lost"); };
    for (const name of EVENTS) source.addEventListener(name, (event) => handler(name, JSON.parse(event.data)));
    source.addEventListener("end", close); // no reconnection after an announced end
  };
  const close = () => { isOver = true; clearTimeout(timer); source.close(); };
  open();
  return close;
};

/**
 * The transport of the page.
 *
 * `request(method, path, body, headers, signal)` answers `{status, data}`, with status 0 if the server does not answer.
 * `listen(handler)` calls `handler(name, data)` for events of the exploration, and for `open`, `lost` and `refused`
 * of the connection; it returns a function that stops listening.
 * @returns {{request: Function, listen: Function, reportUrl: string|null}}
 */
export const overHttp = () => ({ request, listen, reportUrl: "/report" });

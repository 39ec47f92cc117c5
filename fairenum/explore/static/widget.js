// The screen in a notebook: the same requests and answers as over HTTP, as messages of a widget.

import { mount } from "./screen.js";

const EVENTS = new Set(["state", "progress", "trouble", "end"]);
let views = 0;

/** The transport of one view; other views of the same widget receive its answers, too, and ignore them. */
const overModel = (model) => {
  const name = `${Math.random().toString(36).slice(2)}-${(views += 1)}`, waiting = new Map();
  let asked = 0;
  model.on("msg:custom", (message) => {
    waiting.get(message.id)?.({ status: message.status, data: message.data });
    waiting.delete(message.id);
  });
  const request = (method, path, body, headers = {}, signal = undefined) => new Promise((resolve, reject) => {
    const id = `${name}-${(asked += 1)}`;
    waiting.set(id, resolve);
    signal?.addEventListener("abort", () => {
      waiting.delete(id);
      reject(new DOMException("this request was cancelled", "AbortError"));
    });
    model.send({ id, method, path, body: body ?? null, seen: headers["If-Match"] ?? headers["if-match"] ?? null });
  });
  const listen = (handler) => {
    const heard = (message) => { if (EVENTS.has(message.event)) handler(message.event, message.data); };
    model.on("msg:custom", heard);
    handler("open");
    return () => model.off("msg:custom", heard);
  };
  return { request, listen, reportUrl: null };
};

const render = ({ model, el }) => {
  const root = document.createElement("div");
  root.className = "fairenum-explore";
  el.append(root);
  return mount(root, overModel(model));
};

export default { render };

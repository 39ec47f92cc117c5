// Notices beside the panels: errors, outcomes of steps, the connection, and the colour scheme.

import { button, el, say } from "./dom.js";

const LAMPS = {
  waiting: "connecting", open: "connected", lost: "no connection", refused: "not let in", ended: "ended",
};
const GONE = {
  lost: "The server does not answer. Every step is on the record: start it again with the same command, and open the " +
    "address that it shows.",
  refused: "The server was started again, and does not know this page. Open the address that the terminal shows.",
};

/** Shows an error until it is dismissed, or the next step is taken. */
export const showTrouble = (place, text) => {
  place.hidden = !text;
  if (!text) { place.replaceChildren(); return; }
  place.replaceChildren(el("p", {}, text), button("Dismiss", () => showTrouble(place, "")));
};

/** Shows whether the server is connected. */
export const showConnection = ({ lamp, gone }, { connection }, message) => {
  lamp.dataset.state = connection;
  say(lamp, LAMPS[connection] ?? connection);
  const text = connection === "ended" ? message : GONE[connection] ?? "";
  gone.hidden = !text;
  if (gone.textContent !== text) gone.replaceChildren(...(text ? [el("p", {}, text)] : []));
};

/** Switches between light and dark; the system's setting is the default. */
export const chooseTheme = (root, toggle) => {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const name = () => say(toggle, isDark() ? "Light colours" : "Dark colours");
  const turn = () => { root.dataset.theme = isDark() ? "light" : "dark"; name(); };
  toggle.addEventListener("click", turn);
  system.addEventListener("change", name);
  name();
  return () => system.removeEventListener("change", name);
};

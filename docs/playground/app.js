"use strict";

/* The start of the page, and what other scripts may use. The scripts before it share their names. */

const panels = [];
for (const key of SMALL && VIEW.get("panels") === "1" ? ["a"] : ["a", "b"]) panels.push(new Panel(key));
for (const name of Object.keys(SLIDERS).filter(isShown)) makeSlider(name);
if (isShown("data")) makeButtons("data", KINDS, $("presets"));
if (SMALL && isShown("pass")) makePass();
for (const [name, options] of Object.entries(CHOICES)) {
  if (isShown(name)) makeButtons(name, options, $(SMALL ? "controls" : "further"));
}
const spoken = (navigator.language || "en").slice(0, 2);
state.language = spoken in PLAYGROUND_WORDS ? spoken : "en";
const load = () => {
  given = fromAddress(hash());
  const answers = change(given ? { ...startOf(given.tour), language: state.language, ...given } : {});
  if (!given) $("told").textContent = say("damaged");
  return answers;
};
const loaded = load();
past.length = 0;
refresh();
for (const folded of [$("more"), $("why")]) { // what unfolds below the edge comes into view
  folded.addEventListener("toggle", () => folded.open && folded.scrollIntoView({ block: "nearest" }));
}
for (const [event, printed] of [["beforeprint", true], ["afterprint", false]]) { // paper is white
  addEventListener(event, () => document.documentElement.classList.toggle("printed", printed));
}
addEventListener("hashchange", load);

/* Within another page: its theme, and how high this one is. */
const root = document.documentElement, night = matchMedia("(prefers-color-scheme: dark)");
let theme = VIEW.get("theme");
function dress() {
  root.classList.toggle("dark", theme === "dark" || (theme !== "light" && night.matches));
  paint();
}
night.onchange = dress;
addEventListener("message", ({ source, data }) => {
  if (source !== parent || !["light", "dark", "auto"].includes(data?.playground?.theme)) return;
  ({ theme } = data.playground);
  dress();
});
dress();
for (const [name, on] of Object.entries({ min: SMALL, fill: VIEW.has("fill"), inside: parent !== window })) root.classList.toggle(name, on);
if (parent !== window) {
  const tell = () => parent.postMessage({ playground: { height: Math.ceil(document.body.getBoundingClientRect().height) } }, "*");
  new ResizeObserver(tell).observe(document.body);
}

/*
 * What other scripts may use (docs/lecturers.md). `set` ignores names and values that it does not know, and
 * resolves with the readings once both pictures have fitted the state that is then the latest, mean field until
 * F rests (chains that have not mixed draw on); while a training is watched, once both have begun. So does `ready`.
 */
window.playground = {
  engine,
  ready: loaded.then(() => window.playground),
  state: () => ({ ...state, points: points().map((p) => [...p]), own: own() }),
  set: async (values) => {
    const given = { ...values };
    if (given.own === false) given.points = null;
    return change({ ...("data" in given && !("points" in given) ? { points: null } : {}), ...checked(given) });
  },
  readings,
};

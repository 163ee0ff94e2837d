"use strict";

/* The start of the page, and what other scripts may use. The scripts before it share their names. */

const panels = [];
panels.push(new Panel("a"), new Panel("b"));
for (const name of Object.keys(SLIDERS)) makeSlider(name);
makeButtons("data", KINDS, $("presets"));
for (const [name, options] of Object.entries(CHOICES)) makeButtons(name, options, $("further"));
const spoken = (navigator.language || "en").slice(0, 2);
state.language = spoken in PLAYGROUND_WORDS ? spoken : "en";
const load = () => {
  const given = fromAddress(location.hash.slice(1));
  const answers = change(given ? { ...START, language: state.language, ...given } : {});
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

/*
 * What other scripts may use. `set` takes values of the state by name, ignores names and values
 * that it does not know, and resolves with the readings once both pictures have fitted the state
 * that is then the latest, mean field until F rests (chains that have not mixed draw on); while a training is watched, once
 * both have begun; where workers are refused, at once, with null for a picture. So does `ready`.
 */
window.playground = {
  engine,
  ready: loaded.then(() => window.playground),
  state: () => ({ ...state, points: points().map((p) => [...p]), own: own() }),
  set: (values) => {
    const given = { ...values };
    if (given.own === false) given.points = null;
    return change({ ...("data" in given && !("points" in given) ? { points: null } : {}), ...checked(given) });
  },
  readings,
  pictures: () => pictures,
};

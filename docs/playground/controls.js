"use strict";

/* Sliders, buttons, and what the page says of them. */

const updates = [];

function makeSlider(name) {
  const [low, high, step, first, powers] = SLIDERS[name];
  const input = element("input", { type: "range", min: low, max: high, step, id: `slider-${name}` });
  const output = element("output"), text = element("span");
  input.oninput = () => {
    const value = powers ? Number((10 ** input.value).toPrecision(3)) : Number(input.value);
    change({ [name]: value }, { follow: true, run: name });
    rest();
  };
  const label = element("label", { className: "slider" }, text, input, output);
  label.dataset.control = name;
  $(first || SMALL ? "controls" : "further").append(label);
  updates.push(() => {
    text.textContent = say(name === "width" && panels.every(({ method }) => method === "linear") ? "bumps" : name);
    input.value = powers ? Math.log10(state[name]) : state[name];
    output.textContent = sliderText(name);
    input.setAttribute("aria-valuetext", output.textContent);
    const idle = idles(name);
    label.classList.toggle("idle", idle);
    input.disabled = idle;
  });
}

/** What a slider stands at, the noise in the learner's units. */
function sliderText(name) {
  const value = state[name], [, , step, , powers] = SLIDERS[name];
  if (name === "n") return points().length;
  if (name === "noise" && state.units !== COURSE) return show(value * state.units[3]);
  if (powers) return Number(value.toPrecision(2));
  return step === 1 ? value : value.toFixed(step < 0.1 ? 2 : 1);
}

/** Whether a control changes nothing as things stand. */
function idles(name) {
  const shows = (method) => panels.some((panel) => panel.method === method), bbb = shows("bbb"), mixture = state.prior === "mixture";
  return (
    (name === "sigma" && (mixture || panels.every(({ method }) => ["learnt", "pbp"].includes(method)))) ||
    (name === "noise" && own() && panels.every(({ method }) => method === "pbp")) || (["samples", "kl"].includes(name) && !bbb) ||
    (["sigma1", "sigma2", "pi"].includes(name) && !mixture) ||
    (name === "sigma1" && state.pi === 0) || (name === "sigma2" && state.pi === 1) ||
    (["n", "seed"].includes(name) && own()) || (name === "passes" && !shows("pbp"))
  );
}

/** A button for each option of a part of the state. */
function makeButtons(name, options, place) {
  const text = element("span", { className: "name" }), buttons = options.map(() => element("button", { type: "button" }));
  buttons.forEach((button, i) => (button.onclick = () => {
    chosen = -1;
    change({ [name]: options[i], ...(name === "data" && { points: null }) });
  }));
  const set = element("fieldset", {}, text, ...buttons);
  set.dataset.control = name;
  place.append(set);
  updates.push(() => {
    text.textContent = say(name);
    set.setAttribute("aria-label", say(name));
    buttons.forEach((button, i) => {
      button.textContent = typeof options[i] === "number" ? options[i] : say(String(options[i]));
      button.setAttribute("aria-pressed", state[name] === options[i] && !(name === "data" && own()));
    });
  });
}

/** A button for one more pass of PBP. */
function makePass() {
  const button = element("button", { type: "button", onclick: () => change({ passes: Math.min(state.passes + 1, 100) }) });
  $("controls").append(button);
  updates.push(() => (button.textContent = say("pass")));
}

/** Write all words: in another language, or of other methods. */
function writeWords() {
  document.documentElement.lang = state.language;
  document.title = VIEW.get("title") || say("title");
  const told = { mixed: MIXED, a: say(`about.${state.a}`), b: say(`about.${state.b}`) };
  for (const place of document.querySelectorAll("[data-say]")) place.textContent = say(place.dataset.say, told);
  $("title").textContent = document.title;
  $("remove").title = say("removeHint");
  $("language").value = state.language;
  if (playing) $("play").textContent = say("pause");
  for (const panel of panels) {
    panel.menu.replaceChildren(...METHODS.map((method) => element("option", { value: method, textContent: say(`methods.${method}`) })));
    panel.menu.value = panel.method;
    panel.menu.setAttribute("aria-label", say(panel.key === "a" ? "left" : "right"));
  }
}

const written = {}; // what the words, and all but the points, were last written for
/** Whether something differs from what it was at the last call. */
function differs(name, ...what) {
  const now = JSON.stringify(what), before = written[name];
  written[name] = now;
  return now !== before;
}

function refresh() {
  $("undo").disabled = !past.length;
  $("redo").disabled = !future.length;
  if (state.challenge && !guess) beginGuess();
  if (!state.challenge) guess = null;
  if (differs("words", state.language, state.a, state.b)) writeWords();
  if (differs("state", { ...state, points: 0 }, own(), points().length, guess?.seen)) refreshControls();
  writeAddress();
  paint();
}

/** Show what depends on more than where the points are: a hand moves them sixty times a second. */
function refreshControls() {
  $("whole").hidden = Boolean(window.playgroundAddress);
  for (const update of updates) update();
  const { units } = state, [noise, sd] = [state.noise, priorSd()].map((value) => show(value * units[3]));
  $("scale").textContent = units === COURSE ? "" : say("scale", { noise, sd });
  const hmc = panels.some(({ method, key }) => method === "hmc" && !(key === "b" && tourStep()?.single));
  const hidden = { prior: !state.lines, posterior_mean: !hmc, posterior_band: !hmc, truth: !truth() };
  const marks = PLAYGROUND_MARKS.filter(({ name }) => name in PLAYGROUND_WORDS.en.legend && !hidden[name]);
  $("legend").innerHTML = marks.map((mark) => `<span class="${mark.name}">${swatch(mark)}${say(`legend.${mark.name}`)}</span>`).join("");
  for (const panel of panels) panel.canvas.classList.toggle("guessing", drawsGuess(panel));
  $("challenge").setAttribute("aria-pressed", state.challenge);
  showTour();
}

/** The sd of the prior's functions at x = 0: half of a symmetric input's square passes a ReLU. */
function priorSd() {
  const { hidden, prior } = problem(), square = engine.makePrior(prior).std ** 2;
  return Math.sqrt(hidden.reduce((variance, units) => square * (1 + (units * variance) / 2), square));
}

"use strict";

/* The state of the page: what can be set, how an address holds it, and undo. */

const engine = playgroundMethods(playgroundEngine()), { COURSE, MOST, TRUTHS, made, read, round, widestGap } = playgroundPoints;

/* How the page is shown: what stands between "?" and "#" of its address (docs/lecturers.md has the names). */
const PLACE = new URL(window.playgroundAddress ?? location.href, "file:///"), VIEW = PLACE.searchParams;
const SMALL = VIEW.get("ui") === "min", CHOSEN = (VIEW.get("controls") ?? "sigma,noise").split(",");
const isShown = (control) => !SMALL || CHOSEN.includes(control);
const hash = () => (window.playgroundAddress ? PLACE.hash : location.hash).slice(1); // a page within a page has none

const METHODS = ["map", "ensemble", "bbb", "hmc", "linear", "learnt", "pbp", "dropout", "laplace"];
const KINDS = Object.keys(TRUTHS);
const GRID = Float64Array.from({ length: 121 }, (_, i) => -1 + i / 60);
const CHAINS = 4, MIXED = 1.02, MORE = 1000, MOST_DRAWS = 5000; // kept by each chain, and judged after each MORE
const SEARCHES = 4, RESTS = 0.5, SEEN = 0.1; // nats: F rests if 2000 more steps lower it by less; less shows in no picture
const START = {
  a: "bbb", b: "hmc", data: "gap", n: 32, seed: 2, points: null, units: COURSE,
  edited: false, // own points that were made up first: what made them is still their truth
  names: "", zeros: "", // of a table's two columns, with a tab between; zeros are dates
  prior: "gaussian", sigma: 3, sigma1: 1.5, sigma2: 0.1, pi: 0.5,
  noise: 1, samples: 1, kl: 1, width: 20, layers: 1, tie: "weight", passes: 40, lines: false, challenge: false, tour: 0, language: "en",
};
const SLIDERS = {
  // name: [low, high, step, first, powers of ten?]
  sigma: [0.2, 10, 0.1, true], noise: [0.1, 3, 0.1, true], samples: [1, 10, 1, true],
  n: [4, 64, 1, true], width: [2, 20, 1], kl: [-3, 1, 0.1, false, true], sigma1: [0.1, 5, 0.05],
  sigma2: [-2, 0.5, 0.1, false, true], pi: [0, 1, 0.05], seed: [0, 99, 1], passes: [1, 100, 1],
};
const LARGEST = 1e4, LONGEST = 30; // |y|, in the course's units; letters of a name
const CHOICES = { layers: [1, 2], prior: ["gaussian", "mixture"], tie: ["weight", "all"], lines: [true, false] };

const $ = (id) => document.getElementById(id);
const say = (key, values = {}) => {
  const text = key.split(".").reduce((at, part) => at && at[part], PLAYGROUND_WORDS[state.language]);
  return String(text).replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
};
/** Write a number with three significant digits. */
function show(value) {
  const short = Number(value.toPrecision(3)), size = Math.floor(Math.log10(Math.abs(short)));
  if (!short) return "0";
  const [digits, power] = short.toExponential(2).split("e");
  const text = size < -3 || size > 5 ? `${digits}\u00a0×\u00a0${tens(power)}` : short.toFixed(Math.max(0, 2 - size));
  return text.replace("-", "−");
}
const tens = (power) => `10${[...String(Number(power))].map((sign) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[sign] ?? "⁻").join("")}`;
const element = (tag, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};

let state = { ...START }, chosen = -1, asked = 0, held = false;
let given = null; // what the address held
let limit = 30, fresh = true; // of |y|, in the course's units; whether other points need another

/* ---- The state, and the address. ---- */

const points = () => state.points || made(engine, state.data, state.n, state.noise, state.seed);
const own = () => state.points !== null;
const truth = () => (own() && !state.edited ? null : TRUTHS[state.data]);

const SIGNS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const encoded = (k, many) => Array.from({ length: many }, (_, i) => SIGNS[Math.floor(k / 64 ** (many - 1 - i)) % 64]).join("");
const decoded = (text, many) => Array.from({ length: text.length / many }, (_, i) => {
  return [...text.slice(i * many, (i + 1) * many)].reduce((k, sign) => 64 * k + SIGNS.indexOf(sign), 0);
});
const checksum = (text) => {
  return encoded([...text].reduce((sum, sign) => Math.imul(sum ^ sign.charCodeAt(0), 16777619) >>> 0, 2166136261), 6);
};

const HALF = 2 ** 23; // four signs hold less than two halves
const places = (values) => Math.min(7, Math.floor(Math.log10((HALF - 1) / Math.max(...values.map(Math.abs)))));
const columns = (pairs) => [0, 1].map((k) => pairs.map((p) => p[k]));

/** Round points to what an address holds of them: seven digits of the largest. */
function tidy(pairs) {
  const most = columns(pairs).map((values) => 10 ** places(values));
  return pairs.map((p) => p.map((value, k) => Math.round(value * most[k]) / most[k] + 0));
}

/** How an address holds what is no plain value; names stood there as they are before version 2. */
const FORMS = {
  points: {
    write: (pairs) => columns(pairs).map((values) => {
      const digits = places(values);
      return digits + values.map((value) => encoded(Math.round(value * 10 ** digits) + HALF, 4)).join("");
    }).join("."),
    read(text, version) {
      if (version === 1) return text.split(";").map((pair) => pair.split(",").map(Number));
      const [x, y = []] = text.split(".").map((one) => decoded(one.slice(1), 4).map((k) => (k - HALF) / 10 ** one[0]));
      return x.map((value, i) => [value, y[i]]);
    },
  },
  units: { write: (four) => four.join("_"), read: (text) => text.split(/[,_]/).map(Number) },
  names: {
    write: (text) => Array.from(text, (_, i) => encoded(text.charCodeAt(i), 3)).join(""),
    read: (text, version) => (version === 1 ? text : String.fromCharCode(...decoded(text, 3))),
  },
};

/** Write the state as "v=2.LENGTH.CHECKSUM&name=value&…"; version 1 had the names and values alone. */
function toAddress() {
  const query = new URLSearchParams(), start = startOf(state.tour);
  for (const [name, value] of Object.entries(state)) {
    if (value !== start[name]) query.set(name, FORMS[name] ? FORMS[name].write(value) : value);
  }
  const text = query.toString();
  return text && `v=2.${text.length}.${checksum(text)}&${text}`;
}

/** Return what an address holds and can be used, or null if the address is damaged. */
function fromAddress(text) {
  const version = /^v(=|$)/.test(text) ? 2 : 1, given = {};
  const [, length, sum, rest] = text.match(/^v=2\.(\d+)\.([\w-]{6})&(.*)$/) || [];
  if (version === 2 && (!rest || rest.length !== Number(length) || checksum(rest) !== sum)) return null;
  for (const [name, value] of new URLSearchParams(rest ?? text)) {
    if (/[=&%]/.test(name)) return null; // it was encoded twice
    given[name] = Object.hasOwn(FORMS, name) ? FORMS[name].read(value, version) : value;
  }
  const taken = checked(given);
  return ["points", "units"].some((name) => name in given && !(name in taken)) ? null : taken;
}

/** Return the values of `given` that the playground can take. */
function checked(given) {
  const taken = {};
  const finite = (list, n) => Array.isArray(list) && list.length === n && list.every(Number.isFinite);
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(START, name)) continue;
    const slider = SLIDERS[name];
    if (slider) {
      const [low, high, step, , powers] = slider;
      const number = parseFloat(value);
      if (!Number.isFinite(number)) continue;
      const within = Math.min(Math.max(number, powers ? 10 ** low : low), powers ? 10 ** high : high);
      taken[name] = step === 1 ? Math.round(within) : within;
    } else if (name === "points") {
      const many = Array.isArray(value) && value.length >= 2 && value.length <= MOST;
      if (value === null) taken.points = null;
      else if (many && value.every((p) => finite(p, 2) && Math.abs(p[0]) <= 1 && Math.abs(p[1]) <= LARGEST)) taken.points = value;
    } else if (name === "names" || name === "zeros") {
      taken[name] = String(value).split("\t").slice(0, 2).map((one) => one.slice(0, LONGEST)).join("\t");
    } else if (name === "units") {
      if (finite(value, 4) && value[1] > 0 && value[3] > 0) taken.units = value;
    } else {
      const options = {
        a: METHODS, b: METHODS, data: KINDS, language: Object.keys(PLAYGROUND_WORDS),
        edited: [true, false], challenge: [true, false], tour: [0, 1, 2, 3, 4, 5, 6, 7, 8], ...CHOICES,
      }[name];
      const same = options.find((option) => String(option) === String(value));
      if (same !== undefined) taken[name] = same;
    }
  }
  return taken;
}

/**
 * Take new values and ask both pictures. What can be undone is the state before; of changes that
 * follow each other in one run (of a slider, of a drag) only that before the first.
 */
function change(values, { follow = false, run = null } = {}) {
  const next = { ...state, ...values };
  if (!next.points) Object.assign(next, { units: COURSE, names: "", zeros: "", edited: false });
  else if ("points" in values) Object.assign(next, { points: tidy(values.points), edited: values.edited || false });
  if (JSON.stringify(next) !== JSON.stringify(state)) {
    const now = performance.now(), goesOn = run && run === latest.run && (held || document.querySelector("input:active") || now - latest.at < 1000);
    if (!goesOn && past.push(state) > 500) past.shift();
    future.length = 0;
    latest = { run, at: now };
  }
  return become(next, follow);
}

let latest = {};
const past = [], future = []; // states
function travel(from, to) {
  if (!from.length || held) return;
  to.push(state);
  latest = {};
  chosen = -1;
  become(from.pop());
}

function become(next, follow = false) {
  if (next.points !== state.points || next.language !== state.language) $("told").textContent = "";
  const others = next.data !== state.data || next.units !== state.units || (state.points && !next.points);
  if (others) $("remove").setAttribute("aria-pressed", false);
  fresh ||= others;
  state = next;
  if (others || next.challenge === false) guess = null; // of other points
  if (chosen >= points().length) chosen = -1;
  refresh();
  return ask(follow);
}

let writing = 0;
function writeAddress() {
  clearTimeout(writing); // browsers refuse more than some hundred changes a minute
  writing = setTimeout(() => {
    const query = toAddress();
    $("whole").href = `index.html#${query}`;
    try {
      history.replaceState(null, "", query ? `#${query}` : location.pathname + location.search);
    } catch { /* a sandboxed frame has no history: the share button still gives the address */ }
  }, 250);
}

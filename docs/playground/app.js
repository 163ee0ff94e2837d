"use strict";

/*
 * The page of the playground. One state; each change of it is drawn, kept in the address, and sent
 * to the workers as a question for the left and the right picture.
 */
(() => {
  const engine = playgroundEngine(), { COURSE, MOST, TRUTHS, made, read, round, widestGap } = playgroundPoints;
  const METHODS = ["map", "ensemble", "bbb", "hmc"];
  const KINDS = Object.keys(TRUTHS);
  const GRID = Float64Array.from({ length: 121 }, (_, i) => -1 + i / 60);
  const CHAINS = 4, MIXED = 1.02, MORE = 500, MOST_DRAWS = 2500; // kept by each chain, and judged after each MORE
  const SEARCHES = 4, RESTS = 0.5, SEEN = 0.1; // nats: F rests if 2000 more steps lower it by less; less shows in no picture
  const START = {
    a: "bbb", b: "hmc", data: "gap", n: 32, seed: 2, points: null, units: COURSE,
    edited: false, // own points that were made up first: what made them is still their truth
    names: "", zeros: "", // of a table's two columns, with a tab between; zeros are dates
    prior: "gaussian", sigma: 3, sigma1: 1.5, sigma2: 0.1, pi: 0.5,
    noise: 1, samples: 1, kl: 1, width: 20, layers: 1, lines: false, language: "en",
  };
  const SLIDERS = {
    // name: [low, high, step, first, powers of ten?]
    sigma: [0.2, 5, 0.1, true], noise: [0.1, 3, 0.1, true], samples: [1, 10, 1, true],
    n: [4, 64, 1, true], width: [2, 20, 1], kl: [-3, 1, 0.1, false, true], sigma1: [0.1, 5, 0.05],
    sigma2: [-2, 0.5, 0.1, false, true], pi: [0, 1, 0.05], seed: [0, 99, 1],
  };
  const LARGEST = 1e4, LONGEST = 30; // |y|, in the course's units; letters of a name
  const CHOICES = { layers: [1, 2], prior: ["gaussian", "mixture"], lines: [true, false] };

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
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(state)) {
      if (value !== START[name]) query.set(name, FORMS[name] ? FORMS[name].write(value) : value);
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
          edited: [true, false], ...CHOICES,
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
      const now = performance.now(), goesOn = run && run === latest.run && (held || now - latest.at < 1000);
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
    if (chosen >= points().length) chosen = -1;
    refresh();
    return ask(follow);
  }

  let written = 0;
  function writeAddress() {
    clearTimeout(written); // browsers refuse more than some hundred changes a minute
    written = setTimeout(() => {
      const query = toAddress();
      try {
        history.replaceState(null, "", query ? `#${query}` : location.pathname + location.search);
      } catch { /* a sandboxed frame has no history: the share button still gives the address */ }
    }, 250);
  }

  /* ---- Questions and answers. ---- */

  function problem() {
    const now = points(), hidden = Array(state.layers).fill(state.width);
    const { sigma, sigma1, sigma2, pi } = state;
    return {
      hidden, x: Float64Array.from(now, (p) => p[0]), y: Float64Array.from(now, (p) => p[1]), noise: state.noise,
      prior: state.prior === "gaussian" ? { sigma } : { sigma1, sigma2, pi },
    };
  }

  /** Ask both pictures; resolves with the readings once neither has more to say of the latest state. */
  function ask(follow = false) {
    asked += 1;
    return Promise.all(panels.map((panel) => panel.ask(asked, follow))).then(readings);
  }

  const program = `(${playgroundWorker})((${playgroundEngine})())`;
  const blob = URL.createObjectURL(new Blob([program], { type: "text/javascript" }));

  /** One of the two pictures: its workers, what they answered, and how that is drawn. */
  class Panel {
    constructor(key) {
      this.key = key;
      this.workers = [];
      this.canvas = element("canvas", { tabIndex: 0 });
      this.canvas.setAttribute("role", "application");
      this.menu = element("select");
      this.caption = element("figcaption");
      this.menu.onchange = () => change({ [key]: this.menu.value });
      $("panels").append(element("figure", {}, this.menu, this.canvas, this.caption));
      this.context = this.canvas.getContext("2d");
      new ResizeObserver(() => drawPanel(this)).observe(this.canvas);
      pointer(this);
    }

    get method() { return state[this.key]; }

    worker(i) {
      while (this.workers.length <= i) {
        const worker = new Worker(blob);
        worker.onmessage = (event) => this.hear(event.data, this.workers.indexOf(worker));
        worker.onerror = () => this.fail();
        this.workers.push(worker);
      }
      return this.workers[i];
    }

    ask(id, follow) {
      const { method } = this, hmc = method === "hmc", bbb = method === "bbb";
      const question = {
        method, problem: problem(), seed: state.seed, watch: watching() && !hmc, // chains go on by themselves
        samples: bbb ? state.samples : 0, klWeight: bbb ? state.kl : 0,
      };
      const same = JSON.stringify(question), { answer } = this;
      if (same === this.same && !this.followed) return this.promise; // it goes on, or stands
      const kept = bbb && !question.watch && same === this.same && answer?.id === this.id; // the hand's own fit is the quick one
      Object.assign(this, { same, id, kept, question, followed: follow, watched: question.watch, failed: false });
      if (answer) answer.old = !kept; // of another state: nothing is said of it
      if (!this.rest) this.promise = new Promise((resolve) => (this.rest = resolve)); // else that of an overtaken question
      const from = follow && bbb && answer?.mu && { mu: answer.mu, rho: answer.rho };
      this.send({ ...question, follow, from }, hmc ? CHAINS : 1);
      return this.promise;
    }

    /** Send a question to as many workers as share its parts: chains, or searches. */
    send(question, parts) {
      const many = Math.min(parts, navigator.hardwareConcurrency || 2), all = Array.from({ length: parts }, (_, k) => k);
      const { id } = Object.assign(this, { many, parts: [], judged: {} });
      try {
        for (let i = 0; i < many; i++) {
          this.worker(i).postMessage({ ...question, id, grid: GRID, chains: all.filter((k) => k % many === i) });
        }
        this.workers.slice(many).forEach((worker) => worker.postMessage({ id }));
      } catch {
        this.fail();
      }
    }

    /** Give up workers that were refused or that broke; the next question tries anew. */
    fail() {
      this.workers.forEach((worker) => worker.terminate());
      Object.assign(this, { workers: [], failed: true, same: "" });
      this.rest = this.rest?.();
      paint();
    }

    hear(told, i) {
      // Between two movements of a hand an older answer is better than none.
      if (told.id !== this.id && !told.follow) return;
      if ((this.method === "hmc") !== Boolean(told.draws)) return; // of another method
      this.parts[i] = told;
      const parts = this.parts.filter(Boolean);
      if (parts.length < this.many || parts.some((p) => p.step !== told.step || p.id !== told.id)) return;
      if (told.draws) this.answer = this.together(parts);
      else if (told.totals) this.answer = this.lowest(parts);
      else if (this.kept && told.id === this.id) this.answer.follow = false;
      else this.answer = { ...told, method: this.method };
      if (!held) fitLimit();
      paint();
      if (told.id !== this.id) return;
      const falls = told.final && this.method === "bbb" && !told.follow && !told.totals;
      if (falls) this.send({ ...this.question, method: "lowest", watch: false }, SEARCHES);
      if (this.watched || (told.final && !falls)) this.rest = this.rest?.(); // let those go on who wait
      if (told.final && this.goesOn) this.workers.slice(0, this.many).forEach((w) => w.postMessage({ id: told.id, on: MORE }));
    }

    /** The lowest q that all workers found; as a picture, what is shown if it is hardly higher. */
    lowest(found) {
      const best = found.reduce((one, other) => (other.total < one.total ? other : one));
      const before = this.answer, gained = before.total - best.total, totals = found.flatMap((one) => one.totals);
      const shown = gained < SEEN ? { ...before, mu: best.mu, rho: best.rho } : { ...best, before: before.mean, gained };
      const agree = totals.filter((total) => total < best.total + RESTS).length;
      return { ...shown, method: "bbb", rests: state.layers === 1 && best.gain < RESTS, starts: totals.length, agree };
    }

    /** Whether the chains draw on: they do not agree yet, and have not drawn for long. */
    get goesOn() {
      const { answer } = this;
      return this.method === "hmc" && !answer.follow && !(answer.r_hat <= MIXED) && answer.total < CHAINS * MOST_DRAWS;
    }

    /** The chains of all workers together. */
    together(parts) {
      const m = GRID.length, chains = parts.flatMap((p) => p.draws), f = engine.join(chains), total = f.length / m;
      const lines = engine.join(Array.from({ length: 12 }, (_, s) => f.subarray(Math.floor((s * total) / 12) * m).subarray(0, m)));
      const at = (i) => chains.map((g) => Float64Array.from({ length: g.length / m }, (_, s) => g[s * m + i]));
      const largest = () => Math.max(...Array.from(GRID, (_, i) => engine.diagnose(at(i)).rHat)); // R-hat over the grid
      if (parts[0].final && !parts[0].follow) this.judged = { r_hat: largest(), draws: total };
      return { ...parts[0], method: "hmc", ...engine.moments(f, total, m), total, lines, ...this.judged };
    }
  }

  /* ---- What the pictures say. ---- */

  /** Mean epistemic sd among the points, in their widest gap, and outside; NaN where no such place is. */
  function spreads({ std }) {
    const x = points().map((p) => p[0]), low = Math.max(-1, Math.min(...x)), high = Math.min(1, Math.max(...x));
    const gap = widestGap(points()), within = (from, to) => Array.from({ length: 41 }, (_, i) => from + (i / 40) * (to - from));
    const sd = (at) => {
      const i = Math.min(Math.floor((at + 1) * 60), GRID.length - 2), share = (at + 1) * 60 - i;
      return (1 - share) * std[i] + share * std[i + 1];
    };
    const mean = (places) => (places.reduce((sum, at) => sum + sd(at), 0) / places.length) * state.units[3];
    return {
      among: mean(within(low, high).filter((at) => !gap || at <= gap[0] || at >= gap[1])),
      gap: mean(gap ? within(...gap) : []),
      outside: mean([...GRID].filter((at) => at < low || at > high)),
    };
  }

  function status(panel) {
    const { answer } = panel;
    if (panel.failed) return say("blocked");
    if (!answer || answer.old) return "…";
    if (answer.follow) return say("status.follows");
    const { method } = answer, where = spreads(answer);
    if (method === "hmc" && answer.warm) return say("status.warm", answer);
    if (method === "hmc" ? !answer.r_hat : watching() && !answer.final) return say("status.training", answer);
    if (broken(answer)) return say("broken");
    const gap = Number.isNaN(where.gap) ? "" : say("status.gap", { gap: show(where.gap) });
    const values = { among: show(where.among), gap };
    if (method === "bbb") {
      const [complexity, likelihood] = [state.kl * answer.complexity, answer.likelihood].map(Math.round);
      values.weight = state.kl === 1 ? "" : `${Number(state.kl.toPrecision(2))} × `;
      Object.assign(values, { complexity, likelihood, F: complexity + likelihood }); // the sum of what is written
      values.is = state.layers === 1 ? "=" : "≈";
      values.rest = training(answer) + (answer.gained ? say("found", { by: show(answer.gained) }) : "");
    }
    if (method === "map") values.loss = Math.round(answer.loss);
    if (method === "hmc") {
      const verdict = answer.r_hat <= MIXED ? "mixed" : panel.goesOn ? "mixing" : "not";
      Object.assign(values, { r_hat: upward(answer.r_hat), draws: answer.draws });
      values.verdict = say(verdict, { mixed: MIXED });
    }
    return say(`status.${method}`, values);
  }

  const training = (answer) => say("rests" in answer ? (answer.rests ? "rests" : "status.ended") : "status.falls", answer); // of two layers F is an estimate
  const upward = (r_hat) => (Math.ceil(r_hat * 1000) / 1000).toFixed(r_hat < 1.1 ? 3 : 2); // no 1.02 above 1.02
  const broken = ({ mean, r_hat = 1 }) => !(mean.every(Number.isFinite) && r_hat < Infinity);

  /** Whether a picture is one of the present state; and whether it is finished, so that the verdict may speak of it. */
  const current = ({ answer, failed }) => answer && !failed && !answer.old && !answer.follow;
  const settled = (panel) => current(panel) && (panel.method === "bbb" ? "rests" in panel.answer : panel.answer.final || panel.answer.r_hat);

  function verdict() {
    if (state.a === state.b || !panels.every((panel) => current(panel) && !broken(panel.answer))) return "";
    const chains = panels.find(({ method }) => method === "hmc"), r_hat = chains?.answer.r_hat;
    const drawing = chains?.goesOn ? `; ${say("mixing")}` : "";
    if (r_hat > MIXED) return say("wait", { r_hat: upward(r_hat), drawing });
    const falls = panels.find(({ method, answer }) => method === "bbb" && !answer.rests);
    if (falls) return training(falls.answer);
    return panels.every(settled) ? judged(...panels.map(({ answer }) => answer)) : "";
  }

  function judged(one, other) {
    const [p, q] = [one, other].map(spreads), name = ["gap", "outside", "among"].find((place) => !Number.isNaN(p[place]));
    const chains = [one, other].find(({ method }) => method === "hmc"), rival = chains === one ? other : one;
    const [sd, truth] = chains === one ? [q[name], p[name]] : [p[name], q[name]], ratio = truth / sd;
    const values = { where: say(name === "gap" ? "inGap" : name), sd: show(sd), truth: show(truth) };
    const [first, second] = [rival, rival === one ? other : one].map(({ method }) => say(`methods.${method}`));
    if (!chains || !(ratio < 1e6)) return say("compare", { ...values, one: first, other: second });
    const times = Number(Math.max(ratio, 1 / ratio).toPrecision(2));
    return say(ratio > 1.25 ? "sure" : ratio < 0.8 ? "unsure" : "alike", { ...values, other: first, times });
  }

  function readingsOf({ answer }) {
    if (!answer) return null;
    const of = truth(), inside = [...GRID.keys()].filter((i) => Math.abs(GRID[i]) <= 0.5);
    const rms = of ? Math.sqrt(inside.reduce((sum, i) => sum + (answer.mean[i] - of(GRID[i])) ** 2, 0) / inside.length) : NaN;
    return {
      method: answer.method, F: answer.method === "bbb" ? answer.total : NaN, rms, rests: answer.rests ?? false,
      r_hat: answer.r_hat ?? NaN, mean: [...answer.mean], sd: [...answer.std],
    };
  }

  /** Both pictures in numbers; what stands at the top is the left one's, R-hat that of the chains. */
  function readings() {
    const [a, b] = panels.map(readingsOf);
    const r_hat = [a, b].map((one) => one?.r_hat).find((value) => value > 0) ?? NaN;
    return { ...a, r_hat, x: [...GRID], a, b };
  }

  /* ---- Drawing. ---- */

  const ROOM = 1.05; // between the largest |y| and the edge
  /** Let the axis hold the points, and follow what both pictures show once they rest. */
  function fitLimit() {
    const sizes = panels.filter((panel) => settled(panel) && !broken(panel.answer)).map(({ answer }) => {
      const edges = Array.from(answer.mean, (mean, i) => Math.abs(mean) + 2 * answer.std[i]).sort((p, q) => p - q);
      return edges[Math.floor(0.9 * edges.length)];
    });
    const rests = sizes.length === panels.length, most = Math.max(...points().map((p) => Math.abs(p[1])));
    const wanted = Math.max(4.5, most, ...(rests ? sizes : [])) * ROOM * (1 - 1e-3);
    const least = above(wanted, [1, 2, 3, 5, 8, 10]);
    if (least > limit || (rests && (fresh || wanted < 0.8 * least))) limit = least; // a hair's breadth moves no axis
    fresh &&= !rests;
  }

  /** The first of some factors times a power of ten that is not below a number. */
  function above(number, factors) {
    const power = 10 ** Math.floor(Math.log10(number));
    return factors.map((factor) => factor * power).find((value) => value >= number);
  }

  const MARKS = Object.fromEntries(PLAYGROUND_MARKS.map((mark) => [mark.name, mark]));
  const PATTERNS = { "-": [], "--": [3.7, 1.6], "-.": [6.4, 1.6, 1, 1.6], ":": [1, 1.65] }; // in widths of the line, as matplotlib has them
  const dashes = ({ linestyle, linewidth }) => PATTERNS[linestyle].map((length) => length * linewidth);
  const colour = (name) => getComputedStyle(panels[0].canvas).getPropertyValue(`--${name}`).trim();
  const MARGIN = { left: 46, right: 10, top: 10, bottom: 26 };

  function scales(panel) {
    const { clientWidth: width, clientHeight: height } = panel.canvas;
    const w = width - MARGIN.left - MARGIN.right, h = height - MARGIN.top - MARGIN.bottom;
    return {
      width, height,
      x: (x) => MARGIN.left + ((x + 1) / 2) * w,
      y: (y) => MARGIN.top + ((limit - y) / (2 * limit)) * h,
      unX: (px) => ((px - MARGIN.left) / w) * 2 - 1,
      unY: (py) => limit - ((py - MARGIN.top) / h) * 2 * limit,
    };
  }

  function drawPanel(panel) {
    const { canvas, context: c, answer } = panel, s = scales(panel), ratio = devicePixelRatio || 1;
    if (!s.width) return;
    const [w, h] = [Math.round(s.width * ratio), Math.round(s.height * ratio)];
    if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, { width: w, height: h });
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, s.width, s.height);
    axes(c, s);
    if (panels.every(settled) && $("verdict").textContent) shade(c, s);
    c.save();
    c.beginPath();
    c.rect(MARGIN.left, MARGIN.top, s.width - MARGIN.left - MARGIN.right, s.height - MARGIN.top - MARGIN.bottom);
    c.clip();
    if (state.lines) strands(c, s, priorLines(), MARKS.prior);
    if (answer) {
      const { mean, std } = answer, hmc = answer.method === "hmc";
      band(c, s, mean, std.map((sd) => Math.hypot(sd, state.noise)), MARKS.total);
      band(c, s, mean, std, MARKS.epistemic);
      if (answer.lines.length > GRID.length) strands(c, s, answer.lines, MARKS.drawn);
      if (answer.before) curve(c, s, answer.before, { ...MARKS.mean, linewidth: 0.8 });
      for (const side of hmc ? [-2, 2] : []) curve(c, s, mean.map((m, i) => m + side * std[i]), MARKS.posterior_band);
      curve(c, s, mean, hmc ? MARKS.posterior_mean : MARKS.mean);
    }
    const of = truth();
    if (of) curve(c, s, GRID.map(of), MARKS.truth);
    points().forEach(([x, y], i) => dot(c, s.x(x), s.y(y), i === chosen && document.activeElement === canvas));
    c.restore();
  }

  /** Shade the places of which the verdict speaks. */
  function shade(c, s) {
    const x = points().map((p) => p[0]), gap = widestGap(points());
    const places = gap ? [gap] : [[-1, Math.min(...x)], [Math.max(...x), 1]];
    c.fillStyle = colour("fault");
    c.globalAlpha = 0.07;
    for (const [low, high] of places) {
      c.fillRect(s.x(low), MARGIN.top, s.x(high) - s.x(low), s.height - MARGIN.top - MARGIN.bottom);
    }
    c.globalAlpha = 1;
  }

  function axes(c, s) {
    const [x0, x1, y0, y1] = state.units;
    c.font = "12px system-ui, sans-serif";
    c.fillStyle = colour("soft");
    c.strokeStyle = colour("line");
    c.lineWidth = 0.5; // of lines that a flat rectangle draws twice
    c.textAlign = "center";
    c.textBaseline = "top";
    const xs = ticks(x0 - x1, x0 + x1, s.width / 90), ys = ticks(y0 - y1 * limit, y0 + y1 * limit, s.height / 45);
    for (const x of xs.values) {
      const at = s.x((x - x0) / x1);
      c.strokeRect(at, MARGIN.top, 0, s.height - MARGIN.top - MARGIN.bottom);
      c.fillText(xs.text(x), Math.min(Math.max(at, 30), s.width - 24), s.height - MARGIN.bottom + 6);
    }
    c.textAlign = "right";
    c.textBaseline = "middle";
    for (const y of ys.values) {
      const at = s.y((y - y0) / y1);
      c.strokeRect(MARGIN.left, at, s.width - MARGIN.left - MARGIN.right, 0);
      c.fillText(ys.text(y), MARGIN.left - 5, at);
    }
    const titles = [xs, ys].map(({ shared }, k) => [named(k), shared && `(${shared})`].filter(Boolean).join(" "));
    c.fillText(titles[0], s.width - MARGIN.right - 6, s.height - MARGIN.bottom - 9);
    c.textAlign = "left";
    c.fillText(titles[1], MARGIN.left + 6, MARGIN.top + 9);
  }

  /** The name of x or y, with the date that its 0 stands for. */
  function named(k) {
    const [name = "", date] = [state.names, state.zeros].map((pair) => pair.split("\t")[k]);
    return date ? say("days", { name: name || "xy"[k], date }) : name;
  }

  /** Round numbers between two limits, about as many as asked; `shared` is what all labels leave out. */
  function ticks(low, high, many) {
    const step = above((high - low) / Math.max(2, many), [1, 2, 5, 10]), first = Math.ceil(low / step);
    const values = Array.from({ length: Math.max(0, Math.floor(high / step) - first + 1) }, (_, i) => (first + i) * step);
    const exponent = (value) => Math.floor(Math.log10(value) + 1e-9), far = Math.max(Math.abs(low), Math.abs(high));
    const long = Math.max(0, exponent(far)) + Math.max(0, -exponent(step)) > 5 && far > 100 * step;
    const offset = long ? Math.round((low + high) / (20 * step)) * 10 * step : 0;
    const rest = Math.max(Math.abs(low - offset), Math.abs(high - offset));
    const power = rest >= 1e4 || rest < 1e-2 ? exponent(rest) : 0, digits = Math.max(0, power - exponent(step));
    const text = (value) => ((value - offset) / 10 ** power).toFixed(digits).replace(/^-(0\.?0*$)?/, (_, zero) => zero ?? "−");
    const shared = [power && `× ${tens(power)}`, offset && `+ ${Number(offset.toPrecision(12))}`.replace("-", "−")];
    return { values, text, shared: shared.filter(Boolean).join(" ") };
  }

  function curve(c, s, f, mark) {
    c.strokeStyle = mark.color;
    c.lineWidth = mark.linewidth;
    c.globalAlpha = mark.alpha ?? 1;
    c.setLineDash(dashes(mark));
    c.beginPath();
    f.forEach((y, i) => c.lineTo(s.x(GRID[i]), s.y(y)));
    c.stroke();
    c.setLineDash([]);
    c.globalAlpha = 1;
  }

  function strands(c, s, lines, mark) {
    for (let from = 0; from < lines.length; from += GRID.length) curve(c, s, lines.subarray(from, from + GRID.length), mark);
  }

  function band(c, s, mean, std, mark) {
    c.fillStyle = mark.color;
    c.globalAlpha = mark.alpha;
    c.beginPath();
    for (let i = 0; i < GRID.length; i++) c.lineTo(s.x(GRID[i]), s.y(mean[i] + 2 * std[i]));
    for (let i = GRID.length - 1; i >= 0; i--) c.lineTo(s.x(GRID[i]), s.y(mean[i] - 2 * std[i]));
    c.fill();
    c.globalAlpha = 1;
  }

  function dot(c, x, y, isChosen) {
    const { color, markeredgewidth } = MARKS.data, arm = isChosen ? 8 : 5.5;
    c.strokeStyle = isChosen ? colour("chosen") : color;
    c.lineWidth = isChosen ? 2 * markeredgewidth : markeredgewidth;
    c.stroke(new Path2D(`M${x - arm} ${y}h${2 * arm}M${x} ${y - arm}v${2 * arm}`));
  }

  /** The line, cross or patch that stands for a mark in the legend. */
  function swatch(mark) {
    const { color, alpha = 1, marker, linewidth = 0, markeredgewidth = linewidth } = mark, line = linewidth > 0;
    const path = line ? "M0 6h26" : marker ? "M7.5 6h11M13 .5v11" : "M0 0h26v12H0z", drawn = line || marker;
    return `<svg><path d="${path}" opacity="${alpha}" fill="${drawn ? "none" : color}" stroke="${drawn ? color : "none"}"`
      + ` stroke-width="${markeredgewidth}" stroke-dasharray="${line ? dashes(mark) : ""}"/></svg>`;
  }

  function priorLines() {
    const { hidden, prior: given } = problem(), net = engine.network(hidden), prior = engine.makePrior(given);
    const next = engine.normal(86028121), draw = engine.uniform(86028121);
    return engine.evaluate(net, Float64Array.from({ length: 12 * net.nWeights }, () => prior.draw(next, draw)), GRID);
  }

  let due = 0;
  function paint() {
    due ||= requestAnimationFrame(() => {
      due = 0;
      pictures += 1;
      const said = verdict();
      if ($("verdict").textContent !== said) $("verdict").textContent = said;
      for (const panel of panels) {
        drawPanel(panel);
        panel.caption.textContent = status(panel);
        const named = `${say(panel.key === "a" ? "left" : "right")}: ${say(`methods.${panel.method}`)}`;
        panel.canvas.setAttribute("aria-label", `${named}. ${panel.caption.textContent}. ${say("keys")}`);
      }
    });
  }
  let pictures = 0;

  /* ---- Pointer and keys on a picture. ---- */

  const removing = () => $("remove").getAttribute("aria-pressed") === "true";
  /** Keep a point in the picture, so far from its edge that the axis stays as it is. */
  function within([x, y]) {
    const most = limit / ROOM;
    return [round(Math.min(Math.max(x, -1), 1)), round(Math.min(Math.max(y, -most), most))];
  }

  /** Set points that a hand changed, as part of a run that it goes on with, if any. */
  function edit(next, run = null) {
    return change({ points: next, edited: !own() || state.edited }, { follow: run !== null, run });
  }

  /** The key's letter or name; where the layout has other letters, that of the Latin one. */
  const keyOf = ({ key, code }) => (/^[^ -~]|^Process$/.test(key) ? code.replace("Key", "") : key).toLowerCase();

  function pointer(panel) {
    const { canvas } = panel;
    let moved = false, began = null; // where the pointer went down: one run of changes
    const at = (event) => {
      const box = canvas.getBoundingClientRect(), s = scales(panel);
      const px = event.clientX - box.left, py = event.clientY - box.top;
      return { px, py, point: [s.unX(px), s.unY(py)], s };
    };
    const nearest = ({ px, py, s }, reach) => {
      let best = -1, least = reach;
      points().forEach(([x, y], i) => {
        const away = Math.hypot(s.x(x) - px, s.y(y) - py);
        if (away < least) [best, least] = [i, away];
      });
      return best;
    };
    const REACH = 14;
    canvas.addEventListener("touchstart", (event) => {
      if (nearest(at(event.touches[0]), REACH) >= 0) event.preventDefault();
    }, { passive: false });
    canvas.onpointerdown = (event) => {
      if (event.button) return;
      canvas.setPointerCapture(event.pointerId);
      canvas.focus({ preventScroll: true });
      const where = at(event);
      chosen = nearest(where, REACH);
      [began, moved] = [where, false];
      held = chosen >= 0 && !removing();
      paint();
    };
    canvas.onpointermove = (event) => {
      if (!began) {
        canvas.style.cursor = nearest(at(event), REACH) >= 0 ? "grab" : "";
        return;
      }
      const where = at(event);
      moved ||= Math.hypot(where.px - began.px, where.py - began.py) > 3;
      if (held && moved && chosen >= 0) {
        const next = [...points()];
        next[chosen] = within(where.point);
        edit(next, began);
      }
    };
    const end = (event) => {
      if (!began) return;
      const where = at(event), dragged = held && moved;
      held = false;
      began = null;
      if (dragged) ask();
      else if (event.type === "pointercancel") return;
      else if (removing()) remove(chosen);
      else if (chosen < 0 && !moved) add(within(where.point));
    };
    canvas.onpointerup = end;
    canvas.onpointercancel = end;
    canvas.onkeydown = (event) => {
      const now = points(), key = keyOf(event);
      const step = { arrowleft: [-0.02, 0], arrowright: [0.02, 0], arrowup: [0, limit / 40], arrowdown: [0, -limit / 40] }[key];
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (step && chosen >= 0) {
        const next = [...now], [x, y] = now[chosen];
        next[chosen] = within([x + step[0], y + step[1]]);
        edit(next, `point ${chosen}`);
        rest();
      } else if (key === "n" || key === "p") {
        chosen = (chosen + (key === "n" ? 1 : now.length - 1) + now.length) % now.length;
      } else if (key === "a") add(chosen >= 0 ? within([now[chosen][0] + 0.05, now[chosen][1]]) : [0, 0]);
      else if (key === "delete" || key === "backspace") remove(chosen);
      else return;
      event.preventDefault();
      tellPoint();
      paint();
    };
    canvas.onblur = paint;
    canvas.onfocus = paint;
  }

  function tellPoint() {
    if (chosen < 0) return;
    const [x, y] = learners()[chosen];
    $("told").textContent = say("point", { i: chosen + 1, n: points().length, x, y });
  }

  /** The points in the learner's units, with as many decimals as an address tells apart. */
  function learners() {
    const both = columns(points()).map((values, k) => {
      const [start, scale] = state.units.slice(2 * k), decimals = places(values) - Math.ceil(Math.log10(scale));
      return values.map((value) => Number((start + scale * value).toFixed(Math.min(Math.max(decimals, 0), 100))));
    });
    return both[0].map((x, i) => [x, both[1][i]]);
  }

  function add(point) {
    const now = points();
    if (now.length >= MOST) {
      $("told").textContent = say("errors.many", { n: now.length + 1 });
      return;
    }
    chosen = now.length;
    edit([...now, point]);
  }

  function remove(i) {
    const now = points();
    if (i < 0 || i >= now.length) return;
    if (now.length <= 2) {
      $("told").textContent = say("few");
      return;
    }
    chosen = -1;
    edit(now.filter((_, k) => k !== i));
  }

  let resting = 0;
  /** Fit afresh once nothing has moved for a quarter of a second. */
  function rest() {
    clearTimeout(resting);
    resting = setTimeout(() => ask(), 250);
  }

  /* ---- Controls. ---- */

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
    $(first ? "controls" : "further").append(label);
    updates.push(() => {
      text.textContent = say(name);
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
    const bbb = state.a === "bbb" || state.b === "bbb", mixture = state.prior === "mixture";
    return (
      (name === "sigma" && mixture) || (["samples", "kl"].includes(name) && !bbb) ||
      (["sigma1", "sigma2", "pi"].includes(name) && !mixture) ||
      (name === "sigma1" && state.pi === 0) || (name === "sigma2" && state.pi === 1) ||
      (["n", "seed"].includes(name) && own())
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

  function refresh() {
    document.documentElement.lang = state.language;
    document.title = say("title");
    const told = { mixed: MIXED, a: say(`about.${state.a}`), b: say(`about.${state.b}`) };
    for (const place of document.querySelectorAll("[data-say]")) place.textContent = say(place.dataset.say, told);
    $("remove").title = say("removeHint");
    $("language").value = state.language;
    for (const update of updates) update();
    for (const panel of panels) {
      panel.menu.replaceChildren(...METHODS.map((method) => element("option", { value: method, textContent: say(`methods.${method}`) })));
      panel.menu.value = panel.method;
      panel.menu.setAttribute("aria-label", say(panel.key === "a" ? "left" : "right"));
    }
    $("undo").disabled = !past.length;
    $("redo").disabled = !future.length;
    const { units } = state, [noise, sd] = [state.noise, priorSd()].map((value) => show(value * units[3]));
    $("scale").textContent = units === COURSE ? "" : say("scale", { noise, sd });
    if (playing) $("play").textContent = say("pause");
    const hmc = panels.some(({ method }) => method === "hmc");
    const hidden = { prior: !state.lines, posterior_mean: !hmc, posterior_band: !hmc, truth: !truth() };
    const marks = PLAYGROUND_MARKS.filter(({ name }) => name in PLAYGROUND_WORDS.en.legend && !hidden[name]);
    $("legend").innerHTML = marks.map((mark) => `<span class="${mark.name}">${swatch(mark)}${say(`legend.${mark.name}`)}</span>`).join("");
    writeAddress();
    paint();
  }

  /** The sd of the prior's functions at x = 0: half of a symmetric input's square passes a ReLU. */
  function priorSd() {
    const { hidden, prior } = problem(), square = engine.makePrior(prior).std ** 2;
    return Math.sqrt(hidden.reduce((variance, units) => square * (1 + (units * variance) / 2), square));
  }

  /* ---- Watching, undo, dialogs. ---- */

  let playing = 0;
  const watching = () => $("watch").getAttribute("aria-pressed") === "true";
  const still = matchMedia("(prefers-reduced-motion: reduce)");

  function stop() {
    clearInterval(playing);
    playing = 0;
    $("play").textContent = say("play");
  }

  $("watch").onclick = () => {
    const on = !watching();
    stop();
    $("watch").setAttribute("aria-pressed", on);
    $("play").disabled = $("one").disabled = !on;
    ask();
  };
  const forward = (advance) => panels.forEach(({ method, id, workers }) => method === "hmc" || workers[0]?.postMessage({ id, on: advance }));
  $("one").onclick = () => forward(10);
  $("play").onclick = () => {
    if (playing) return stop();
    playing = setInterval(() => {
      forward(still.matches ? 100 : 10);
      if (panels.every(({ method, answer }) => method === "hmc" || (answer && !answer.old && answer.final))) stop();
    }, still.matches ? 1000 : 60);
    $("play").textContent = say("pause");
    if (innerWidth <= 760) $("panels").scrollIntoView({ behavior: still.matches ? "auto" : "smooth" });
  };

  $("undo").onclick = () => travel(past, future);
  $("redo").onclick = () => travel(future, past);
  addEventListener("keydown", (event) => {
    if (dialog.open || event.altKey || !(event.ctrlKey || event.metaKey)) return;
    const key = keyOf(event);
    if (key === "z" && !event.shiftKey) travel(past, future);
    else if (key === "y" || key === "z") travel(future, past);
    else return;
    event.preventDefault();
  });
  $("reset").onclick = () => {
    chosen = -1;
    change({ ...START, language: state.language });
  };
  $("remove").onclick = () => $("remove").setAttribute("aria-pressed", !removing());
  $("language").onchange = () => change({ language: $("language").value });

  const dialog = $("dialog");
  function open(about, text, label, act) {
    const local = location.protocol === "file:" && ["shareAbout", "embedAbout"].includes(about);
    $("about").textContent = say(about) + (local ? ` ${say("local")}` : "");
    $("text").value = text;
    $("text").readOnly = about !== "pasteAbout";
    $("fault").textContent = "";
    $("choose").hidden = true;
    $("act").textContent = say(label);
    $("act").onclick = act;
    dialog.showModal();
    if ($("text").readOnly) $("text").select();
  }
  async function copy() {
    let done = true;
    try {
      await navigator.clipboard.writeText($("text").value);
    } catch {
      $("text").select();
      done = document.execCommand("copy");
    }
    if (done) $("act").textContent = say("copied");
    else $("fault").textContent = say("refused");
  }
  const address = () => {
    const query = toAddress();
    return location.href.split("#")[0] + (query ? `#${query}` : "");
  };
  const escaped = (text) => text.replace(/&/g, "&amp;").replace(/"/g, "&quot;");
  $("share").onclick = () => open("shareAbout", address(), "copy", copy);
  $("embed").onclick = () => open("embedAbout",
    `<iframe src="${escaped(address())}" width="1100" height="820" style="border:0" title="${escaped(say("title"))}"></iframe>`, "copy", copy);
  $("notebook").onclick = () => open("notebookAbout", python(), "copy", copy);
  $("paste").onclick = () => open("pasteAbout", "", "use", () => {
    $("fault").textContent = "";
    try {
      const columns = $("choose").hidden ? null : [Number($("column0").value), Number($("column1").value)];
      const table = read($("text").value, columns);
      chosen = -1;
      change({ points: table.points, units: table.units, ...checked({ names: table.names.join("\t"), zeros: table.zeros.join("\t") }) });
      const more = table.notes.map(([key, values]) => say(`notes.${key}`, values)).join("");
      $("told").textContent = say("pasted", { n: table.points.length }) + more;
      dialog.close();
    } catch (error) {
      if (!error.key) throw error;
      $("fault").textContent = say(`errors.${error.key}`, error.values);
      if (error.key === "choose") offer(error.values.found);
    }
  });

  /** Let two columns be chosen: [[place, name], …]. */
  function offer(found) {
    for (const k of [0, 1]) {
      const options = found.map(([place, name]) => element("option", { value: place, textContent: name || place + 1 }));
      $(`column${k}`).replaceChildren(...options);
      $(`column${k}`).selectedIndex = k;
    }
    $("choose").hidden = false;
  }
  $("text").oninput = () => { $("choose").hidden = true; };

  /** The line of Python that opens the same problem in an explorer of the package. */
  function python() {
    const list = (k) => learners().map((p) => p[k]).join(", ");
    const labels = [state.names, state.zeros].flatMap((pair) => [0, 1].map((k) => pair.split("\t")[k] ?? ""));
    const data = `data=((${list(0)}), (${list(1)}), (${state.units.join(", ")})${labels.some(Boolean) ? `, ${JSON.stringify(labels)}` : ""})`;
    const one = state.layers === 1 && state.prior === "gaussian";
    const values = one
      ? `prior_std=${round(state.sigma)}, noise_std=${round(state.noise)}, width=${state.width}`
      : `sigma1=${round(state.prior === "mixture" ? state.sigma1 : state.sigma)}, sigma2=${Number(state.sigma2.toPrecision(3))}, pi=${state.prior === "mixture" ? round(state.pi) : 1.0}, `
        + `noise_std=${round(state.noise)}, width=${state.width}, estimator="weights", n_samples=${state.samples}, kl_weight=${Number(state.kl.toPrecision(3))}`;
    return `from bdl_teach.widgets import ${one ? "TruthExplorer" : "SinusoidExplorer"}\n${one ? "TruthExplorer" : "SinusoidExplorer"}(${values}, ${data})`;
  }

  /* ---- Start. ---- */

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
})();

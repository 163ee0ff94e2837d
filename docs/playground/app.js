"use strict";

/*
 * The page of the playground. One state; each change of it is drawn, kept in the address, and sent
 * to the workers as a question for the left and the right picture.
 */
(() => {
  const engine = playgroundEngine(), { COURSE, MOST, TRUTHS, made, read, round, short, widestGap } = playgroundPoints;
  const METHODS = ["map", "ensemble", "bbb", "hmc"];
  const KINDS = Object.keys(TRUTHS);
  const GRID = Float64Array.from({ length: 121 }, (_, i) => -1 + i / 60);
  const CHAINS = 4, MIXED = 1.02, CLOSE = 1.1, MORE = 500, MOST_DRAWS = 2500; // kept by each chain; judged after each MORE, beside chains that are CLOSE
  const START = {
    a: "bbb", b: "hmc", data: "gap", n: 32, seed: 2, points: null, units: COURSE,
    names: "", // of a table's two columns, with a tab between
    prior: "gaussian", sigma: 3, sigma1: 1.5, sigma2: 0.1, pi: 0.5,
    noise: 1, samples: 1, kl: 1, width: 20, layers: 1, lines: false, language: "en",
  };
  const SLIDERS = {
    // name: [low, high, step, first, powers of ten?]
    sigma: [0.2, 5, 0.1, true], noise: [0.1, 3, 0.1, true], samples: [1, 10, 1, true],
    n: [4, 64, 1, true], width: [2, 20, 1], kl: [-3, 1, 0.1, false, true], sigma1: [0.1, 5, 0.05],
    sigma2: [-2, 0.5, 0.1, false, true], pi: [0, 1, 0.05], seed: [0, 99, 1],
  };
  const CHOICES = { layers: [1, 2], prior: ["gaussian", "mixture"] };

  const $ = (id) => document.getElementById(id);
  const say = (key, values = {}) => {
    const text = key.split(".").reduce((at, part) => at && at[part], words());
    return String(text).replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
  };
  const words = () => PLAYGROUND_WORDS[state.language];
  const show = (value) => {
    const size = Math.abs(value);
    return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2).replace("-", "−");
  };
  const element = (tag, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  };

  let state = { ...START }, past = [], chosen = -1, asked = 0, held = false;
  let limit = 20; // of |y|, in the course's units

  /* ---- The state, and the address. ---- */

  const points = () => state.points || made(engine, state.data, state.n, state.noise, state.seed);
  const own = () => state.points !== null;
  const truth = () => (own() && state.units !== COURSE ? null : TRUTHS[state.data]);

  function toAddress() {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(state)) {
      if (name === "points" && value) query.set(name, value.join(";"));
      else if (name === "units" && value !== COURSE) query.set(name, value.join(","));
      else if (!["points", "units"].includes(name) && value !== START[name]) query.set(name, value);
    }
    return query.toString();
  }

  /** Take what an address holds and can be used; the rest stays as at the start. */
  function fromAddress(text) {
    const query = new URLSearchParams(text), given = {};
    for (const [name, value] of query) {
      if (name === "points") given.points = value.split(";").map((p) => p.split(",").map(Number));
      else if (name === "units") given.units = value.split(",").map(Number);
      else if (typeof START[name] === "boolean") given[name] = value === "true";
      else if (typeof START[name] === "number") given[name] = Number(value);
      else if (name in START) given[name] = value;
    }
    return checked(given);
  }

  /** Return the values of `given` that the playground can take. */
  function checked(given) {
    const taken = {};
    const finite = (list, n) => Array.isArray(list) && list.length === n && list.every(Number.isFinite);
    for (const [name, value] of Object.entries(given)) {
      const slider = SLIDERS[name];
      if (slider) {
        const [low, high, step, , powers] = slider;
        const number = Number(value);
        if (!Number.isFinite(number)) continue;
        const within = Math.min(Math.max(number, powers ? 10 ** low : low), powers ? 10 ** high : high);
        taken[name] = step === 1 ? Math.round(within) : within;
      } else if (name === "points") {
        const many = Array.isArray(value) && value.length >= 2 && value.length <= MOST;
        if (value === null) taken.points = null;
        else if (many && value.every((p) => finite(p, 2))) taken.points = value.map((p) => p.map(short));
      } else if (name === "names") {
        taken.names = String(value).slice(0, 120);
      } else if (name === "units") {
        if (finite(value, 4) && value[1] > 0 && value[3] > 0) taken.units = value;
      } else {
        const options = { a: METHODS, b: METHODS, data: KINDS, language: Object.keys(PLAYGROUND_WORDS), lines: [true, false], ...CHOICES }[name];
        const same = options && options.find((option) => String(option) === String(value));
        if (same !== undefined) taken[name] = same;
      }
    }
    if (taken.units && !taken.points && !state.points) delete taken.units;
    return taken;
  }

  function change(values, { follow = false, keep = true } = {}) {
    if (keep && ("points" in values || "data" in values)) remember();
    const before = state;
    state = { ...state, ...values };
    if (!own()) Object.assign(state, { units: COURSE, names: "" });
    if ("points" in values) $("told").textContent = "";
    const others = before.data !== state.data || before.units !== state.units || (before.points && !own());
    if (others) $("remove").setAttribute("aria-pressed", false);
    refresh();
    return ask(follow);
  }

  function remember() {
    past.push({ points: state.points, units: state.units, names: state.names, data: state.data, n: state.n, seed: state.seed });
    if (past.length > 100) past.shift();
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
      hidden, x: now.map((p) => p[0]), y: now.map((p) => p[1]), noise: state.noise,
      prior: state.prior === "gaussian" ? { sigma } : { sigma1, sigma2, pi },
    };
  }

  /** Ask both pictures; resolves with the readings once neither has more to say. */
  function ask(follow = false) {
    asked += 1;
    const id = asked, watch = watching();
    const all = panels.map((panel) => panel.ask(id, follow, watch));
    return Promise.all(all).then(readings);
  }

  const program = `(${playgroundWorker})((${playgroundEngine})())`;
  const blob = URL.createObjectURL(new Blob([program], { type: "text/javascript" }));

  /** One of the two pictures: its workers, what they answered, and how that is drawn. */
  class Panel {
    constructor(key) {
      this.key = key;
      this.workers = [];
      this.answer = null;
      this.resolve = () => {};
      this.canvas = element("canvas", { tabIndex: 0 });
      this.canvas.setAttribute("role", "application");
      this.menu = element("select");
      this.caption = element("figcaption");
      this.menu.onchange = () => change({ [key]: this.menu.value });
      $("panels").append(element("figure", {}, this.menu, this.canvas, this.caption));
      this.context = this.canvas.getContext("2d");
      new ResizeObserver(() => this.draw()).observe(this.canvas);
      pointer(this);
    }

    get method() { return state[this.key]; }

    worker(i) {
      while (this.workers.length <= i) {
        const worker = new Worker(blob);
        worker.onmessage = (event) => this.hear(event.data, this.workers.indexOf(worker));
        this.workers.push(worker);
      }
      return this.workers[i];
    }

    ask(id, follow, watch) {
      const cores = Math.max(1, Math.min(CHAINS, (navigator.hardwareConcurrency || 2)));
      const many = this.method === "hmc" ? cores : 1;
      watch &&= this.method !== "hmc"; // chains go on by themselves
      const question = {
        id, method: this.method, problem: problem(), follow, watch, grid: GRID,
        samples: state.samples, klWeight: state.kl, seed: state.seed,
      };
      const { id: _, follow: __, ...asked } = question;
      const same = JSON.stringify(this.method === "bbb" ? asked : { ...asked, samples: 0, klWeight: 0 });
      if (same === this.same && !this.followed && !watch) return this.promise; // it goes on, or stands
      Object.assign(this, { same, followed: follow });
      if (this.answer) this.answer.old = true; // of another state: nothing is said of it
      this.id = id;
      this.parts = [];
      for (let i = 0; i < many; i++) {
        const chains = Array.from({ length: CHAINS }, (_, k) => k).filter((k) => k % many === i);
        this.worker(i).postMessage({ ...question, chains });
      }
      this.many = many;
      return (this.promise = new Promise((resolve) => (this.resolve = resolve)));
    }

    advance(steps) {
      if (this.method === "hmc") return;
      for (let i = 0; i < this.many; i++) this.worker(i).postMessage({ id: this.id, advance: steps });
    }

    hear(told, i) {
      // Between two movements of a hand an older answer is better than none.
      if (told.id !== this.id && !told.follow) return;
      if (this.method === "hmc") {
        if (!told.draws || !this.collect(told, i)) return;
      } else if (told.mean) this.answer = { ...told, method: this.method };
      else return;
      this.answer.points = points();
      if (!held) fitLimit();
      paint();
      if (!told.final || told.id !== this.id) return;
      this.resolve();
      if (this.goesOn) this.workers.slice(0, this.many).forEach((w) => w.postMessage({ id: told.id, more: MORE }));
    }

    /** Whether the chains draw on: they do not agree yet, and have not drawn for long. */
    get goesOn() {
      const { answer } = this;
      return this.method === "hmc" && !answer.follow && !converged(answer) && answer.total < CHAINS * MOST_DRAWS;
    }

    /** Put the chains of all workers together; false until each has answered. */
    collect(told, i) {
      const part = (this.parts[i] ||= { chains: [] });
      part.told = told;
      told.draws.forEach((f, k) => {
        const chain = (part.chains[k] ||= { f: [], logs: [] });
        if (told.warm) chain.f = [f];
        else {
          if (chain.warm) chain.f = [];
          chain.f.push(f);
          chain.logs.push(...told.logs[k]);
        }
        chain.warm = told.warm;
      });
      const parts = this.parts.filter(Boolean);
      if (parts.length < this.many || parts.some((p) => p.told.step !== told.step || p.told.id !== told.id)) return false;
      const m = GRID.length, chains = parts.flatMap((p) => p.chains).map((chain) => join(chain.f));
      const f = join(chains), draws = f.length / m;
      if (!draws) return false;
      const answer = { ...told, method: "hmc", ...engine.moments(f, draws, m), total: draws };
      answer.ms = Math.max(...parts.map((p) => p.told.ms));
      answer.lines = thinned(f, draws, 12, m);
      if (!told.warm) Object.assign(answer, agreement(chains, m));
      this.answer = answer;
      return true;
    }

    draw() {
      drawPanel(this);
    }
  }

  function join(arrays) {
    const out = new Float64Array(arrays.reduce((sum, a) => sum + a.length, 0));
    let at = 0;
    for (const a of arrays) {
      out.set(a, at);
      at += a.length;
    }
    return out;
  }

  /** Whether chains agree, as R-hat is written, where they pause: more draws would follow if not. */
  const converged = ({ final, r_hat }) => final && Number(r_hat.toFixed(3)) <= MIXED;

  function thinned(f, draws, wanted, m) {
    const many = Math.min(wanted, draws), out = new Float64Array(many * m);
    for (let s = 0; s < many; s++) {
      const from = Math.floor((s * draws) / many) * m;
      out.set(f.subarray(from, from + m), s * m);
    }
    return out;
  }

  /** Largest R-hat and least effective number of draws of the function, at 13 places. */
  function agreement(chains, m) {
    let rHat = 1, ess = Infinity;
    for (let i = 0; i < m; i += 10) {
      const of = chains.map((f) => Float64Array.from({ length: f.length / m }, (_, s) => f[s * m + i]));
      const found = engine.diagnose(of);
      rHat = Math.max(rHat, found.rHat);
      ess = Math.min(ess, found.ess);
    }
    return { r_hat: rHat, ess };
  }

  /* ---- What the pictures say. ---- */

  const gapOf = () => widestGap(points());

  /** Mean epistemic sd among the points, in their widest gap, and outside; in the learner's units. */
  function spreads(answer) {
    const x = points().map((p) => p[0]), low = Math.min(...x), high = Math.max(...x), gap = gapOf();
    const mean = (test) => {
      let sum = 0, n = 0;
      GRID.forEach((at, i) => {
        if (test(at)) { sum += answer.std[i]; n += 1; }
      });
      return n ? (sum / n) * state.units[3] : NaN;
    };
    const inGap = (at) => gap && at > gap[0] && at < gap[1];
    return {
      among: mean((at) => at >= low && at <= high && !inGap(at)),
      gap: gap ? mean(inGap) : NaN,
      outside: mean((at) => at < low || at > high),
    };
  }

  function status(panel) {
    const { answer } = panel;
    if (!answer || answer.old) return "…";
    if (answer.follow) return say("status.follows");
    const { method } = answer, where = spreads(answer);
    if (method === "hmc" && answer.warm) return say("status.warm", answer);
    if (watching() && !answer.final && method !== "hmc") return say("status.training", { step: answer.step, steps: 1500 });
    const gap = Number.isNaN(where.gap) ? "" : say("status.gap", { gap: show(where.gap) });
    const values = { among: show(where.among), gap };
    if (method === "bbb") {
      values.weight = state.kl === 1 ? "" : `${Number(state.kl.toPrecision(2))} × `;
      values.complexity = Math.round(state.kl * answer.complexity);
      values.likelihood = Math.round(answer.likelihood);
      values.F = values.complexity + values.likelihood; // the sum of the figures as they are written
    }
    if (method === "map") values.loss = show(answer.loss);
    if (method === "hmc") {
      Object.assign(values, { r_hat: answer.r_hat.toFixed(answer.r_hat < 1.1 ? 3 : 2), ess: Math.round(answer.ess), draws: answer.total });
      values.verdict = say(agrees(panel), { mixed: MIXED });
    }
    return say(`status.${method}`, values);
  }

  const agrees = (panel) => (converged(panel.answer) ? "converged" : panel.goesOn ? "mixing" : "not");

  /** Whether a picture shows what the verdict may speak of: a fit, or draws, of the present state. */
  function settled({ answer }) {
    return answer && !answer.old && !answer.follow && !answer.warm && (answer.final || answer.method === "hmc");
  }

  function verdict() {
    if (!panels.every(settled) || state.a === state.b) return "";
    const chains = panels.find((panel) => panel.method === "hmc");
    const agreed = chains && agrees(chains), r_hat = chains && chains.answer.r_hat;
    if (agreed === "not" || r_hat > CLOSE) return say("wait", { r_hat: r_hat.toFixed(2) });
    return judged(...panels.map((panel) => panel.answer)) + (agreed === "mixing" ? ` (HMC: ${say("mixing")})` : "");
  }

  function judged(one, other) {
    const name = Number.isNaN(spreads(one).gap) ? "outside" : "gap";
    const where = say(name === "gap" ? "inGap" : "outside");
    const [p, q] = [one, other].map((answer) => spreads(answer)[name]);
    const named = (answer) => say(`methods.${answer.method}`);
    if (one.method !== "hmc" && other.method !== "hmc") {
      return say("compare", { where, sd: show(p), truth: show(q), one: named(one), other: named(other) });
    }
    const [truth, guess, method] = one.method === "hmc" ? [p, q, other] : [q, p, one];
    const ratio = Number(truth.toFixed(2)) / Math.max(Number(guess.toFixed(2)), 0.01); // of what is written
    const values = { where, other: named(method), sd: show(guess), truth: show(truth) };
    if (guess < 1e-9) return say("compare", { where, sd: show(guess), truth: show(truth), one: named(method), other: say("methods.hmc") });
    if (ratio > 1.25) return say("sure", { ...values, times: ratio.toFixed(1) });
    if (ratio < 0.8) return say("unsure", { ...values, times: (1 / ratio).toFixed(1) });
    return say("alike", values);
  }

  function readingsOf({ answer }) {
    if (!answer) return null;
    const of = truth(), rms = of
      ? Math.sqrt(GRID.reduce((sum, x, i) => sum + (Math.abs(x) <= 0.5 ? (answer.mean[i] - of(x)) ** 2 : 0), 0)
        / GRID.filter((x) => Math.abs(x) <= 0.5).length)
      : NaN;
    return {
      method: answer.method, F: answer.F ?? NaN, ms: answer.ms, rms, r_hat: answer.r_hat ?? NaN,
      ess: answer.ess ?? NaN, mean: [...answer.mean], sd: [...answer.std],
    };
  }

  /** Both pictures in numbers; what stands at the top is the left one's, R-hat that of the chains. */
  function readings() {
    const [a, b] = panels.map(readingsOf);
    const r_hat = [a, b].map((one) => one.r_hat).find((value) => !Number.isNaN(value)) ?? NaN;
    return { ...a, r_hat, x: [...GRID], a, b };
  }

  /* ---- Drawing. ---- */

  const LIMITS = [5, 10, 20, 30, 50, 80, 120, 200, 400, 1000, 1e4, 1e6, 1e9];

  const ROOM = 1.05; // between the largest |y| and the edge
  /** Let the axis follow what both pictures show, in steps. */
  function fitLimit() {
    let wanted = Math.max(...points().map((p) => Math.abs(p[1])));
    for (const { answer } of panels) {
      if (!answer) continue;
      const sizes = Array.from(answer.mean, (mean, i) => Math.abs(mean) + 2 * answer.std[i]).sort((p, q) => p - q);
      wanted = Math.max(wanted, sizes[Math.floor(0.9 * sizes.length)]);
    }
    const least = LIMITS.find((step) => step >= wanted * ROOM * (1 - 1e-3)) ?? 1e12;
    const rests = panels.every((panel) => settled(panel) && panel.answer.final);
    if (least > limit || (rests && least < limit)) limit = least;
  }

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
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
    if ($("verdict").textContent) shade(c, s);
    c.save();
    c.beginPath();
    c.rect(MARGIN.left, MARGIN.top, s.width - MARGIN.left - MARGIN.right, s.height - MARGIN.top - MARGIN.bottom);
    c.clip();
    if (state.lines) {
      c.globalAlpha = 0.5;
      for (const line of priorLines()) curve(c, s, line, colour("soft"), 1);
      c.globalAlpha = 1;
    }
    if (answer) {
      const m = GRID.length, noise = state.noise;
      const total = Array.from(answer.std, (sd) => Math.hypot(sd, noise));
      band(c, s, answer.mean, total, colour("total"), 0.22);
      band(c, s, answer.mean, answer.std, colour("band"), 0.42);
      c.globalAlpha = 0.55;
      for (let k = 0; k * m < answer.lines.length && answer.lines.length > m; k++) {
        curve(c, s, answer.lines.subarray(k * m, (k + 1) * m), colour("draw"), 1);
      }
      c.globalAlpha = 1;
      curve(c, s, answer.mean, colour("mean"), 2.5);
    }
    const of = truth();
    if (of) curve(c, s, GRID.map(of), colour("truth"), 1.5, [6, 4]);
    points().forEach(([x, y], i) => dot(c, s.x(x), s.y(y), i === chosen && document.activeElement === canvas));
    c.restore();
  }

  /** Shade the places of which the verdict speaks. */
  function shade(c, s) {
    const x = points().map((p) => p[0]), gap = gapOf();
    const places = gap ? [gap] : [[-1, Math.min(...x)], [Math.max(...x), 1]];
    c.fillStyle = colour("truth");
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
    c.lineWidth = 1;
    c.textAlign = "center";
    c.textBaseline = "top";
    const xs = ticks(x0 - x1, x0 + x1, s.width / 90), ys = ticks(y0 - y1 * limit, y0 + y1 * limit, s.height / 45);
    for (const x of xs.values) {
      const at = s.x((x - x0) / x1);
      line(c, at, MARGIN.top, at, s.height - MARGIN.bottom);
      c.fillText(xs.text(x), Math.min(Math.max(at, 30), s.width - 24), s.height - MARGIN.bottom + 6);
    }
    c.textAlign = "right";
    c.textBaseline = "middle";
    for (const y of ys.values) {
      const at = s.y((y - y0) / y1);
      line(c, MARGIN.left, at, s.width - MARGIN.right, at);
      c.fillText(ys.text(y), MARGIN.left - 5, at);
    }
    const [xName = "", yName = ""] = state.names.split("\t");
    c.fillText(xName, s.width - MARGIN.right - 6, s.height - MARGIN.bottom - 9);
    c.textAlign = "left";
    c.fillText(yName, MARGIN.left + 6, MARGIN.top + 9);
  }

  /** Round numbers between two limits, about as many as asked. */
  function ticks(low, high, many) {
    const rough = (high - low) / Math.max(2, many), power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((k) => k * power).find((k) => k >= rough);
    const values = [];
    for (let k = Math.ceil(low / step); k * step <= high; k++) values.push(k * step);
    const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    const far = Math.max(Math.abs(low), Math.abs(high)) >= 1e5 || digits > 4;
    const text = (value) => (far ? Number(value.toPrecision(3)).toExponential() : value.toFixed(digits)).replace("-", "−");
    return { values, text };
  }

  function line(c, x0, y0, x1, y1) {
    c.beginPath();
    c.moveTo(x0, y0);
    c.lineTo(x1, y1);
    c.stroke();
  }

  function curve(c, s, f, style, width, dash = []) {
    c.strokeStyle = style;
    c.lineWidth = width;
    c.setLineDash(dash);
    c.beginPath();
    f.forEach((y, i) => c.lineTo(s.x(GRID[i]), s.y(y)));
    c.stroke();
    c.setLineDash([]);
  }

  function band(c, s, mean, std, style, alpha) {
    c.fillStyle = style;
    c.globalAlpha = alpha;
    c.beginPath();
    for (let i = 0; i < GRID.length; i++) c.lineTo(s.x(GRID[i]), s.y(mean[i] + 2 * std[i]));
    for (let i = GRID.length - 1; i >= 0; i--) c.lineTo(s.x(GRID[i]), s.y(mean[i] - 2 * std[i]));
    c.fill();
    c.globalAlpha = 1;
  }

  function dot(c, x, y, isChosen) {
    c.beginPath();
    c.arc(x, y, isChosen ? 7 : 4.2, 0, 2 * Math.PI);
    c.fillStyle = colour(isChosen ? "chosen" : "dot");
    c.fill();
    c.strokeStyle = colour("paper");
    c.lineWidth = 1;
    c.stroke();
  }

  let priorKept = { key: "", lines: [] };
  function priorLines() {
    const { hidden, prior: given } = problem(), key = JSON.stringify([hidden, given]);
    if (priorKept.key !== key) {
      const net = engine.network(hidden), prior = engine.makePrior(given);
      const next = engine.normal(86028121), draw = engine.uniform(86028121);
      const lines = Array.from({ length: 12 }, () => {
        return engine.evaluate(net, Float64Array.from({ length: net.nWeights }, () => prior.draw(next, draw)), GRID);
      });
      priorKept = { key, lines };
    }
    return priorKept.lines;
  }

  let due = 0;
  function paint() {
    due ||= requestAnimationFrame(() => {
      due = 0;
      pictures += 1;
      const said = verdict();
      if ($("verdict").textContent !== said) $("verdict").textContent = said;
      for (const panel of panels) {
        panel.draw();
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

  function edit(next, follow) {
    return change({ points: next.map((p) => [...p]) }, { follow, keep: false });
  }

  function pointer(panel) {
    const { canvas } = panel;
    let moved = false, began = null;
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
      if (chosen >= 0 && !removing()) {
        remember();
        held = true;
      }
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
        edit(next, true);
      }
    };
    const end = (event) => {
      if (!began) return;
      const where = at(event), dragged = held && moved;
      if (held && !moved) past.pop();
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
      const now = points(), key = event.key.toLowerCase();
      const step = { arrowleft: [-0.02, 0], arrowright: [0.02, 0], arrowup: [0, limit / 40], arrowdown: [0, -limit / 40] }[key];
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (step && chosen >= 0) {
        remember();
        const next = [...now], [x, y] = now[chosen];
        next[chosen] = within([x + step[0], y + step[1]]);
        edit(next, true);
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
    const now = points();
    if (chosen < 0 || chosen >= now.length) return;
    const [x0, x1, y0, y1] = state.units, [x, y] = now[chosen];
    $("told").textContent = say("point", { i: chosen + 1, n: now.length, x: show(x0 + x1 * x), y: show(y0 + y1 * y) });
  }

  function add(point) {
    const now = points();
    if (now.length >= MOST) {
      $("told").textContent = say("errors.many", { n: now.length + 1 });
      return;
    }
    remember();
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
    remember();
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

  const controls = {};

  function makeSlider(name) {
    const [low, high, step, first, powers] = SLIDERS[name];
    const input = element("input", { type: "range", min: low, max: high, step, id: `slider-${name}` });
    const output = element("output");
    const text = element("span");
    input.oninput = () => {
      const value = powers ? 10 ** Number(input.value) : Number(input.value);
      const values = { [name]: value };
      if (["n", "seed"].includes(name)) values.points = null;
      change(values, { follow: true, keep: name === "n" });
      rest();
    };
    const label = element("label", { className: "slider" }, text, input, output);
    $(first ? "controls" : "further").append(label);
    controls[name] = {
      update() {
        text.textContent = say(name);
        const value = state[name];
        if (document.activeElement !== input || Number(input.value) !== value) input.value = powers ? Math.log10(value) : value;
        output.textContent = name === "n" && own() ? points().length : powers ? Number(value.toPrecision(2)) : step === 1 ? value : value.toFixed(step < 0.1 ? 2 : 1);
        input.setAttribute("aria-valuetext", output.textContent);
        const idle = idles(name);
        label.classList.toggle("idle", idle);
        input.disabled = idle;
      },
    };
  }

  /** Whether a control changes nothing as things stand. */
  function idles(name) {
    const bbb = state.a === "bbb" || state.b === "bbb", mixture = state.prior === "mixture";
    return (
      (name === "sigma" && mixture) || (["samples", "kl"].includes(name) && !bbb) ||
      (["sigma1", "sigma2", "pi"].includes(name) && !mixture) ||
      (name === "sigma1" && state.pi === 0) || (name === "sigma2" && state.pi === 1) ||
      (name === "n" && own())
    );
  }

  function makeChoice(name) {
    const options = CHOICES[name];
    const text = element("span"), buttons = options.map((option) => element("button", { type: "button" }));
    buttons.forEach((button, i) => (button.onclick = () => change({ [name]: options[i] })));
    const set = element("fieldset", {}, text, ...buttons);
    set.setAttribute("role", "group");
    $("further").append(set);
    controls[name] = {
      update() {
        text.textContent = say(name);
        set.setAttribute("aria-label", say(name));
        buttons.forEach((button, i) => {
          button.textContent = typeof options[i] === "number" ? options[i] : say(options[i]);
          button.setAttribute("aria-pressed", state[name] === options[i]);
        });
      },
    };
  }

  function makePresets() {
    const buttons = KINDS.map((kind) => element("button", { type: "button" }));
    buttons.forEach((button, i) => (button.onclick = () => {
      chosen = -1;
      change({ data: KINDS[i], points: null });
    }));
    $("presets").append(...buttons);
    controls.data = {
      update() {
        $("presets").setAttribute("aria-label", say("data"));
        buttons.forEach((button, i) => {
          button.textContent = say(KINDS[i]);
          button.setAttribute("aria-pressed", !own() && state.data === KINDS[i]);
        });
      },
    };
    const lines = element("button", { type: "button" });
    lines.onclick = () => {
      state.lines = !state.lines;
      refresh();
      paint();
    };
    $("further").append(lines);
    controls.lines = {
      update() {
        lines.textContent = say("priorLines");
        lines.setAttribute("aria-pressed", state.lines);
      },
    };
  }

  function refresh() {
    document.documentElement.lang = state.language;
    document.title = say("title");
    const told = { mixed: MIXED, a: say(`about.${state.a}`), b: say(`about.${state.b}`) };
    for (const place of document.querySelectorAll("[data-say]")) place.textContent = say(place.dataset.say, told);
    $("remove").title = say("removeHint");
    $("language").value = state.language;
    for (const control of Object.values(controls)) control.update();
    for (const panel of panels) {
      panel.menu.replaceChildren(...METHODS.map((method) => element("option", { value: method, textContent: say(`methods.${method}`) })));
      panel.menu.value = panel.method;
      panel.menu.setAttribute("aria-label", say(panel.key === "a" ? "left" : "right"));
    }
    $("undo").disabled = !past.length;
    if (playing) $("play").textContent = say("pause");
    const marks = { mean: "mean", epistemic: "band", total: "total", draws: "draw", truth: "truth" };
    if (!truth()) delete marks.truth;
    $("legend").replaceChildren(...Object.entries(marks).map(([name, style]) => {
      const mark = element("i");
      const thin = ["mean", "draws", "truth"].includes(name);
      mark.style.cssText = thin ? `height:0;vertical-align:.25em;border-top:${name === "mean" ? "3px solid" : name === "truth" ? "2px dashed" : "1px solid"} var(--${style})`
        : `background:var(--${style});opacity:${name === "total" ? 0.35 : 0.6}`;
      return element("span", {}, mark, say(`legend.${name}`));
    }));
    writeAddress();
    paint();
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
  const forward = (steps) => panels.forEach((panel) => panel.advance(steps));
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

  $("undo").onclick = () => {
    if (!past.length) return;
    chosen = -1;
    change(past.pop(), { keep: false });
  };
  $("reset").onclick = () => {
    chosen = -1;
    $("remove").setAttribute("aria-pressed", false);
    change({ ...START, language: state.language });
  };
  $("remove").onclick = () => $("remove").setAttribute("aria-pressed", !removing());
  $("language").onchange = () => {
    state.language = $("language").value;
    $("told").textContent = "";
    refresh();
  };

  const dialog = $("dialog");
  function open(about, text, label, act) {
    $("about").textContent = say(about);
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
    try {
      await navigator.clipboard.writeText($("text").value);
    } catch {
      $("text").select();
      document.execCommand("copy");
    }
    $("act").textContent = say("copied");
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
      remember();
      chosen = -1;
      const names = table.names.map((name, k) => (table.zeros[k] ? say("days", { name, date: table.zeros[k] }) : name));
      change({ points: table.points, units: table.units, names: names.join("\t").slice(0, 120) }, { keep: false });
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
    const now = points(), { units } = state;
    const list = (k) => now.map((p) => Number((units[2 * k] + units[2 * k + 1] * p[k]).toPrecision(8))).join(", ");
    const data = `data=((${list(0)}), (${list(1)}), (${units.join(", ")}))`;
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
  for (const name of Object.keys(CHOICES)) makeChoice(name);
  makePresets();
  const spoken = (navigator.language || "en").slice(0, 2);
  state = { ...START, language: spoken in PLAYGROUND_WORDS ? spoken : "en" };
  state = { ...state, ...fromAddress(location.hash.slice(1)) };
  refresh();
  for (const folded of [$("more"), $("why")]) { // what unfolds below the edge comes into view
    folded.addEventListener("toggle", () => folded.open && folded.scrollIntoView({ block: "nearest" }));
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
  addEventListener("hashchange", () => change({ ...START, language: state.language, ...fromAddress(location.hash.slice(1)) }));

  window.playground = {
    engine,
    ready: ask().then(() => window.playground),
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

"use strict";

/* The two pictures: what they ask the workers, and what the answers say. */

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

const program = `onmessage = (${playgroundWorker})((${playgroundMethods})((${playgroundEngine})()), postMessage)`;
let refused = false; // whether no worker can start
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
    while (this.workers.length <= i) this.workers.push(refused ? this.stand() : this.start());
    return this.workers[i];
  }

  start() {
    const worker = new Worker(blob);
    worker.onmessage = (event) => {
      worker.answered = true;
      this.hear(event.data, this.workers.indexOf(worker));
    };
    worker.onerror = () => this.fail(!worker.answered);
    return worker;
  }

  /** What stands for a worker where the browser, or the page around this one, refuses them. */
  stand() {
    const answer = (told) => this.workers.includes(worker) && this.hear(told, 0);
    const hear = playgroundWorker(engine, (told) => Promise.resolve(told).then(answer)); // not while it works
    const worker = { postMessage: (data) => hear({ data }), terminate: () => hear({ data: {} }) };
    return worker;
  }

  ask(id, follow) {
    const { method } = this, hmc = method === "hmc", bbb = method === "bbb";
    const question = {
      method, problem: problem(), seed: state.seed, watch: watching() && !hmc, // chains go on by themselves
      samples: bbb ? state.samples : 0, klWeight: bbb ? state.kl : 0,
      tie: method === "learnt" && state.tie, passes: method === "pbp" && state.passes,
    };
    const same = JSON.stringify(question), { answer } = this;
    if (same === this.same && !this.followed) return this.promise; // it goes on, or stands
    const kept = bbb && !question.watch && same === this.same && answer?.id === this.id; // the hand's own fit is the quick one
    Object.assign(this, { same, id, kept, question, followed: follow, watched: question.watch, failed: false });
    if (answer) answer.old = !kept; // of another state: nothing is said of it
    if (!this.rest) this.promise = new Promise((resolve) => (this.rest = resolve)); // else that of an overtaken question
    const from = follow && bbb && answer?.mu && { mu: answer.mu, rho: answer.rho };
    const next = [{ ...question, follow, from, id }, hmc ? CHAINS : 1];
    if (follow && this.busy) this.next = next; // it waits until all workers have answered
    else this.send(...next);
    return this.promise;
  }

  /** Send a question to as many workers as share its parts: chains, or searches. */
  send(question, parts) {
    const many = refused ? 1 : Math.min(parts, navigator.hardwareConcurrency || 2);
    const all = Array.from({ length: parts }, (_, k) => k), { id, follow } = question;
    Object.assign(this, { many, sent: id, busy: follow, next: null, last: [question, parts], parts: {}, judged: {} });
    try {
      for (let i = 0; i < many; i++) {
        this.worker(i).postMessage({ ...question, grid: GRID, chains: all.filter((k) => k % many === i) });
      }
      this.workers.slice(many).forEach((worker) => worker.postMessage({ id }));
    } catch {
      this.fail(true);
    }
  }

  /** Give up workers that broke; those that were refused are replaced by the page's own thread. */
  fail(never) {
    this.workers.forEach((worker) => worker.terminate());
    Object.assign(this, { workers: [], busy: false });
    if (never) {
      refused = true;
      $("slow").textContent = say("refusedWorkers");
      return this.send(...this.last);
    }
    Object.assign(this, { failed: true, same: "" });
    this.rest = this.rest?.();
    paint();
  }

  hear(told, i) {
    if (told.id !== this.sent) return;
    const parts = (this.parts[told.step] ??= []); // those of a step go together
    parts[i] = told;
    if (parts.filter(Boolean).length < this.many) return;
    delete this.parts[told.step];
    if (told.draws) this.answer = this.together(parts);
    else if (told.totals) this.answer = this.lowest(parts);
    else if (this.kept && told.id === this.id) this.answer.follow = false;
    else this.answer = { ...told, method: this.method };
    if (told.final) this.busy = false;
    if (!held) fitLimit();
    paint();
    if (this.next) this.send(...this.next);
    if (told.id !== this.id) return;
    const falls = told.final && this.method === "bbb" && !told.follow && !told.totals;
    if (falls) this.send({ ...this.question, id: told.id, method: "lowest", watch: false }, SEARCHES);
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

function statusOf(panel) {
  const { answer } = panel;
  if (panel.failed) return say("blocked");
  if (guessing()) return say("challenge.hidden");
  if (tourStep()?.cloud && panel.key === "b" && cloud) return say("tour.cloud", { correlation: show(cloud.correlation), names: cloud.names.join(", ") });
  if (!answer || answer.old) return "…";
  if (answer.follow) return say("status.follows");
  const { method } = answer, where = spreads(answer);
  if (method === "hmc" && answer.warm) return say("status.warm", answer);
  if (method === "hmc" ? !answer.r_hat : watching() && !answer.final) return say("status.training", answer);
  if (broken(answer)) return say("broken");
  const shallow = state.layers > 1 && ["learnt", "pbp", "dropout", "laplace"].includes(method) ? say("status.shallow") : "";
  const gap = (Number.isNaN(where.gap) ? "" : say("status.gap", { gap: show(where.gap) })) + shallow;
  const values = { among: show(where.among), gap };
  if (method === "bbb") {
    const [complexity, likelihood] = [state.kl * answer.complexity, answer.likelihood].map(Math.round);
    values.weight = state.kl === 1 ? "" : `${Number(state.kl.toPrecision(2))} × `;
    Object.assign(values, { complexity, likelihood, F: complexity + likelihood }); // the sum of what is written
    values.is = state.layers === 1 ? "=" : "≈";
    values.rest = training(answer) + (answer.gained ? say("found", { by: show(answer.gained) }) : "");
  }
  if (method === "map") values.loss = Math.round(answer.loss);
  if (method === "linear") values.evidence = answer.evidence.toFixed(1).replace("-", "−");
  if (method === "learnt") Object.assign(values, { F: Math.round(answer.total), sigma: show(answer.sigma), off: Math.round(100 * answer.off) });
  if (method === "pbp") Object.assign(values, { passes: answer.step, noise: show(answer.noise * state.units[3]) });
  if (method === "hmc") {
    const verdict = answer.r_hat <= MIXED ? "mixed" : panel.goesOn ? "mixing" : "not";
    Object.assign(values, { r_hat: upward(answer.r_hat), draws: answer.draws });
    values.verdict = say(verdict, { mixed: MIXED });
  }
  return say(`status.${method}`, values);
}

const training = (answer) => say("rests" in answer ? (answer.rests ? "rests" : "status.ended") : "status.falls", answer); // of two layers F is an estimate
const upward = (r_hat, digits = r_hat < 1.1 ? 3 : 2) => (Math.ceil(r_hat * 10 ** digits) / 10 ** digits).toFixed(digits); // no 1.02 above 1.02
const broken = ({ mean, r_hat = 1 }) => !(mean.every(Number.isFinite) && r_hat < Infinity);

/** Whether a picture is one of the present state; and whether it is finished, so that the verdict may speak of it. */
const current = ({ answer, failed }) => answer && !failed && !answer.old && !answer.follow;
const settled = (panel) => current(panel) && (panel.method === "bbb" ? "rests" in panel.answer : panel.answer.final || panel.answer.r_hat);

function verdict() {
  const told = state.challenge ? challenged() : "";
  return state.challenge && !told ? "" : `${told} ${compared()}`.trim();
}

function compared() {
  if (tourStep()?.single) return ""; // the other picture is hidden
  if (panels.some(({ answer }) => answer?.follow)) return say("moving");
  if (panels.length < 2 || state.a === state.b || !panels.every((panel) => current(panel) && !broken(panel.answer))) return "";
  const chains = panels.find(({ method }) => method === "hmc"), r_hat = chains?.answer.r_hat;
  const drawing = chains?.goesOn ? `; ${say("mixing")}` : "";
  if (r_hat > MIXED) return say("wait", { r_hat: upward(r_hat), drawing });
  const falls = panels.find(({ method, answer }) => method === "bbb" && !answer.rests);
  if (falls) return training(falls.answer);
  return panels.every(settled) ? judged(...panels.map(({ answer }) => answer)) : "";
}

/** Compare two pictures in the widest gap (without one: outside the points), and among the points. */
function judged(one, other) {
  const spread = [one, other].map(spreads), chains = [one, other].find(({ method }) => method === "hmc");
  const rival = chains === one ? other : one, name = ({ method }) => say(`methods.${method}`);
  const there = ["gap", "outside", "among"].filter((place) => spread[0][place] >= 0);
  return there.map((place) => {
    const [p, q] = spread.map((all) => all[place]), [sd, truth] = chains === one ? [q, p] : [p, q], ratio = truth / sd;
    const values = { where: say(place === "gap" ? "inGap" : place), sd: show(sd), truth: show(truth) };
    if (!chains || !(ratio < 1e6)) return say("compare", { ...values, one: name(rival), other: name(rival === one ? other : one) });
    if (place === "outside" && there[0] === "gap" && ratio <= 1.25 && ratio >= 0.8) return "";
    const times = Number(Math.max(ratio, 1 / ratio).toPrecision(2));
    return say(ratio > 1.25 ? "sure" : ratio < 0.8 ? "unsure" : "alike", { ...values, other: name(rival), times });
  }).filter(Boolean).join(" ");
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
  return { ...a, r_hat, x: [...GRID], a, b, shares: shares() };
}

"use strict";

/*
 * What runs beside the page, in a worker: fits and chains, a slice at a time, so that a newer
 * question is heard at once. The page sends questions; each answer carries the question's number.
 *
 * A question: {id, method, problem, follow, watch, chains, seed}; {id} alone stops the work
 *   follow  while a hand moves a point: a few more steps from `from`, or where the last answer stood
 *   watch   wait after each answer
 *   {id, on}  go on by so many steps after an answer that waits, or draws after the first ones
 */
function playgroundWorker(engine, tell) {
  const SLICE_MS = 8; // so long a newer question waits at most
  const MEMBERS = 10; // networks of an ensemble
  const WARM_UP = 500, KEPT = 1000; // transitions of each chain
  const FOLLOW = { map: 300, bbb: 400, ensemble: 60, hmc: 40 }; // steps while a hand moves

  let question = null; // the latest
  let work = null; // {id, follow, watch, parts, waits, on}: `parts` yields an answer at times, and may wait then
  let last = null; // what the last answer left: from there a hand is followed
  let called = false; // whether a slice is due
  const channel = new MessageChannel();
  channel.port1.onmessage = slice;

  return function hear({ data: told }) {
    if (told.on !== undefined) {
      if (!work?.waits || work.id !== told.id) return;
      Object.assign(work, { waits: false, on: told.on });
      call();
      return;
    }
    question = told;
    begin();
  };

  function begin() {
    const q = question, { id, method, follow, watch } = q;
    work = null;
    if (!method) return;
    const net = engine.network(q.problem.hidden);
    const problem = { ...q.problem, net, prior: engine.makePrior(q.problem.prior) };
    if (q.from) last = { method, net, trainers: [q.from] };
    const same = last && last.method === method && last.net.nWeights === net.nWeights;
    const make = { hmc: chains, lowest: search }[method] || (method in engine.methods ? further : trained);
    work = { id, follow, watch, parts: make(q, problem, same && follow ? last : null) };
    call();
  }

  function call() {
    if (!called) channel.port2.postMessage(0);
    called = true;
  }

  function slice() {
    called = false;
    if (!work || work.waits) return;
    const start = performance.now();
    while (performance.now() - start < SLICE_MS) {
      const { value, done } = work.parts.next(work.on);
      if (value) tell({ id: work.id, follow: work.follow, ...value });
      work.waits = done || Boolean(value && (value.final || work.watch));
      if (work.waits) return;
    }
    call();
  }

  /** One network, an ensemble of them, or Bayes by Backprop. */
  function* trained(q, problem, from) {
    const { net } = problem, steps = from ? FOLLOW[q.method] : engine.STEPS;
    const trainers = Array.from({ length: q.method === "ensemble" ? MEMBERS : 1 }, (_, k) => {
      const seed = q.seed + 1000 * k, past = from?.trainers[k], { samples, klWeight } = q;
      if (q.method !== "bbb") return engine.mapTrainer(problem, { steps, seed, start: past?.w });
      return engine.bbbTrainer(problem, { steps, seed, samples, klWeight, ...(past && { mu: past.mu, rho: past.rho, rate: 0.03 }) });
    });
    const [first] = trainers;
    function answer() {
      last = { method: q.method, net, trainers };
      const told = { final: first.done >= steps, step: first.done, steps };
      if (q.method === "bbb") return { ...told, ...engine.describe(problem, first, q.klWeight, q.grid) };
      const lines = engine.evaluate(net, engine.join(trainers.map(({ w }) => w)), q.grid);
      return { ...told, ...engine.moments(lines, trainers.length, q.grid.length), lines, loss: first.loss };
    }
    if (q.watch) {
      for (let n = 0; first.done < steps; n = yield answer()) for (const trainer of trainers) trainer.run(n);
    } else {
      for (const trainer of trainers) for (; trainer.done < steps; yield) trainer.run(50);
      yield answer();
    }
  }

  /** One of the methods of methods.js, with one hidden layer; of some starts that of lowest F. */
  function* further(q, problem, from) {
    const net = engine.network(q.problem.hidden.slice(0, 1)), starts = q.method === "learnt" && !from ? 3 : 1;
    let best = null;
    for (let k = 0; k < starts; k++) {
      const options = { ...q, seed: q.seed + 1000 * k, from: from?.trainers[0] };
      const trainer = engine.methods[q.method]({ ...problem, net }, options), { steps } = trainer;
      const answer = () => ({ ...trainer.describe(q.grid), step: trainer.done, steps });
      for (let n = q.method === "pbp" ? 1 : 50; trainer.done < steps; trainer.run(n)) {
        if (q.watch) n = yield { ...answer(), final: false };
        else yield;
      }
      const found = answer();
      if (best && !(found.total < best.total)) continue;
      last = { method: q.method, net, trainers: [trainer] };
      best = found;
    }
    yield { ...best, final: true };
  }

  /** Some searches for the lowest free energy; the page takes the best of all workers. */
  function* search(q, problem) {
    const found = [];
    for (const k of q.chains) {
      const start = k ? null : last.trainers[0];
      found.push(yield* engine.lowest(problem, { ...q, seed: q.seed + 1000 * k, start }));
    }
    const best = found.reduce((one, other) => (other.total < one.total ? other : one));
    yield { final: true, ...best, totals: found.flatMap(({ totals }) => totals), ...engine.describe(problem, best, q.klWeight, q.grid) };
  }

  /** Some chains of Hamiltonian Monte Carlo; the page puts those of several workers together. */
  function* chains(q, problem, from) {
    const { net } = problem;
    const all = q.chains.map((k, i) => {
      const start = from && { start: from.chains[i].at(), stepSize: from.chains[i].stepSize() };
      return engine.hmcChain(problem, { warmUp: WARM_UP, seed: q.seed + 1000 * k, ...start });
    });
    const m = q.grid.length, [first] = all;
    const kept = all.map(() => new Float64Array(0)); // functions, one after the other
    let total = from ? FOLLOW.hmc : WARM_UP + KEPT, shownAt = 0;
    function answer() {
      last = { method: q.method, net, chains: all };
      const warm = first.done <= WARM_UP;
      const functions = (vectors) => engine.evaluate(net, engine.join(vectors), q.grid);
      const draws = all.map((chain, k) => {
        if (warm) return functions(chain.recent);
        kept[k] = engine.join([kept[k], functions(chain.kept.slice(kept[k].length / m))]);
        return kept[k];
      });
      return { final: first.done === total, draws, warm, step: first.done, steps: warm ? WARM_UP : total };
    }
    for (;;) {
      for (const chain of all) chain.run(Math.min(5, total - chain.done));
      // A first band early in the warm-up, then one each hundred transitions.
      const final = first.done === total, due = first.done - shownAt >= (shownAt ? 100 : 40);
      if (due) shownAt = first.done;
      const more = yield (final || due) && answer();
      if (final) total += more;
    }
  }
}

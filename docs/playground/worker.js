"use strict";

/*
 * What runs beside the page, in a worker: fits and chains, a slice at a time, so that a newer
 * question is heard at once. The page sends questions; each answer carries the question's number.
 *
 * A question: {id, method, problem, follow, watch, chains, seed}
 *   follow  while a hand moves a point: a few more steps from where the last answer stood
 *   watch   keep the trainer, and advance it by as many steps as {id, advance} says
 *   {id, more}  draw so many more from each chain, after the first have been answered
 */
function playgroundWorker(engine) {
  const SLICE_MS = 30;
  const DRAWS = 200; // functions from which a band of Bayes by Backprop is made
  const MEMBERS = 10; // networks of an ensemble
  const STEPS = 1500;
  const WARM_UP = 500, KEPT = 500; // transitions of each chain
  const FOLLOW = { map: 300, bbb: 400, ensemble: 60, hmc: 30 }; // steps while a hand moves

  let question = null; // the latest
  let work = null; // {step(), answer(final), done} of it
  let finished = null; // work whose first answer is out, and that can be gone on with
  let last = null; // what the last answer left: from there a hand is followed
  const channel = new MessageChannel();
  channel.port1.onmessage = () => loop();

  onmessage = (event) => {
    const told = event.data;
    if (told.advance !== undefined) {
      if (work && question.id === told.id) advance(told.advance);
      return;
    }
    if (told.more !== undefined) {
      if (work || question.id !== told.id || !finished) return;
      work = finished;
      work.more(told.more);
      channel.port2.postMessage(0);
      return;
    }
    const idle = !work;
    question = told;
    // A follower's fit is short and goes on to its end: else a fast hand would never see one.
    if (idle || !work.follow) begin();
  };

  function begin() {
    const q = question;
    const net = engine.network(q.problem.hidden);
    const problem = {
      net,
      x: Float64Array.from(q.problem.x),
      y: Float64Array.from(q.problem.y),
      noise: q.problem.noise,
      prior: engine.makePrior(q.problem.prior),
    };
    const same = last && last.method === q.method && last.net.nWeights === net.nWeights;
    work = (q.method === "hmc" ? chains : trained)(q, problem, same && q.follow ? last : null);
    work.id = q.id;
    work.follow = q.follow;
    work.spent = 0;
    if (q.watch) post(false);
    else channel.port2.postMessage(0);
  }

  function loop() {
    if (!work || question.watch) return;
    const start = performance.now();
    let shown = false;
    while (!work.done && performance.now() - start < SLICE_MS) {
      work.step();
      if (work.first) {
        shown = true;
        work.first = false;
        break;
      }
    }
    work.spent += performance.now() - start;
    if (work.done || shown) post(work.done);
    if (work.done) {
      const id = work.id;
      finished = work.more ? work : null;
      work = null;
      if (question.id !== id) begin();
      return;
    }
    channel.port2.postMessage(0);
  }

  function advance(steps) {
    for (let i = 0; i < steps && !work.done; i++) work.step(1);
    post(work.done);
  }

  function post(final) {
    const answer = work.answer();
    postMessage({ id: work.id, final, ms: work.spent, follow: work.follow, ...answer });
  }

  /** One network, an ensemble of them, or Bayes by Backprop. */
  function trained(q, problem, from) {
    const { net } = problem, steps = from ? FOLLOW[q.method] : STEPS;
    const make = (k) => {
      const seed = q.seed + 1000 * k;
      if (q.method !== "bbb") {
        return engine.mapTrainer(problem, { steps, seed, start: from && from.trainers[k].w });
      }
      const given = from ? { mu: from.trainers[0].mu, rho: from.trainers[0].rho, rate: 0.03 } : {};
      const { samples, klWeight } = q;
      return engine.bbbTrainer(problem, { steps, seed, samples, klWeight, ...given });
    };
    const trainers = Array.from({ length: q.method === "ensemble" ? MEMBERS : 1 }, (_, k) => make(k));
    let k = 0;
    const self = {
      done: false,
      step(n = 50) {
        if (q.watch) for (const trainer of trainers) trainer.run(n);
        else trainers[k].run(n);
        if (trainers[k].done >= steps) k = q.watch ? trainers.length : k + 1;
        self.done = k >= trainers.length;
      },
      answer() {
        last = { method: q.method, net, trainers };
        const [first] = trainers;
        let weights = first.w, figures = {};
        if (q.method === "bbb") {
          weights = engine.drawWeights(first.mu, first.rho, DRAWS);
          const cost = engine.freeEnergy(problem, first.mu, first.rho, q.klWeight);
          figures = { F: cost.total, complexity: cost.complexity, likelihood: cost.likelihood };
        } else {
          weights = new Float64Array(trainers.length * net.nWeights);
          trainers.forEach((trainer, i) => weights.set(trainer.w, i * net.nWeights));
          figures = { loss: first.loss };
        }
        const f = engine.functions(net, weights, Float64Array.from(q.grid));
        const draws = weights.length / net.nWeights, m = q.grid.length;
        const { mean, std } = engine.moments(f, draws, m);
        return { mean, std, lines: f.slice(0, Math.min(draws, 12) * m), step: first.done, ...figures };
      },
    };
    return self;
  }

  /** Some chains of Hamiltonian Monte Carlo; the page puts those of several workers together. */
  function chains(q, problem, from) {
    const { net } = problem;
    const all = q.chains.map((k, i) => {
      const start = from && { start: from.chains[i].at(), stepSize: from.chains[i].stepSize() };
      return engine.hmcChain(problem, { warmUp: WARM_UP, seed: q.seed + 1000 * k, ...start });
    });
    const grid = Float64Array.from(q.grid), m = grid.length;
    let total = from ? FOLLOW.hmc : WARM_UP + KEPT;
    let sent = 0, shownAt = 0;
    const self = {
      done: false,
      first: false,
      more(draws) {
        total += draws;
        self.done = false;
      },
      step(n = 5) {
        for (const chain of all) chain.run(Math.min(n, total - chain.done));
        const done = all[0].done;
        self.done = done >= total;
        // A first band early in the warm-up, then one each hundred transitions.
        if (done - shownAt >= (shownAt ? 100 : 40)) {
          shownAt = done;
          self.first = !q.watch;
        }
      },
      answer() {
        last = { method: q.method, net, chains: all };
        const warm = all[0].done <= WARM_UP;
        const vectors = (chain) => (warm ? chain.recent.slice(-25) : chain.kept.slice(sent));
        const draws = all.map((chain) => {
          const kept = vectors(chain), f = new Float64Array(kept.length * m);
          kept.forEach((w, s) => engine.evaluate(net, w, grid, 0, f.subarray(s * m, (s + 1) * m)));
          return f;
        });
        const logs = all.map((chain) => (warm ? [] : chain.logs.slice(sent)));
        if (!warm) sent = all[0].kept.length;
        return { draws, logs, warm, step: all[0].done, steps: WARM_UP };
      },
    };
    return self;
  }
}

if (typeof module !== "undefined") module.exports = playgroundWorker;

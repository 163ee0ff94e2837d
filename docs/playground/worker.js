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
  const WARM_UP = 500, KEPT = 500; // transitions of each chain
  const FOLLOW = { map: 300, bbb: 400, ensemble: 60, hmc: 30 }; // steps while a hand moves

  let question = null; // the latest
  let work = null; // {step(), answer(), done, due} of it
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
    const problem = { ...q.problem, net, prior: engine.makePrior(q.problem.prior) };
    const same = last && last.method === q.method && last.net.nWeights === net.nWeights;
    work = (q.method === "hmc" ? chains : trained)(q, problem, same && q.follow ? last : null);
    work.id = q.id;
    work.follow = q.follow;
    if (q.watch) post(false);
    else channel.port2.postMessage(0);
  }

  function loop() {
    if (!work || question.watch) return;
    const start = performance.now();
    work.due = false;
    while (!work.done && !work.due && performance.now() - start < SLICE_MS) work.step();
    if (work.done || work.due) post(work.done);
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
    postMessage({ id: work.id, final, follow: work.follow, ...answer });
  }

  /** One network, an ensemble of them, or Bayes by Backprop. */
  function trained(q, problem, from) {
    const { net } = problem, steps = from ? FOLLOW[q.method] : engine.STEPS;
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
        const [weights, figures] = q.method === "bbb"
          ? [engine.drawWeights(first.mu, first.rho, DRAWS), engine.freeEnergy(problem, first.mu, first.rho, q.klWeight)]
          : [engine.join(trainers.map((trainer) => trainer.w)), { loss: first.loss }];
        const f = engine.functions(net, weights, Float64Array.from(q.grid));
        const draws = weights.length / net.nWeights, m = q.grid.length;
        const { mean, std } = engine.moments(f, draws, m);
        return { mean, std, lines: f.slice(0, Math.min(draws, 12) * m), step: first.done, steps, ...figures };
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
    let total = from ? FOLLOW.hmc : WARM_UP + KEPT, shownAt = 0;
    const kept = all.map(() => new Float64Array(0)); // functions, one after the other
    const self = {
      done: false,
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
          self.due = true;
        }
      },
      answer() {
        last = { method: q.method, net, chains: all };
        const warm = all[0].done <= WARM_UP;
        const functions = (vectors) => engine.functions(net, engine.join(vectors), grid);
        const draws = all.map((chain, k) => {
          if (warm) return functions(chain.recent);
          kept[k] = engine.join([kept[k], functions(chain.kept.slice(kept[k].length / m))]);
          return kept[k];
        });
        return { draws, warm, step: all[0].done, steps: warm ? WARM_UP : total };
      },
    };
    return self;
  }
}

if (typeof module !== "undefined") module.exports = playgroundWorker;

"use strict";

/*
 * The mathematics of the playground: a small Bayesian network on points (x, y), in float64.
 *
 * `playgroundEngine()` returns pure functions; nothing in here knows the page. It is one function,
 * since its text is also the program of the workers: a page that is opened from a folder may load
 * no worker from a file.
 *
 * A network 1-H-1 or 1-H-H-1 has ReLU units. Its weights are one flat vector: layer by layer the
 * matrix [out, in] row by row, then the biases [out], as in `bdl_teach.mlp`.
 */
function playgroundEngine() {
  const LOG_2PI = Math.log(2 * Math.PI);
  const STEPS = 1500; // of a training, unless told otherwise

  /* ---- Random numbers: a seed gives the same numbers in every browser. ---- */

  /** Return a generator of uniform numbers in (0, 1) (sfc32, PractRand-tested, public domain). */
  function uniform(seed) {
    let a = seed | 0, b = (seed ^ 0x9e3779b9) | 0, c = 0x243f6a88, counter = 1;
    function next() {
      const t = (((a + b) | 0) + counter) | 0;
      counter = (counter + 1) | 0;
      a = b ^ (b >>> 9);
      b = (c + (c << 3)) | 0;
      c = (c << 21) | (c >>> 11);
      c = (c + t) | 0;
      return ((t >>> 0) + 0.5) / 4294967296;
    }
    for (let i = 0; i < 15; i++) next();
    return next;
  }

  /** Return a generator of standard normal numbers (Marsaglia's polar method). */
  function normal(seed) {
    const draw = uniform(seed);
    let spare = NaN;
    return function next() {
      if (spare === spare) {
        const value = spare;
        spare = NaN;
        return value;
      }
      for (;;) {
        const u = 2 * draw() - 1, v = 2 * draw() - 1, s = u * u + v * v;
        if (s < 1 && s > 0) {
          const scale = Math.sqrt((-2 * Math.log(s)) / s);
          spare = v * scale;
          return u * scale;
        }
      }
    };
  }

  function normals(count, seed, kind = Float64Array) {
    const values = new kind(count), next = normal(seed);
    for (let i = 0; i < count; i++) values[i] = next();
    return values;
  }

  /* ---- The network. ---- */

  /** Describe a network: units per layer, number of weights, inputs of each weight's layer. */
  function network(hidden) {
    const sizes = [1, ...hidden, 1];
    const layers = [];
    let start = 0;
    for (let l = 0; l + 1 < sizes.length; l++) {
      const [n, m] = [sizes[l], sizes[l + 1]];
      layers.push({ inputs: n, outputs: m, weights: start, biases: start + n * m });
      start += (n + 1) * m;
    }
    const fanIn = new Float64Array(start);
    for (const layer of layers) {
      fanIn.fill(layer.inputs, layer.weights, layer.biases + layer.outputs);
    }
    return { sizes, layers, nWeights: start, fanIn };
  }

  const unitsOf = (net) => net.sizes.map((size) => new Float64Array(size));

  /** Return f(x) for the weights that begin at `offset` of `w`; fill in all `units`, layer by layer. */
  function forward(net, w, x, units, offset = 0) {
    const last = net.layers.length - 1;
    units[0][0] = x;
    for (let l = 0; l <= last; l++) {
      const { inputs, outputs, weights, biases } = net.layers[l];
      const h = units[l], out = units[l + 1];
      for (let k = 0, at = offset + weights; k < outputs; k++, at += inputs) {
        let sum = w[offset + biases + k];
        for (let j = 0; j < inputs; j++) sum += w[at + j] * h[j];
        out[k] = l < last && sum < 0 ? 0 : sum;
      }
    }
    return units[last + 1][0];
  }

  /** Return f(x) at every x, for the weights that begin at `offset` of `w`. */
  function evaluate(net, w, x, offset = 0, out = new Float64Array(x.length)) {
    const units = unitsOf(net);
    for (let i = 0; i < x.length; i++) out[i] = forward(net, w, x[i], units, offset);
    return out;
  }

  /**
   * Return a function (w, gradient) -> ½ Σ (y − f(x))² that fills in the gradient by w.
   * Buffers are made once: it is called a hundred thousand times.
   */
  function squares(net, x, y) {
    const last = net.layers.length - 1, units = unitsOf(net), deltas = unitsOf(net);
    return function evaluateSquares(w, gradient) {
      gradient.fill(0);
      let total = 0;
      for (let i = 0; i < x.length; i++) {
        const residual = forward(net, w, x[i], units) - y[i];
        total += 0.5 * residual * residual;
        deltas[last + 1][0] = residual;
        for (let l = last; l >= 0; l--) {
          const { inputs, outputs, weights, biases } = net.layers[l];
          const h = units[l], delta = deltas[l + 1], below = deltas[l];
          if (l) below.fill(0);
          for (let k = 0, at = weights; k < outputs; k++, at += inputs) {
            const d = delta[k];
            if (d === 0) continue;
            gradient[biases + k] += d;
            for (let j = 0; j < inputs; j++) {
              gradient[at + j] += d * h[j];
              if (l && h[j] > 0) below[j] += d * w[at + j];
            }
          }
        }
      }
      return total;
    };
  }

  /* ---- Prior and likelihood. ---- */

  /**
   * Return the prior of each weight: a Gaussian {sigma} or a mixture {sigma1, sigma2, pi}.
   * `evaluate(w, gradient)` returns Σ log P(w) and *subtracts* its gradient from `gradient`.
   */
  function makePrior(given) {
    if (given.sigma !== undefined) {
      const precision = 1 / given.sigma ** 2, constant = -Math.log(given.sigma) - 0.5 * LOG_2PI;
      return {
        std: given.sigma,
        draw: (next) => given.sigma * next(),
        evaluate(w, gradient) {
          let total = w.length * constant;
          for (let i = 0; i < w.length; i++) {
            total -= 0.5 * precision * w[i] * w[i];
            gradient[i] += precision * w[i];
          }
          return total;
        },
      };
    }
    const { sigma1, sigma2, pi } = given;
    const p1 = 1 / sigma1 ** 2, p2 = 1 / sigma2 ** 2;
    const c1 = Math.log(pi) - Math.log(sigma1) - 0.5 * LOG_2PI; // −∞ where π = 0
    const c2 = Math.log(1 - pi) - Math.log(sigma2) - 0.5 * LOG_2PI;
    return {
      std: Math.sqrt(pi * sigma1 ** 2 + (1 - pi) * sigma2 ** 2),
      draw: (next, draw) => (draw() < pi ? sigma1 : sigma2) * next(),
      evaluate(w, gradient) {
        let total = 0;
        for (let i = 0; i < w.length; i++) {
          const square = w[i] * w[i];
          const a = c1 - 0.5 * p1 * square, b = c2 - 0.5 * p2 * square;
          const high = Math.max(a, b), log = high + Math.log(Math.exp(a - high) + Math.exp(b - high));
          const share = Math.exp(a - log); // of the first half
          total += log;
          gradient[i] += (share * p1 + (1 - share) * p2) * w[i];
        }
        return total;
      },
    };
  }

  /** Return −log P(D | w) − log P(w) in nats, as a function of (w, gradient). */
  function potential(problem) {
    const { net, x, y, noise } = problem;
    const sum = squares(net, x, y), precision = 1 / noise ** 2;
    const constant = x.length * (Math.log(noise) + 0.5 * LOG_2PI);
    return function evaluatePotential(w, gradient) {
      const nll = precision * sum(w, gradient) + constant;
      for (let i = 0; i < w.length; i++) gradient[i] *= precision;
      return nll - problem.prior.evaluate(w, gradient);
    };
  }

  /* ---- Adam, as in the package: the rate falls to 0 over a share `cooldown` of the steps. ---- */

  function adam(parameters, rate, steps, cooldown) {
    const first = parameters.map((p) => new Float64Array(p.length));
    const second = parameters.map((p) => new Float64Array(p.length));
    return function step(t, gradients) {
      const left = cooldown > 0 ? Math.min(1, (steps - t) / steps / cooldown) : 1;
      const size = (rate * left * Math.sqrt(1 - 0.999 ** (t + 1))) / (1 - 0.9 ** (t + 1));
      for (let k = 0; k < parameters.length; k++) {
        const p = parameters[k], g = gradients[k], m = first[k], v = second[k];
        for (let i = 0; i < p.length; i++) {
          m[i] = 0.9 * m[i] + 0.1 * g[i];
          v[i] = 0.999 * v[i] + 0.001 * g[i] * g[i];
          p[i] -= (size * m[i]) / (Math.sqrt(v[i]) + 1e-7);
        }
      }
    };
  }

  /* ---- One network (MAP). ---- */

  /** Train one network; `run(n)` takes n steps. `loss` is −log P(D | w) − log P(w), in nats. */
  function mapTrainer(problem, { steps = STEPS, rate = 0.02, seed = 0, start } = {}) {
    const { net } = problem;
    const w = start ? Float64Array.from(start) : normals(net.nWeights, 7919 * (seed + 1));
    if (!start) for (let i = 0; i < w.length; i++) w[i] *= Math.sqrt(2 / net.fanIn[i]);
    const gradient = new Float64Array(net.nWeights), loss = potential(problem);
    const step = adam([w], rate, steps, 0.25);
    const trainer = { w, steps, done: 0, loss: NaN, run };
    function run(n) {
      for (const end = Math.min(steps, trainer.done + n); trainer.done < end; trainer.done++) {
        trainer.loss = loss(w, gradient);
        step(trainer.done, [gradient]);
      }
      return trainer;
    }
    return trainer;
  }

  /* ---- Bayes by Backprop: q(w) = Π N(w_j | μ_j, softplus(ρ_j)²). ---- */

  const softplus = (r) => Math.max(r, 0) + Math.log1p(Math.exp(-Math.abs(r)));
  const logistic = (r) => 1 / (1 + Math.exp(-r));

  /**
   * Train q. Draw s of step t uses row (t + 97 s) of a fixed table of noise, so that a moved slider
   * changes what it means and not the noise.
   */
  function bbbTrainer(problem, options = {}) {
    const { net, noise, prior } = problem;
    const { steps = STEPS, rate = 0.08, samples = 1, klWeight = 1, seed = 0, cooldown = 1 } = options;
    const size = net.nWeights;
    const mu = options.mu ? Float64Array.from(options.mu) : normals(size, 7919 * (seed + 1));
    const rho = options.rho ? Float64Array.from(options.rho) : new Float64Array(size).fill(-1);
    if (!options.mu) {
      for (let i = 0; i < size; i++) {
        mu[i] *= Math.min(0.3 * prior.std, Math.sqrt(2 / net.fanIn[i]));
      }
    }
    const eps = options.eps || noiseTable(size, seed), rows = eps.length / size;
    const sum = squares(net, problem.x, problem.y), precision = 1 / noise ** 2;
    const constant = problem.x.length * (Math.log(noise) + 0.5 * LOG_2PI);
    const w = new Float64Array(size), data = new Float64Array(size), pull = new Float64Array(size);
    const gMu = new Float64Array(size), gRho = new Float64Array(size);
    const std = new Float64Array(size), slope = new Float64Array(size);
    const step = adam([mu, rho], rate, steps, cooldown);
    const trainer = { mu, rho, steps, done: 0, complexity: NaN, likelihood: NaN, run };

    function run(n) {
      for (const end = Math.min(steps, trainer.done + n); trainer.done < end; trainer.done++) {
        trainer.complexity = trainer.likelihood = 0;
        gMu.fill(0);
        gRho.fill(0);
        for (let i = 0; i < size; i++) {
          std[i] = softplus(rho[i]);
          slope[i] = logistic(rho[i]);
        }
        for (let s = 0; s < samples; s++) {
          draw(((trainer.done + 97 * s) % rows) * size);
        }
        step(trainer.done, [gMu, gRho]);
      }
      return trainer;
    }

    /** Add one draw's share of the gradient, and of the two parts of the free energy. */
    function draw(row) {
      let logQ = 0;
      for (let i = 0; i < size; i++) {
        const e = eps[row + i];
        w[i] = mu[i] + std[i] * e;
        logQ -= Math.log(std[i]) + 0.5 * (LOG_2PI + e * e);
      }
      pull.fill(0);
      trainer.complexity += (logQ - prior.evaluate(w, pull)) / samples;
      trainer.likelihood += (precision * sum(w, data) + constant) / samples;
      for (let i = 0; i < size; i++) {
        const g = klWeight * pull[i] + precision * data[i];
        gMu[i] += g / samples;
        gRho[i] += ((g * eps[row + i] - klWeight / std[i]) * slope[i]) / samples;
      }
    }
    return trainer;
  }

  let table = { key: "" }; // the last one that was made

  /** Return a table of standard normal numbers, STEPS rows of `size`. */
  function noiseTable(size, seed) {
    const key = `${size} ${seed}`;
    if (table.key !== key) table = { key, values: normals(STEPS * size, 104729 * (seed + 1), Float32Array) };
    return table.values;
  }

  /** Estimate the free energy of q with fresh draws, in nats: {total, complexity, likelihood}. */
  function freeEnergy(problem, mu, rho, klWeight, draws = 100, seed = 1) {
    const eps = normals(draws * mu.length, 15485863 * seed);
    const { complexity, likelihood } = bbbTrainer(problem, { mu, rho, eps, samples: draws }).run(1);
    return { total: klWeight * complexity + likelihood, complexity, likelihood };
  }

  /** Draw weights from q: `draws` vectors, one after the other. */
  function drawWeights(mu, rho, draws, seed = 1) {
    const w = new Float64Array(draws * mu.length), next = normal(32452843 * seed);
    for (let at = 0, s = 0; s < draws; s++) {
      for (let i = 0; i < mu.length; i++, at++) w[at] = mu[i] + softplus(rho[i]) * next();
    }
    return w;
  }

  /* ---- Hamiltonian Monte Carlo. ---- */

  /**
   * One chain. `run(n)` makes n transitions; the first `warmUp` of them adapt the step size by dual
   * averaging (Hoffman & Gelman 2014, section 3.2) and are not kept.
   */
  function hmcChain(problem, options = {}) {
    const { warmUp = 500, leapfrogs = 60, seed = 0, accept = 0.8, start } = options;
    const { net, prior } = problem, size = net.nWeights;
    const next = normal(49979687 * (seed + 1)), draw = uniform(67867967 * (seed + 1));
    const energy = potential(problem);
    let w = new Float64Array(size), trial = new Float64Array(size);
    let gradient = new Float64Array(size), trialGradient = new Float64Array(size);
    const momentum = new Float64Array(size);
    for (let i = 0; i < size; i++) w[i] = start ? start[i] : prior.draw(next, draw);
    let u = energy(w, gradient);
    let stepSize = options.stepSize || 0.01, mean = Math.log(10 * stepSize), error = 0, average = 0;
    const kept = [], recent = []; // `recent`: the last 25 states of the warm-up
    const chain = { kept, recent, done: 0, run, at: () => w, stepSize: () => stepSize };

    function run(n) {
      for (let i = 0; i < n; i++) {
        const rate = transition();
        if (chain.done < warmUp) {
          adapt(rate);
          if (recent.push(Float64Array.from(w)) > 25) recent.shift();
        } else kept.push(Float64Array.from(w));
        chain.done++;
      }
      return chain;
    }

    function transition() {
      let kinetic = 0;
      for (let i = 0; i < size; i++) {
        momentum[i] = next();
        kinetic += 0.5 * momentum[i] * momentum[i];
      }
      const before = u + kinetic, h = stepSize * (0.8 + 0.4 * draw());
      trial.set(w);
      trialGradient.set(gradient);
      let now = u;
      for (let l = 0; l < leapfrogs; l++) {
        for (let i = 0; i < size; i++) {
          momentum[i] -= 0.5 * h * trialGradient[i];
          trial[i] += h * momentum[i];
        }
        now = energy(trial, trialGradient);
        kinetic = 0;
        for (let i = 0; i < size; i++) {
          momentum[i] -= 0.5 * h * trialGradient[i];
          kinetic += 0.5 * momentum[i] * momentum[i];
        }
        if (!(now + kinetic - before < 1000)) return 0; // it diverges
      }
      const rate = Math.min(1, Math.exp(before - now - kinetic));
      if (draw() < rate) {
        [w, trial] = [trial, w];
        [gradient, trialGradient] = [trialGradient, gradient];
        u = now;
      }
      return rate;
    }

    function adapt(rate) {
      const t = chain.done + 1, weight = 1 / (t + 10);
      error = (1 - weight) * error + weight * (accept - rate);
      const log = mean - (Math.sqrt(t) / 0.05) * error, forget = t ** -0.75;
      average = forget * log + (1 - forget) * average;
      stepSize = Math.exp(t < warmUp ? log : average);
    }
    return chain;
  }

  /* ---- What draws say. ---- */

  /** Return mean and sd of functions [draws × m] at each of m places. */
  function moments(f, draws, m) {
    const mean = new Float64Array(m), std = new Float64Array(m);
    for (let i = 0; i < m; i++) {
      let sum = 0, square = 0;
      for (let s = 0; s < draws; s++) sum += f[s * m + i];
      const centre = sum / draws;
      for (let s = 0; s < draws; s++) square += (f[s * m + i] - centre) ** 2;
      mean[i] = centre;
      std[i] = Math.sqrt(square / draws);
    }
    return { mean, std };
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

  /** Evaluate weight vectors that stand one after the other: [draws × m]. */
  function functions(net, weights, x) {
    const draws = weights.length / net.nWeights, f = new Float64Array(draws * x.length);
    for (let s = 0; s < draws; s++) {
      evaluate(net, weights, x, s * net.nWeights, f.subarray(s * x.length, (s + 1) * x.length));
    }
    return f;
  }

  /** Return the standard normal quantile of p (Acklam's rational approximation, error 1e-9). */
  function quantile(p) {
    const a = [-39.6968302866538, 220.946098424521, -275.928510446969, 138.357751867269,
      -30.6647980661472, 2.50662827745924];
    const b = [-54.4760987982241, 161.585836858041, -155.698979859887, 66.8013118877197,
      -13.2806815528857];
    const c = [-0.00778489400243029, -0.322396458041136, -2.40075827716184, -2.54973253934373,
      4.37466414146497, 2.93816398269878];
    const d = [0.00778469570904146, 0.32246712907004, 2.445134137143, 3.75440866190742];
    const poly = (q, k) => k.reduce((sum, coefficient) => sum * q + coefficient, 0);
    if (p < 0.02425 || p > 0.97575) {
      const q = Math.sqrt(-2 * Math.log(Math.min(p, 1 - p)));
      return (p < 0.5 ? 1 : -1) * (poly(q, c) / poly(q, [...d, 1]));
    }
    const q = p - 0.5;
    return (q * poly(q * q, a)) / poly(q * q, [...b, 1]);
  }

  /**
   * Return rank-normalised split R-hat, and bulk ESS if asked, of chains of one quantity (Vehtari
   * et al. 2021); `chains` are arrays of equal length. R-hat is Infinity if none of them moves.
   */
  function diagnose(chains, withESS = true) {
    const half = Math.floor(chains[0].length / 2), parts = [];
    if (half < 4) return { rHat: Infinity, ess: 0 };
    for (const chain of chains) parts.push(chain.slice(0, half), chain.slice(-half));
    const ranked = rankNormalise(parts);
    const medians = parts.flatMap((part) => [...part]).sort((p, q) => p - q);
    const middle = medians[medians.length >> 1];
    const folded = rankNormalise(parts.map((part) => Array.from(part, (v) => Math.abs(v - middle))));
    return { rHat: Math.max(rHat(ranked), rHat(folded)), ess: withESS ? effective(ranked) : Infinity };
  }

  function rankNormalise(parts) {
    const n = parts[0].length, count = n * parts.length;
    const values = new Float64Array(count);
    parts.forEach((part, c) => values.set(part, c * n));
    const order = Uint32Array.from(values, (_, i) => i).sort((p, q) => values[p] - values[q]);
    const out = parts.map(() => new Float64Array(n));
    for (let from = 0; from < count; ) {
      let to = from;
      while (to + 1 < count && values[order[to + 1]] === values[order[from]]) to++;
      const z = quantile(((from + to) / 2 + 1 - 0.375) / (count + 0.25)); // ties share a rank
      for (; from <= to; from++) out[Math.floor(order[from] / n)][order[from] % n] = z;
    }
    return out;
  }

  function withinAndTotal(parts) {
    const n = parts[0].length;
    const means = parts.map((part) => part.reduce((p, q) => p + q, 0) / n);
    const all = means.reduce((p, q) => p + q, 0) / parts.length;
    let within = 0, between = 0;
    parts.forEach((part, c) => {
      within += part.reduce((sum, v) => sum + (v - means[c]) ** 2, 0) / (n - 1) / parts.length;
      between += (means[c] - all) ** 2 / Math.max(1, parts.length - 1);
    });
    if (within < 1e-20 * between) within = 0; // what rounding leaves of chains that do not move
    return { means, within, total: ((n - 1) / n) * within + between };
  }

  function rHat(parts) {
    const { within, total } = withinAndTotal(parts);
    return within > 0 ? Math.sqrt(total / within) : Infinity;
  }

  /** Effective number of draws, by Geyer's initial monotone sequence. */
  function effective(parts) {
    const n = parts[0].length, { means, within, total } = withinAndTotal(parts);
    if (!(within > 0)) return 0;
    const correlation = (lag) => {
      let mean = 0;
      parts.forEach((part, c) => {
        let sum = 0;
        for (let i = 0; i + lag < n; i++) sum += (part[i] - means[c]) * (part[i + lag] - means[c]);
        mean += sum / n / parts.length;
      });
      return 1 - (within - (mean * n) / (n - 1)) / total;
    };
    let sum = -1, least = Infinity;
    for (let lag = 0; lag + 1 < n; lag += 2) {
      const pair = Math.min(least, correlation(lag) + correlation(lag + 1));
      if (pair < 0) break;
      sum += 2 * pair;
      least = pair;
    }
    const draws = n * parts.length;
    return draws / Math.max(sum, 1 / Math.log10(draws));
  }

  return {
    network, evaluate, squares, makePrior, potential, mapTrainer, bbbTrainer, freeEnergy,
    drawWeights, hmcChain, moments, functions, join, diagnose, uniform, normal, normals, STEPS,
  };
}

if (typeof module !== "undefined") module.exports = playgroundEngine;

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
  const LOG_2PI = Math.log(2 * Math.PI), DENSITY = 1 / Math.sqrt(2 * Math.PI);
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

  /** Return Φ(−z) for z ≥ 0 and the density at z, with an error of 10⁻⁷ (Abramowitz & Stegun 1964, 26.2.17). */
  function tail(z, density) {
    const t = 1 / (1 + 0.2316419 * z);
    return density * t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
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

  const isShallow = (net) => net.layers.length === 2;
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

  /** Return f(x) at every x, for weight vectors that stand one after the other: [draws × m]. */
  function evaluate(net, w, x) {
    const units = unitsOf(net), f = new Float64Array((w.length / net.nWeights) * x.length);
    for (let at = 0, offset = 0; at < f.length; offset += net.nWeights) {
      for (let i = 0; i < x.length; i++, at++) f[at] = forward(net, w, x[i], units, offset);
    }
    return f;
  }

  /**
   * Return a function (w, gradient) -> ½ Σ (y − f(x))² that fills in the gradient by w.
   * Buffers are made once: it is called a hundred thousand times.
   */
  function squares(net, x, y) {
    if (isShallow(net)) return shallowSquares(net.sizes[1], x, y);
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

  /**
   * The same for a network 1-H-1, unit by unit: f is a line between two kinks, so that each unit only
   * changes slope and level at the first point beyond its kink, and sums over the points at which it
   * is on are differences of running sums.
   */
  function shallowSquares(H, xs, ys) {
    const n = xs.length, order = Array.from(xs, (_, i) => i).sort((i, j) => xs[i] - xs[j]);
    const [x, y] = [xs, ys].map((values) => Float64Array.from(order, (i) => values[i]));
    const [slope, level, sum, moment] = Array.from({ length: 4 }, () => new Float64Array(n + 1));
    const beyond = new Int32Array(H), cells = 128 / (x[n - 1] - x[0]), cell = (at) => Math.floor((at - x[0]) * cells);
    const table = Int32Array.from({ length: 129 }, (_, c) => x.findIndex((at) => !(cell(at) < c)));
    function first(kink) { // the first point beyond a kink
      if (kink < x[0]) return 0;
      if (!(kink < x[n - 1])) return n; // NaN, too: such a unit is off
      let i = table[cell(kink)];
      while (x[i] < kink) i++;
      return i;
    }
    return function evaluateSquares(w, gradient) {
      slope.fill(0);
      level.fill(0);
      level[0] = w[3 * H];
      for (let k = 0; k < H; k++) {
        const a = w[k] + 0, b = w[H + k], u = w[2 * H + k], i = (beyond[k] = first(-b / a)); // no −0
        const sign = a < 0 ? -1 : 1;
        slope[i] += sign * u * a;
        level[i] += sign * u * b;
        if (sign > 0) continue;
        slope[0] += u * a;
        level[0] += u * b;
      }
      let total = 0;
      for (let i = 0, s = 0, l = 0; i < n; i++) {
        s += slope[i];
        l += level[i];
        const residual = s * x[i] + l - y[i];
        total += 0.5 * residual * residual;
        sum[i + 1] = sum[i] + residual;
        moment[i + 1] = moment[i] + residual * x[i];
      }
      for (let k = 0; k < H; k++) {
        const a = w[k], b = w[H + k], u = w[2 * H + k], i = beyond[k];
        const residuals = a < 0 ? sum[i] : sum[n] - sum[i], moments = a < 0 ? moment[i] : moment[n] - moment[i];
        gradient[k] = u * moments;
        gradient[H + k] = u * residuals;
        gradient[2 * H + k] = a * moments + b * residuals;
      }
      gradient[3 * H] = sum[n];
      return total;
    };
  }

  /* ---- Prior and likelihood. ---- */

  const softplus = (r) => Math.max(r, 0) + Math.log1p(Math.exp(-Math.abs(r)));
  const logistic = (r) => 1 / (1 + Math.exp(-r));

  /**
   * Return the prior of each weight: a Gaussian {sigma} or a mixture {sigma1, sigma2, pi}.
   * `evaluate(w, gradient)` returns Σ log P(w) and *subtracts* its gradient from `gradient`;
   * `expect(mean, std, out)` fills in E[−log P(w)] for w ~ N(mean, std²) and its two slopes.
   */
  function makePrior({ sigma, sigma1 = sigma, sigma2 = sigma, pi = 1 }) {
    const [high, low, part] = sigma1 < sigma2 ? [sigma2, sigma1, 1 - pi] : [sigma1, sigma2, pi];
    const [wide, share] = part ? [high, part] : [low, 1];
    // log P(w) = offset − ½ w² / wide² + softplus(a − b w²)
    const offset = Math.log(share / wide) - 0.5 * LOG_2PI, precision = 1 / wide ** 2;
    const a = Math.log((1 - share) / share) + Math.log(wide / low), b = 0.5 * (1 / low ** 2 - precision);
    const reach = Math.sqrt((Math.max(a, 0) + 20) / b); // of softplus, which is 0 for a Gaussian
    return {
      wide,
      std: Math.sqrt(pi * sigma1 ** 2 + (1 - pi) * sigma2 ** 2),
      draw: (next, draw) => (pi === 1 || draw() < pi ? sigma1 : sigma2) * next(),
      evaluate(w, gradient) {
        let total = w.length * offset;
        for (let i = 0; i < w.length; i++) {
          const square = w[i] * w[i];
          total -= 0.5 * precision * square;
          gradient[i] += precision * w[i];
          if (share === 1) continue;
          total += softplus(a - b * square);
          gradient[i] += 2 * b * logistic(a - b * square) * w[i];
        }
        return total;
      },
      expect(mean, std, out) {
        out[0] = 0.5 * precision * (mean * mean + std * std) - offset;
        out[1] = precision * mean;
        out[2] = precision * std;
        if (share === 1) return;
        const from = Math.max(mean - 6 * std, -reach), to = Math.min(mean + 6 * std, reach);
        const width = (to - from) / 16; // the midpoint rule
        for (let w = from + width / 2; w < to; w += width) {
          const z = (w - mean) / std, mass = (DENSITY * width * Math.exp(-0.5 * z * z)) / std;
          const bump = mass * softplus(a - b * w * w);
          out[0] -= bump;
          out[1] -= (bump * z) / std;
          out[2] -= (bump * (z * z - 1)) / std;
        }
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

  /** Return a trainer of parameters: `run(n)` takes n steps; `slope(gradients, t)` prepares step t. */
  function adam(parameters, slope, { steps = STEPS, rate, cooldown = 1, beta = 0.999 }) {
    const zeros = () => parameters.map((p) => new Float64Array(p.length));
    const gradients = zeros(), first = zeros(), second = zeros();
    const trainer = { steps, done: 0, run };
    function run(n) {
      for (const end = Math.min(steps, trainer.done + n); trainer.done < end; trainer.done++) {
        slope(gradients, trainer.done);
        step(trainer.done);
      }
      return trainer;
    }
    function step(t) {
      const left = cooldown > 0 ? Math.min(1, (steps - t) / steps / cooldown) : 1;
      const size = (rate * left * Math.sqrt(1 - beta ** (t + 1))) / (1 - 0.9 ** (t + 1));
      for (let k = 0; k < parameters.length; k++) {
        const p = parameters[k], g = gradients[k], m = first[k], v = second[k];
        for (let i = 0; i < p.length; i++) {
          m[i] = 0.9 * m[i] + 0.1 * g[i];
          v[i] = beta * v[i] + (1 - beta) * g[i] * g[i];
          p[i] -= (size * m[i]) / (Math.sqrt(v[i]) + 1e-7);
        }
      }
    }
    return trainer;
  }

  /** Draw weights to start from, of sd √(2 / inputs), but not above `most`. */
  function randomWeights({ fanIn }, next, most = Infinity) {
    return Float64Array.from(fanIn, (inputs) => Math.min(most, Math.sqrt(2 / inputs)) * next());
  }

  /* ---- One network (MAP). ---- */

  /** Train one network. `loss` is −log P(D | w) − log P(w), in nats. */
  function mapTrainer(problem, { steps, rate = 0.02, seed = 0, start } = {}) {
    const w = start ? Float64Array.from(start) : randomWeights(problem.net, normal(7919 * (seed + 1)));
    const loss = potential(problem);
    const trainer = adam([w], ([gradient]) => (trainer.loss = loss(w, gradient)), { steps, rate, cooldown: 0.25 });
    return Object.assign(trainer, { w });
  }

  /* ---- Bayes by Backprop: q(w) = Π N(w_j | μ_j, softplus(ρ_j)²). ---- */

  /**
   * Train q. Draw s of step t uses row (t + 97 s) of a fixed table of noise, so that a moved slider
   * changes what it means and not the noise.
   */
  function bbbTrainer(problem, options = {}) {
    const { net, noise, prior } = problem;
    const { steps, rate = 0.08, samples = 1, klWeight = 1, seed = 0, cooldown } = options;
    const size = net.nWeights;
    const mu = options.mu ? Float64Array.from(options.mu) : randomWeights(net, normal(7919 * (seed + 1)), 0.3 * prior.std);
    const rho = options.rho ? Float64Array.from(options.rho) : new Float64Array(size).fill(-1);
    const eps = options.eps || noiseTable(size, seed), rows = eps.length / size;
    const sum = squares(net, problem.x, problem.y), precision = 1 / noise ** 2;
    const constant = problem.x.length * (Math.log(noise) + 0.5 * LOG_2PI);
    const w = new Float64Array(size), data = new Float64Array(size), pull = new Float64Array(size);
    const std = new Float64Array(size), slope = new Float64Array(size);
    const trainer = adam([mu, rho], prepare, { steps, rate, cooldown });
    return Object.assign(trainer, { mu, rho });

    function prepare([gMu, gRho], t) {
      trainer.complexity = trainer.likelihood = 0;
      gMu.fill(0);
      gRho.fill(0);
      for (let i = 0; i < size; i++) {
        std[i] = softplus(rho[i]);
        slope[i] = logistic(rho[i]);
      }
      for (let s = 0; s < samples; s++) draw(((t + 97 * s) % rows) * size, gMu, gRho);
    }

    /** Add one draw's share of the gradient, and of the two parts of the free energy. */
    function draw(row, gMu, gRho) {
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
  }

  let table = { key: "" }; // the last one that was made

  /** Return a table of standard normal numbers, STEPS rows of `size`. */
  function noiseTable(size, seed) {
    const key = `${size} ${seed}`;
    if (table.key !== key) table = { key, values: normals(STEPS * size, 104729 * (seed + 1), Float32Array) };
    return table.values;
  }

  /* ---- The lowest free energy. ---- */

  /**
   * Return (mu, rho, gMu, gRho) -> {complexity, likelihood, mean, variance} of a network 1-H-1: the
   * two parts of F in nats, exact, and the moments of f(x) at each x; it fills in the gradients of F.
   * Only the first `used` units count. Given x, the inputs of the units are independent Gaussians, with known moments after the ReLU
   * (Hernández-Lobato & Adams 2015, eq. 17-18).
   */
  function exactEnergy({ net, x, y, noise, prior }, klWeight, used = net.sizes[1]) {
    const H = net.sizes[1], n = x.length, size = net.nWeights, precision = 1 / noise ** 2;
    const [first, second, above, slope] = Array.from({ length: 4 }, () => new Float64Array(H * n));
    const [mean, variance, pull] = Array.from({ length: 3 }, () => new Float64Array(n));
    const std = new Float64Array(size), onPrior = new Float64Array(3);
    return function evaluateEnergy(mu, rho, gMu, gRho) {
      let complexity = 0, likelihood = n * (Math.log(noise) + 0.5 * LOG_2PI);
      for (let j = 0; j < size; j++) std[j] = softplus(rho[j]);
      mean.fill(mu[3 * H]);
      variance.fill(std[3 * H] ** 2);
      gMu.fill(0);
      gRho.fill(0); // by std², until the end
      for (let k = 0, at = 0; k < used; k++) {
        const w = mu[k], b = mu[H + k], u = mu[2 * H + k];
        const wVar = std[k] ** 2, bVar = std[H + k] ** 2, square = u * u + std[2 * H + k] ** 2;
        for (let i = 0; i < n; i++, at++) {
          const m = w * x[i] + b, v = wVar * x[i] * x[i] + bVar, s = Math.sqrt(v), z = m / s;
          const density = DENSITY * Math.exp(-0.5 * z * z), over = z > 0 ? 1 - tail(z, density) : tail(-z, density);
          const h = m * over + s * density, h2 = m * h + v * over;
          first[at] = h;
          second[at] = h2;
          above[at] = over;
          slope[at] = (0.5 * density) / s;
          mean[i] += u * h;
          variance[i] += square * h2 - u * u * h * h;
        }
      }
      for (let i = 0; i < n; i++) {
        pull[i] = precision * (mean[i] - y[i]);
        likelihood += 0.5 * (pull[i] * (mean[i] - y[i]) + precision * variance[i]);
        gMu[3 * H] += pull[i];
        gRho[3 * H] += 0.5 * precision;
      }
      for (let k = 0, at = 0; k < used; k++) {
        const u = mu[2 * H + k], bySecond = 0.5 * precision * (u * u + std[2 * H + k] ** 2);
        for (let i = 0; i < n; i++, at++) {
          const h = first[at], byFirst = pull[i] * u - precision * u * u * h;
          const byMean = byFirst * above[at] + 2 * bySecond * h, byVar = byFirst * slope[at] + bySecond * above[at];
          gMu[k] += byMean * x[i];
          gMu[H + k] += byMean;
          gMu[2 * H + k] += pull[i] * h + precision * u * (second[at] - h * h);
          gRho[k] += byVar * x[i] * x[i];
          gRho[H + k] += byVar;
          gRho[2 * H + k] += 0.5 * precision * second[at];
        }
      }
      for (let j = 0; j < size; j++) {
        if (j % H >= used && j < 3 * H) continue;
        prior.expect(mu[j], std[j], onPrior);
        complexity += onPrior[0] - Math.log(std[j]) - 0.5 * LOG_2PI - 0.5;
        gMu[j] += klWeight * onPrior[1];
        gRho[j] = (2 * std[j] * gRho[j] + klWeight * (onPrior[2] - 1 / std[j])) * logistic(rho[j]);
      }
      return { complexity, likelihood, mean, variance };
    };
  }

  /** Train q without noise in the gradient, for one hidden layer. */
  function exactTrainer(problem, options) {
    const mu = Float64Array.from(options.mu), rho = Float64Array.from(options.rho);
    const energy = exactEnergy(problem, options.klWeight, options.used);
    const trainer = adam([mu, rho], (gradients) => energy(mu, rho, ...gradients), { ...options, beta: 0.99 });
    return Object.assign(trainer, { mu, rho });
  }

  /** Return the free energy of q in nats, {total, complexity, likelihood}: exact for one hidden layer, else by draws. */
  function freeEnergy(problem, mu, rho, klWeight, used) {
    const { complexity, likelihood } = isShallow(problem.net)
      ? exactEnergy(problem, klWeight, used)(mu, rho, mu.slice(), rho.slice())
      : bbbTrainer(problem, { mu, rho, eps: normals(200 * mu.length, 15485863, Float32Array), samples: 200 }).run(1);
    return { total: klWeight * complexity + likelihood, complexity, likelihood };
  }

  /**
   * Search for the q of lowest free energy, a few steps at each `next()`, from `start` and, with one
   * hidden layer, from modes that use few units, whose kinks begin among the points. It returns {mu,
   * rho, total, gain, totals}: F of all starts, and by how much the last 2000 steps lowered the best.
   */
  function* lowest(problem, { klWeight, samples, seed, start }) {
    const { net, prior, x } = problem, shallow = isShallow(net), H = net.sizes[1];
    const next = normal(32452867 * (seed + 1)), draw = uniform(86028157 * (seed + 1));
    const NARROW = Math.log(Math.expm1(0.1)); // ρ
    const wide = { ...problem, prior: makePrior({ sigma: prior.wide }) }; // a spike at 0 has its own modes

    function* trained(trainer) {
      for (; trainer.done < trainer.steps; yield) trainer.run(10);
      return trainer;
    }

    function* fitted({ mu, rho }, steps, used) {
      const options = { mu, rho, klWeight, samples, steps, used, seed, rate: shallow ? 0.1 : mu ? 0.03 : 0.08 };
      const q = yield* trained((shallow ? exactTrainer : bbbTrainer)(problem, options));
      const { total } = freeEnergy(problem, q.mu, q.rho, klWeight, used);
      return { mu: q.mu, rho: q.rho, total: Number.isFinite(total) ? total : Infinity };
    }

    /** Fit the first `few` units, from weights of a scale; the others begin unused. */
    function* fewUnits(few, scale) {
      const start = randomWeights(net, () => scale * next());
      for (let j = 0; j < H; j++) {
        const [from, to] = [0, 0].map(() => x[Math.floor(draw() * x.length)]);
        start[H + j] = -start[j] * (from + draw() * (to - from));
        if (j >= few) start[j] = start[H + j] = start[2 * H + j] = 0;
      }
      const { w } = yield* trained(mapTrainer(wide, { steps: 300, rate: 0.1, start })), rho = w.map(() => NARROW);
      for (const row of [0, H]) rho.fill(Math.log(Math.expm1(prior.std)), row + few, row + H);
      return yield* fitted({ mu: w, rho }, 800, few);
    }

    const found = start || !shallow ? [yield* fitted(start || {}, 1000)] : [], lower = (one, other) => one.total - other.total;
    for (const [few, tries] of shallow ? [[3, 6], [5, 6], [8, 4], [H, 1]] : []) { // F of different `few` does not compare
      const quick = [];
      for (let k = 0; k < tries; k++) quick.push(yield* fewUnits(Math.min(few, H), k % 2 ? 10 : 3)); // wide ones reach other minima
      found.push(yield* fitted(quick.sort(lower)[0], 1000));
    }
    let gain = Infinity;
    for (let round = 0; round < 8 && !(gain < 0.25); round++) {
      const more = yield* fitted(found.sort(lower)[0], 2000);
      gain = found[0].total - more.total;
      if (gain > 0) found[0] = more;
    }
    return { ...found[0], gain, totals: found.map(({ total }) => total) };
  }

  /** Return q's free energy, its mean and sd of f(x) on a grid, and 12 `lines` drawn from it: exact as `freeEnergy` is. */
  function describe(problem, { mu, rho }, klWeight, grid) {
    const { net } = problem, draws = isShallow(net) ? 12 : 200, next = normal(32452843);
    const w = new Float64Array(draws * mu.length).map((_, i) => mu[i % mu.length] + softplus(rho[i % mu.length]) * next());
    const f = evaluate(net, w, grid), told = { ...freeEnergy(problem, mu, rho, klWeight), lines: f.slice(0, 12 * grid.length) };
    if (!isShallow(net)) return { ...told, ...moments(f, draws, grid.length) };
    const { mean, variance } = exactEnergy({ ...problem, x: grid, y: grid }, 1)(mu, rho, w.slice(), w.slice());
    return { ...told, mean, std: variance.map(Math.sqrt) };
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
    let stepSize = options.stepSize || 0.01, mean = Math.log((options.stepSize ? 1 : 10) * stepSize), error = 0, average = 0;
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

  /** Return the standard normal quantile of p (Abramowitz & Stegun 1964, 26.2.23, and a Newton step). */
  function quantile(p) {
    const low = Math.min(p, 1 - p), t = Math.sqrt(-2 * Math.log(low));
    const z = t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
    const density = DENSITY * Math.exp(-0.5 * z * z), closer = z + (tail(z, density) - low) / density;
    return p < 0.5 ? -closer : closer;
  }

  /**
   * Return the rank-normalised split {rHat} of chains of one quantity, arrays of equal length (Vehtari et
   * al. 2021); Infinity if none of them moves.
   */
  function diagnose(chains) {
    const half = Math.floor(chains[0].length / 2), parts = [];
    if (half < 4) return { rHat: Infinity };
    for (const chain of chains) parts.push(chain.slice(0, half), chain.slice(-half));
    const all = parts.flatMap((part) => [...part]).sort((p, q) => p - q), middle = (all[all.length >> 1] + all[(all.length - 1) >> 1]) / 2;
    const folded = parts.map((part) => Array.from(part, (v) => Math.abs(v - middle)));
    return { rHat: Math.max(...[parts, folded].map((one) => rHat(rankNormalise(one)))) };
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

  function rHat(parts) {
    const n = parts[0].length;
    const means = parts.map((part) => part.reduce((p, q) => p + q, 0) / n);
    const all = means.reduce((p, q) => p + q, 0) / parts.length;
    let within = 0, between = 0;
    parts.forEach((part, c) => {
      within += part.reduce((sum, v) => sum + (v - means[c]) ** 2, 0) / (n - 1) / parts.length;
      between += (means[c] - all) ** 2 / Math.max(1, parts.length - 1);
    });
    const moves = within > 1e-20 * between; // else it is what rounding leaves of chains that do not move
    return moves ? Math.sqrt((n - 1) / n + between / within) : Infinity;
  }

  return {
    network, evaluate, squares, makePrior, potential, mapTrainer, bbbTrainer, freeEnergy,
    lowest, exactEnergy, describe, hmcChain, moments, join, diagnose, uniform, normal, normals, adam, tail, STEPS,
  };
}

if (typeof module !== "undefined") module.exports = playgroundEngine;

"use strict";

/*
 * Five further methods, each as a trainer: `run(n)` goes n steps of `steps`, `describe(grid)` returns
 * mean, sd and some `lines` of f(x). All have one hidden layer, linear regression none.
 *
 * Like the engine, this is one function: its text is part of the workers' program.
 */
function playgroundMethods(engine) {
  const { evaluate, exactEnergy, makePrior, mapTrainer, network, normal, normals, uniform } = engine;
  const LINES = 12, LOG_2PI = Math.log(2 * Math.PI);
  const softplus = (r) => Math.max(r, 0) + Math.log1p(Math.exp(-Math.abs(r)));
  const rows = (m, make) => engine.join(Array.from({ length: m }, make));
  const relu = (a) => Math.max(0, a);

  /* ---- Linear regression, exact (Bishop 2006, eq. 3.53, 3.54 and 3.86). ---- */

  /** Return the Cholesky factor L of a symmetric matrix [d × d], row by row. */
  function cholesky(matrix, d) {
    const L = new Float64Array(d * d);
    for (let i = 0; i < d; i++) {
      for (let j = 0; j <= i; j++) {
        let sum = matrix[i * d + j];
        for (let k = 0; k < j; k++) sum -= L[i * d + k] * L[j * d + k];
        L[i * d + j] = i === j ? Math.sqrt(sum) : sum / L[j * d + j];
      }
    }
    return L;
  }

  /** Return L⁻¹ b, or with `transposed` L⁻ᵀ b. */
  function solve(L, b, transposed = false) {
    const d = b.length, out = Float64Array.from(b);
    for (let s = 0; s < d; s++) {
      const i = transposed ? d - 1 - s : s;
      for (let k = 0; k < s; k++) {
        const j = transposed ? d - 1 - k : k;
        out[i] -= (transposed ? L[j * d + i] : L[i * d + j]) * out[j];
      }
      out[i] /= L[i * d + i];
    }
    return out;
  }

  /** Return the exact posterior of y = φ(x)·w + noise under w ~ N(0, std²): {mean, evidence, describe}. */
  function regression(features, { x, y, noise, prior: { std } }) {
    const phi = Array.from(x, features), d = phi[0].length, precision = new Float64Array(d * d), pull = new Float64Array(d);
    for (let i = 0; i < d; i++) precision[i * d + i] = 1 / std ** 2;
    phi.forEach((row, n) => {
      for (let i = 0; i < d; i++) {
        pull[i] += (row[i] * y[n]) / noise ** 2;
        for (let j = 0; j < d; j++) precision[i * d + j] += (row[i] * row[j]) / noise ** 2;
      }
    });
    const L = cholesky(precision, d), mean = solve(L, solve(L, pull), true), dot = (row, w) => row.reduce((sum, f, k) => sum + f * w[k], 0);
    let misfit = dot(mean, mean) / std ** 2, logDet = 0;
    phi.forEach((row, n) => (misfit += (y[n] - dot(row, mean)) ** 2 / noise ** 2));
    for (let i = 0; i < d; i++) logDet += 2 * Math.log(L[i * d + i]);
    const evidence = -0.5 * (misfit + logDet + 2 * d * Math.log(std) + y.length * (LOG_2PI + 2 * Math.log(noise)));
    function describe(grid) {
      const at = Array.from(grid, features);
      const draws = Array.from({ length: LINES }, (_, s) => solve(L, normals(d, 611953 + s), true).map((e, k) => mean[k] + e));
      return {
        mean: Float64Array.from(at, (row) => dot(row, mean)),
        std: Float64Array.from(at, (row) => Math.sqrt(solve(L, row).reduce((sum, one) => sum + one * one, 0))),
        lines: rows(LINES, (_, s) => Float64Array.from(at, (row) => dot(row, draws[s]))),
        parts: rows(d, (_, k) => Float64Array.from(at, (row) => row[k] * mean[k])), // what each feature adds to the mean
        evidence,
      };
    }
    return { mean, evidence, describe };
  }

  /** Fit Gaussian bumps, evenly spaced over [−1, 1], as `bdl_teach.features.bumps`. */
  function linear(problem) {
    const d = problem.net.sizes[1], between = 2 / (d - 1), width = 0.75 * between;
    const bumps = (x) => Float64Array.from({ length: d }, (_, k) => Math.exp(-0.5 * ((x + 1 - k * between) / width) ** 2));
    const { describe } = regression(bumps, problem);
    const trainer = { steps: 1, done: 0, describe, run: (n) => ((trainer.done += n), trainer) };
    return trainer;
  }

  /** Train one network, then fit its last layer alone, as linear regression on the hidden units: exact for them. */
  function laplace(problem, { seed, from }) {
    const trainer = mapTrainer(problem, { seed, start: from?.w, ...(from && { steps: 300 }) }), H = problem.net.sizes[1];
    return Object.assign(trainer, {
      describe(grid) {
        const { w } = trainer, hidden = (x) => Float64Array.from({ length: H + 1 }, (_, k) => (k < H ? relu(w[k] * x + w[H + k]) : 1));
        return { ...regression(hidden, problem).describe(grid), parts: undefined };
      },
    });
  }

  /* ---- Empirical Bayes: the prior's σ is learnt with q (`bdl_teach.methods.empirical_bayes`). ---- */

  /**
   * Minimise F over q and over the σ of the prior, of each weight or, with `tie` "all", of all: for
   * given q the best σ² is the mean of μ² + std², so that F falls along the slopes at that σ.
   */
  function learnt(problem, { seed, tie, from, mu, rho }) {
    const { net } = problem, size = net.nWeights, next = normal(7919 * (seed + 1));
    const q = { mu: mu || from?.mu.slice() || net.fanIn.map((inputs) => (2.5 / Math.sqrt(inputs)) * next()), rho: rho || from?.rho.slice() || new Float64Array(size).fill(-1) };
    let shared = 1; // σ² of all weights
    const prior = {
      expect(mean, std, out) {
        const square = tie === "all" ? shared : mean * mean + std * std;
        out[0] = 0.5 * ((mean * mean + std * std) / square + Math.log(square) + LOG_2PI);
        out[1] = mean / square;
        out[2] = std / square;
      },
    };
    const energy = exactEnergy({ ...problem, prior }, 1);
    const squares = () => q.mu.map((m, k) => m * m + softplus(q.rho[k]) ** 2);
    function slope([gMu, gRho]) {
      shared = squares().reduce((sum, one) => sum + one, 0) / size;
      return energy(q.mu, q.rho, gMu, gRho);
    }
    const trainer = engine.adam([q.mu, q.rho], slope, { steps: from ? 150 : 1500, rate: from ? 0.03 : 0.1, beta: 0.99 });
    return Object.assign(trainer, q, {
      describe(grid) {
        const { complexity, likelihood } = slope([new Float64Array(size), new Float64Array(size)]), stds = squares().map(Math.sqrt);
        const sigma = tie === "all" ? Math.sqrt(shared) : [...stds].sort((a, b) => a - b)[size >> 1];
        const off = q.mu.filter((m, k) => Math.abs(m) < 0.5 * softplus(q.rho[k])).length / size;
        return { ...engine.describe({ ...problem, prior }, q, 1, grid), complexity, likelihood, total: complexity + likelihood, sigma, off };
      },
    });
  }

  /* ---- Probabilistic backpropagation (Hernández-Lobato & Adams 2015), one step an epoch. ---- */

  /** Return P(a > 0), mean and variance of max(0, a) for a ~ N(m, v), and what their slopes need. */
  function reluMoments(m, v) {
    const std = Math.sqrt(Math.max(v, 1e-100)), alpha = m / std, density = Math.exp(-0.5 * alpha ** 2) / Math.sqrt(2 * Math.PI);
    const tail = engine.tail(Math.abs(alpha), density), above = alpha > 0 ? 1 - tail : tail;
    const up = Math.max(density + alpha * above, 0), down = Math.max(density - alpha * (1 - above), 0);
    return { above, density, std, up, mean: std * up, variance: v * Math.max(above - up * down, 0) };
  }

  /** Update Gamma(α, β) of a precision by one observation N(residual | 0, 1/γ + variance). */
  function gammaUpdate([alpha, beta], residual, variance) {
    const [v0, v1, v2] = [-1, 0, 1].map((k) => variance + beta / (alpha + k));
    const ratio = (before, after, by) => -0.5 * (Math.log1p(by / before) - (residual ** 2 * by) / (before * after));
    const l10 = ratio(v0, v1, -beta / (alpha * (alpha - 1))), l21 = ratio(v1, v2, -beta / (alpha * (alpha + 1)));
    const more = 1 / Math.expm1(l21 - l10 + Math.log1p(1 / alpha));
    return [more, more * (beta / alpha) * Math.exp(-l10)];
  }

  /** Learn point after point by tilting q with its likelihood and projecting on a Gaussian; refine the prior after each epoch. */
  function pbp({ net, x: xs, y: ys }, { seed, passes, start, orders }) {
    const H = net.sizes[1], n = xs.length, size = net.nWeights, wide = Math.sqrt(2), far = Math.sqrt(H + 1);
    const [xMean, yMean] = [xs, ys].map((v) => v.reduce((a, b) => a + b, 0) / n);
    const [xStd, yStd] = [[xs, xMean], [ys, yMean]].map(([v, m]) => Math.sqrt(v.reduce((a, b) => a + (b - m) ** 2, 0) / n) || 1);
    const x = xs.map((v) => (v - xMean) / xStd), y = ys.map((v) => (v - yMean) / yStd);
    const next = normal(7919 * (seed + 1)), draw = uniform(86028157 * (seed + 1)), unit = (i) => (i < 2 * H ? wide : far);
    const m = start ? Float64Array.from(start) : new Float64Array(size).map((_, i) => next() / unit(i)), v = new Float64Array(size).fill(1.2);
    const factors = Array.from(m, () => [1 / 1.2, 0, 0, 0]), dm = new Float64Array(size), dv = new Float64Array(size);
    let noise = [6, 6], prior = [6, 6];

    /** Return mean and variance of the output at an input. */
    function forward(at, hidden = []) {
      let mean = m[3 * H] / far, variance = v[3 * H] / far ** 2;
      for (let k = 0; k < H; k++) {
        const h = (hidden[k] = reluMoments((m[k] * at + m[H + k]) / wide, (v[k] * at * at + v[H + k]) / 2)), u = m[2 * H + k];
        mean += (u * h.mean) / far;
        variance += (h.variance * u * u + (h.mean ** 2 + h.variance) * v[2 * H + k]) / far ** 2;
      }
      return { mean, variance };
    }

    function learn(at, target) {
      const hidden = [], f = forward(at, hidden), total = f.variance + noise[1] / (noise[0] - 1), residual = target - f.mean;
      const byMean = residual / total, byVar = 0.5 * (byMean ** 2 - 1 / total); // slopes of log Z
      for (let k = 0; k < H; k++) {
        const { above, density, std, up, mean, variance } = hidden[k], u = m[2 * H + k], uVar = v[2 * H + k];
        dm[2 * H + k] = (byMean * mean) / far + (byVar * 2 * variance * u) / far ** 2;
        dv[2 * H + k] = (byVar * (mean ** 2 + variance)) / far ** 2;
        const onMean = (byMean * u) / far + (byVar * 2 * mean * uVar) / far ** 2, onVar = (byVar * (u * u + uVar)) / far ** 2;
        const onM = onMean * above + onVar * 2 * mean * (1 - above), onV = (onMean * 0.5 * density) / std + onVar * (above - up * density);
        dm[k] = (onM * at) / wide;
        dv[k] = (onV * at * at) / 2;
        dm[H + k] = onM / wide;
        dv[H + k] = onV / 2;
      }
      dm[3 * H] = byMean / far;
      dv[3 * H] = byVar / far ** 2;
      for (let i = 0; i < size; i++) {
        const mean = m[i] + v[i] * dm[i], variance = v[i] - v[i] ** 2 * (dm[i] ** 2 - 2 * dv[i]);
        if (variance > 1e-100 && Number.isFinite(mean + variance)) [m[i], v[i]] = [mean, variance];
      }
      const then = gammaUpdate(noise, residual, f.variance);
      if (then.every(Number.isFinite) && then[0] > 1 && then[1] > 0) noise = then;
    }

    /** Refine one weight's factor of the prior N(0, 1/λ) by expectation propagation. */
    function refine(i) {
      const [precision, shift, alphaShare, betaShare] = factors[i], left = 1 / v[i] - precision, push = m[i] / v[i] - shift;
      const mean = push / left, variance = 1 / left, cavity = [prior[0] - alphaShare, prior[1] - betaShare];
      const slope = -mean / (variance + cavity[1] / (cavity[0] - 1)), curve = 0.5 * (slope ** 2 - 1 / (variance + cavity[1] / (cavity[0] - 1)));
      const newM = mean + variance * slope, newV = variance - variance ** 2 * (slope ** 2 - 2 * curve), then = gammaUpdate(cavity, mean, variance);
      const row = [1 / newV - left, newM / newV - push, then[0] - cavity[0], then[1] - cavity[1]];
      if (!(variance > 0 && variance < 1e6 && cavity[0] > 1 && cavity[1] > 0 && [newM, newV, ...row].every(Number.isFinite))) return;
      [m[i], v[i], factors[i], prior] = [newM, newV, row, then];
    }

    // Layer by layer, unit by unit, the bias last: the order in which the package refines.
    const turn = [...Array.from({ length: 2 * H }, (_, i) => (i % 2 ? H + (i >> 1) : i >> 1)), ...Array.from({ length: H + 1 }, (_, k) => 2 * H + k)];
    const trainer = { steps: passes, done: 0, run, describe, m, v, noise: () => noise };
    function run(epochs) {
      for (const end = Math.min(passes, trainer.done + epochs); trainer.done < end; trainer.done++) {
        const order = orders?.[trainer.done] || Array.from(x, (_, i) => [draw(), i]).sort((a, b) => a[0] - b[0]).map((one) => one[1]);
        for (const i of order) learn(x[i], y[i]);
        turn.forEach(refine);
      }
      return trainer;
    }
    function describe(grid) {
      const all = Array.from(grid, (at) => forward((at - xMean) / xStd)), eps = normal(32452843);
      const drawn = Float64Array.from({ length: LINES * size }, (_, i) => m[i % size] + Math.sqrt(v[i % size]) * eps());
      for (let s = 0; s < LINES; s++) { // as weights of a network in the units of the data
        const w = drawn.subarray(s * size, (s + 1) * size);
        for (let k = 0; k < H; k++) {
          w[H + k] = (w[H + k] - (w[k] * xMean) / xStd) / wide;
          w[k] /= wide * xStd;
          w[2 * H + k] *= yStd / far;
        }
        w[3 * H] = (w[3 * H] * yStd) / far + yMean;
      }
      return {
        mean: Float64Array.from(all, (f) => yMean + yStd * f.mean), std: Float64Array.from(all, (f) => yStd * Math.sqrt(f.variance)),
        lines: evaluate(net, drawn, grid), noise: Math.sqrt(noise[1] / (noise[0] - 1)) * yStd,
      };
    }
    return trainer;
  }

  /* ---- MC dropout (Gal & Ghahramani 2016): hidden units are left out at random. ---- */

  const RATE = 0.1;

  /** Train one network; each step leaves other units out for each point. Noise and prior are given. */
  function dropout({ net, x, y, noise, prior }, { seed, from, steps = from ? 300 : undefined }) {
    const H = net.sizes[1], n = x.length, next = normal(7919 * (seed + 1)), draw = uniform(104729 * (seed + 1)), kept = 1 - RATE;
    const w = from ? from.w.slice() : net.fanIn.map((inputs) => Math.sqrt(2 / inputs) * next());
    const scaled = w.slice(), scale = new Float64Array(H);
    function slope([gradient]) {
      scaled.set(w);
      for (let k = 2 * H; k < 3 * H; k++) scaled[k] /= kept; // a weight that is there
      gradient.fill(0);
      prior.evaluate(scaled, gradient);
      for (let i = 0; i < n; i++) {
        let f = w[3 * H];
        for (let k = 0; k < H; k++) {
          scale[k] = draw() < RATE ? 0 : 1 / kept;
          f += w[2 * H + k] * scale[k] * relu(w[k] * x[i] + w[H + k]);
        }
        const pull = (f - y[i]) / noise ** 2;
        gradient[3 * H] += pull;
        for (let k = 0; k < H; k++) {
          const h = w[k] * x[i] + w[H + k], onUnit = pull * scale[k];
          if (!(h > 0) || !onUnit) continue;
          gradient[2 * H + k] += onUnit * h;
          gradient[k] += onUnit * w[2 * H + k] * x[i];
          gradient[H + k] += onUnit * w[2 * H + k];
        }
      }
    }
    const trainer = engine.adam([w], slope, { steps, rate: 0.02, cooldown: 0.25 });
    return Object.assign(trainer, {
      w,
      describe(grid) { // the masks' mean and variance, in closed form
        const mean = evaluate(net, w, grid), masks = uniform(32452843), drawn = new Float64Array(LINES * w.length).map((_, i) => w[i % w.length]);
        const std = Float64Array.from(grid, (at) => {
          let variance = 0;
          for (let k = 0; k < H; k++) variance += (w[2 * H + k] * relu(w[k] * at + w[H + k])) ** 2;
          return Math.sqrt((variance * RATE) / kept);
        });
        for (let s = 0; s < LINES; s++) {
          for (let k = 2 * H; k < 3 * H; k++) drawn[s * w.length + k] *= masks() < RATE ? 0 : 1 / kept;
        }
        return { mean, std, lines: evaluate(net, drawn, grid) };
      },
    });
  }

  return { ...engine, methods: { linear, laplace, learnt, pbp, dropout }, regression, gammaUpdate };
}

if (typeof module !== "undefined") module.exports = playgroundMethods;

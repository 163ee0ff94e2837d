"use strict";

/*
 * Points: the made-up ones, and what a pasted table holds.
 *
 * Points are [[x, y], …] in the course's units, x within ±½ where they are made up. Pasted ones
 * carry `units` [x₀, x₁, y₀, y₁]: the learner's x is x₀ + x₁ · x, and y likewise.
 */
const playgroundPoints = (() => {
  const COURSE = [0, 1, 0, 1];
  const MOST = 200;
  const TRUTHS = {
    gap: (x) => 10 * Math.sin(2 * Math.PI * x),
    line: (x) => 12 * x,
    step: (x) => (x < 0 ? -6 : 6),
    clusters: (x) => 8 * Math.cos(3 * Math.PI * x),
  };

  /** Draw n points of a kind: evenly spaced x, Gaussian noise from a seed. */
  function made(engine, kind, n, noise, seed) {
    const next = engine.normal(611953 * (seed + 1));
    return Array.from({ length: n }, (_, i) => {
      const p = n > 1 ? i / (n - 1) : 0.5;
      const x = place(kind, p);
      return [round(x), round(TRUTHS[kind](x) + noise * next())];
    });
  }

  function place(kind, p) {
    if (kind === "gap") return p * 0.7 - 0.5 + (p * 0.7 > 0.6 ? 0.3 : 0); // none in (0.1, 0.4)
    if (kind === "clusters") return p < 0.5 ? -0.45 + 0.3 * p : 0.15 + 0.3 * p;
    return p - 0.5;
  }

  const round = (value) => Math.round(value * 1000) / 1000;

  /** Raised with a key of the page's words and what fills it in. */
  class PasteError extends Error {
    constructor(key, values = {}) {
      super(key);
      this.key = key;
      this.values = values;
    }
  }

  const SIGN = /[\u2212\u2013]/g, SPACE = /[\u00a0\u202f\u2009]/g;
  const NUMBER = /^[+-]?(\d+([.,]\d*)?|[.,]\d+)(e[+-]?\d+)?$/i;
  const THOUSANDS = /^[+-]?\d{1,3}[.,]\d{3}$/;

  /** Read two columns; return {points, units, skipped}. */
  function read(text) {
    const lines = text.replace(/^\ufeff/, "").replace(SIGN, "-").replace(SPACE, " ").split(/\r?\n/);
    const rows = [];
    let skipped = 0;
    lines.forEach((line, i) => {
      if (!line.trim()) return;
      const cells = split(line.trim());
      const numbers = cells.filter((cell) => NUMBER.test(cell)).length;
      if (numbers === 0) skipped += rows.length > 0; // above the rows they are names
      else if (cells.length !== 2) {
        throw new PasteError("columns", { line: i + 1, n: cells.length });
      } else if (numbers < 2) {
        if (cells.some((cell) => /^(|na|nan|null|-|#.*)$/i.test(cell))) skipped += 1;
        else {
          const text = cells.find((cell) => !NUMBER.test(cell));
          throw new PasteError("cell", { line: i + 1, text });
        }
      } else rows.push([i + 1, ...cells]);
    });
    if (!rows.length) throw new PasteError("none");
    if (rows.length > MOST) throw new PasteError("many", { n: rows.length });
    const columns = [1, 2].map((k) => column(rows.map((row) => [row[0], row[k]])));
    const points = columns[0].map((x, i) => [x, columns[1][i]]);
    return { ...standardised(points), skipped };
  }

  function split(line) {
    const clean = (cells) => cells.map((cell) => cell.trim().replace(/^["'](.*)["']$/, "$1").trim());
    if (line.includes("\t")) return clean(line.split("\t"));
    if (line.includes(";")) return clean(line.split(";"));
    if (/^\|.*\|$/.test(line)) return clean(line.slice(1, -1).split("|"));
    if (/^"[^"]*"\s*,\s*"[^"]*"$/.test(line)) return clean(line.slice(1, -1).split(/"\s*,\s*"/));
    if (/\s/.test(line)) return clean(line.split(/,?\s+/));
    return clean(line.split(",")); // 1.5,2.5; what has more commas is refused by its count
  }

  /** Read the cells of a column: a mark is a decimal one unless every cell could have thousands. */
  function column(cells) {
    const marked = cells.filter(([, cell]) => /[.,]/.test(cell));
    const both = new Set(marked.map(([, cell]) => cell.match(/[.,]/)[0]));
    const unclear = marked.find(([, cell]) => THOUSANDS.test(cell) && !/^[+-]?0/.test(cell));
    const decided = both.size === 1 && marked.some(([, cell]) => !THOUSANDS.test(cell) || /^[+-]?0/.test(cell));
    if (unclear && !decided) throw new PasteError("thousands", { text: unclear[1] });
    return cells.map(([line, cell]) => {
      const value = Number(cell.replace(",", "."));
      if (!(Math.abs(value) < 1e150)) throw new PasteError("range", { line });
      return value;
    });
  }

  /** Shift and scale x to ±½ and y to mean 0 and sd 5. */
  function standardised(points) {
    const x = points.map((p) => p[0]), y = points.map((p) => p[1]);
    const low = Math.min(...x), high = Math.max(...x);
    if (!(high > low)) throw new PasteError("same", { x: low });
    const mean = y.reduce((a, b) => a + b, 0) / y.length;
    const sd = Math.sqrt(y.reduce((a, b) => a + (b - mean) ** 2, 0) / y.length) / 5 || 1;
    const units = [(low + high) / 2, high - low, mean, sd];
    const within = points.map(([a, b]) => [(a - units[0]) / units[1], (b - mean) / sd]);
    return { points: within, units };
  }

  /** The widest space between neighbours, if it is far wider than the others: [low, high] or null. */
  function widestGap(points) {
    const x = points.map((p) => p[0]).sort((a, b) => a - b);
    const spaces = x.slice(1).map((value, i) => [value - x[i], x[i], value]);
    if (spaces.length < 3) return null;
    const sorted = spaces.map((space) => space[0]).sort((a, b) => a - b);
    const widest = spaces.reduce((a, b) => (b[0] > a[0] ? b : a));
    const usual = sorted[sorted.length >> 1];
    const range = x[x.length - 1] - x[0];
    return widest[0] > 3 * usual && widest[0] > 0.12 * range ? [widest[1], widest[2]] : null;
  }

  return { COURSE, MOST, TRUTHS, PasteError, made, read, round, widestGap };
})();

if (typeof module !== "undefined") module.exports = playgroundPoints;

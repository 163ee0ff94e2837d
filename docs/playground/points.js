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
  const short = (value) => Number(value.toPrecision(8)); // what an address holds of it

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

  const DATE = /^\d{4}-\d\d-\d\d$/;
  const MISSING = /^(|na|n\/a|nan|null|none|-|\?|\.|#.*)$/i;
  const isValue = (cell) => NUMBER.test(cell) || DATE.test(cell);

  /**
   * Read two columns of numbers or dates; of more, those that `chosen` counts.
   *
   * Return {points, units, names, zeros, skipped}; a zero is the date that 0 days stand for.
   */
  function read(text, chosen = null) {
    const lines = text.replace(/^\ufeff/, "").replace(SIGN, "-").replace(SPACE, " ").split(/\r?\n/);
    const rows = [];
    let head = "", commas = true, skipped = 0;
    lines.forEach((line, i) => {
      if (!line.trim()) return;
      const cells = split(line);
      if (cells.some(isValue)) {
        rows.push({ line: i + 1, cells });
        commas &&= !/[\s;|]/.test(line.trim());
      } else if (rows.length) skipped += 1;
      else if (/\p{L}/u.test(line)) head = line;
    });
    if (!rows.length) throw new PasteError("none");
    const wide = rows[0].cells.length, odd = rows.find(({ cells }) => cells.length !== wide);
    if (odd) throw new PasteError("columns", { line: odd.line, wide, n: odd.cells.length });
    if (wide < 2) throw new PasteError("columns", { line: rows[0].line, wide: 2, n: wide });
    const found = [...rows[0].cells.keys()].filter(
      (k) => 2 * rows.filter(({ cells }) => isValue(cells[k])).length >= rows.length,
    );
    const names = commas ? clean(head.split(",")) : split(head); // a name may have blanks in it
    const called = (k) => (names.length === wide ? names[k] : "");
    if (found.length > 2 && !chosen) {
      throw new PasteError("choose", { n: found.length, found: found.map((k) => [k, called(k)]) });
    }
    const two = chosen || (found.length === 2 ? found : [0, 1]);
    const whole = rows.filter(({ line, cells }) => {
      const others = two.map((k) => cells[k]).filter((cell) => !isValue(cell));
      const strange = others.find((cell) => !MISSING.test(cell));
      if (strange !== undefined) throw new PasteError("cell", { line, text: strange });
      skipped += others.length > 0;
      return !others.length;
    });
    if (!whole.length) throw new PasteError("none");
    if (whole.length > MOST) throw new PasteError("many", { n: whole.length });
    const [x, y] = two.map((k) => column(whole.map(({ line, cells }) => [line, cells[k]])));
    const points = x.values.map((value, i) => [value, y.values[i]]);
    return { ...standardised(points), names: two.map(called), zeros: [x.zero, y.zero], skipped };
  }

  const clean = (cells) => cells.map((cell) => cell.trim().replace(/^["'](.*)["']$/, "$1").trim());

  function split(line) {
    if (line.includes("\t")) return clean(line.split("\t")); // an empty cell may stand at an end
    line = line.trim();
    if (line.includes(";")) return clean(line.split(";"));
    if (/^\|.*\|$/.test(line)) return clean(line.slice(1, -1).split("|"));
    if (/^"[^"]*"\s*,\s*"[^"]*"$/.test(line)) return clean(line.slice(1, -1).split(/"\s*,\s*"/));
    if (/\s/.test(line)) return clean(line.split(/,?\s+/));
    return clean(line.split(",")); // 1.5,2.5; what has more commas is refused by its count
  }

  /** Read the cells of a column: a mark is a decimal one unless every cell could have thousands. */
  function column(cells) {
    const days = cells.map(([, cell]) => (DATE.test(cell) ? Date.parse(cell) / 864e5 : NaN));
    if (days.every(Number.isFinite)) {
      const first = Math.min(...days), zero = new Date(first * 864e5).toISOString().slice(0, 10);
      return { values: days.map((day) => day - first), zero };
    }
    const mixed = cells.find(([, cell]) => DATE.test(cell));
    if (mixed) throw new PasteError("cell", { line: mixed[0], text: mixed[1] });
    const marked = cells.filter(([, cell]) => /[.,]/.test(cell));
    const both = new Set(marked.map(([, cell]) => cell.match(/[.,]/)[0]));
    const unclear = marked.find(([, cell]) => THOUSANDS.test(cell) && !/^[+-]?0/.test(cell));
    const decided = both.size === 1 && marked.some(([, cell]) => !THOUSANDS.test(cell) || /^[+-]?0/.test(cell));
    if (unclear && !decided) throw new PasteError("thousands", { text: unclear[1] });
    const values = cells.map(([line, cell]) => {
      const value = Number(cell.replace(",", "."));
      if (!(Math.abs(value) < 1e150)) throw new PasteError("range", { line });
      return value;
    });
    return { values, zero: "" };
  }

  /** Shift and scale x to ±½ and y to mean 0 and sd 5. */
  function standardised(points) {
    const x = points.map((p) => p[0]), y = points.map((p) => p[1]);
    const low = Math.min(...x), high = Math.max(...x);
    if (!(high > low)) throw new PasteError("same", { x: low });
    const mean = y.reduce((a, b) => a + b, 0) / y.length;
    const sd = Math.sqrt(y.reduce((a, b) => a + (b - mean) ** 2, 0) / y.length) / 5 || 1;
    const units = [(low + high) / 2, high - low, mean, sd];
    const within = points.map(([a, b]) => [(a - units[0]) / units[1], (b - mean) / sd].map(short));
    return { points: within, units };
  }

  /** The widest space between neighbours, if it is far wider than the others: [low, high] or null. */
  function widestGap(points) {
    const all = points.map((p) => p[0]).sort((a, b) => a - b), range = all[all.length - 1] - all[0];
    const x = all.filter((value, i) => !i || value - all[i - 1] > 0.001 * range); // distinct ones
    const spaces = x.slice(1).map((value, i) => [value - x[i], x[i], value]);
    if (spaces.length < 3) return null;
    const sorted = spaces.map((space) => space[0]).sort((a, b) => a - b);
    const widest = spaces.reduce((a, b) => (b[0] > a[0] ? b : a));
    const usual = sorted[sorted.length >> 1];
    return widest[0] > 3 * usual && widest[0] > 0.12 * range ? [widest[1], widest[2]] : null;
  }

  return { COURSE, MOST, TRUTHS, PasteError, made, read, round, short, widestGap };
})();

if (typeof module !== "undefined") module.exports = playgroundPoints;

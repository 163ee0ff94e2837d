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

  /* ---- The cells of a column, by the rules of bdl_teach/datasets/cells.py. ---- */

  const UNITS = /[^%‰$€£¥₽]/g;
  const LARGEST = 1e100; // largest number; one over it is the smallest
  const MISSING = /^(?:|<?na>?|#?n\/a|#?nv|n\.a\.|nan|nat|null|none|k\.\s?a\.|[-–—]{1,3}|\.{1,3}|[…?]|#?н\/д|нет|无|缺失|#[a-zа-яäöüé0-9/]+[!?])$/iu;
  const NUMBER = /^([-+]?)\s?([$€£¥₽]?)\s?([-+]?)([0-9.,' \u00a0]*[0-9.])([eE][-+]?[0-9]+)?\s?([%‰$€£¥₽]?)$/;
  const MARKED = { // digits by their decimal mark; thousands may be grouped by the other mark or blanks
    ".": /^(?:(?:[1-9]\d{0,2}([,' \u00a0])\d{3}(?:\1\d{3})*|\d+)(?:\.\d*)?|\.\d+)$/,
    ",": /^(?:(?:[1-9]\d{0,2}([.' \u00a0])\d{3}(?:\1\d{3})*|\d+)(?:,\d*)?|,\d+)$/,
  };
  const TIMED = /^(.+?)(?:T|,?\s)([01]?[0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9](?:\.[0-9]+)?))?(?:\s?(?:Z|UTC|\+00:?00))?$/;
  const DATES = [ // the ways to write a date, and which of its readings they are
    [/^(?<y>[12]\d{3})(?<by>[-/.年])(?<m>\d\d?)(?:\k<by>|月)(?<d>\d\d?)日?$/, "day month"],
    [/^(?<y>[12]\d{3})[-年](?<m>\d\d?)月?$/, "day month"],
    [/^(?<d>\d\d?)(?<by>[-/.])(?<m>\d\d?)\k<by>(?<y>[12]\d{3})$/, "day"],
    [/^(?<m>\d\d?)(?<by>[-/])(?<d>\d\d?)\k<by>(?<y>[12]\d{3})$/, "month"],
    [/^(?:(?<d>\d\d?)\.?[ -])?(?<name>\p{L}{3,})\.?[ -](?<y>[12]\d{3})$/u, "day month"],
    [/^(?<name>\p{L}{3,})\.?[ -](?<d>\d\d?),? (?<y>[12]\d{3})$/u, "day month"],
    [/^(?<y>(?:19|20)\d\d)(?<m>\d\d)(?<d>\d\d)$/, "compact"],
    [/^(?<y>(?:19|20)\d\d)[.,]?(?<m>\d\d)$/, "compact"],
    [/^(?<m>\d\d)[.,](?<y>(?:19|20)\d\d)$/, "compact"],
  ];
  const SEASON = /^[12]\d(\d\d)-(\d\d)$/; // 2008-09: September, or to 2009?
  const MONTHS = [
    "january february march april may june july august september october november december",
    "januar februar märz april mai juni juli august september oktober november dezember",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь",
    "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
  ].map((names) => names.split(" "));

  const either = (line, text, one, other) => new PasteError("either", { line, text, one, other });
  const strange = (line, text) => new PasteError("cell", { line, text: text.slice(0, 40) });
  const mixed = (line, text) => new PasteError("mixed", { line, text });
  const isMissing = (cell) => MISSING.test(cell);
  const isValue = (cell) => !isMissing(cell) && (isAny(numbers(cell)) || isAny(dates(cell)));
  const isAny = (ways) => Object.keys(ways).length > 0;

  /** Return what occurs most often; of equally frequent ones the first. */
  function usualOf(values) {
    const counts = new Map();
    for (const value of values) counts.set(value, (counts.get(value) || 0) + 1);
    return [...counts].reduce((a, b) => (b[1] > a[1] ? b : a), [undefined, 0])[0];
  }

  /** Return the numbers that a cell can be, by their decimal mark: "." or ","; often both. */
  function numbers(cell) {
    const found = cell.replace(/^–(?=[0-9.,])/, "-").match(NUMBER), ways = {};
    if (!found || (found[1] && found[3]) || (found[2] && found[6])) return ways;
    for (const [mark, pattern] of Object.entries(MARKED)) {
      const body = found[4].match(pattern), exponent = found[5] || "";
      if (!body || (exponent && body[1])) continue;
      const digits = found[4].replace(mark === "." ? /[^0-9.]/g : /[^0-9,]/g, "").replace(mark, ".");
      const value = Number(found[1] + found[3] + digits + exponent), size = Math.abs(value);
      if ((size >= 1 / LARGEST && size <= LARGEST) || !/[1-9]/.test(digits)) ways[mark] = value;
    }
    return ways;
  }

  /** Return the decimal mark of a column of cells [[line, text], …]; "" if both can be, or none. */
  function decimalMark(cells) {
    const marks = Object.keys(MARKED).filter((mark) => cells.every(([, cell]) => mark in numbers(cell)));
    return marks.length === 1 ? marks[0] : "";
  }

  /** Read a column without missing values, all cells by the same key of their readings: {values, zero}. */
  function readColumn(name, cells, decimal, notes) {
    const ways = cells.map(([, text]) => ({ ...numbers(text), ...dates(text) }));
    const units = cells.map(([, text]) => text.replace(UNITS, "")), unit = usualOf(units);
    let key = usualOf(ways.flatMap((way) => Object.keys(way)));
    cells.forEach((cell, i) => {
      if (!(key in ways[i]) || units[i] !== unit) throw isAny(ways[i]) ? mixed(...cell) : strange(...cell);
    });
    if (unit) notes.push(["unit", { name, unit }]);
    for (const other of Object.keys(ways[0])) {
      const unlike = ways.findIndex((way) => way[other] !== way[key]);
      if (unlike < 0 || !ways.every((way) => other in way)) continue;
      key = decided(name, cells[unlike], ways[unlike], key in MARKED ? decimal : "", notes);
      break;
    }
    const values = ways.map((way) => way[key]);
    if (key in MARKED) return { values, zero: "" };
    const first = values.reduce((a, b) => Math.min(a, b));
    const zero = iso(first).slice(0, 19).replace("T", " ").replace(/:00$/, "").replace(/ 00:00$/, "");
    return { values: values.map((at) => (at - first) / 864e5), zero };
  }

  const iso = (at) => new Date(at).toISOString();
  const date = (at) => iso(at).slice(0, 10);

  /** Return the decimal mark by which an ambiguous cell is read, if one is known. */
  function decided(name, [line, text], ways, decimal, notes) {
    if ("season" in ways) throw either(line, text, date(ways.day), ways.season);
    if ("compact" in ways) throw either(line, text, text, date(ways.compact));
    if ("day" in ways) throw either(line, text, date(ways.day), date(ways.month));
    if (!decimal) throw either(line, text, ways["."], ways[","]);
    notes.push(["taken", { name, text, value: String(ways[decimal]) }]);
    return decimal;
  }

  /** Return the dates that a cell can be, in ms, by what comes first; "compact" if it may be a number. */
  function dates(cell) {
    const timed = cell.match(TIMED), ways = {};
    const clock = timed ? 60 * (60 * timed[2] + Number(timed[3])) + Number(timed[4] || 0) : 0;
    for (const [pattern, keys] of DATES) {
      const part = (timed ? timed[1] : cell).match(pattern)?.groups;
      if (!part || (timed && keys === "compact")) continue;
      const number = part.name ? month(part.name) : Number(part.m);
      const at = new Date(Date.UTC(part.y, number - 1, part.d || 1));
      if (at.getUTCMonth() === number - 1) keys.split(" ").forEach((key) => { ways[key] = +at + 1000 * clock; });
    }
    const season = isAny(ways) && cell.match(SEASON);
    if (season && Number(season[2]) === Number(season[1]) + 1) ways.season = `${cell.slice(0, 4)}/${Number(cell.slice(0, 4)) + 1}`;
    return ways;
  }

  /** Return the number of the month whose name begins with a word; 0 if there is none. */
  function month(word) {
    const found = new Set(MONTHS.flatMap((names) => names.map((name, i) => (name.startsWith(word.toLowerCase()) ? i + 1 : 0))));
    found.delete(0);
    return found.size === 1 ? [...found][0] : 0;
  }

  /* ---- The table, by the rules of bdl_teach/datasets/reading.py. ---- */

  const SEPARATORS = [..."\t;|，, "]; // of equally good ones the first is taken
  const ODD = "、\u3000￥−‐‑’‘ʼ´`\u202f\u2009\u2007\u2008", USUAL = "， ¥---'''''\u00a0\u00a0\u00a0\u00a0";
  const INSIDE = "\t\n;,，| ", HIDDEN = "\ue001\ue002\ue003\ue004\ue005\ue006\ue007";
  const QUOTED = "\ue000"; // stands before what was quoted
  const RULE = /^[\s|:+=-]*(?:[=-]{3}|--\s*\||:-|-:)[\s|:+=-]*$/; // a line drawn in a table
  const PRINTED = /^(?:\[[0-9]+ rows x [0-9]+ columns\]|(?:.*, )?dtype: \S+|\([0-9]+ rows?\)|"?sep=."?)$/;
  const COMMENT = /^(?:#{1,2} |#[^#0-9\s]|\/\/)/;

  /** Read two columns of numbers or dates; of more, those that `columns` counts: {x, y, names, zeros, notes}. */
  function readPoints(text, columns = null) {
    const notes = [], [all, names] = tableOf(linesOf(text, notes), notes);
    const two = columns || [0, 1];
    if (!columns && names.length > 2) throw new PasteError("choose", { n: names.length, found: names.map((name, k) => [k, name]) });
    const rows = all.filter(([, cells]) => !two.some((k) => isMissing(cells[k])));
    if (rows.length < all.length) notes.push(["skipped", { n: all.length - rows.length }]);
    if (rows.length < 2) throw new PasteError("rows", { n: rows.length });
    const called = two.map((k, i) => names[k] || "xy"[i]);
    const both = two.map((k) => rows.map(([line, cells]) => [line, cells[k]]));
    const marks = both.map(decimalMark); // the mark of one column holds for a column that shows none
    const [x, y] = both.map((cells, k) => readColumn(called[k], cells, marks[k] || marks[1 - k], notes));
    if (x.values.every((value) => value === x.values[0])) throw new PasteError("same", { name: called[0], x: both[0][0][1] });
    return { x: x.values, y: y.values, names: two.map((k) => names[k]), zeros: [x.zero, y.zero], notes };
  }

  const swapped = (text, from, to) => [...text].map((c) => (from.includes(c) ? to[from.indexOf(c)] : c)).join("");

  /** Return a text with one kind of line ends, digits, blanks and signs; separators in quotes are hidden. */
  function clean(text) {
    return swapped(text.normalize("NFC"), ODD, USUAL)
      .replace(/[\ufeff\u200b\u200e\u200f\u2060]/g, "").replace(/\r\n?/g, "\n")
      .replace(/[\uff01-\uff0b\uff0d-\uff5e]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
      .replace(/(^|[\t\n;,，| ])"((?:[^"]|"")*)"(?=[\t\n;,，| ]|$)/g,
        (_, before, quoted) => before + QUOTED + swapped(quoted, INSIDE, HIDDEN));
  }

  const shown = (cell) => swapped(cell.replaceAll(QUOTED, ""), HIDDEN, INSIDE).replaceAll('""', '"').replaceAll("\n", " ").trim();

  /** Return the lines of data with their numbers: [[line, text], …]. */
  function linesOf(text, notes) {
    const lines = [];
    let skipped = 0, lineNumber = 1;
    for (const line of clean(text).split("\n")) {
      const bare = line.trim();
      if (COMMENT.test(bare) && !isMissing(bare.split(/[\t;|,， ]/)[0])) skipped += 1;
      else if (bare && !RULE.test(bare) && !PRINTED.test(bare)) lines.push([lineNumber, line]);
      lineNumber += line.split(HIDDEN[1]).length;
    }
    if (skipped) notes.push(["skipped", { n: skipped }]);
    return lines;
  }

  /** Split a line into cells at a separator; a date and its time stay together. */
  function split(line, separator) {
    if (separator === " ") {
      const glued = line.replace(/^ +| +$/g, "").replace(/([0-9]{4}|-[0-9]{2}) ([0-9]{1,2}:[0-9]{2})/g, "$1T$2");
      return glued.split(/ +/).map(shown);
    }
    if (separator === "|") line = line.replace(/^\s*\||\|\s*$/g, "");
    else if (separator === ",") line = line.replaceAll("，", ",");
    return line.split(separator).map(shown);
  }

  const widthOf = (rows) => usualOf(rows.filter((cells) => cells.some(isValue)).map((cells) => cells.length)) || 0;

  /** Return the separator that makes most rows of values alone, of these most of one width. */
  function separatorOf(lines) {
    const scores = {}, sample = lines.slice(0, 300);
    for (const separator of SEPARATORS) {
      const rows = sample.map(([, line]) => split(line, separator)), width = widthOf(rows);
      const fitting = width > 1 ? rows.filter((cells) => cells.length === width) : [];
      const whole = fitting.filter((cells) => cells.every((cell) => isValue(cell) || isMissing(cell)));
      if (fitting.length) scores[separator] = [whole.length, fitting.length];
    }
    const found = Object.keys(scores).sort((a, b) => scores[b][0] - scores[a][0] || scores[b][1] - scores[a][1])[0] || ",";
    if (", ".includes(found) && scores[found]?.[0] && String(scores[","]) === String(scores[" "])) {
      const [line, text] = sample.find(([, one]) => split(one, found).some(isValue));
      throw either(line, text, ...[",", " "].map((way) => split(text, way).join(" | ")));
    }
    return found;
  }

  /** Return the rows of a table, [[line, cells], …], and the column names. */
  function tableOf(lines, notes) {
    const separator = separatorOf(lines), all = lines.map(([line, text]) => [line, split(text, separator)]);
    const width = widthOf(all.map(([, cells]) => cells));
    if (!width) throw new PasteError("rows", { n: 0 });
    const head = headOf(all.map(([, cells]) => cells));
    const names = namesOf(lines.slice(0, head), separator, width, notes), rows = all.slice(head);
    for (const [line, cells] of rows) {
      while (cells.length > width && !cells[cells.length - 1]) cells.pop();
      if (cells.length !== width || width < 2) throw new PasteError("columns", { line, wide: Math.max(width, 2), n: cells.length });
    }
    if (!names.some(Boolean)) {
      lookAtFirstRow(rows);
      if (", ".includes(separator) && width === 2) lookAtWholeLines(lines.slice(head), separator, head, notes);
    }
    return leaveOutColumns(rows, names, separator, notes);
  }

  /** Return how many rows stand above the first with a number: names, and other text. */
  function headOf(rows) {
    let head = 0;
    for (const [i, cells] of rows.entries()) {
      const numbered = cells.every((cell, k) => cell === (k ? String(k - 1) : "")); // by pandas, without names
      if (cells.some(isValue) && !(i === 0 && numbered)) break;
      if (head && cells.length > 1 && cells.some((cell) => /^\p{N}/u.test(cell))) break; // such as "5 km" below names
      if (numbered || cells.some((cell) => /\p{L}/u.test(cell) && !isMissing(cell))) head = i + 1;
      else if (!cells.every(isMissing)) break;
    }
    return head;
  }

  /** Return the column names from the lines above the values. */
  function namesOf(above, separator, width, notes) {
    const unused = [];
    let names = null;
    for (const [line, text] of above) {
      let cells = split(text, separator);
      if (cells.every((cell) => /^<[a-z]+>$/.test(cell))) continue; // column types, as R prints them
      const short = cells.length === width - 1;
      if (short && ((separator === "\t" && width > 2) || ` ${QUOTED}`.includes(text[0]))) cells = ["", ...cells];
      else if (names && separator === " " && cells.length === 1) cells = [...cells, ...Array(width - 1).fill("")];
      if (cells.length !== width) unused.push([line, cells]);
      else names = names ? names.map((name, k) => `${name} ${cells[k]}`.trim()) : cells;
    }
    for (const [line, cells] of unused) {
      if (!names && cells.length > 1) throw new PasteError("columns", { line, wide: width, n: cells.length });
    }
    if (unused.length) notes.push(["skipped", { n: unused.length }]);
    return names || Array(width).fill("");
  }

  /** Refuse a table without names whose first row may hold names: words or years. */
  function lookAtFirstRow(rows) {
    const [[line, first]] = rows, word = first.find((cell) => !isValue(cell) && !isMissing(cell));
    if (word !== undefined) throw strange(line, word);
    const years = rows.map(([, cells]) => cells.every((cell) => /^(?:19|20)[0-9]{2}$/.test(cell)));
    if (years.indexOf(true) === 0 && years.lastIndexOf(true) === 0) throw mixed(line, first.join(" | "));
  }

  /** Note, or refuse, a table in which each line, such as "1,250", can be read as one number. */
  function lookAtWholeLines(lines, separator, head, notes) {
    const texts = lines.map(([, text]) => text.trim());
    if (!texts.every((text) => isAny(numbers(text)))) return;
    const two = split(texts[0], separator).join(" | ");
    if (head || (separator === "," && /[. '\u00a0]/.test(texts.join("")))) {
      throw either(lines[0][0], texts[0], two, Object.values(numbers(texts[0])).pop());
    }
    notes.push(["taken", { name: "x, y", text: texts[0], value: two }]);
  }

  /** Remove columns of words, and a first one of row numbers. A date may be spread over columns with digits or months. */
  function leaveOutColumns(rows, names, separator, notes) {
    const leftOut = new Set(), named = names.some(Boolean);
    const valued = names.filter((_, k) => rows.some(([, cells]) => isValue(cells[k]))).length;
    names.forEach((name, k) => {
      const cells = rows.map(([line, all]) => [line, all[k]]).filter(([, cell]) => !isMissing(cell));
      if (cells.some(([, cell]) => isValue(cell))) return;
      const words = named && !cells.some(([, cell]) => /\p{N}/u.test(cell) || month(cell));
      if (valued < 2 || (cells.length && !(words && separator !== " "))) return;
      leftOut.add(k);
    });
    const counted = [0, 1].some((start) => rows.every(([, cells], i) => cells[0] === String(i + start)));
    if (names.length - leftOut.size > 2 && named && !names[0] && counted) leftOut.add(0);
    const kept = (cells) => cells.filter((_, k) => !leftOut.has(k));
    return [rows.map(([line, cells]) => [line, kept(cells)]), kept(names)];
  }

  /** Read a pasted table into the course's units: {points, units, names, zeros, notes}. */
  function read(text, columns = null) {
    const { x, y, ...table } = readPoints(text, columns);
    if (x.length > MOST) throw new PasteError("many", { n: x.length });
    return { ...standardised(x.map((value, i) => [value, y[i]])), ...table };
  }

  /** Shift and scale x to ±½ and y to mean 0 and sd 5. */
  function standardised(points) {
    const x = points.map((p) => p[0]), y = points.map((p) => p[1]);
    const low = Math.min(...x), high = Math.max(...x);
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

  return { COURSE, MOST, TRUTHS, PasteError, made, read, readPoints, round, short, widestGap };
})();

if (typeof module !== "undefined") module.exports = playgroundPoints;

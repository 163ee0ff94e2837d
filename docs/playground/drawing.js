"use strict";

/* Draw the two pictures. */

const ROOM = 1.05; // between the largest |y| and the edge
/** Let the axis hold the points, and follow what both pictures show once they rest. */
function fitLimit() {
  if (guessing() && guess?.drawn.some((knots) => knots.size)) return; // a stroke was aimed by this scale
  const sizes = panels.filter((panel) => settled(panel) && !broken(panel.answer)).map(({ answer }) => {
    const edges = Array.from(answer.mean, (mean, i) => Math.abs(mean) + 2 * answer.std[i]).sort((p, q) => p - q);
    return edges[Math.floor(0.9 * edges.length)];
  });
  const rests = sizes.length === panels.length, most = Math.max(...points().map((p) => Math.abs(p[1])));
  const wanted = Math.max(4.5, most, ...(rests ? sizes : [])) * ROOM * (1 - 1e-3);
  const least = above(wanted, [1, 2, 3, 5, 8, 10]);
  if (least > limit || (rests && (fresh || wanted < Math.max(0.8 * least, 0.55 * limit)))) limit = least; // a hair's breadth moves no axis
  fresh &&= !rests;
  if (guess && guessing()) guess.edges = untouched();
}

/** The first of some factors times a power of ten that is not below a number. */
function above(number, factors) {
  const power = 10 ** Math.floor(Math.log10(number));
  return factors.map((factor) => factor * power).find((value) => value >= number);
}

const MARKS = Object.fromEntries(PLAYGROUND_MARKS.map((mark) => [mark.name, mark]));
const PATTERNS = { "-": [], "--": [3.7, 1.6], "-.": [6.4, 1.6, 1, 1.6], ":": [1, 1.65] }; // in widths of the line, as matplotlib has them
const dashes = ({ linestyle, linewidth }) => PATTERNS[linestyle].map((length) => length * linewidth);
const colour = (name) => getComputedStyle(panels[0].canvas).getPropertyValue(`--${name}`).trim();
const MARGIN = { left: 46, right: 10, top: 10, bottom: 26 };

function scales(panel) {
  const { clientWidth: width, clientHeight: height } = panel.canvas;
  const w = width - MARGIN.left - MARGIN.right, h = height - MARGIN.top - MARGIN.bottom;
  return {
    width, height,
    x: (x) => MARGIN.left + ((x + 1) / 2) * w,
    y: (y) => MARGIN.top + ((limit - y) / (2 * limit)) * h,
    unX: (px) => ((px - MARGIN.left) / w) * 2 - 1,
    unY: (py) => limit - ((py - MARGIN.top) / h) * 2 * limit,
  };
}

function drawPanel(panel) {
  const { canvas, context: c, answer } = panel, s = scales(panel), ratio = devicePixelRatio || 1;
  if (!s.width) return;
  const clouded = panel.key === "b" && tourStep()?.cloud && settled(panels[0]) && panels[0].answer.mu;
  const [w, h] = [Math.round(s.width * ratio), Math.round(s.height * ratio)];
  if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, { width: w, height: h });
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.clearRect(0, 0, s.width, s.height);
  if (clouded) return drawCloud(c, s.width, s.height, cloudOf(panels[0].answer));
  axes(c, s);
  if (panels.every(settled) && $("verdict").textContent && !guessing()) shade(c, s);
  c.save();
  c.beginPath();
  c.rect(MARGIN.left, MARGIN.top, s.width - MARGIN.left - MARGIN.right, s.height - MARGIN.top - MARGIN.bottom);
  c.clip();
  if (state.lines) strands(c, s, priorLines(), MARKS.prior);
  if (answer && !guessing()) {
    const { mean, std } = answer, hmc = answer.method === "hmc";
    const faint = hmc && !(answer.r_hat <= MIXED) ? 0.5 : 1; // a sketch, until the chains have mixed
    const mark = (name) => ({ ...MARKS[name], alpha: faint * (MARKS[name].alpha ?? 1) });
    band(c, s, mean, std.map((sd) => Math.hypot(sd, answer.noise ?? state.noise)), mark("total"));
    band(c, s, mean, std, mark("epistemic"));
    if (answer.parts) strands(c, s, answer.parts, MARKS.prior); // what each feature adds
    if (answer.lines.length > GRID.length) strands(c, s, answer.lines, mark("drawn"));
    if (answer.before) curve(c, s, answer.before, { ...MARKS.mean, linewidth: 0.8 });
    for (const side of hmc ? [-2, 2] : []) curve(c, s, mean.map((m, i) => m + side * std[i]), mark("posterior_band"));
    curve(c, s, mean, mark(hmc ? "posterior_mean" : "mean"));
  }
  const of = truth();
  if (of && !guessing()) curve(c, s, GRID.map(of), MARKS.truth);
  points().forEach(([x, y], i) => dot(c, s.x(x), s.y(y), i === chosen && document.activeElement === canvas));
  if (guess && panel === panels.at(-1)) drawGuess(c, s, panel);
  c.restore();
}

/** Shade the places of which the verdict speaks. */
function shade(c, s) {
  const x = points().map((p) => p[0]), gap = widestGap(points());
  const ends = [Math.min(...x), Math.max(...x)], outside = [[-1, ends[0]], [ends[1], 1]];
  const among = gap ? [[ends[0], gap[0]], [gap[1], ends[1]]] : [ends];
  const place = tourStep()?.place, places = place === "among" ? among : gap ? [gap, ...(place ? outside : [])] : outside;
  c.fillStyle = colour("fault");
  c.globalAlpha = 0.07;
  for (const [low, high] of places) {
    c.fillRect(s.x(low), MARGIN.top, s.x(high) - s.x(low), s.height - MARGIN.top - MARGIN.bottom);
  }
  c.globalAlpha = 1;
}

function axes(c, s) {
  const [x0, x1, y0, y1] = state.units;
  c.font = "12px system-ui, sans-serif";
  c.fillStyle = colour("soft");
  c.strokeStyle = colour("line");
  c.lineWidth = 0.5; // of lines that a flat rectangle draws twice
  c.textAlign = "center";
  c.textBaseline = "top";
  const xs = ticks(x0 - x1, x0 + x1, s.width / 90), ys = ticks(y0 - y1 * limit, y0 + y1 * limit, s.height / 45);
  for (const x of xs.values) {
    const at = s.x((x - x0) / x1);
    c.strokeRect(at, MARGIN.top, 0, s.height - MARGIN.top - MARGIN.bottom);
    c.fillText(xs.text(x), Math.min(Math.max(at, 30), s.width - 24), s.height - MARGIN.bottom + 6);
  }
  c.textAlign = "right";
  c.textBaseline = "middle";
  for (const y of ys.values) {
    const at = s.y((y - y0) / y1);
    c.strokeRect(MARGIN.left, at, s.width - MARGIN.left - MARGIN.right, 0);
    c.fillText(ys.text(y), MARGIN.left - 5, at);
  }
  const titles = [xs, ys].map(({ shared }, k) => [named(k), shared && `(${shared})`].filter(Boolean).join(" "));
  c.fillText(titles[0], s.width - MARGIN.right - 6, s.height - MARGIN.bottom - 9);
  c.textAlign = "left";
  c.fillText(titles[1], MARGIN.left + 6, MARGIN.top + 9);
}

/** The name of x or y, with the date that its 0 stands for. */
function named(k) {
  const [name = "", date] = [state.names, state.zeros].map((pair) => pair.split("\t")[k]);
  return date ? say("days", { name: name || "xy"[k], date }) : name;
}

/** Round numbers between two limits, about as many as asked; `shared` is what all labels leave out. */
function ticks(low, high, many) {
  const step = above((high - low) / Math.max(2, many), [1, 2, 5, 10]), first = Math.ceil(low / step);
  const values = Array.from({ length: Math.max(0, Math.floor(high / step) - first + 1) }, (_, i) => (first + i) * step);
  const exponent = (value) => Math.floor(Math.log10(value) + 1e-9), far = Math.max(Math.abs(low), Math.abs(high));
  const long = Math.max(0, exponent(far)) + Math.max(0, -exponent(step)) > 5 && far > 100 * step;
  const offset = long ? Math.round((low + high) / (20 * step)) * 10 * step : 0;
  const rest = Math.max(Math.abs(low - offset), Math.abs(high - offset));
  const power = rest >= 1e4 || rest < 1e-2 ? exponent(rest) : 0, digits = Math.max(0, power - exponent(step));
  const text = (value) => ((value - offset) / 10 ** power).toFixed(digits).replace(/^-(0\.?0*$)?/, (_, zero) => zero ?? "−");
  const shared = [power && `× ${tens(power)}`, offset && `+ ${Number(offset.toPrecision(12))}`.replace("-", "−")];
  return { values, text, shared: shared.filter(Boolean).join(" ") };
}

function curve(c, s, f, mark) {
  c.strokeStyle = mark.color;
  c.lineWidth = mark.linewidth;
  c.globalAlpha = mark.alpha ?? 1;
  c.setLineDash(dashes(mark));
  c.beginPath();
  f.forEach((y, i) => c.lineTo(s.x(GRID[i]), s.y(y)));
  c.stroke();
  c.setLineDash([]);
  c.globalAlpha = 1;
}

function strands(c, s, lines, mark) {
  for (let from = 0; from < lines.length; from += GRID.length) curve(c, s, lines.subarray(from, from + GRID.length), mark);
}

function band(c, s, mean, std, mark) {
  c.fillStyle = mark.color;
  c.globalAlpha = mark.alpha;
  c.beginPath();
  for (let i = 0; i < GRID.length; i++) c.lineTo(s.x(GRID[i]), s.y(mean[i] + 2 * std[i]));
  for (let i = GRID.length - 1; i >= 0; i--) c.lineTo(s.x(GRID[i]), s.y(mean[i] - 2 * std[i]));
  c.fill();
  c.globalAlpha = 1;
}

function dot(c, x, y, isChosen) {
  const { color, markeredgewidth } = MARKS.data, arm = isChosen ? 8 : 5.5;
  c.strokeStyle = isChosen ? colour("chosen") : color;
  c.lineWidth = isChosen ? 2 * markeredgewidth : markeredgewidth;
  c.stroke(new Path2D(`M${x - arm} ${y}h${2 * arm}M${x} ${y - arm}v${2 * arm}`));
}

/** The line, cross or patch that stands for a mark in the legend. */
function swatch(mark) {
  const { color, alpha = 1, marker, linewidth = 0, markeredgewidth = linewidth } = mark, line = linewidth > 0;
  const path = line ? "M0 6h26" : marker ? "M7.5 6h11M13 .5v11" : "M0 0h26v12H0z", drawn = line || marker;
  return `<svg><path d="${path}" opacity="${alpha}" fill="${drawn ? "none" : color}" stroke="${drawn ? color : "none"}"`
    + ` stroke-width="${markeredgewidth}" stroke-dasharray="${line ? dashes(mark) : ""}"/></svg>`;
}

function priorLines() {
  const { hidden, prior: given } = problem(), net = engine.network(hidden), prior = engine.makePrior(given);
  const next = engine.normal(86028121), draw = engine.uniform(86028121);
  return engine.evaluate(net, Float64Array.from({ length: 12 * net.nWeights }, () => prior.draw(next, draw)), GRID);
}

let due = 0;
function paint() {
  due ||= requestAnimationFrame(() => {
    due = 0;
    const said = verdict();
    if ($("verdict").textContent !== said) $("verdict").textContent = said;
    for (const panel of panels) {
      drawPanel(panel);
      panel.caption.textContent = statusOf(panel);
      const named = `${say(panel.key === "a" ? "left" : "right")}: ${say(`methods.${panel.method}`)}`;
      panel.canvas.setAttribute("aria-label", `${named}. ${panel.caption.textContent}. ${say("keys")}`);
    }
  });
}

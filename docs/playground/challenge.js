"use strict";

/* Draw first, then see: two edges over the hidden posterior, and the share of its band that they hold. */

const KNOTS = Array.from({ length: 21 }, (_, k) => -1 + k / 10); // x of the edges' corners
let guess = null; // {edges: [upper, lower], drawn, seen, knot, edge, byKey}: one value at each of KNOTS
const guessing = () => state.challenge && !guess?.seen;
const drawsGuess = (panel) => guessing() && panel === panels.at(-1);

/** Edges that nobody has moved yet. */
const untouched = () => [0.5, -0.5].map((share) => KNOTS.map(() => share * limit));
function beginGuess() {
  guess = { edges: untouched(), drawn: [new Set(), new Set()], seen: false, knot: 10, edge: 0 };
}

/** Move an edge's corners between two places [x, y] of a stroke, from the first to the second. */
function drawEdge(edge, [x0, y0], [x1, y1]) {
  const [low, high] = x0 < x1 ? [x0, x1] : [x1, x0];
  KNOTS.forEach((x, k) => {
    if (x < low - 0.05 || x > high + 0.05) return;
    const share = x1 === x0 ? 1 : Math.min(Math.max((x - x0) / (x1 - x0), 0), 1);
    guess.drawn[edge].add(k);
    guess.edges[edge][k] = Math.min(Math.max(y0 + share * (y1 - y0), -limit), limit);
  });
  paint();
}

/** An edge at a place, between its corners. */
function edgeAt(edge, x) {
  const at = Math.min(Math.max((x + 1) * 10, 0), 20), k = Math.min(Math.floor(at), 19), values = guess.edges[edge];
  return values[k] + (at - k) * (values[k + 1] - values[k]);
}

/** The area that two bands share, over the area that either holds; each a list of [low, high] on GRID. */
function shared(one, other) {
  let both = 0, either = 0;
  const seen = (y) => Math.min(Math.max(y, -limit), limit); // nobody draws beyond the picture
  one.forEach((band, i) => {
    const [[a, b], [c, d]] = [band, other[i]].map((ends) => ends.map(seen)), common = Math.max(0, Math.min(b, d) - Math.max(a, c));
    both += common;
    either += b - a + d - c - common;
  });
  return either ? both / either : 0;
}

const bandOf = ({ mean, std }) => Array.from(mean, (m, i) => [m - 2 * std[i], m + 2 * std[i]]);

/** The shares of the posterior's band that the reader's band and the other picture's have. */
function shares() {
  const truth = panels.find(({ method }) => method === "hmc"), rival = panels.find((panel) => panel !== truth);
  if (!guess || !truth?.answer || !rival?.answer) return null;
  const drawn = Array.from(GRID, (x) => [edgeAt(0, x), edgeAt(1, x)].sort((p, q) => p - q));
  return { you: shared(drawn, bandOf(truth.answer)), other: shared(bandOf(rival.answer), bandOf(truth.answer)), method: rival.method };
}

/** What the page says of the challenge; "" while the pictures are not finished. */
function challenged() {
  if (guessing() || !guess || !panels.every(settled)) return "";
  const { you, other, method } = shares(), [mine, theirs] = [you, other].map((share) => Math.round(100 * share));
  const end = say(`challenge.${mine > theirs ? "won" : mine < theirs ? "lost" : "even"}`);
  return say("challenge.result", { you: mine, other: theirs, method: say(`methods.${method}`), end });
}

function drawGuess(c, s, panel) {
  const all = [...KNOTS.keys()];
  c.strokeStyle = colour("chosen");
  c.lineWidth = 2.5;
  for (const edge of [0, 1]) {
    c.beginPath();
    all.forEach((k) => c.lineTo(s.x(KNOTS[k]), s.y(guess.edges[edge][k])));
    c.stroke();
  }
  if (guess.seen || !guess.byKey || document.activeElement !== panel.canvas) return;
  c.beginPath();
  c.arc(s.x(KNOTS[guess.knot]), s.y(guess.edges[guess.edge][guess.knot]), 6, 0, 2 * Math.PI);
  c.stroke();
}

let stroke = null; // {last, edge} while one is drawn
/** Draw by pointer: a stroke moves an edge that it begins on, else one not drawn there yet, else the nearer. */
function guessByPointer({ type }, { point }) {
  if (type === "pointerdown") {
    const [upper, lower] = [0, 1].map((k) => Math.abs(edgeAt(k, point[0]) - point[1])), nearer = upper <= lower ? 0 : 1;
    const drawn = guess.drawn.map((knots) => knots.has(Math.round((point[0] + 1) * 10)));
    const on = Math.min(upper, lower) < 0.06 * limit || drawn[0] === drawn[1];
    stroke = { last: point, edge: on ? nearer : Number(drawn[0]) };
    guess.byKey = false;
  }
  if (stroke) drawEdge(stroke.edge, stroke.last, point);
  if (stroke) stroke.last = point;
  if (/up|cancel/.test(type)) stroke = null;
}

/** Draw by keys: ← and → choose a corner, ↑ and ↓ move it, N takes the other edge. */
function guessByKey(key) {
  guess.byKey = true;
  const side = { arrowleft: -1, arrowright: 1 }[key], up = { arrowup: 1, arrowdown: -1 }[key];
  if (side) guess.knot = Math.min(Math.max(guess.knot + side, 0), 20);
  else if (key === "n") guess.edge = 1 - guess.edge;
  else if (up) {
    const x = KNOTS[guess.knot], y = guess.edges[guess.edge][guess.knot] + (up * limit) / 20;
    drawEdge(guess.edge, [x, y], [x, y]);
  } else return false;
  $("told").textContent = say("challenge.corner", {
    edge: say(guess.edge ? "challenge.lower" : "challenge.upper"), x: show(KNOTS[guess.knot]), y: show(guess.edges[guess.edge][guess.knot]),
  });
  paint();
  return true;
}

$("challenge").onclick = () => {
  const on = !state.challenge || guess?.seen, { a } = state; // after a round comes the next
  guess = null;
  change({ challenge: on, ...(on && { a: a === "hmc" ? "bbb" : a, b: "hmc", tour: 0 }) });
};
$("see").onclick = () => {
  guess.seen = true;
  refresh();
};

"use strict";

/* Eight steps on the reader's own points, each an address: what it shows, and at most two controls. */
const STEPS = [
  { a: "map", b: "map", lines: false, controls: ["data", "noise"], single: true },
  { a: "map", b: "ensemble", lines: false, controls: ["noise"] },
  { a: "map", b: "hmc", lines: true, controls: ["sigma"], single: true },
  { a: "ensemble", b: "hmc", lines: false, controls: ["sigma", "noise"] },
  { a: "bbb", b: "hmc", lines: false, controls: ["sigma", "noise"] },
  { a: "bbb", b: "hmc", lines: false, controls: ["sigma", "noise"], place: "gap" },
  { a: "bbb", b: "hmc", lines: false, controls: ["sigma", "noise"], place: "among" },
  { a: "bbb", b: "hmc", lines: false, controls: ["sigma"], cloud: true },
];
const tourStep = () => STEPS[state.tour - 1]; // undefined without a tour

/** Return what an address leaves out: the start, with what the tour's step `tour` shows. */
function startOf(tour) {
  const { a, b, lines } = STEPS[tour - 1] || START;
  return { ...START, a, b, lines };
}

/** Go to a step: 1 to 8, or 0 to leave. */
function goTo(step) {
  const { a, b, lines } = STEPS[step - 1] || {}, plain = { layers: 1, prior: "gaussian", kl: 1, challenge: false };
  guess = null;
  change({ tour: step, ...(step && { a, b, lines, ...plain }), ...(!step && { lines: false }) });
}
$("begin").onclick = () => goTo(1);
$("back").onclick = () => goTo(state.tour - 1);
$("next").onclick = () => goTo(state.tour % STEPS.length ? state.tour + 1 : 0);
$("leave").onclick = () => (guessing() ? $("challenge").click() : goTo(0));

function showTour() {
  const root = document.documentElement, step = tourStep(), guessed = guessing();
  for (const [name, on] of Object.entries({ touring: step || guessed, single: step?.single, clouded: step?.cloud, guessed })) root.classList.toggle(name, Boolean(on));
  $("tour").hidden = !(step || guessed);
  $("see").hidden = !guessed;
  $("back").hidden = $("next").hidden = !step;
  $("leave").hidden = state.tour === STEPS.length;
  $("leave").textContent = say(step ? "tour.leave" : "challenge.leave");
  for (const [id, name] of [["begin", "tour"], ["challenge", "challenge"]]) $(id).hidden = Boolean(step) || !isShown(name);
  $("back").disabled = state.tour < 2;
  $("next").textContent = say(state.tour === STEPS.length ? "tour.end" : "tour.next");
  $("sentence").textContent = guessed ? say("challenge.draw") : step ? `${state.tour}/${STEPS.length} · ${say(`tour.steps.${state.tour - 1}`)}` : "";
  for (const one of document.querySelectorAll("[data-control]")) one.hidden = Boolean(step) && !step.controls.includes(one.dataset.control);
}

/* ---- Two weights' joint cloud. ---- */

let cloud = null; // {of, pair, draws, correlation, …} for an answer

/**
 * Return the two weights that change together most where all others stand at q's mean, by the
 * curvature of −log P(D, w): draws of the two from the posterior given the others, and q of both.
 */
function cloudOf(answer) {
  if (cloud?.of === answer) return cloud;
  const { hidden, prior, ...given } = problem(), net = engine.network(hidden), [H] = hidden, size = net.nWeights, step = 1e-4;
  const energy = engine.potential({ ...given, net, prior: engine.makePrior(prior) }), { mu } = answer;
  const std = Array.from(answer.rho, (r) => Math.log1p(Math.exp(r))), slope = (w, out = new Float64Array(size)) => (energy(w, out), out);
  const moved = (j, by) => mu.map((value, k) => (k === j ? value + by : value));
  const curves = Array.from({ length: size }, (_, j) => {
    const [up, down] = [step, -step].map((by) => slope(moved(j, by)));
    return up.map((value, k) => (value - down[k]) / (2 * step));
  });
  cloud = { of: answer, correlation: 0, pair: [0, H] };
  for (let i = 0; i < size; i++) {
    for (let j = 0; j < i; j++) {
      const correlation = -curves[i][j] / Math.sqrt(curves[i][i] * curves[j][j]);
      if (Math.abs(correlation) > Math.abs(cloud.correlation) && Math.max(std[i], std[j]) < 0.3 * priorSdOfWeight()) Object.assign(cloud, { pair: [j, i], correlation });
    }
  }
  const { pair, correlation } = cloud, many = 81, reach = pair.map((j) => 3.5 / Math.sqrt(curves[j][j] * (1 - correlation ** 2)));
  const at = (k, cell) => mu[pair[k]] + (2 * cell / (many - 1) - 1) * reach[k], w = mu.slice(), out = new Float64Array(size);
  const nats = Float64Array.from({ length: many * many }, (_, cell) => {
    [w[pair[0]], w[pair[1]]] = [at(0, cell % many), at(1, Math.floor(cell / many))];
    return energy(w, out);
  });
  const least = Math.min(...nats), sums = [], draw = engine.uniform(7);
  nats.reduce((sum, one) => (sums.push(sum + Math.exp(least - one)), sums.at(-1)), 0);
  const draws = Array.from({ length: 700 }, () => {
    const mark = draw() * sums.at(-1), cell = sums.findIndex((sum) => sum >= mark);
    return [at(0, (cell % many) + draw() - 0.5), at(1, Math.floor(cell / many) + draw() - 0.5)];
  });
  const [m0, m1] = [0, 1].map((k) => draws.reduce((sum, one) => sum + one[k], 0) / draws.length);
  const product = (k, l) => draws.reduce((sum, one) => sum + (one[k] - [m0, m1][k]) * (one[l] - [m0, m1][l]), 0);
  return Object.assign(cloud, {
    draws, correlation: product(0, 1) / Math.sqrt(product(0, 0) * product(1, 1)), centre: pair.map((j) => mu[j]), spread: pair.map((j) => std[j]),
    names: pair.map((j) => say(`tour.weights.${Math.floor(j / H)}`, { k: (j % H) + 1 })),
  });
}

const priorSdOfWeight = () => engine.makePrior(problem().prior).std;

/** Draw the cloud over a picture: draws of the posterior, and the ellipse of ±2 sd of mean field. */
function drawCloud(c, width, height, { draws, centre, spread, names }) {
  const ends = [0, 1].map((k) => {
    const values = [...draws.map((one) => one[k]), centre[k] - 3 * spread[k], centre[k] + 3 * spread[k]];
    return [Math.min(...values), Math.max(...values)];
  });
  const [w, h] = [width - MARGIN.left - MARGIN.right, height - MARGIN.top - MARGIN.bottom];
  const x = (v) => MARGIN.left + ((v - ends[0][0]) / (ends[0][1] - ends[0][0])) * w;
  const y = (v) => MARGIN.top + ((ends[1][1] - v) / (ends[1][1] - ends[1][0])) * h;
  c.strokeStyle = colour("line");
  c.strokeRect(MARGIN.left, MARGIN.top, w, h);
  c.fillStyle = MARKS.posterior_mean.color;
  c.globalAlpha = 0.5;
  for (const [a, b] of draws) c.fillRect(x(a) - 1.5, y(b) - 1.5, 3, 3);
  c.fillStyle = MARKS.epistemic.color;
  c.beginPath();
  c.ellipse(x(centre[0]), y(centre[1]), Math.abs(x(2 * spread[0]) - x(0)), Math.abs(y(2 * spread[1]) - y(0)), 0, 0, 2 * Math.PI);
  c.fill();
  c.globalAlpha = 1;
  c.fillStyle = colour("soft");
  c.font = "12px system-ui, sans-serif";
  c.textAlign = "right";
  c.textBaseline = "middle";
  c.fillText(names[0], width - MARGIN.right - 6, height - MARGIN.bottom + 12);
  for (const end of [0, 1]) c.fillText(show(ends[1][end]), MARGIN.left - 5, y(ends[1][end]) + (end ? 6 : -6));
  c.textAlign = "left";
  c.fillText(names[1], MARGIN.left + 6, MARGIN.top + 9);
  c.fillText(show(ends[0][0]), MARGIN.left, height - MARGIN.bottom + 12);
  c.fillText(show(ends[0][1]), width - MARGIN.right - 150, height - MARGIN.bottom + 12);
}

"""Test the playground in Chromium: it computes what the package computes, and its controls."""

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from matplotlib import rcParams
from playground_page import DOCS, PHONE, PLACE, opened, readings, shown, state, swipe
from playwright.sync_api import Browser, Page

from bdl_teach import datasets, densities, widgets
from bdl_teach.backend import tf, tfd
from bdl_teach.methods import local_reparam, mcmc
from bdl_teach.predictive import evaluate_weights

TABLES = Path(__file__).resolve().parents[1] / "datasets" / "tables.json"
PACKAGE = Path(datasets.__file__).parents[1]
PRIORS = {
    "gaussian": ({"sigma": 2.0}, densities.Gaussian(2.0)),
    "mixture": (
        {"sigma1": 1.5, "sigma2": 0.1, "pi": 0.3},
        densities.ScaleMixture(1.5, 0.1, 0.3),
    ),
}

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def page(browser: Browser) -> Page:
    return opened(browser)[0]


def layers(w: Any, sizes: tuple[int, ...]) -> Iterator[tuple[Any, Any]]:
    for n_in, n_out in pairwise(sizes):
        n = n_in * n_out
        yield tf.reshape(w[:n], (n_out, n_in)), w[n : n + n_out]
        w = w[n + n_out :]


def network(w: Any, sizes: tuple[int, ...], x: Any) -> Any:
    """Evaluate a ReLU network at x ``[n]`` for weights in the package's order."""
    h = tf.constant(x[:, None])
    for i, (weight, bias) in enumerate(layers(w, sizes)):
        h = tf.linalg.matmul(tf.nn.relu(h) if i else h, weight, transpose_b=True) + bias
    return h[:, 0]


def log_prior(prior: densities.Prior, w: Any) -> Any:
    sigma1, sigma2, pi = map(np.float64, prior.mixture)
    parts = tf.stack([tfd.Normal(0 * w, s).log_prob(w) for s in (sigma1, sigma2)])
    return tf.reduce_sum(tf.reduce_logsumexp(parts + np.log([[pi], [1 - pi + 1e-300]]), axis=0))


@pytest.mark.parametrize(
    ("kind", "hidden"),
    [("mixture", (20,)), pytest.param("gaussian", (20, 20), marks=pytest.mark.slow)],
)
def test_fifty_steps_of_bayes_by_backprop_equal_the_float64_reference(
    page: Page, kind: str, hidden: tuple[int, ...]
) -> None:
    given, prior = PRIORS[kind]
    data, sizes = datasets.sinusoid(n=20, seed=3), (1, *hidden, 1)
    x, y = data.x[:, 0], data.y[:, 0]
    size = sum((a + 1) * b for a, b in pairwise(sizes))
    rng = np.random.default_rng(1)
    mu, rho = rng.normal(size=size), rng.normal(-1, 0.3, size)
    eps, steps, weight = rng.normal(size=(150, size)), 50, 0.7
    found = page.evaluate(
        """({x, y, hidden, given, mu, rho, eps}) => {
            const e = window.playground.engine;
            const problem = {net: e.network(hidden), x, y, noise: 0.8, prior: e.makePrior(given)};
            const options = {mu, rho, eps, samples: 2, klWeight: 0.7, steps: 50, cooldown: 0.5};
            const made = e.bbbTrainer(problem, options).run(50);
            return [[...made.mu], [...made.rho]];
        }""",
        {
            **{"x": x.tolist(), "y": y.tolist(), "hidden": list(hidden), "given": given},
            **{"mu": mu.tolist(), "rho": rho.tolist(), "eps": eps.ravel().tolist()},
        },
    )
    theta, moments = [mu, rho], [np.zeros((2, size)), np.zeros((2, size))]
    for t in range(steps):
        with tf.GradientTape() as tape:
            both = [tf.constant(p) for p in theta]
            tape.watch(both)
            std, loss = tf.nn.softplus(both[1]), 0.0
            for row in (t, (t + 97) % 150):
                w = both[0] + std * eps[row]
                kl = tf.reduce_sum(tfd.Normal(both[0], std).log_prob(w)) - log_prior(prior, w)
                noise = tfd.Normal(network(w, sizes, x), np.float64(0.8))
                loss += (weight * kl - tf.reduce_sum(noise.log_prob(y))) / 2
        rate = 0.08 * min(1.0, (steps - t) / steps / 0.5)
        for k, g in enumerate(tape.gradient(loss, both)):
            m, v = moments[k]
            moments[k] = m, v = 0.9 * m + 0.1 * g.numpy(), 0.999 * v + 0.001 * g.numpy() ** 2
            size_ = rate * np.sqrt(1 - 0.999 ** (t + 1)) / (1 - 0.9 ** (t + 1))
            theta[k] = theta[k] - size_ * m / (np.sqrt(v) + 1e-7)
    np.testing.assert_allclose(found, theta, rtol=1e-9, atol=1e-9)


EXACT = """({x, y, given, mu, std}) => {
    const e = window.playground.engine, rho = std.map((s) => Math.log(Math.expm1(s)));
    const problem = {net: e.network([20]), x, y, noise: 0.8, prior: e.makePrior(given)};
    const F = (at) => e.freeEnergy(problem, at.slice(0, 61), at.slice(61), 0.3).total;
    const slopes = [new Float64Array(61), new Float64Array(61)], at = [...mu, ...rho];
    e.exactEnergy(problem, 0.3)(mu, rho, ...slopes);
    const steep = [...slopes[0], ...slopes[1]], square = steep.reduce((sum, v) => sum + v * v, 0);
    const moved = (h) => F(at.map((v, i) => v + h * steep[i])), h = 1e-4 / Math.sqrt(square);
    return [F(at), (moved(h) - moved(-h)) / (2 * h * square)];
}"""


@pytest.mark.parametrize("kind", PRIORS)
def test_free_energy_is_exact_and_its_slope_too(page: Page, kind: str) -> None:
    given, prior = PRIORS[kind]
    data = datasets.sinusoid(n=20, seed=3)
    known = {"prior": prior, "noise_std": 0.8, "hidden_units": (20,), "kl_weight": 0.3}
    fit = local_reparam.fit(data.x, data.y, **known, **local_reparam.QUIET, steps=100)
    x, y = data.x[:, 0].tolist(), data.y[:, 0].tolist()
    q = {"mu": fit.mean.tolist(), "std": fit.std.tolist()}
    found = page.evaluate(EXACT, {"x": x, "y": y, "given": given, **q})
    assert found == pytest.approx([fit.free_energy, 1.0], rel=1e-4)


@pytest.mark.slow
def test_free_energy_rests_as_low_as_the_packages_lowest(browser: Browser) -> None:
    page, faults = opened(browser, "b=map&data=clusters&seed=2")
    found, points = page.evaluate("playground.readings()"), np.array(state(page)["points"])
    known = {"prior": densities.Gaussian(3.0), "noise_std": 1.0, "hidden_units": (20,)}
    lowest = local_reparam.fit(points[:, :1], points[:, 1:], **known, **local_reparam.LOWEST)
    assert found["rests"] and found["F"] < lowest.again().free_energy + 1.0
    assert faults == []


@pytest.mark.slow
def test_hmc_chains_agree_with_the_package(page: Page) -> None:
    """Means and sds of the function differ by no more than their Monte-Carlo errors."""
    data = datasets.sinusoid(n=24, gap=(0.1, 0.4))
    grid = np.linspace(-1, 1, 21)[:, None]
    ours = page.evaluate(
        """({x, y, grid}) => {
            const e = window.playground.engine, net = e.network([20]);
            const problem = {net, x, y, noise: 1, prior: e.makePrior({sigma: 3})};
            const at = Float64Array.from(grid);
            return [0, 1, 2, 3].map((seed) => {
                const {kept} = e.hmcChain(problem, {seed}).run(2500);
                return kept.map((w) => [...e.evaluate(net, w, at)]);
            });
        }""",
        {"x": data.x[:, 0].tolist(), "y": data.y[:, 0].tolist(), "grid": grid[:, 0].tolist()},
    )
    chains = mcmc.hmc(
        *(data.x, data.y),
        prior=densities.Gaussian(3.0),
        noise_std=1.0,
        hidden_units=(20,),
        n_samples=1000,
        n_chains=4,
    )
    theirs = [evaluate_weights(chains.network, w, grid) for w in chains.weights]
    (mean, std), (other_mean, other_std) = [
        (summary(f), summary((f - f.mean((0, 1))) ** 2)) for f in map(np.array, (ours, theirs))
    ]
    for one, other in ((mean, other_mean), (std, other_std)):
        z = (one[0] - other[0]) / np.hypot(one[1], other[1])
        assert np.sqrt((z**2).mean()) < 2.0, z


def test_chains_that_do_not_move_have_not_mixed(page: Page) -> None:
    still = "playground.engine.diagnose([Array(20).fill(1), Array(20).fill(2)]).rHat"
    assert page.evaluate(still) == float("inf")


def summary(draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean of draws ``[chains, s, m]`` and its standard error by the ESS."""
    _, ess = mcmc.diagnose(draws)
    return draws.mean((0, 1)), draws.std((0, 1)) / np.sqrt(ess)


def test_points_are_dragged_added_removed_and_restored_by_undo(browser: Browser) -> None:
    page, faults = opened(browser, "b=map&n=8&points=-0.5,0;0,0;0.5,0")
    before = page.evaluate("window.playground.readings().a.mean")
    x, y = page.evaluate(PLACE, [0, 0])
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y - 40, steps=5)
    page.mouse.up()
    moved = state(page)["points"][1]
    assert moved[0] > 0.1 and moved[1] > 1
    page.wait_for_function(
        "(old) => window.playground.readings().a.mean[70] !== old", arg=before[70]
    )
    page.mouse.click(*page.evaluate(PLACE, [-0.25, 0.5]))
    assert len(state(page)["points"]) == 4
    page.keyboard.press("Delete")
    assert len(state(page)["points"]) == 3
    x, y = page.evaluate(PLACE, [-0.75, 0.5])  # a drag from where no point is
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y - 40, steps=5)
    page.mouse.up()
    assert len(state(page)["points"]) == 3
    for _ in range(3):
        page.click("#undo")
    assert state(page)["points"] == [[-0.5, 0], [0, 0], [0.5, 0]]
    assert faults == []


def test_chains_are_kept_while_an_unrelated_slider_moves(browser: Browser) -> None:
    page, _ = opened(browser, "n=8")
    page.evaluate("window.playground.ready")
    before = page.inner_text("figure:nth-of-type(2) figcaption")
    assert "R-hat" in before
    page.click("#more summary")
    page.get_by_role("slider", name="KL weight").press("ArrowLeft")
    assert page.inner_text("figure:nth-of-type(2) figcaption") == before
    page.wait_for_function("window.playground.state().kl !== 1")


LOG = """() => {
    window.shown = [];
    addEventListener("keydown", () => { window.pressed = performance.now(); }, true);
    setInterval(() => {
        const {F, rests, mean} = playground.readings().a, seen = String([F, rests, mean]);
        if (seen !== shown.at(-1)?.seen) shown.push({seen, F, rests, at: performance.now()});
    }, 4);
}"""


@pytest.mark.slow
def test_picture_changes_once_after_the_quick_fit(browser: Browser) -> None:
    """A second key interrupts the search after the first at once."""
    page, _ = opened(browser, "b=map&n=20")
    page.evaluate(LOG)
    for _ in range(2):
        page.locator("#slider-sigma").press("ArrowLeft")
        page.wait_for_function("document.querySelector('figcaption').textContent.includes('falls')")
    page.wait_for_function("playground.readings().a.rests")
    page.wait_for_timeout(1000)
    before, *quick, last = page.evaluate("shown")
    assert [one["rests"] for one in (before, *quick, last)] == [True, False, False, True]
    assert last["F"] < quick[1]["F"]
    assert quick[1]["at"] - page.evaluate("pressed") < 0.5 * (last["at"] - quick[1]["at"])
    assert "a lower F was found" in page.inner_text("figcaption >> nth=0")


SAID = """addEventListener("DOMContentLoaded", () => {
    window.said = [];
    const all = () => [...document.querySelectorAll("figcaption, #verdict")];
    const options = {subtree: true, childList: true, characterData: true};
    new MutationObserver(() => said.push(all().map((one) => one.textContent)))
        .observe(document.body, options);
})"""


@pytest.mark.parametrize("data", ["gap", pytest.param("line", marks=pytest.mark.slow)])
def test_verdict_waits_for_rest_and_for_mixing(browser: Browser, data: str) -> None:
    page, _ = opened(browser, f"n=12&noise=2&data={data}", script=SAID)
    page.wait_for_function("said.at(-1)[1].includes(': mixed')")
    said = page.evaluate("said")
    early = [
        verdict for left, right, verdict in said if "rests" not in left or "mixed" not in right
    ]
    assert "F still falls" in early and not any("sd" in verdict for verdict in early)
    assert "sd" in said[-1][2]


VISIT = """(hash) => new Promise((done) => {
    addEventListener("hashchange", () => done(document.getElementById("told").textContent));
    location.hash = hash;
})"""


def test_link_restores_the_state_or_says_that_it_is_damaged(page: Page) -> None:
    rng = np.random.default_rng(0)
    points = np.column_stack([rng.uniform(-1, 1, 200), rng.normal(0, 5, 200)]).tolist()
    readings(page, a="map", b="map", layers=2, prior="mixture", pi=0.8, kl=0.1, noise=0.4)
    readings(page, points=points, names="средняя температура\tосадки в месяц")
    page.click("#share")
    address, linked = page.input_value("#text"), state(page)
    page.keyboard.press("Escape")
    assert len(address) < 2000
    link, kept = address.partition("#")[2], {"own": False, "n": 8, "layers": 1}
    readings(page, **kept)
    cuts = [*range(1, 60), *range(60, len(link), 97), *range(len(link) - 40, len(link))]
    for harmed in [*(link[:n] for n in cuts), quote(link, safe=""), link[:99] + link[100:]]:
        assert "link is incomplete" in page.evaluate(VISIT, harmed), harmed
        assert kept.items() <= state(page).items()
    assert page.evaluate(VISIT, link) == "" and state(page) == linked


def test_link_of_version_1_loads(browser: Browser) -> None:
    old = "a=map&b=map&sigma=2.5&points=-0.5%2C1.25%3B0.5%2C-3&names=day%09size+in+m%C2%B2"
    found = state(opened(browser, f"{old}&units=2019%2C2%2C100%2C8")[0])
    assert (found["points"], found["units"]) == ([[-0.5, 1.25], [0.5, -3]], [2019, 2, 100, 8])
    assert (found["names"], found["sigma"], found["a"]) == ("day\tsize in m²", 2.5, "map")


@pytest.mark.parametrize(
    ("harm", "n"),
    [("n=9&points=1;x", 32), ("b=map&toString=1&constructor=2&__proto__=1&n=1e9", 64)],
)
def test_playground_survives_an_invalid_address(browser: Browser, harm: str, n: int) -> None:
    page, faults = opened(browser, harm)
    assert ("link is incomplete" in page.inner_text("#told")) == (n == 32)
    readings(page, b="map", constructor=1, toString=2)
    assert faults == [] and state(page)["n"] == n


WALK = """() => {
    const {engine, set, state} = playground, draw = engine.uniform(1), wrong = [];
    const press = (target, key, held = {}) => target.dispatchEvent(
        new KeyboardEvent("keydown", {key, bubbles: true, ...held}));
    const some = (all) => all[Math.floor(draw() * all.length)];
    const now = () => JSON.stringify(state()), states = [now()];
    const moves = [
        () => set({sigma: 5 * draw(), seed: 99 * draw(), prior: some(["gaussian", "mixture"])}),
        () => set({points: [1, 2, 3, 4].map(() => [2 * draw() - 1, 10 * draw()])}),
        () => press(document.querySelector("canvas"), some(["n", "a", "Delete"])),
        () => some([...document.querySelectorAll("#presets button, #reset")]).click(),
    ];
    while (states.length < 101) {
        some(moves)();
        if (now() !== states.at(-1)) states.push(now());
    }
    for (const [keys, way] of [["z", states.slice(0, -1).reverse()], ["yZ", states.slice(1)]]) {
        for (const one of way) {
            const letter = some(keys), russian = {z: "я", y: "н", Z: "Я"}[letter];
            const code = `Key${letter.toUpperCase()}`, shiftKey = keys !== "z";
            press(document.body, some([letter, russian]), {code, ctrlKey: true, shiftKey});
            if (now() !== one) wrong.push(one);
        }
    }
    return wrong;
}"""


def test_undo_and_redo_restore_every_earlier_state(browser: Browser) -> None:
    page, faults = opened(browser, "a=map&b=map")
    assert page.evaluate(WALK) == [] and page.is_disabled("#redo") and faults == []
    page.click("#undo")
    page.click("#presets button >> nth=1")
    assert page.is_disabled("#redo"), "a movement after an undo ends that branch"


def test_arrow_steps_in_a_run_are_one_undo(browser: Browser) -> None:
    page, _ = opened(browser, "a=map&b=map&points=-0.5,0;0.5,0")
    page.locator("canvas").first.press("n")
    for _ in range(8):
        page.keyboard.press("ArrowUp")
    assert state(page)["points"][0][1] > 0.9
    page.keyboard.press("Control+z")
    assert state(page)["points"][0] == [-0.5, 0] and page.is_disabled("#undo")


@pytest.mark.slow
def test_verdict_does_not_depend_on_the_unit_of_y(browser: Browser) -> None:
    page, said, y = opened(browser, "a=ensemble")[0], [], (3, 5, 4, 8, 7, 9, 12.5)
    for power in (-6, -3, 0, 6):
        page.click("#paste")
        page.fill("#text", "\n".join(f"{x}\t{value}e{power}" for x, value in enumerate(y)))
        page.click("#act")
        noise = readings(page) and re.findall(r"σ ([\d.]+)", page.inner_text("#scale"))
        assert noise[0].replace(".", "").strip("0") == f"{np.std(y) / 5:.3f}"[2:]
        said.append(re.sub(r"(sd|has) [\d.]+(\s×\s10[⁻\d⁰-⁹]+)?", "", shown(page)))
    assert "times" in said[0] and set(said) == {said[0]}


@pytest.mark.slow
@pytest.mark.parametrize("how", ["throw 1", "setTimeout(() => this.onerror(new Event('error')))"])
def test_without_workers_the_page_itself_fits_and_says_so(browser: Browser, how: str) -> None:
    rest = "postMessage() {} terminate() {}"
    blocked = f"Worker = class {{ constructor() {{ {how} }} {rest} }}"
    page, faults = opened(browser, "n=8", script=blocked)
    found = readings(page, sigma=2)
    assert found["a"]["rests"] and found["r_hat"] < 2 and faults == []
    assert "refuses workers" in page.inner_text("#slow")
    page.evaluate("""() => Promise.all([0, 1, 2].map((y) =>
        change({points: [[-0.5, 0], [0, y], [0.5, 0]]}, {follow: true, run: "drag"})))""")
    page.wait_for_function("panels[1].caption.textContent.includes('follows your hand')")


@pytest.mark.slow
def test_every_promise_of_the_page_settles(browser: Browser) -> None:
    page, _ = opened(browser, "b=ensemble")
    overtaken = """() => Promise.race([
        Promise.all([1, 2, 3].map((sigma) => playground.set({sigma}))),
        new Promise((_, fail) => setTimeout(fail, 60000)),
    ]).then((all) => all.map((one) => one.b.mean[60]))"""
    assert len(set(page.evaluate(overtaken))) == 1
    page.evaluate("() => { playground.set({noise: 0.5}); return playground.ready.then(() => 1) }")
    page.click("#more summary")
    page.click("#watch")
    assert len(set(page.evaluate(overtaken))) == 1


def test_own_points_have_no_true_function_and_no_false_gap(page: Page) -> None:
    readings(page, a="ensemble", b="map", own=False, data="gap")
    assert page.locator("#legend .truth").count() == 1
    found = readings(page, points=[[x, y] for x in (-0.5, 0, 0.5) for y in (1, 2, 3)])
    assert np.isnan(found["rms"]) and page.locator("#legend .truth").count() == 0
    assert "between" not in page.inner_text("figcaption >> nth=0")


def test_refused_copying_is_said(page: Page) -> None:
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject() }")
    page.evaluate("() => { document.execCommand = () => false }")
    page.click("#share")
    page.click("#act")
    assert "refused" in page.inner_text("#fault")
    page.keyboard.press("Escape")


READ = """(cases) => cases.map(({text, columns}) => {
    try { return playgroundPoints.readPoints(text, columns || null); }
    catch (error) {
        const said = PLAYGROUND_WORDS.en.errors[error.key];
        return `${error.key}: ${said.replace(/{(\\w+)}/g, (_, name) => error.values[name])}`;
    }
})"""


def test_page_reads_the_shared_tables_as_the_package_does(page: Page) -> None:
    cases = json.loads(TABLES.read_text(encoding="utf-8"))
    for case, found in zip(cases, page.evaluate(READ, cases), strict=True):
        if "refused" in case:
            assert case["refused"] in str(found), case
            continue
        assert isinstance(found, dict), (case, found)
        rows = [[float(number) for number in row.split()] for row in case["rows"].split(",")]
        assert [[x, y] for x, y in zip(found["x"], found["y"], strict=True)] == rows, case
        assert "|".join(found["names"]) == case.get("names", "|"), case
        assert "|".join(found["zeros"]) == case.get("zeros", "|"), case


def test_page_and_package_agree_on_damaged_tables(page: Page) -> None:
    rng, cases = np.random.default_rng(0), json.loads(TABLES.read_text(encoding="utf-8"))
    texts = []
    for case in cases * 6:
        damaged = list(case["text"])
        for place in rng.integers(len(damaged) + 1, size=rng.integers(1, 4)):
            damaged[place : place + rng.integers(2)] = rng.choice([*'0190.,;\t\n |"-+%€e#/:aQ年²'])
        texts.append("".join(damaged))
    for text, found in zip(texts, page.evaluate(READ, [{"text": t} for t in texts]), strict=True):
        try:
            points = datasets.read_points(text)
        except datasets.ChooseColumns:
            assert str(found).startswith("choose"), text
        except ValueError as error:
            assert str(error).split("; no other")[0] in str(found), text
        else:
            assert points.x.tolist() == [float(x) for x in found["x"]], text
            assert points.y.tolist() == [float(y) for y in found["y"]], text
            assert [*points.names, *points.zeros] == found["names"] + found["zeros"], text


def test_pasted_table_is_used_or_refused_with_a_reason(page: Page) -> None:
    readings(page, b="map", sigma=2.5)
    page.click("#paste")
    page.fill("#text", "rooms;rent\n1;1.250\n2;900")
    page.click("#act")
    assert "“1.250” can be 1.25 or 1250" in page.inner_text("#fault")
    page.fill("#text", "rooms;rent\n1;900,5 €\n2;1200,5 €\n4;1850 €")
    page.keyboard.press("Control+z")  # undoes the text, not the page behind it
    assert state(page)["sigma"] == 2.5
    page.fill("#text", "rooms;rent\n1;900,5 €\n2;1200,5 €\n4;1850 €")
    page.click("#act")
    assert not page.is_visible("#dialog")
    assert "rent: “€” is left out" in page.inner_text("#told")
    (x, y), (x0, x1, y0, y1) = state(page)["points"][0], state(page)["units"]
    assert (x0 + x1 * x, y0 + y1 * y) == pytest.approx((1, 900.5))
    page.click("#notebook")
    data = eval(re.search(r"data=(.*)\)", page.input_value("#text"))[1])
    page.keyboard.press("Escape")
    assert (data[0][0], data[1][0]) == pytest.approx((1, 900.5))
    page.click("#presets button >> nth=1")
    assert state(page)["units"] == page.evaluate("COURSE")


@pytest.mark.parametrize("prior", ["gaussian", "mixture"])
def test_notebook_opens_with_the_settings_of_the_page(browser: Browser, prior: str) -> None:
    page, _ = opened(browser, f"a=map&b=map&prior={prior}&noise=0.5&points=-0.5,1;0.25,-2")
    page.click("#notebook")
    line, held = page.input_value("#text").splitlines()[-1], state(page)
    said = eval(f"dict({line.partition('(')[2]}")
    explorer = getattr(widgets, line.partition("(")[0])
    assert {*said} <= {"data", *explorer.TEXTS.controls}
    wanted = {"noise_std": 0.5, "width": held["width"], "prior_std": held["sigma"]}
    if prior == "mixture":
        wanted = {name: held[name] for name in ("sigma1", "sigma2", "pi")}
    assert {name: said.get(name) for name in wanted} == wanted
    np.testing.assert_allclose(np.transpose(said["data"][:2]), held["points"], atol=1e-9)


def test_chosen_columns_of_a_table_name_the_axes(page: Page) -> None:
    page.click("#paste")
    page.fill("#text", "id,size in m²,rent\n1,30,900\n2,45,1200\n3,,1000\n4,60,1850")
    page.click("#act")
    page.select_option("#column0", label="size in m²")
    page.select_option("#column1", label="rent")
    page.click("#act")
    assert not page.is_visible("#dialog")
    taken = state(page)
    assert taken["names"] == "size in m²\trent" and len(taken["points"]) == 3
    assert "1 lines" in page.inner_text("#told")
    page.click("#paste")
    page.fill("#text", "id,size in m²,rent\n1,30,900\n2,45,1200\n3,50,1000")
    page.click("#act")
    page.select_option("#column0", label="size in m²")
    page.select_option("#column1", label="rent")
    page.fill("#text", "x,y\n1,10\n2,20\n4,30")  # another table, without a choice
    page.click("#act")
    assert not page.is_visible("#dialog") and state(page)["names"] == "x\ty"


def test_playground_pauses_and_takes_single_steps(browser: Browser) -> None:
    page, faults = opened(browser, "b=ensemble")
    page.click("#more summary")
    page.click("#watch")
    page.click("#one")
    page.wait_for_function("document.querySelector('figcaption').textContent.includes('step 10 ')")
    page.click("#one")
    page.wait_for_function("document.querySelector('figcaption').textContent.includes('step 20 ')")
    assert faults == []


def test_controls_without_effect_are_disabled(page: Page) -> None:
    idle = "(name) => document.getElementById(`slider-${name}`).disabled"
    readings(page, a="map", b="ensemble", points=None, prior="gaussian")
    assert page.evaluate(idle, "samples") and not page.evaluate(idle, "n")
    readings(page, a="bbb", prior="mixture", pi=0, points=[[0, 0], [0.1, 1]])
    assert all(page.evaluate(idle, name) for name in ("sigma1", "n", "seed"))
    assert not page.evaluate(idle, "samples")


@pytest.mark.parametrize(
    ("language", "options"),
    [
        ("en", {"color_scheme": "dark"}),
        pytest.param("ru", PHONE, marks=pytest.mark.slow),
    ],
)
def test_playground_is_accessible_and_fits_the_screen(
    browser: Browser, language: str, options: dict[str, Any]
) -> None:
    page, faults = opened(browser, f"language={language}&b=map", **options)
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    assert faults == []
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("document.documentElement.lang") == language


def test_finger_that_rests_on_a_point_drags_it_without_scrolling(browser: Browser) -> None:
    page, _ = opened(browser, "b=map&points=-0.5,0;0,0;0.5,0", **PHONE)
    x, y = page.evaluate(PLACE, [0, 0])
    swipe(page, x, y, 0, 45, rest_ms=400)
    assert state(page)["points"][1][1] < -1 and page.evaluate("scrollY") == 0
    x, y = page.evaluate(PLACE, [0.5, 0])
    page.touchscreen.tap(x, y)
    swipe(page, x, y, 0, 45)  # it was chosen: no need to rest
    assert state(page)["points"][2][1] < -1 and len(state(page)["points"]) == 3


@pytest.mark.slow
def test_twenty_swipes_over_the_picture_move_no_point(browser: Browser) -> None:
    page, _ = opened(browser, "a=map&b=map", **PHONE)
    before, rng = state(page)["points"], np.random.default_rng(0)
    for i, (x, y) in enumerate(before[:20]):
        page.evaluate("scrollTo(0, 0)")
        at = page.evaluate(PLACE, [x, y / 30])
        to = float(rng.choice([-60, 0, 60])), float(rng.choice([-120, 90]))
        swipe(page, *at, *to, late_ms=400 if i < 4 else 0)  # also on a busy machine
    assert state(page)["points"] == before
    style = page.evaluate("getComputedStyle(panels[0].canvas).touchAction")
    assert style == "pan-y pinch-zoom", "a swipe scrolls, two fingers zoom"


@pytest.mark.slow
def test_slow_drag_of_a_slider_is_one_undo(browser: Browser) -> None:
    page, _ = opened(browser, "a=map&b=map")
    before, box = state(page)["sigma"], page.locator("#slider-sigma").bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    for dx in (20, 40, 60):
        page.mouse.move(box["x"] + box["width"] / 2 + dx, box["y"] + box["height"] / 2)
        page.wait_for_timeout(1100)
    page.mouse.up()
    assert state(page)["sigma"] > before
    page.click("#undo")
    assert state(page)["sigma"] == before


def test_page_has_the_marks_of_the_package(browser: Browser) -> None:
    record = """window.drawn = new Set();
    for (const name of ["stroke", "fill"]) {
        const before = CanvasRenderingContext2D.prototype[name];
        CanvasRenderingContext2D.prototype[name] = function (...path) {
            const dashes = this.getLineDash().map((length) => length / this.lineWidth);
            drawn.add(JSON.stringify([this[`${name}Style`], this.globalAlpha, dashes]));
            return before.apply(this, path);
        };
    }"""
    page, _ = opened(browser, "lines=true&n=8&noise=2", record)
    page.wait_for_function("playground.readings().a.rests && playground.readings().r_hat <= 1.02")
    page.evaluate("() => { drawn.clear(); paint(); }")
    page.wait_for_function("drawn.size > 8")
    marks = page.evaluate("PLAYGROUND_MARKS")
    assert marks == json.loads((PACKAGE / "marks.json").read_text("utf-8"))
    marks = [mark for mark in marks if not mark["name"].endswith(("energy", "cost"))]
    words = page.evaluate("PLAYGROUND_WORDS.en.legend")
    assert words == {mark["name"]: mark["label"] for mark in marks}
    assert page.locator("#legend span").all_inner_texts() == list(words.values())
    pattern = {"--": "dashed", "-.": "dashdot", ":": "dotted"}
    wanted = {
        (
            mark["color"].lower(),
            mark.get("alpha", 1),
            *rcParams.get(f"lines.{pattern.get(mark.get('linestyle'))}_pattern", ()),
        )
        for mark in marks
    }
    drawn = page.evaluate("[...drawn].map(JSON.parse)")
    assert {(colour, round(a, 3), *np.round(dashes, 3)) for colour, a, dashes in drawn} == wanted


def test_dark_pictures_have_one_filter() -> None:
    files = DOCS / "playground.css", PACKAGE / "widgets" / "_engine" / "page.css"
    first, second = (re.findall(r"filter: (invert.*?);", f.read_text("utf-8")) for f in files)
    assert len(first) == 1 and first == second


def test_every_language_translates_every_text(page: Page) -> None:
    keys = """() => {
        const blanks = (text) => text.match(/{[a-z]+}/gi) ?? [];
        const all = (at, name) => typeof at === "string"
            ? [[name, blanks(at).sort(), blanks(at).filter((one) => /sd|truth/.test(one))]]
            : Object.entries(at).flatMap(([key, one]) => all(one, `${name}.${key}`));
        return Object.values(PLAYGROUND_WORDS).map((words) => all(words, ""));
    }"""
    english, *others = page.evaluate(keys)
    assert all(other == english for other in others)
    verdicts = page.evaluate(
        "Object.values(PLAYGROUND_WORDS).map(({sure, unsure}) => [sure, unsure])"
    )
    ends = [[re.split("[,;，]", words)[-1] for words in both] for both in verdicts]
    assert all(sure != unsure for sure, unsure in ends), "larger and smaller are the same word"

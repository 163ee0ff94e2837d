# ---
# jupyter:
#   jupytext:
#     cell_metadata_filter: tags,slideshow,jupyter,-all
#     notebook_metadata_filter: kernelspec,-jupytext.text_representation.jupytext_version
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown] slideshow={"slide_type": "slide"}
# # 8 · Ensembles, Laplace and sampling
#
# *The methods that everybody has heard of, and what each of them takes for the posterior.*
#
# **Run the cell below** (Shift+Enter), then choose another method under *first* or *second*. Any two of nine methods are trained on the same points, with a gap among them. Which band opens in the gap?

# %% tags=["explorer"] slideshow={"slide_type": "fragment"}
from bdl_teach.widgets import RivalsExplorer

explorer = RivalsExplorer()
explorer

# %% [markdown] slideshow={"slide_type": "subslide"}
# ## What you will be able to do
#
# - walk from one mode of a posterior to another, and say how high the wall between them is;
# - turn an ensemble into draws from the exact posterior where the model is linear, and say what it is elsewhere;
# - compute the band of dropout by hand, and say why at a fixed rate more data do not narrow it;
# - put a Gaussian round a trained network, and predict with it through the *linearised* network: through the network itself the band comes out far too wide;
# - sample a posterior with noisy gradient steps at any temperature;
# - add to mean field the correlations that it lacks, by a covariance of low rank: a diagonal plus one column after another;
# - write down the Gaussian process that an infinitely wide network is.
#
# **Time** 53 minutes · **Minutes per section** 8.1: 7 · 8.2: 5 · 8.3: 5 · 8.4: 8 · 8.5: 2 · 8.6: 5 · 8.7: 4 · 8.8: 5 · 8.9: 1 · 8.10: 1 · opening and end: 10
#
# **Prerequisites** The exact posterior of a linear model, from [chapter 1](01_from_mle_to_bayes.ipynb); the free energy, from [chapter 3](03_bayes_by_backprop.ipynb); the sinusoid with a gap, from [chapter 4](04_how_right_is_it.ipynb). Notation: [chapter 0](00_start_here.ipynb#Notation).

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Predict first
#
# Write down your answers. Sections 8.1, 8.3 and 8.4 test them.
#
# 1. Two networks fit the same points equally well. You walk straight from the weights of the one to those of the other. Half-way, is the fit about as good, somewhat worse, or hopeless?
# 2. MC dropout is trained on 32 points, then on 320. What becomes of its band among the data?
# 3. Laplace's Gaussian is as wide as the curvature at the best weights says. You draw weights from it, and let each draw predict. How wide is the band among the data: as the formula has it, twice that, or more than twenty times?

# %% slideshow={"slide_type": "skip"}
import math

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linear_sum_assignment, minimize

from bdl_teach.methods import infinite_width, sgmcmc

# %% slideshow={"slide_type": "skip"}
from bdl_teach import claims, datasets, densities, exercises, features, plots
from bdl_teach.backend import tfp
from bdl_teach.methods import ensemble, exact, laplace, mc_dropout, mcmc, point
from bdl_teach.plots import BLUE, GREEN, ORANGE, panel
from bdl_teach.predictive import evaluate_weights

plots.lecture_style()
tfd = tfp.distributions

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 8.1 Many modes, and walls between them
#
# The problem is chapter 4's: a sine that nobody measured between 0.1 and 0.4, where it has its peak. One hidden layer of 20 units, noise 1, the prior $\mathcal N(0, 3^2)$ for each of 61 weights. What all methods of this chapter look at is one landscape over the weights, the *potential*
#
# $$U(w) = -\log P(D\mid w) - \log P(w) . \tag{8.1}$$
#
# Its lowest points are the modes of the posterior. We write the network, and $U$ without its constants, by hand:

# %% slideshow={"slide_type": "fragment"}
data = datasets.sinusoid(n=32, noise_std=1.0, seed=0, gap=(0.1, 0.4))
x_grid = np.linspace(-1, 1, 201)[:, None]
settings = {"prior": densities.Gaussian(3.0), "hidden_units": (20,)}
among = (np.abs(x_grid[:, 0]) <= 0.5) & ~((x_grid[:, 0] > 0.1) & (x_grid[:, 0] < 0.4))


def hidden(w, x):  # the units of each network: [s, 61] and [m, 1] to [s, m, 20]
    return np.maximum(0, x * w[:, None, :20] + w[:, None, 20:40])


def network(w, x):  # [s, m]
    return (hidden(w, x) @ w[:, 40:60, None])[..., 0] + w[:, 60:]


# %% slideshow={"slide_type": "fragment"}
# eq. 8.1
def potential(w):  # in nats, but for a constant
    misfit = np.sum((data.y[:, 0] - network(w, data.x)) ** 2, axis=1)
    return 0.5 * misfit + 0.5 * np.sum(w**2, axis=1) / 3**2


members = ensemble.fit(data.x, data.y, n_members=10, **settings)
w = members.weights  # ten networks, each trained from a start of its own
assert np.allclose(network(w, x_grid), evaluate_weights(members.network, w, x_grid), atol=1e-3)
print("U of the members:", np.sort(potential(w)).round(1), "nats")

# %% [markdown] slideshow={"slide_type": "subslide"}
# Now walk from member 0 to member 1. And walk from member 0 to *itself* with its hidden units in another order, which computes the same function (chapter 4):

# %% slideshow={"slide_type": "fragment"}
order = np.random.default_rng(0).permutation(20)
shuffled = np.concatenate([w[0, k : k + 20][order] for k in (0, 20, 40)] + [w[0, 60:]])
assert np.allclose(network(w[:1], x_grid), network(shuffled[None], x_grid))

t = np.linspace(0, 1, 41)
cuts = {"to member 1": w[1], "to itself, shuffled": shuffled}
heights = {name: potential(w[0] + t[:, None] * (end - w[0])) for name, end in cuts.items()}
for name, u in heights.items():
    print(f"{name}: ends {u[0]:.0f} and {u[-1]:.0f}, top {u.max():.0f} nats")
    assert u.max() > 100 + max(u[0], u[-1])


# %% [markdown] slideshow={"slide_type": "subslide"}
# So the *order* of the units alone builds a wall, and training leaves each member an order of its own. How much of the wall to member 1 is order? Put member 1's units into the order that fits those of member 0 best: the products of the weights, unit by unit, are to have the largest sum. That is a *linear assignment* (Ainsworth et al., 2023), and it changes no function:

# %% slideshow={"slide_type": "fragment"}
def matched(one, other):  # three weights a unit: in, bias, out
    here, there = one[:60].reshape(3, 20), other[:60].reshape(3, 20)
    _, order = linear_sum_assignment(here.T @ there, maximize=True)
    return np.concatenate([there[:, order].ravel(), other[60:]])


assert np.allclose(matched(w[0], shuffled), w[0])  # the shuffle undone
end = matched(w[0], w[1])
assert np.allclose(network(end[None], x_grid), network(w[1:2], x_grid))
u = heights["to member 1, matched"] = potential(w[0] + t[:, None] * (end - w[0]))
print(f"matched: ends {u[0]:.0f} and {u[-1]:.0f}, top {u.max():.0f} nats")

# %% [markdown] slideshow={"slide_type": "subslide"}
# How high is high? That needs a *level*, and it is not the modes: draws from the posterior do not lie there.

# %% slideshow={"slide_type": "fragment"}
draws = np.concatenate(mcmc.hmc(data.x, data.y, **settings).weights)
level = potential(draws).mean()
print(f"U of the posterior's draws: {level:.0f} ± {potential(draws).std():.0f} nats")
assert level > potential(w).max() + 10

# %% slideshow={"slide_type": "fragment"}
fig, axes = plt.subplots(1, 2, figsize=(10, 3.8))
for (name, u), style in zip(heights.items(), ("-", "--", "-."), strict=True):
    axes[0].plot(t, u, style, color={"-": BLUE, "--": ORANGE, "-.": GREEN}[style], label=name)
axes[0].axhline(level, color=plots.GREY, ls=":", label="draws of the true posterior")
axes[0].set(yscale="log", ylim=(25, 9000))
panel(axes[0], "A wall between two good fits", "share of the way", "U in nats", loc="upper left")
for place, style, name in ((0, "-", "member 0"), (20, "--", "half-way"), (40, "-.", "member 1")):
    f = network((w[0] + t[place] * (w[1] - w[0]))[None], x_grid)[0]
    axes[1].plot(x_grid, f, style, label=name)
plots.draw_data(axes[1], data.x, data.y)
axes[1].set_ylim(-40, 25)
panel(axes[1], "What the walker computes", "x", "y", loc="lower left", ncols=2)

# %% [markdown] slideshow={"slide_type": "subslide"}
# Question 1: between members as they come from training, the wall is more than 100 nats high in world after world. <!-- claim: a-straight-cut-between-members-meets-a-wall --> But most of it is the order of the units. Matched, less than a third is left: <!-- claim: the-order-of-the-units-is-most-of-the-wall --> in more than half of the pairs still more than ten nats. <!-- claim: matched-members-still-meet-a-wall --> Entezari et al. (2022) suspect that nothing is left if the network is wide enough; ours has 20 units.
#
# Is ten high? With 61 weights there is little room near a mode and much more above it, and a *density is no mass*: draws from the posterior lie on average more than 20 nats above the members (dotted). <!-- claim: draws-lie-above-the-modes --> A wall lower than that bars no way; on average more than one matched wall in ten is lower. <!-- claim: many-matched-walls-are-lower-than-the-draws --> Nor does a higher one on *one* straight line show that two modes lie apart: other ways may lead round it (Garipov et al. (2018) train such curves between the modes of large networks).
#
# So a straight walk finds copies; whether two modes are two separate valleys it cannot say. What a method takes of this landscape sorts the methods of the chapter. An **ensemble** puts one point at the bottom of each of a few valleys. **Dropout** and **Laplace** look round one point. **SGLD** and **SGHMC** walk, from several starts. **Low rank** puts one tilted Gaussian on one valley. The **infinitely wide** network has no weights left to have valleys.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 8.2 Ensembles, and what they approximate
#
# A deep ensemble (Lakshminarayanan et al., 2017) is the default rival, for it needs nothing but what everyone has: train the same network from several starts, average. Member $k$ is the point estimate of its seed:

# %% slideshow={"slide_type": "fragment"}
one = point.fit(data.x, data.y, seed=0, **settings)
assert np.allclose(network(one.weights[None], x_grid), network(w[:1], x_grid), atol=0.05)
p = members.predict(x_grid)
assert np.allclose(p.mean, network(w, x_grid).mean(axis=0), atol=1e-3)
assert np.allclose(p.epistemic_std, network(w, x_grid).std(axis=0), atol=1e-3)

# %% [markdown] slideshow={"slide_type": "subslide"}
# Its spread is that of the minima which training finds. In a model with a single minimum there is none at all, however little the data say: more members do not lead to the posterior. What would? Give each member something to disagree about that is as large as the doubt. Member $k$ gets a prior mean $a_k$ and noise $\varepsilon_k$ on the targets of its own ("anchors": Pearce et al., 2020; noisy targets, too: Osband et al., 2018). Draw $a_k$ from the prior $\mathcal N(0, \sigma_p^2 I)$ and $\varepsilon_k$ from $\mathcal N(0, s^2 I)$, with the sd $s$ of the noise. For a linear $f = x\cdot w$, with $\Lambda = I/\sigma_p^2 + X^\top X/s^2$,
#
# $$w_k = \Lambda^{-1}\left(\frac{a_k}{\sigma_p^2} + \frac{X^\top (y + \varepsilon_k)}{s^2}\right) \;\sim\; \mathcal N\!\left(\frac{\Lambda^{-1}X^\top y}{s^2},\; \Lambda^{-1}\right) , \tag{8.2}$$
#
# since the variance is $\Lambda^{-1}(I/\sigma_p^2 + X^\top X/s^2)\Lambda^{-1} = \Lambda^{-1}$: each member is one draw from chapter 1's exact posterior. Anchors without noise give $\Lambda^{-2}/\sigma_p^2$, which is too narrow.

# %% slideshow={"slide_type": "subslide"}
# eq. 8.2
rng = np.random.default_rng(0)
x_few, y_few = 2 * data.x[::5], data.y[::5]
few = np.hstack([x_few, x_few**2, np.ones_like(x_few)])  # bias last
truth = exact.linear_regression(few, y_few, prior_std=3.0, noise_std=1.0)
exact_sd = np.diag(truth.cov) ** 0.5
anchors, noise = 3 * rng.standard_normal((50_000, 3)), rng.standard_normal((50_000, len(few)))
drawn = (anchors / 3**2 + (y_few[:, 0] + noise) @ few) @ truth.cov
half = (anchors / 3**2 + y_few[:, 0] @ few) @ truth.cov
assert np.allclose(drawn.mean(axis=0), truth.mean, atol=0.1)
assert np.allclose(np.cov(drawn.T), truth.cov, atol=0.2)
assert (half.std(axis=0) < 0.9 * exact_sd).all()
print("sd: exact", exact_sd.round(2), "anchors alone", half.std(axis=0).round(2))

# %% [markdown] slideshow={"slide_type": "subslide"}
# The package trains them, with Adam, and comes to the same. Without anchors all of its members end in one place:

# %% slideshow={"slide_type": "fragment"}
linear = {"prior": densities.Gaussian(3.0), "hidden_units": (), "learning_rate": 0.1,
          "steps": 600, "n_members": 128}
plain = ensemble.fit(few[:, :2], y_few, **linear)
anchored = ensemble.fit(few[:, :2], y_few, anchored=True, **linear)
assert np.allclose(plain.weights, truth.mean, atol=0.02)
ratio = anchored.weights.std(axis=0) / exact_sd
print("sd of 128 trained members over the exact sd:", ratio.round(2))
assert np.all(np.abs(ratio - 1) < 0.25)

# %% [markdown] slideshow={"slide_type": "subslide"}
# For a network (8.2) is no theorem, and no more than a good idea. How good?

# %% slideshow={"slide_type": "fragment"}
anchored = ensemble.fit(data.x, data.y, n_members=10, anchored=True, **settings)
fig, axes = plt.subplots(1, 2, figsize=(10, 3.8), sharey=True)
for ax, fit, name in zip(axes, (members, anchored), ("Plain", "Anchored"), strict=True):
    p = fit.predict(x_grid)
    ax.plot(x_grid, p.samples.T, color="0.7", lw=0.8)
    for k in (-2, 2):
        edge = p.mean + k * p.epistemic_std
        ax.plot(x_grid, edge, color=BLUE, label="±2 sd epistemic" if k > 0 else None)
    plots.draw_data(ax, data.x, data.y)
    plots.draw_truth(ax, x_grid, data.truth(x_grid))
    ax.set_ylim(-30, 25)
    panel(ax, f"{name}: ten members in grey", "x", "y", loc="lower left", ncols=3)

# %% [markdown] slideshow={"slide_type": "subslide"}
# A plain ensemble is mostly more than twice as unsure in the gap as among the data. <!-- claim: an-ensemble-opens-in-the-gap --> Among the data anchored ones differ more than one and a half times as much as its members do, <!-- claim: anchors-keep-the-members-apart-among-the-data --> and that is as much as the chains of SGHMC (section 8.6) do, within a half. <!-- claim: anchored-members-part-as-chains-do-among-the-data --> In the gap the anchored ensemble covers more of the true function, on average. <!-- claim: anchors-cover-more-of-the-gap -->

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 8.3 Dropout, and why its band cannot open
#
# MC dropout (Gal and Ghahramani, 2016) trains one network while hidden units are left out at random with probability $r$, and leaves them out while predicting as well. A draw multiplies the output weight of unit $j$ by $z_j/(1-r)$, where $z_j$ is 1 with probability $1-r$, else 0. As a variational family: two points for each hidden unit. With one hidden layer nothing needs to be drawn. The $z_j$ are independent with variance $r(1-r)$, so that
#
# $$\mathrm{Var}[f(x)] = \frac{r}{1-r}\sum_j v_j^2\, h_j(x)^2 . \tag{8.3}$$

# %% slideshow={"slide_type": "fragment"}
# eq. 8.3
dropout = mc_dropout.fit(data.x, data.y, rate=0.1, **settings)
m = dropout.weights[None]
contributions = (hidden(m, x_grid) * m[:, None, 40:60])[0]  # v_j h_j(x): [201, 20]
by_hand = np.sqrt(0.1 / 0.9 * np.sum(contributions**2, axis=1))

kept = rng.random((4000, 20)) > 0.1
drawn = contributions @ kept.T / 0.9 + m[0, 60]
assert np.allclose(drawn.std(axis=1), by_hand, rtol=0.1)
assert (np.diff(by_hand**2, n=2) > -1e-9).all()  # convex in x: see below
by_package = dropout.predict(x_grid, n_samples=4000).epistemic_std
assert np.allclose(by_package, by_hand, rtol=0.1)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **A theorem about gaps.** Look at one term of (8.3). A unit $h_j(x)$, the positive part of a straight line, is convex in $x$ and never negative; so its square is convex, and a sum of convex functions is convex: *the variance of dropout is convex in $x$*. Between two ends $x_1 < x_2$ a convex function is nowhere above the larger of its values at the ends,
#
# $$\mathrm{Var}[f(x)] \;\le\; \max\bigl(\mathrm{Var}[f(x_1)],\, \mathrm{Var}[f(x_2)]\bigr), \qquad x_1 \le x \le x_2 .$$
#
# Take the two points that border a gap. Dropout is nowhere in it less sure than at one of them: *its band cannot open in a gap*, whatever the data, the weights and the rate (Foong et al., 2020, theorem 2, for one hidden layer). No experiment is needed for that.

# %% [markdown] slideshow={"slide_type": "subslide"}
# Read (8.3) once more: at a fixed rate $r$, neither the number of points nor their places are in it but through $v$ and $h$. (The rate may be learnt, too, as a parameter of $q$: then it falls with the data. Gal, Hron and Kendall (2017) call that concrete dropout.) Worse, the sum of squares of $H$ numbers is at least the square of their sum over $H$. With $c$ for the output's bias,
#
# $$\mathrm{sd}[f(x)] \;\ge\; \sqrt{\frac{r}{(1-r)\,H}}\;\bigl|\mathrm{E} f(x) - c\bigr| , \tag{8.4}$$
#
# whatever the data: where the function is far from its bias the band *cannot* be narrow, and where it is near, nothing keeps it wide.

# %% slideshow={"slide_type": "fragment"}
# eq. 8.4
mean = network(m, x_grid)[0]
floor = math.sqrt(0.1 / (0.9 * 20)) * np.abs(mean - m[0, 60])
assert np.all(by_hand >= floor - 1e-9)

fig, ax = plt.subplots(figsize=(8, 3.6))
ax.plot(x_grid, by_hand, color=BLUE, label="dropout")
ax.plot(x_grid, floor, "--", color=ORANGE, label="floor (8.4)")
ax.plot(x_grid, anchored.predict(x_grid).epistemic_std, ":", color=GREEN, label="anchored ensemble")
ax.axvspan(0.1, 0.4, color="0.9")
ax.set(xlim=(-0.7, 0.7), ylim=(0, 6))
panel(ax, "Dropout's band does not know where the gap (grey) is", "x", "epistemic sd")


# %% [markdown] slideshow={"slide_type": "subslide"}
# Among the data MC dropout is more than one and a half times as unsure as Laplace (section 8.4), <!-- claim: dropout-is-vague-among-the-data --> and of the gap less than a quarter is inside its ±2 sd. <!-- claim: dropout-covers-little-of-the-gap --> Question 2, over a few worlds:

# %% slideshow={"slide_type": "fragment"}
def vagueness(n, seed):  # mean sd of dropout at the training inputs, by (8.3)
    points = datasets.sinusoid(n=n, noise_std=1.0, seed=seed, gap=(0.1, 0.4))
    m = mc_dropout.fit(points.x, points.y, seed=seed, **settings).weights[None]
    each = (hidden(m, points.x) * m[:, None, 40:60])[0]
    return np.sqrt(0.1 / 0.9 * np.sum(each**2, axis=1)).mean()


ratios = np.array([vagueness(320, seed) / vagueness(32, seed) for seed in range(3)])
print("dropout's sd with 320 points over that with 32:", ratios.round(2))
assert 0.6 < ratios.mean() < 1.4

# %% [markdown] slideshow={"slide_type": "subslide"}
# Ten times the points leave dropout's band as it was, within a quarter, <!-- claim: ten-times-the-points-do-not-narrow-dropout --> where Laplace's becomes less than half as wide. <!-- claim: ten-times-the-points-narrow-laplace --> Osband (2016) said so: what is called uncertainty here is the *risk* of a fixed random machine. Averaged over the masks, the squared error at a point is $(y - \mathrm{E}f)^2 + \mathrm{Var}[f]$; with more points both terms grow alike, so that their balance stays where it is.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 8.4 Laplace: chapter 1, round the best weights
#
# Laplace looks round a *mode*, and a trained network is not at one: 1500 steps of Adam stop above one, by more than a quarter of a nat in most worlds. <!-- claim: adam-stops-above-the-mode --> `laplace.to_mode` walks the rest by Newton's method, to less than a tenth of a nat. <!-- claim: laplace-stands-at-its-mode --> Then freeze the network up to its last hidden layer. What is left, $f = v\cdot h(x) + c$, is linear in its 21 weights, with $h$ for features. Under a Gaussian prior it *is* chapter 1, and its posterior is exact.

# %% slideshow={"slide_type": "fragment"}
frozen = laplace.to_mode(one, data.x, data.y, prior=settings["prior"])
ends = potential(np.stack([one.weights, frozen.weights]))
print(f"U where Adam stopped: {ends[0]:.2f}, at the mode: {ends[1]:.2f} nats")


def last_hidden(x):
    return np.hstack([hidden(frozen.weights[None], x)[0], np.ones_like(x)])


last = exact.linear_regression(last_hidden(data.x), data.y, prior_std=3.0, noise_std=1.0)
prior = densities.Gaussian(3.0)
package = laplace.around(frozen, data.x, data.y, prior=prior, structure="last_layer")
assert np.allclose(package.mean[40:], last.mean, atol=1e-5)
assert np.allclose(package.cov, last.cov, atol=1e-6)
assert np.isclose(package.log_evidence, last.log_evidence)

# %% [markdown] slideshow={"slide_type": "subslide"}
# So a prior slider can act on 21 weights exactly, and at once. (Harrison et al. (2024) train features and last layer together, by a free energy in closed form.) It is the posterior of a smaller question, though: *given these features*. The last layer alone is surer in the gap than the chains, which move all weights. <!-- claim: a-last-layer-alone-is-too-sure-in-the-gap -->

# %% slideshow={"slide_type": "fragment"}
for prior_std in (0.3, 1.0, 3.0, 10.0):
    again = package.with_prior(densities.Gaussian(prior_std))
    by_chapter_1 = exact.linear_regression(last_hidden(data.x), data.y, prior_std, 1.0)
    assert np.allclose(again.cov, by_chapter_1.cov, atol=1e-5)
    peak = again.predict([[0.25]])
    print(f"σ_p = {prior_std:4}: f(0.25) = {peak.mean[0]:.2f} ± {peak.epistemic_std[0]:.2f}, "
          f"log P(D | features) = {again.log_evidence:.1f}")


# %% [markdown] slideshow={"slide_type": "subslide"}
# And the layers before? MacKay (1992): take $U$ at its minimum $w^*$ for a parabola. With $J$ for the derivatives $\partial f(x_i)/\partial w$ at $w^*$, and without the part of the curvature that comes of $f$ bending,
#
# $$P(w\mid D) \approx \mathcal N(w^*, \Lambda^{-1}), \qquad \Lambda = \frac{J^\top J}{s^2} + \frac{I}{\sigma_p^2} , \tag{8.5}$$
#
# which is chapter 1 once more, with $J$ for the design matrix. The parabola is one round a minimum only if $w^*$ is one; with minibatches and normalisation layers there may be none, and Antorán et al. (2022) then look for the minimum of the *linear* model. The *Newton decrement*, $\tfrac12\nabla U^\top\Lambda^{-1}\nabla U$ in nats, says how far $w^*$ is from a mode: by so much would $U$ fall in one Newton step, if it were the parabola of (8.5). At a mode the kinks of some ReLUs lie on data points, where $f$ has one slope to the left and one to the right; $J$ has that of one side. Since $J$ jumps where a ReLU switches on, the band has steps there.

# %% slideshow={"slide_type": "fragment"}
# eq. 8.5
def jacobian(w, x):  # ∂f/∂w by hand: [m, 61]
    h, v = hidden(w[None], x)[0], w[40:60]
    by_bias = v * (h > 0)
    return np.hstack([by_bias * x, by_bias, h, np.ones_like(x)])


precision = jacobian(frozen.weights, data.x).T @ jacobian(frozen.weights, data.x) + np.eye(61) / 9
round_mode = laplace.around(frozen, data.x, data.y, prior=densities.Gaussian(3.0))
assert np.allclose(round_mode.cov, np.linalg.inv(precision), atol=1e-6)
g = jacobian(frozen.weights, x_grid)
sd = np.sqrt(np.sum(g @ np.linalg.inv(precision) * g, axis=1))  # √(g Λ⁻¹ g)
assert np.allclose(round_mode.predict(x_grid).epistemic_std, sd, rtol=1e-4)
short = laplace.around(one, data.x, data.y, prior=prior)  # where Adam stopped
print(f"Newton decrement {round_mode.newton_decrement:.1e} nats, where Adam stopped "
      f"{short.newton_decrement:.1e}")

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### Predict with the model that you fitted
#
# The parabola belongs to the model that is *linear* in $w$, $f(w^*) + g\cdot(w - w^*)$ with the variance $g^\top\Lambda^{-1}g$; there, say Immer et al. (2021), its posterior is to be used. Question 3: push draws from the same Gaussian through the network itself.

# %% slideshow={"slide_type": "fragment"}
root = np.linalg.cholesky(np.linalg.inv(precision))
draws = frozen.weights + rng.standard_normal((500, 61)) @ root.T
linearised = network(frozen.weights[None], x_grid) + (draws - frozen.weights) @ g.T
pushed = network(draws, x_grid)
assert np.allclose(linearised.std(axis=0), sd, rtol=0.2)
wide, narrow = pushed.std(axis=0)[among].mean(), sd[among].mean()
print(f"among the data: linearised {narrow:.2f}, pushed through the network {wide:.1f}")
assert wide > 10 * narrow

# %% slideshow={"slide_type": "fragment"}
fig, axes = plt.subplots(1, 2, figsize=(10, 3.8))
shown = (("Linearised: 20 draws", linearised, 30), ("The same draws, pushed", pushed, 100))
for ax, (name, f, reach) in zip(axes, shown, strict=True):
    ax.plot(x_grid, f[:20].T, color="0.6", lw=0.8)
    plots.draw_data(ax, data.x, data.y)
    plots.draw_truth(ax, x_grid, data.truth(x_grid))
    ax.set_ylim(-reach, reach)
    panel(ax, name, "x", "y", loc="lower left", ncols=2)

# %% [markdown] slideshow={"slide_type": "subslide"}
# More than twenty times as wide, in world after world, <!-- claim: laplace-explodes-where-it-is-not-linearised --> and with two hidden layers more than twice as many times again. <!-- claim: two-layers-explode-further --> Why? 32 points tell at most 32 of 61 directions. Along all others $\Lambda$ has the prior only (some directions no data ever tell: Rügamer, 2026), and draws go as far as the prior lets them; the linear model does not notice, because its outputs at the data do not move along these directions. The network's do, and as far among the data as in the gap, within a tenth: <!-- claim: pushed-laplace-opens-nowhere --> what opens in a gap is the linear model, not this Gaussian over weights.
#
# Linearised, a full Laplace is mostly more than twice as unsure in the gap as among the data, <!-- claim: a-full-laplace-opens-in-the-gap --> and on average more than half of the gap is inside its ±2 sd. <!-- claim: a-full-laplace-covers-much-of-the-gap --> (Round the point where Adam stops it is mostly wider there, <!-- claim: short-of-its-mode-laplace-is-wider-in-the-gap --> for no reason but that.) With Λ's diagonal alone it is less than one and a half times as unsure there: <!-- claim: a-diagonal-laplace-hardly-opens-in-the-gap --> what the data know are sums of weights, and a diagonal cannot say so.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 8.5 Evidence for prior and noise
#
# The integral under a Gaussian gives what chapter 1 had in closed form, of $k$ weights:
#
# $$\log P(D) \approx \log P(D\mid w^*) + \log P(w^*) + \tfrac k2\log 2\pi - \tfrac12\log|\Lambda| . \tag{8.6}$$

# %% slideshow={"slide_type": "fragment"}
# eq. 8.6
residual = data.y[:, 0] - network(frozen.weights[None], data.x)[0]
log_joint = (-densities.gaussian_nll(residual, 0.0, 1.0).sum()
             - densities.gaussian_nll(frozen.weights, 0.0, 3.0**2).sum())
log_evidence = log_joint + 61 / 2 * math.log(2 * math.pi) - np.linalg.slogdet(precision)[1] / 2
assert np.isclose(log_evidence, round_mode.log_evidence, atol=0.01)

# %% slideshow={"slide_type": "fragment"}
for structure in ("full", "diagonal"):
    fit = laplace.around(frozen, data.x, data.y, prior=prior, structure=structure)
    best = fit.tuned()
    print(f"{structure:8}: log P(D) {fit.log_evidence:.0f}; at its best σ_p = "
          f"{best.prior.sigma:.1f}, noise {best.noise_std:.1f}: {best.log_evidence:.0f} nats")

# %% [markdown] slideshow={"slide_type": "subslide"}
# `tuned` moves prior and noise to the highest evidence, with the network as it stands. The data were made with noise 1. The full covariance finds it to a factor of two. <!-- claim: a-full-laplace-s-evidence-finds-the-noise --> The diagonal takes it on average for more than a fifth louder, <!-- claim: a-diagonal-s-evidence-calls-it-noise --> and is still more than 35 nats short. <!-- claim: a-diagonal-loses-evidence --> Short it must be: $|\Lambda| \le \prod_i\Lambda_{ii}$ (Hadamard). The diagonal pays for each of 61 weights as if the data had told it by itself, where 32 points tell no more than 32 directions; louder noise makes $\Lambda_{ii}$ smaller, and with it the bill. So do not tune a prior by a diagonal before you have looked.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 8.6 Noisy steps: SGLD, SGHMC, temperature
#
# Gradient descent ends at a mode. Add just so much noise to each step that it does not end (Welling and Teh, 2011):
#
# $$w \leftarrow w - \ell\,\nabla U(w) + \sqrt{2\,\ell\,T}\;\xi , \quad \xi\sim\mathcal N(0, I) \qquad\text{samples}\qquad P_T(w\mid D) \propto e^{-U(w)/T} , \tag{8.7}$$
#
# as $\ell \to 0$. $T = 1$ is the posterior, $T = 0$ gradient descent. The temperature divides all of $U$: likelihood *and* prior, the cold posterior of Wenzel et al. (2020), whose networks predict best at $T < 1$; chapter 4 has what a KL weight does instead. Why? Labels were chosen for being clear, and the likelihood does not know (Aitchison, 2021); it expects more noise than they have (Kapoor et al., 2022); data were augmented: without that, long HMC chains show hardly any effect (Izmailov et al., 2021). On the linear model of 8.2 the covariance is $T\Lambda^{-1}$, and of a finite step size is left $T(\Lambda - \tfrac{\ell}{2}\Lambda^2)^{-1}$. With $\nabla U$ of a minibatch of $B$ points, its likelihood times $N/B$, this is **SGLD**: the minibatch adds a noise of order $\ell$, which vanishes beside $\sqrt{2\ell T}$ as $\ell\to0$. (Here all 32 points are in each step.)

# %% slideshow={"slide_type": "fragment"}
# eq. 8.7
lam = np.linalg.inv(truth.cov)


def sgld(temperature, rate=0.02, steps=1500, chains=4000):
    w = np.zeros((chains, 3))
    for _ in range(steps):
        slope = w @ lam - y_few[:, 0] @ few  # ∇U of this model, at noise 1
        w = w - rate * slope + math.sqrt(2 * rate * temperature) * rng.standard_normal(w.shape)
    return w


for temperature in (0.0, 0.25, 1.0):
    w_end, left = sgld(temperature), temperature * np.linalg.inv(lam - 0.01 * lam @ lam)
    assert np.allclose(w_end.mean(axis=0), truth.mean, atol=0.1)
    assert np.allclose(np.cov(w_end.T), left, atol=0.02 + 0.1 * np.abs(left).max())

# %% [markdown] slideshow={"slide_type": "subslide"}
# On a landscape with narrow valleys plain steps creep. SGHMC gives the walker momentum (Chen et al., 2014), and the package divides each weight's step by a *mass* from the curvature along it. Several chains, each from a mode of its own, as in the ensembles of Langevin chains of Sommer et al. (2025); no accept-reject step, so that a step size that is too large widens the draws. The package on the same linear model, then on the network:

# %% slideshow={"slide_type": "fragment"}
chains = sgmcmc.fit(few[:, :2], y_few, prior=prior, hidden_units=(), n_chains=32, steps=2000)
ratio = chains.samples.std(axis=0) / exact_sd
print("sd of SGHMC's draws over the exact sd:", ratio.round(2))
assert np.all(np.abs(ratio - 1) < 0.15)

# %% slideshow={"slide_type": "fragment"}
fig, ax = plt.subplots(figsize=(8, 3.6))
for temperature, style in ((1.0, "-"), (0.25, "--"), (0.0, ":")):
    chains = sgmcmc.fit(data.x, data.y, temperature=temperature, steps=3000, **settings)
    spread = chains.predict(x_grid).epistemic_std
    agreement = f"largest R-hat {chains.r_hat.max():.2f}" if temperature else "each at rest"
    print(f"T = {temperature}: sd among the data {spread[among].mean():.2f}, {agreement}")
    ax.plot(x_grid, spread, style, label=f"T = {temperature}")
ax.axvspan(0.1, 0.4, color="0.9")
ax.set(xlim=(-0.7, 0.7), ylim=(0, 4))
panel(ax, "Colder chains know less doubt", "x", "epistemic sd")


# %% [markdown] slideshow={"slide_type": "subslide"}
# At $T = 0$ the chains rest, each at its mode: an ensemble. Among the data they then differ less than two thirds as much as at $T = 1$. <!-- claim: cold-chains-are-too-sure-among-the-data --> R-hat compares the chains (1 is agreement). The cell prints values above the 1.01 that chapter 10 asks for: chains of this length have *not* converged, and what is said of them in this chapter is said of such chains, not of the posterior. And with walls as in section 8.1 between them, even agreement would be no proof that they have seen every island. <!-- from: methods/mcmc.py -->

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 8.7 Correlations, one column at a time
#
# Mean field has one number a weight for its doubt. Add $K$ columns (Ong et al., 2018):
#
# $$q(w) = \mathcal N\bigl(\mu,\; \mathrm{diag}(\sigma^2) + LL^\top\bigr), \qquad H[q] = \tfrac d2(1 + \log 2\pi) + \sum_i\log\sigma_i + \tfrac12\log\det\bigl(I_K + L^\top\mathrm{diag}(\sigma^{-2})\,L\bigr) , \tag{8.8}$$
#
# where the $K$ columns are those of $L$, and the determinant is of size $K$, not of the number $d$ of weights. Rank 0 is mean field, rank $d$ is any Gaussian.

# %% slideshow={"slide_type": "fragment"}
# eq. 8.8
def entropy(own, columns):  # σ [d], and L [d, K]
    inner = np.eye(columns.shape[1]) + columns.T @ (columns / own[:, None] ** 2)
    each = np.log(own).sum() + len(own) / 2 * (1 + math.log(2 * math.pi))
    return each + np.linalg.slogdet(inner)[1] / 2


own, columns = np.exp(rng.normal(size=6)), rng.normal(size=(6, 2))
root = np.linalg.cholesky(np.diag(own**2) + columns @ columns.T)
assert np.isclose(entropy(own, columns), tfd.MultivariateNormalTriL(np.zeros(6), root).entropy())

# %% [markdown] slideshow={"slide_type": "subslide"}
# On a linear model, where the posterior is $\mathcal N(m, \Sigma)$, the price of too few columns needs no sampling: with $S$ for the covariance of $q$, $\mathrm{KL} = \tfrac12\bigl(\mathrm{tr}\,\Sigma^{-1}S - d + \log|\Sigma| - \log|S|\bigr)$. Six bumps that overlap, chapter 1's features, and a bias:

# %% slideshow={"slide_type": "fragment"}
bumps = features.bumps(data.x, 6)
posterior = exact.linear_regression(np.hstack([bumps, np.ones_like(data.x)]), data.y, 3.0, 1.0)
inverse = np.linalg.inv(posterior.cov)


def price(z, inverse):  # KL in nats, and its slopes; z holds log σ, then the columns
    d = len(inverse)
    own, columns = np.exp(z[:d]), z[d:].reshape(d, -1)
    S = np.diag(own**2) + columns @ columns.T
    logs = np.linalg.slogdet(inverse)[1] + np.linalg.slogdet(S)[1]
    slope = inverse - np.linalg.inv(S)
    slopes = np.append(np.diag(slope) * own**2, slope @ columns)
    return 0.5 * (np.sum(inverse * S) - d - logs), slopes


# %% slideshow={"slide_type": "fragment"}
paid = []
for rank in range(8):
    start = 0.1 * np.random.default_rng(0).standard_normal(7 * (1 + rank))
    paid.append(minimize(price, start, inverse, jac=True, options={"maxiter": 2000}).fun)
mean_field = 0.5 * (np.log(np.diag(inverse)).sum() + np.linalg.slogdet(posterior.cov)[1])
assert np.isclose(paid[0], mean_field, atol=1e-3) and paid[7] < 0.01
print("KL to the posterior by rank:", np.round(paid, 2), "nats")


# %% [markdown] slideshow={"slide_type": "subslide"}
# Each column takes the direction that is dearest, and the KL falls quickly. Does that carry over to the network? After 1500 steps of one draw each, eight columns leave the band in the gap as wide as none, within a third. <!-- claim: eight-columns-do-not-open-the-gap --> But that is where training stopped, and no word on the family. Trained on from mean field at its lowest (the lowest F of 16 starts), for 6000 steps of 128 draws, eight columns lower F by more than four nats, <!-- claim: eight-columns-lower-f --> and in the gap they are more than 1.4 times as unsure as mean field after the same training, <!-- claim: eight-columns-widen-the-gap --> though still surer than the posterior. <!-- claim: eight-columns-stay-too-sure-in-the-gap --> (Over twenty worlds: 8.0 ± 0.4 nats, 1.90 ± 0.07 times, and 0.55 ± 0.04 of the posterior's sd.) Large networks stay with mean field, and train it by natural gradients at Adam's price (IVON: Shen et al., 2024). SWAG (Maddox et al., 2019) reads $\sigma$ and $L$ off the path of the optimiser: it has no objective of its own, and its scale is that of the steps.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 8.8 Infinitely wide
#
# Take the prior of 8.1, and let the layer grow: $n$ times 20 units, with the output weights divided by $\sqrt n$, so that no output grows. The units are independent and alike under the prior, so that the output is a sum of ever more, ever smaller independent terms: at any set of inputs it becomes jointly Gaussian (Neal, 1996). Functions that are jointly Gaussian everywhere are a Gaussian process, and all that it needs is its covariance. With $u = \sigma_p^2\,(x x' + 1)$ for the pre-activations and $\vartheta$ for the angle, $\cos\vartheta = u(x,x')/\sqrt{u(x,x)\,u(x',x')}$ (Cho and Saul, 2009):
#
# $$\mathrm{Cov}[f(x), f(x')] = \sigma_p^2\left(20\,\frac{\sqrt{u(x,x)\,u(x',x')}}{2\pi}\bigl(\sin\vartheta + (\pi - \vartheta)\cos\vartheta\bigr) + 1\right) . \tag{8.9}$$

# %% slideshow={"slide_type": "fragment"}
# eq. 8.9
def kernel_of(x, other):
    u, a, b = 9 * (x @ other.T + 1), 9 * (x**2 + 1), 9 * (other.T**2 + 1)
    angle = np.arccos(np.clip(u / np.sqrt(a * b), -1, 1))
    arc = np.sqrt(a * b) * (np.sin(angle) + (np.pi - angle) * np.cos(angle)) / (2 * np.pi)
    return 9 * (20 * arc + 1)


ends = np.array([[-0.5], [0.25], [0.5]])
assert np.allclose(kernel_of(ends, ends), infinite_width.kernel(ends, **settings))
drawn = infinite_width.prior_functions(ends, 20_000, **settings)  # at width 20
assert np.allclose(np.cov(drawn.T), kernel_of(ends, ends), rtol=0.1)

# %% [markdown] slideshow={"slide_type": "subslide"}
# The covariance is right at *every* width. What the limit adds is the shape. The excess kurtosis, which is 0 for a Gaussian, of a sum of $n$ independent, like terms is that of one of them, divided by $n$:

# %% slideshow={"slide_type": "fragment"}
fig, ax = plt.subplots(figsize=(8, 3.6))
z, kurtosis = np.linspace(-4, 4, 41), {}
for units, style in ((1, ":"), (5, "--"), (40, "-")):
    layer = {"prior": prior, "hidden_units": (units,)}
    f = infinite_width.prior_functions([[0.25]], 40_000, **layer)[:, 0]
    f = (f - f.mean()) / f.std()
    kurtosis[units] = np.mean(f**4) - 3
    ax.hist(f, z, density=True, histtype="step", ls=style, lw=1.6, label=f"width {units}")
ax.plot(z, tfd.Normal(0.0, 1.0).prob(z), color="0.5", label="Gaussian")
panel(ax, "f(0.25) under the prior, in its sd: wider is more Gaussian", "f / sd", "density")
print("excess kurtosis:", {k: round(float(v), 2) for k, v in kurtosis.items()})
assert kurtosis[1] > 2 * kurtosis[5] > 2 * kurtosis[40]

# %% [markdown] slideshow={"slide_type": "subslide"}
# With Gaussian noise the posterior is a formula again, chapter 1's with functions in place of weights:

# %% slideshow={"slide_type": "fragment"}
told = np.linalg.solve(kernel_of(data.x, data.x) + np.eye(32), kernel_of(data.x, x_grid))
mean = told.T @ data.y[:, 0]
variance = np.diag(kernel_of(x_grid, x_grid)) - np.sum(told * kernel_of(data.x, x_grid), axis=0)
limit = infinite_width.fit(data.x, data.y, **settings)
p = limit.predict(x_grid)
assert np.allclose(p.mean, mean) and np.allclose(p.epistemic_std, np.sqrt(variance))
print(f"log P(D) of the limit: {limit.log_evidence:.1f} nats, exact")

# %% [markdown] slideshow={"slide_type": "subslide"}
# Does NUTS on a wide network come to the same? That depends on the data. Of a sine the prior of 8.1 thinks little: with $C$ for (8.9) at the data, $y^\top (C + I)^{-1} y$, which it expects to be the number of points, is more than twice that. On sixteen points of the sinusoid NUTS' mean is with 1000 hidden units less than half as far from the process's as with 100, <!-- claim: ten-times-the-width-comes-nearer-to-the-process --> and still more than a tenth of its standard deviation away. <!-- claim: a-sine-keeps-a-thousand-units-from-the-process --> Where the data are a draw of the process, NUTS with 1000 units has its mean and its sd, within Monte-Carlo error and a twentieth of that sd. <!-- claim: data-of-the-prior-s-kind-make-a-thousand-units-the-process --> Eight worlds:

# %% slideshow={"slide_type": "fragment"}
ratio = data.y[:, 0] @ np.linalg.solve(kernel_of(data.x, data.x) + np.eye(32), data.y[:, 0]) / 32
print(f"a sine: {ratio:.1f} times what the prior expects\n")
found = claims.show("ten-times-the-width-comes-nearer-to-the-process",
                    "a-sine-keeps-a-thousand-units-from-the-process",
                    "data-of-the-prior-s-kind-make-a-thousand-units-the-process")

# %% [markdown] slideshow={"slide_type": "subslide"}
# An exact posterior of *another* model: in the limit every unit moves by next to nothing, and no features are learnt. In the gap it is surer than chains of SGHMC at width 20. <!-- claim: the-limit-is-surer-in-the-gap-than-chains -->

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 8.9 Beside one another
#
# Which of them covers the gap? On one data set you will have an answer at once. On twenty, measured once and stored, you see what it was worth:

# %% slideshow={"slide_type": "fragment"}
found = claims.measured("gap-bands").values()
fig, ax = plt.subplots(figsize=(8, 3.4), layout="constrained")
names = {"ensemble": "plain", "anchored ensemble": "anchored", "dropout": "dropout",
         "Laplace, full": "laplace"}
held = {name: np.array([100 * f[f"{key}-gap-held"] for f in found]) for name, key in names.items()}
plots.draw_forest(ax, held)
ax.set(title="Dots: twenty worlds; bar: their mean ± 2 SE", xlabel="% of the gap inside ±2 sd")
for name, each in held.items():
    print(f"{name:17}: {each.mean():3.0f} % on average, {each.min():.0f} to {each.max():.0f} %")

# %% [markdown] slideshow={"slide_type": "subslide"}
# > **Illusion of one run.** Of a plain ensemble some data sets show more than three quarters of the gap covered, <!-- claim: an-ensemble-covers-most-of-some-gaps --> others less than half. <!-- claim: an-ensemble-covers-little-of-others --> Both could be published.
#
# And covering is not all: a band that is wide everywhere covers, too. [Chapter 10](10_comparison_and_decisions.ipynb) compares all methods in pairs, by scores.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 8.10 Play
#
# Any two of nine methods, refitted under your hand, and the true posterior follows. Go through the presets, and say before each which of the two bands will be wider in the gap. Their options are behind *more*; those that do nothing for the two that are shown are greyed out. There are three missions.

# %% tags=["explorer"] slideshow={"slide_type": "fragment"}
explorer.preset("start")
explorer


# %% [markdown] slideshow={"slide_type": "slide"}
# ## Exercises
#
# Replace each `...` and run the cell. The check names the mistake it sees. The last two are experiments: you train and measure, and the check measures what you bring, in three worlds. Each solution is in the collapsed cell below; read the hint first.

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 8.1 Extend: the lowest pass
# The straight way from mode to mode leads over a wall. Is there a lower one by way of a third point? Some middle points were tried. Row $j$ of `first` `[k, n]` holds the potential along the straight leg from the one mode to middle point $j$; row $j$ of `second` `[k, n]`, along the leg from there to the other mode. Return how far the lowest of these bent paths climbs above the higher of the two *modes*, in nats. (*Hint:* how high does one path climb, over both of its legs? And which does one take who may choose?)

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_pass(first, second):
    return ...


exercises.check("8.1", my_pass)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_1(first, second):
    tops = np.maximum(first.max(axis=1), second.max(axis=1))  # of each path
    return tops.min() - max(first[0, 0], second[0, -1])


assert exercises.check("8.1", solution_1, record=False)
there, back = (np.array([potential(end + t[:, None] * (middle - end)) for middle in w[2:]])
               for end in w[:2])  # by way of each of the other eight members
straight = heights["to member 1"].max() - max(potential(w[:2]))
print(f"straight {straight:.0f} nats; the lowest pass at another member "
      f"{solution_1(there, back[:, ::-1]):.0f}")


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 8.2 Change: all doubt in the anchors
# Anchors from the prior, and no noise on the targets, leave the members of (8.2) too alike. Keep the targets as they are, $\varepsilon_k = 0$ for all members, and draw the anchors from a wider Gaussian instead, $a_k \sim \mathcal N(0, C)$. Return the covariance $C$ `[d, d]` with which the members are draws from the exact posterior of the linear model all the same; `x` is $X$ `[n, d]`. (*Hint:* what does (8.2) do to an anchor on its way into a member, and so to $C$?)

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_anchors(x, prior_std, noise_std):
    return ...


exercises.check("8.2", my_anchors)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_2(x, prior_std, noise_std):
    """Λ⁻¹ C Λ⁻¹/σ_p⁴ = Λ⁻¹."""
    return prior_std**4 * (np.eye(x.shape[1]) / prior_std**2 + x.T @ x / noise_std**2)


assert exercises.check("8.2", solution_2, record=False)
wider = np.random.default_rng(2).multivariate_normal(np.zeros(3), solution_2(few, 3.0, 1.0), 50_000)
members_2 = (wider / 3**2 + y_few[:, 0] @ few) @ truth.cov  # as in 8.2, without noise
assert np.allclose(members_2.mean(axis=0), truth.mean, atol=0.1)
assert np.allclose(np.cov(members_2.T), truth.cov, atol=0.2)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 8.3 Change: units that fall out together
# Let units with the same number in `group` `[H]` share one $z$: they are left out together or not at all. `contributions` `[m, H]` holds $v_j h_j(x)$ for $m$ inputs and $H$ hidden units. Return the sd of the output at each input, at the rate `rate`; what is kept is divided by `1 - rate`. With a group for each unit it is (8.3). (*Hint:* where does (8.3) use that the $z_j$ are independent, and between whom are they still?)

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_groups(contributions, group, rate):
    return ...


exercises.check("8.3", my_groups)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_3(contributions, group, rate):
    shared = group[:, None] == np.unique(group)  # [H, groups]
    return np.sqrt(rate / (1 - rate) * ((contributions @ shared) ** 2).sum(axis=1))


assert exercises.check("8.3", solution_3, record=False)
assert np.allclose(solution_3(contributions, np.arange(20), 0.1), by_hand)  # (8.3)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 8.4 Change: the doubt of an average
# How unsure is Laplace of the *mean height* of $f$ over some new inputs, over the gap say? `seen` `[n, k]` and `new` `[m, k]` are the derivatives of the output by the weights, at the training inputs and at the new ones. Return the linearised sd of $\tfrac1m\sum_i f(x_i)$ over the $m$ new inputs: one number. (*Hint:* the outputs at two inputs are neither independent nor do they move as one. Of which weights is their mean a linear function, and with which factors?)

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_doubt(seen, new, prior_std, noise_std):
    return ...


exercises.check("8.4", my_doubt)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_4(seen, new, prior_std, noise_std):
    lam = seen.T @ seen / noise_std**2 + np.eye(seen.shape[1]) / prior_std**2
    g_mean = new.mean(axis=0)  # the mean of the outputs is linear in w, too
    return np.sqrt(g_mean @ np.linalg.solve(lam, g_mean))


assert exercises.check("8.4", solution_4, record=False)
in_gap = (x_grid[:, 0] > 0.1) & (x_grid[:, 0] < 0.4)
by_solution = solution_4(jacobian(frozen.weights, data.x), g[in_gap], 3.0, 1.0)
print(f"sd of the mean over the gap {by_solution:.2f}, mean of the sds {sd[in_gap].mean():.2f}")
assert np.isclose(linearised[:, in_gap].mean(axis=1).std(), by_solution, rtol=0.2)

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 8.5 Explain: true or false
# Which statements are true?
#
# - (a) Two weight vectors may compute the same function and still have a wall between them.
# - (b) With enough members, an ensemble without anchors becomes the exact posterior of a linear model.
# - (c) Dropout's band is wide where there are no data, since nothing held it down there.
# - (d) Given the last hidden layer, the posterior of the last layer of a regression network is exact, and no approximation.
# - (e) Draws from Laplace's Gaussian should go through the network, for it is the network's posterior that they approximate.
# - (f) A network of any width has the prior covariance of its infinitely wide relative, if it has one hidden layer.
#
# (*Hint:* for each, find the line of the chapter where it is asserted, or its opposite.)

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
my_choice = ...  # such as {"a", "b"}

exercises.check("8.5", my_choice)

# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
# The letters of the statements that are true:
solution_5 = {"a", "d", "f"}

assert exercises.check("8.5", solution_5, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 8.6 Extend: where the evidence pulls the prior
# Should the prior of this network be wider? Return the derivative of (8.6) by $\log\sigma_p$, in nats: `w` is $w^*$ `[k]`, which stays where it is, `seen` is $J$ `[n, k]`. (*Hint:* two terms of (8.6) know $\sigma_p$: $\log P(w^*)$, in two places, and $\log|\Lambda|$. The derivative of $\log|\Lambda|$ is the trace of $\Lambda^{-1}$ times the derivative of $\Lambda$.)

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_pull(w, seen, prior_std, noise_std):
    return ...


exercises.check("8.6", my_pull)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_6(w, seen, prior_std, noise_std):
    lam = seen.T @ seen / noise_std**2 + np.eye(len(w)) / prior_std**2
    told = len(w) - np.trace(np.linalg.inv(lam)) / prior_std**2  # how many directions
    return w @ w / prior_std**2 - told


assert exercises.check("8.6", solution_6, record=False)
J, best = jacobian(frozen.weights, data.x), round_mode.tuned()
pulls = [solution_6(frozen.weights, J, *stds) for stds in
         ((3.0, 1.0), (best.prior.sigma, best.noise_std))]
print(f"pull at σ_p = 3: {pulls[0]:.0f} nats; where the evidence is highest none is left")
assert abs(pulls[1]) < 0.05


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 8.7 Extend: a step with momentum
# Give the walker of (8.7) momentum. Each step it keeps the share β of its velocity, $v \leftarrow \beta v - \ell\,\nabla U + s\,\xi$, and moves by the new one, $w \leftarrow w + v$. Return the pair (w, v) after one step. Find the $s$ that belongs to the temperature yourself: where $\nabla U$ is the same everywhere, over many steps the variance of $w$ and its drift must be in the proportion in which (8.7) has them. (*Hint:* how far does one kick of size 1 to $v$ carry $w$ in the end? That holds for the kicks of the slope and for those of the noise.)

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_step(w, v, slope, rate, momentum, temperature, xi):
    return ...


exercises.check("8.7", my_step)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_7(w, v, slope, rate, momentum, temperature, xi):
    s = math.sqrt(2 * (1 - momentum) * rate * temperature)  # at β = 0 (8.7)
    v = momentum * v - rate * slope + s * xi
    return w + v, v


assert exercises.check("8.7", solution_7, record=False)
walker, v = np.zeros((2, 2000, 3))
for xi in np.random.default_rng(1).standard_normal((1000, 2000, 3)):
    slope = walker @ lam - y_few[:, 0] @ few  # as in 8.6, where the posterior is known
    walker, v = solution_7(walker, v, slope, 0.002, 0.9, 1.0, xi)
assert np.allclose(np.cov(walker.T), truth.cov, atol=0.02 + 0.1 * truth.cov.max())


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 8.8 Extend: what q costs with a few columns
# Return $\mathrm{KL}[q\,\|\,p]$ in nats, of $q = \mathcal N(\mu, D^2 + LL^\top)$ from the prior $p = \mathcal N(0, \sigma_p^2 I)$: `mean` is μ `[d]`, `own_std` the diagonal of $D$ `[d]`, `columns` is $L$ `[d, K]`. One case has 3000 weights and 2 columns: form no matrix of size `d`. (*Hint:* $\mathrm{KL} = -H[q] - \mathrm E_q \log p(w)$; which numbers of $q$ does the second need?)

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_price(mean, own_std, columns, prior_std):
    return ...


exercises.check("8.8", my_price)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_8(mean, own_std, columns, prior_std):
    square = np.sum(mean**2) + np.sum(own_std**2) + np.sum(columns**2)  # of all weights, E w²
    crossed = square / (2 * prior_std**2) + len(mean) * math.log(prior_std * math.sqrt(2 * math.pi))
    return crossed - entropy(own_std, columns)  # (8.8)


assert exercises.check("8.8", solution_8, record=False)
alone = densities.gaussian_kl(own, own, 0.0, 3.0).sum()  # without columns it is mean field
assert np.isclose(solution_8(own, own, 0 * columns, 3.0), alone)

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 8.9 Experiment: the prior that the features deserve
# The network of this chapter was trained under σ_p = 3, for the data `datasets.sinusoid(seed=seed, gap=(0.1, 0.4))`. Freeze it up to its last hidden layer. Which σ_p would the *last layer* have chosen? First draw $\log P(D\mid\text{features})$ over σ_p for one seed, on a logarithmic axis. Then return a σ_p whose evidence is less than 0.1 nats below the highest, for the seeds 0, 1 and 2; the noise stays 1. (*Hint:* `with_prior` of 8.4 trains nothing, so that a scan of a hundred values costs next to nothing.)

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
prior_stds = np.geomspace(0.5, 50, 40)
curves = {}  # of each seed: log P(D | features) at each of prior_stds
fig, ax = plt.subplots(figsize=(6, 2.8))
for name, nats in curves.items():
    ax.semilogx(prior_stds, nats, label=name)
ax.set_title("Your graph: which prior do the features deserve?", loc="left", fontsize=13)
axis_labels = ax.set(xlabel="σ_p of the last layer", ylabel="log P(D | features), nats")


def my_prior_std(seed):
    return ...


exercises.check("8.9", my_prior_std)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def over_priors(seed):
    points = datasets.sinusoid(seed=seed, gap=(0.1, 0.4))
    fit = laplace.fit(points.x, points.y, structure="last_layer", **settings)
    return [fit.with_prior(densities.Gaussian(s)).log_evidence for s in prior_stds]


def solution_9(seed):
    return prior_stds[np.argmax(over_priors(seed))]


assert exercises.check("8.9", solution_9, record=False)

# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
fig, ax = plt.subplots(figsize=(8, 3.6))
for seed, (colour, style) in enumerate(((BLUE, "-"), (ORANGE, "--"), (GREEN, ":"))):
    nats = np.array(over_priors(seed))
    ax.semilogx(prior_stds, nats - nats.max(), style, color=colour,
                label=f"seed {seed}: highest at σ_p = {prior_stds[np.argmax(nats)]:.1f}")
ax.axvline(3.0, color="0.6", lw=1, label="trained with σ_p = 3")
ax.set_ylim(-20, 1)
panel(ax, "The evidence of frozen features", "σ_p of the last layer", "nats below the highest")

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 8.10 Experiment: calm dropout down
# Among the data dropout at the usual rate of 0.1 is far vaguer than Laplace. <!-- claim: dropout-is-vague-among-the-data --> For the data of 8.9 and `mc_dropout.fit(x, y, rate=rate, **settings)`, draw the mean epistemic sd at the training inputs over the rate, from 0.003 to 0.3. Then return a rate at which it is between 0.55 and 0.75, for the seeds 0, 1 and 2. What has become of the band in the gap there? (*Hint:* (8.3) gives the sd without draws; and the floor (8.4) says how it goes with $r$ at least.)

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
rates = np.geomspace(0.003, 0.3, 12)
curves = {}  # of each seed, among the data (and in the gap): the mean sd at each of rates
fig, ax = plt.subplots(figsize=(6, 2.8))
for name, sds in curves.items():
    ax.loglog(rates, sds, "o-", label=name)
ax.set_title("Your graph: how vague at which rate?", loc="left", fontsize=13)
axis_labels = ax.set(xlabel="rate r", ylabel="mean epistemic sd")


def my_rate(seed):
    return ...


exercises.check("8.10", my_rate)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def over_rates(seed):  # mean sd among the data and in the gap, and the share of it held [3, rate]
    points, found = datasets.sinusoid(seed=seed, gap=(0.1, 0.4)), []
    middle = np.linspace(0.1, 0.4, 31)[:, None]
    for r in rates:
        m = mc_dropout.fit(points.x, points.y, rate=r, **settings).weights[None]
        each = [hidden(m, at)[0] * m[0, 40:60] for at in (points.x, middle)]
        sds = [np.sqrt(r / (1 - r) * np.sum(units**2, axis=1)) for units in each]  # (8.3)
        held = abs(points.truth(middle)[:, 0] - network(m, middle)[0]) < 2 * sds[1]
        found.append([*(each_sd.mean() for each_sd in sds), held.mean()])
    return np.transpose(found)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_10(seed):
    return rates[np.argmin(np.abs(over_rates(seed)[0] - 0.65))]


assert exercises.check("8.10", solution_10, record=False)

# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
fig, ax = plt.subplots(figsize=(8, 3.6))
# In the gap the band comes down as well: at given weights (8.3) has one factor for all x.
for seed, style in enumerate(("-", "--", ":")):
    (by_data, by_gap, held), k = over_rates(seed), list(rates).index(solution_10(seed))
    for sds, colour, name in ((by_data, BLUE, "among the data"), (by_gap, ORANGE, "in the gap")):
        ax.loglog(rates, sds, style, color=colour, label=None if seed else name)
    print(f"seed {seed}, rate {rates[k]:.3f}: sd {by_data[k]:.2f} among the data, {by_gap[k]:.2f} "
          f"in the gap, of which {held[k]:.0%} is inside ±2 sd")
    assert by_gap[k] < 0.8 * by_gap[-1] and held[k] < 0.25
ax.axhspan(0.55, 0.75, color="0.9", label="asked for")
panel(ax, "Three worlds: calm among the data, and calm in the gap", "rate r", "mean epistemic sd")


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 8.11 Extend: a bound for a last layer
# Harrison et al. (2024) train the features and a Gaussian $q(w) = \mathcal N(m, S)$ over the last layer's weights together, by a bound on $\log P(D\mid\text{features})$ that needs no draw: $\mathrm E_q \log P(D\mid w) - \mathrm{KL}[q\,\|\,p]$ with $p = \mathcal N(0, \sigma_p^2 I)$. Return it in nats, for the features `phi` `[n, k]` of the training inputs, their targets `y` `[n]`, $m$ = `mean` `[k]` and $S$ = `cov` `[k, k]`. (*Hint:* what is the mean of $(y - w^\top\varphi)^2$ over $w$? One case has 80 weights that are nearly certain, and a determinant of 0 in floating point.)

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_layer_bound(phi, y, mean, cov, prior_std, noise_std):
    return ...


exercises.check("8.11", my_layer_bound)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_11(phi, y, mean, cov, prior_std, noise_std):
    square = (y - phi @ mean) ** 2 + np.sum(phi @ cov * phi, axis=1)  # E (y − wᵀφ)²
    fit = -0.5 * np.sum(square / noise_std**2 + math.log(2 * math.pi * noise_std**2))
    price = (np.trace(cov) + mean @ mean) / prior_std**2 - len(mean)
    price += len(mean) * math.log(prior_std**2) - np.linalg.slogdet(cov)[1]
    return fit - price / 2


assert exercises.check("8.11", solution_11, record=False)

# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
phi, targets = last_hidden(data.x), data.y[:, 0]
bounds = [solution_11(phi, targets, last.mean, by * last.cov, 3.0, 1.0) for by in (1.0, 0.5)]
assert np.isclose(bounds[0], last.log_evidence)  # at the exact posterior nothing is lost
assert bounds[1] < bounds[0]
root = np.linalg.cholesky(0.5 * last.cov)  # with draws: E_q [log P(D | w) + log p(w) − log q(w)]
noise = np.random.default_rng(0).standard_normal((4000, phi.shape[1]))
log_joint = -densities.gaussian_nll(targets, (last.mean + noise @ root.T) @ phi.T, 1.0).sum(axis=1)
log_joint -= densities.gaussian_nll(last.mean + noise @ root.T, 0.0, 9.0).sum(axis=1)
log_q = -densities.gaussian_nll(noise, 0.0, 1.0).sum(axis=1) - np.log(np.diag(root)).sum()
assert abs(np.mean(log_joint - log_q) - bounds[1]) < 4 * np.std(log_joint - log_q) / 4000**0.5

# %% slideshow={"slide_type": "fragment"}
exercises.progress(8)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Mistakes in circulation
#
# **Claim:** "with enough members an ensemble becomes the posterior." **True:** it becomes the average over the minima that training finds; chapter 10 measures how near that is. On a model with one minimum a thousand members are one (section 8.2).
#
# **Claim:** "dropout's spread is the model's uncertainty, so it shrinks with data." **True:** (8.3) has no $n$, as long as the rate is fixed. Copy each point a hundred times: chapter 1's sd falls to about a tenth. Dropout's stays where it is while its weights do, and whatever its weights, it is not below (8.4).

# %% slideshow={"slide_type": "fragment"}
copied = exact.linear_regression(np.tile(few, (100, 1)), np.tile(y_few, (100, 1)), 3.0, 1.0)
print("exact sd, each point a hundred times, over once:",
      (np.diag(copied.cov) ** 0.5 / exact_sd).round(3))

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Claim:** "Laplace failed: its samples are nonsense." **True** of its draws in the network, which nobody should look at; the linearised prediction of the *same* Gaussian is chapter 1's (section 8.4).
#
# **Claim:** "the last layer is enough, for it is exact." **True** under a Gaussian prior and given its features, and the features were chosen by the same data: what they leave out in the gap no last layer can doubt.
#
# **Claim:** "SGLD is gradient descent with noise, so its temperature is the learning rate." **True** of plain stochastic gradients at best. In (8.7) the rate $\ell$ sets the bias of the draws, and $T$ what is sampled.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Summary
#
# - On the straight way from mode to mode, as training leaves them, stand walls of more than a hundred nats. <!-- claim: a-straight-cut-between-members-meets-a-wall --> Most of that is the order of the hidden units; <!-- claim: the-order-of-the-units-is-most-of-the-wall --> matched, some tens of nats are left.
# - An ensemble averages the minima that training finds. With anchors and noisy targets, members of a linear model are draws from the exact posterior.
# - Dropout's band is $\sqrt{r/(1-r)\sum_j v_j^2h_j^2}$: at a fixed rate no number of points is in it, and as its square is convex in $x$ it cannot open in a gap.
# - Laplace is chapter 1 with $J$ for the design matrix; the last layer alone is chapter 1 exactly. Predict with the linear model.
# - The evidence of a whole covariance found the noise to a factor of two; <!-- claim: a-full-laplace-s-evidence-finds-the-noise --> that of a diagonal must be too low.
# - Noisy steps sample $e^{-U/T}$: $T = 1$ is the posterior, $T = 0$ an ensemble.
# - Columns buy back correlations: on a tilted Gaussian a few remove most of the KL, and in the network they widen the gap, once trained far enough. <!-- claim: eight-columns-widen-the-gap -->
# - Infinitely wide, the prior is a Gaussian process, and its posterior a formula.

# %% [markdown] slideshow={"slide_type": "subslide"}
# ## References
#
# - Lakshminarayanan, Pritzel, Blundell (2017). Simple and scalable predictive uncertainty estimation using deep ensembles. [arXiv:1612.01474](https://arxiv.org/abs/1612.01474)
# - Pearce, Leibfried, Brintrup, Zaki, Neely (2020). Uncertainty in neural networks: approximately Bayesian ensembling. [arXiv:1810.05546](https://arxiv.org/abs/1810.05546)
# - Osband, Aslanides, Cassirer (2018). Randomized prior functions for deep reinforcement learning. [arXiv:1806.03335](https://arxiv.org/abs/1806.03335)
# - Garipov, Izmailov, Podoprikhin, Vetrov, Wilson (2018). Loss surfaces, mode connectivity, and fast ensembling of DNNs. [arXiv:1802.10026](https://arxiv.org/abs/1802.10026)
# - Entezari, Sedghi, Saukh, Neyshabur (2022). The role of permutation invariance in linear mode connectivity of neural networks. [arXiv:2110.06296](https://arxiv.org/abs/2110.06296)
# - Ainsworth, Hayase, Srinivasa (2023). Git Re-Basin: merging models modulo permutation symmetries. [arXiv:2209.04836](https://arxiv.org/abs/2209.04836)
# - Foong, Burt, Li, Turner (2020). On the expressiveness of approximate inference in Bayesian neural networks. [arXiv:1909.00719](https://arxiv.org/abs/1909.00719)
# - Gal, Ghahramani (2016). Dropout as a Bayesian approximation. [arXiv:1506.02142](https://arxiv.org/abs/1506.02142)
# - Gal, Hron, Kendall (2017). Concrete dropout. [arXiv:1705.07832](https://arxiv.org/abs/1705.07832)
# - MacKay (1992). A practical Bayesian framework for backpropagation networks. [doi:10.1162/neco.1992.4.3.448](https://doi.org/10.1162/neco.1992.4.3.448)
# - Antorán et al. (2022). Adapting the linearised Laplace model evidence for modern deep learning. [arXiv:2206.08900](https://arxiv.org/abs/2206.08900)
# - Harrison, Willes, Snoek (2024). Variational Bayesian last layers. [arXiv:2404.11599](https://arxiv.org/abs/2404.11599)
# - Rügamer (2026). On the epistemic uncertainty of overparametrized neural networks. [arXiv:2605.25234](https://arxiv.org/abs/2605.25234)
# - Immer, Korzepa, Bauer (2021). Improving predictions of Bayesian neural nets via local linearization. [arXiv:2008.08400](https://arxiv.org/abs/2008.08400)
# - Chen, Fox, Guestrin (2014). Stochastic gradient Hamiltonian Monte Carlo. [arXiv:1402.4102](https://arxiv.org/abs/1402.4102)
# - Wenzel et al. (2020). How good is the Bayes posterior in deep neural networks really? [arXiv:2002.02405](https://arxiv.org/abs/2002.02405)
# - Aitchison (2021). A statistical theory of cold posteriors in deep neural networks. [arXiv:2008.05912](https://arxiv.org/abs/2008.05912)
# - Izmailov et al. (2021). What are Bayesian neural network posteriors really like? [arXiv:2104.14421](https://arxiv.org/abs/2104.14421)
# - Kapoor et al. (2022). On uncertainty, tempering, and data augmentation in Bayesian classification. [arXiv:2203.16481](https://arxiv.org/abs/2203.16481)
# - Sommer et al. (2025). Microcanonical Langevin ensembles: advancing the sampling of Bayesian neural networks. [arXiv:2502.06335](https://arxiv.org/abs/2502.06335)
# - Shen et al. (2024). Variational learning is effective for large deep networks. [arXiv:2402.17641](https://arxiv.org/abs/2402.17641)
# - Maddox, Garipov, Izmailov, Vetrov, Wilson (2019). A simple baseline for Bayesian uncertainty in deep learning. [arXiv:1902.02476](https://arxiv.org/abs/1902.02476)
# - Lee et al. (2018). Deep neural networks as Gaussian processes. [arXiv:1711.00165](https://arxiv.org/abs/1711.00165)
#
# Without a number of their own here: Welling and Teh (2011) for SGLD, Osband (2016) on risk against uncertainty, Ong, Nott and Smith (2018) for the columns, Neal (1996) and Cho and Saul (2009) for the limit.

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Previous:** [7 · Probabilistic backpropagation](07_probabilistic_backpropagation.ipynb) · **Next:** [9 · Pictures and the unknown](09_pictures_and_the_unknown.ipynb): what a classifier says of what it has never seen.

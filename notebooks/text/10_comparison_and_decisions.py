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
# # 10 · Comparison and decisions
#
# *Every method of the course beside the true posterior: who is right, where, and at what price.*
#
# **Run the cell below** (Shift+Enter), then move *gap*, or open *more* and switch another method on. All see the same 32 points, with a gap. Under *coverage*: how many of 100 *new* points fall into each 95 % interval. Where are they fewer than 95?

# %% tags=["explorer"] slideshow={"slide_type": "fragment"}
from bdl_teach.widgets import ComparisonExplorer

explorer = ComparisonExplorer()
explorer

# %% [markdown] slideshow={"slide_type": "subslide"}
# ## What you will be able to do
#
# - say how far a method is from the true posterior;
# - say what RMSE, log score and coverage each see, and what they miss;
# - compare two methods in pairs, over many data sets;
# - choose between BBB and PBP;
# - act by Thompson sampling;
# - put a band with a guaranteed level round any method.
#
# **Time** 70 minutes · **Minutes per section** 10.1: 7 · 10.2: 3 · 10.3: 5 · 10.4: 8 · 10.5: 10 · 10.6: 2 · 10.7: 5 · 10.8: 12 · 10.9: 6 · 10.10: 1 · opening and end: 11
#
# **Prerequisites** [Chapter 3](03_bayes_by_backprop.ipynb). Chapters 4 to 8 help. Notation: [chapter 0](00_start_here.ipynb#Notation).

# %% [markdown] slideshow={"slide_type": "subslide"}
# ## Predict first
#
# Write down your answers. Sections 10.3 to 10.9 test them.
#
# 1. Bayes by Backprop (BBB), data with a gap: does its 95 % interval hold about 95 % there, more, or far less? And once it is trained until the free energy is as low as it gets?
# 2. Two methods have the same root-mean-square error (RMSE). Can one give new data a hundred times the density?
# 3. On your data set, A scores two nats a point higher than B. How many data sets do you need to recommend A?
# 4. You train probabilistic backpropagation (PBP) for 400 epochs instead of 100. Does it become surer of its weights? Should it?
# 5. Does an agent that always takes the largest *expected* reward find the best action in the end?
# 6. A band is widened until it holds 90 % of fresh points. In the gap, too?

# %% slideshow={"slide_type": "skip"}
import inspect
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import logsumexp, ndtr
from scipy.stats import beta

from bdl_teach import calibration, claims, datasets, densities, exercises, metrics, plots
from bdl_teach.backend import tfd
from bdl_teach.claims import World, rivals
from bdl_teach.methods import bbb, empirical_bayes, ensemble, exact, local_reparam, mcmc, pbp, point
from bdl_teach.plots import BLUE, GREEN, ORANGE, RED, panel
from bdl_teach.problems import network_bandits

plots.lecture_style()

# %% slideshow={"slide_type": "skip"}
REGIONS = ("among the data", "in the gap", "outside")

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 10.1 One problem, one network, seven answers
#
# The problem is the sinusoid of chapter 3, 32 points of $10\sin 2\pi x$ plus noise with standard deviation 1, on $[-\tfrac12, \tfrac12]$. But nobody measured between 0.1 and 0.4, where the sine has its peak. The network has one hidden layer of 20 units; the prior of each weight is $\mathcal N(0, 3^2)$.
#
# We judge in three regions: among the data, in the gap, and outside. New points of the first are like those that were seen; in the other two nobody has seen any.

# %% slideshow={"slide_type": "fragment"}
low, high = 0.1, 0.4  # nobody measured here
data = datasets.sinusoid(n=32, noise_std=1.0, seed=0, gap=(low, high))
prior = densities.Gaussian(3.0)
settings = {"noise_std": 1.0, "hidden_units": (20,)}

x_grid = np.linspace(-0.7, 0.7, 141)[:, None]
truth = data.truth(x_grid)[:, 0]
gap, outside = (x_grid[:, 0] > low) & (x_grid[:, 0] < high), np.abs(x_grid[:, 0]) > 0.5
masks = dict(zip(REGIONS, (~gap & ~outside, gap, outside), strict=True))
fresh = truth + np.random.default_rng(1).standard_normal((40, 141))  # 40 new y at each x

# %% [markdown] slideshow={"slide_type": "subslide"}
# Six methods, one interface:
#
# | name | what it finds | chapter |
# |---|---|---|
# | MLE | one network: squared error, downhill | 1 |
# | MAP | one network: the same with the prior as weight decay | 1 |
# | BBB | a Gaussian per weight: the free energy $F$, downhill, with drawn weights | 3 |
# | lowest | the same at its lowest $F$: 16 starts at once, without noise in $F$ | 4, 5 |
# | emp. Bayes | like BBB, with the prior's width learnt from the data | 6 |
# | PBP | a Gaussian per weight by moment matching, one point at a time; learns the noise | 7 |
#
# (The other methods come in section 10.5.) "Downhill" is meant literally: MLE, MAP, BBB and empirical Bayes are where an optimiser, from one start, stopped after 1500 steps. Nor is *lowest* known to be the minimum: it is the lowest of 16 starts, and the cell says how many agree.

# %% slideshow={"slide_type": "fragment"}
x, y = data.x, data.y
room = bbb.Capacity(64, (20,), 1)  # compiled for as many points as the explorer: one program
by_slope = {**settings, "capacity": room}
lowest = {**by_slope, **local_reparam.LOWEST}
FIT = {
    "MLE": lambda: point.fit(x, y, **by_slope),
    "MAP": lambda: point.fit(x, y, prior=prior, **by_slope),
    "BBB": lambda: bbb.fit(x, y, prior=prior, **by_slope),
    "lowest": lambda: local_reparam.fit(x, y, prior=prior, **lowest),
    "emp. Bayes": lambda: empirical_bayes.fit(x, y, tie="all", **by_slope, **empirical_bayes.QUIET),
    "PBP": lambda: pbp.fit(x, y, hidden_units=(20,), epochs=100),
}
fits = {name: fit() for name, fit in FIT.items()}
pred = {name: fit.predict(x_grid, n_samples=500) for name, fit in fits.items()}

# %% slideshow={"slide_type": "fragment"}
stops = {"BBB, 1500 steps": fits["BBB"], "BBB, trained on for 1500": fits["BBB"].refined(),
         "lowest of 16 starts": fits["lowest"]}
print("F:", ", ".join(f"{name} {fit.free_energy:.1f}" for name, fit in stops.items()))
found = fits["lowest"].starts_free_energy
print(f"{np.sum(found < found.min() + 0.5)} of 16 starts agree to half a nat")


# %% [markdown] slideshow={"slide_type": "subslide"}
# The seventh answer is the true posterior, sampled by HMC (chapter 4): same network, same prior, same noise. NUTS, slower, is its check. The reports say whether to believe them. **R-hat** near 1: the chains agree with each other, at the data points and in their log density; it should be below 1.01. **ESS**, the effective sample size, says how many independent draws they are worth, and should be 100 a chain or more (Vehtari et al. 2021). Neither can speak of a mode that no chain has visited, nor, as computed here, of the gap: for that the table of 10.5 has the distance of half of the chains to the others. <!-- from: methods/mcmc.py -->

# %% slideshow={"slide_type": "fragment"}
def sample(seed, n_samples=2000):
    return mcmc.hmc(x, y, prior=prior, seed=seed, n_samples=n_samples, **settings)


hmc = sample(0)
nuts = mcmc.nuts(x, y, prior=prior, n_chains=4, n_warmup=300, n_thin=2, **settings)
pred["HMC"] = hmc.predict(x_grid, n_samples=2000)
print(hmc.report, nuts.report, sep="\n")
assert hmc.converged and nuts.converged and hmc.divergences < 0.05


# %% slideshow={"slide_type": "subslide"}
def band(ax, name):
    plots.draw_predictive(ax, x_grid, pred[name])
    plots.draw_truth(ax, x_grid, truth)
    plots.draw_data(ax, x, y)
    ax.axvspan(low, high, color="#EEEEEE", zorder=0)
    ax.set(ylim=(-24, 24), xlim=(-0.7, 0.7), xlabel="x")
    ax.set_title(name, loc="left", fontsize=13)


fig, axes = plt.subplots(1, 4, figsize=(9.5, 3.6), sharey=True, layout="constrained")
for ax, name in zip(axes, ("BBB", "lowest", "PBP", "HMC"), strict=True):
    band(ax, name)
axes[0].set(ylabel="y")
below = {"loc": "outside lower center", "ncols": 5, "fontsize": 10, "frameon": False}
entries = plots.in_order(*axes[0].get_legend_handles_labels())
legend = fig.legend(*zip(*entries, strict=True), **below)


# %% [markdown] slideshow={"slide_type": "subslide"}
# Look at the grey stripe. BBB and PBP draw one line across it and stand by it, and so does the same Gaussian at its lowest $F$, surer still. The true posterior does not know which way the function goes there, and its band says so. That is *one* data set. Section 10.5 asks which part of it stays on twenty.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 10.2 The gold standard, and a distance to it
#
# "Looks similar" is no measurement. At each $x$, take two predictives as Gaussians over the *function* value, with means $m(x)$ and epistemic standard deviations $\sigma(x)$. Their 2-Wasserstein distance is the least root-mean-square distance by which one has to be moved to become the other, and for Gaussians it is simply the distance of the points $(m, \sigma)$ in the plane. Averaged over $J$ places in a region:
#
# $$\mathrm{distance}(a, b) = \sqrt{\frac1J\sum_{j=1}^{J}\Big[\big(m_a(x_j) - m_b(x_j)\big)^2 + \big(\sigma_a(x_j) - \sigma_b(x_j)\big)^2\Big]}. \tag{10.1}$$
#
# It is in the units of $y$. Which distance is large? Compare it with chance: the distance between two of the four chains and the other two. Each side has half of the draws, so this is about √2 times the distance between two whole runs.

# %% slideshow={"slide_type": "fragment"}
# eq. 10.1
def distance(a, b, mask):
    squares = (a.mean - b.mean) ** 2 + (a.epistemic_std - b.epistemic_std) ** 2
    return np.sqrt(squares[mask].mean())


# For two Gaussians: compare quantile with quantile, which is the cheapest way to move them.
p = (np.arange(100_000) + 0.5) / 100_000
quantiles = [tfd.Normal(np.float64(m), s).quantile(p).numpy() for m, s in ((1.0, 0.5), (0.0, 2.0))]
moved = np.sqrt(np.mean((quantiles[0] - quantiles[1]) ** 2))
assert np.isclose(moved, np.hypot(1.0 - 0.0, 0.5 - 2.0), rtol=1e-3)
assert np.isclose(distance(pred["BBB"], pred["HMC"], gap),
                  calibration.distance(pred["BBB"], pred["HMC"], gap))

# %% slideshow={"slide_type": "subslide"}
two, others = (replace(hmc, weights=w).predict(x_grid) for w in np.split(hmc.weights, 2))
pairs = {name: (p, pred["HMC"]) for name, p in pred.items() if name != "HMC"}
pairs |= {"NUTS": (nuts.predict(x_grid), pred["HMC"]), "HMC, halves": (two, others)}
print(f"{'distance':12}" + "".join(f"{name:>16}" for name in REGIONS))
for name, pair in pairs.items():
    name += " †" * (name in ("MLE", "emp. Bayes", "PBP"))  # another model than that of HMC
    print(f"{name:12}" + "".join(f"{distance(*pair, mask):16.2f}" for mask in masks.values()))


# %% [markdown] slideshow={"slide_type": "subslide"}
# **Whose distance?** HMC samples one model: this network, this prior, this noise. The rows with † have another: MLE has no prior, empirical Bayes has one that it learnt, PBP learnt its prior and its noise. Their distance is one between two models and no measure of how well they approximate their own; the others' is that of an approximation.
#
# A distance says *that* two answers differ. It does not say which one is right: for that, we need data. Over many data sets, every method of the course is further from NUTS in the gap than among the data, <!-- claim: each-is-further-from-nuts-in-the-gap --> and there even the nearest is more than twice as far from it as half the chains from the others. <!-- claim: each-is-further-than-chance -->

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 10.3 Two scores: RMSE and the log score
#
# The **RMSE** compares the predictive mean with the target. It does not look at the spread at all. The **log score** asks for the density that was given to what then happened. For an ensemble of $S$ networks with noise $s$ it is
#
# $$\log p(y \mid x, D) \approx \log \frac1S \sum_{k=1}^S \mathcal N\big(y \mid f(w_k, x),\, s^2\big). \tag{10.2}$$
#
# The mean is inside the logarithm. Numerically that is a `logsumexp` minus $\log S$.

# %% slideshow={"slide_type": "fragment"}
# eq. 10.2
def log_score(samples, noise_std, y):
    """Mean over the draws inside the logarithm: samples [s, m], y [m]."""
    each = -densities.gaussian_nll(y, samples, noise_std**2)
    return logsumexp(each, axis=0) - np.log(len(samples))


draws = pred["BBB"].samples
mine = log_score(draws, 1.0, fresh[0])
assert np.allclose(mine, pred["BBB"].log_prob(fresh[0]))
mixture = tfd.MixtureSameFamily(  # the same, in TFP
    tfd.Categorical(probs=np.full(len(draws), 1 / len(draws))),
    tfd.Normal(draws.T, np.float64(1.0)))
assert np.allclose(mine, mixture.log_prob(fresh[0]))

# %% [markdown] slideshow={"slide_type": "subslide"}
# Why this score? Because on average cheating does not pay. If $y$ comes from $p$ and you announce $q$, you expect
#
# $$\mathbb E_{y\sim p}[\log q(y)] = -\mathrm H[p] - \mathrm{KL}[p\,\|\,q], \tag{10.3}$$
#
# which is largest for $q = p$, and only there: the score is **strictly proper**. To look better you have to *be* better. In nats: a lead of 1 is a factor of $e$ in density, for each test point; a lead of 4.6 is a factor of 100.

# %% slideshow={"slide_type": "fragment"}
# eq. 10.3
y_axis = np.linspace(-12, 12, 4001)
density = np.exp(-densities.gaussian_nll(y_axis, 0.0, 1.0))
entropy = 0.5 * np.log(2 * np.pi * np.e)
for mean, sd in ((0.0, 1.0), (0.0, 3.0), (0.0, 0.4), (0.5, 1.0)):
    expected = np.trapezoid(density * -densities.gaussian_nll(y_axis, mean, sd**2), y_axis)
    kl = densities.gaussian_kl(0.0, 1.0, mean, sd)
    assert np.isclose(expected, -entropy - kl)
    rmse = np.hypot(1, mean)
    print(f"true N(0, 1), announced N({mean}, {sd}²): {expected:.3f} nats, RMSE {rmse:.2f}")


# %% [markdown] slideshow={"slide_type": "subslide"}
# The first three announcements have the *same* RMSE. Saying sd 0.4 where it is 1 costs 1.7 nats a point; saying 3 costs 0.65. Too sure is punished more than too unsure.
#
# Now the seven answers, on new points:

# %% slideshow={"slide_type": "fragment"}
def scores(p):
    """(RMSE, log score) of fresh points in each region."""
    logs = np.mean([p.log_prob(y_new) for y_new in fresh], axis=0)  # [m]
    errors = np.mean((fresh - p.mean) ** 2, axis=0)
    return [(np.sqrt(errors[m].mean()), logs[m].mean()) for m in masks.values()]


table = {name: scores(p) for name, p in pred.items()}
print(f"{'RMSE | log score':12}" + "".join(f"{name:>17}" for name in REGIONS))
for name, row in table.items():
    print(f"{name:16}" + "".join(f"{rmse:9.2f} | {log:6.2f}" for rmse, log in row))


# %% [markdown] slideshow={"slide_type": "subslide"}
# Here is what stays of this table over many data sets.
#
# - Among the data NUTS leads BBB after 1500 steps, but on average by less than three quarters of a nat. <!-- claim: nuts-leads-bbb-a-little-among-the-data -->
# - In the gap NUTS leads this BBB <!-- claim: nuts-leads-bbb-in-the-gap --> and PBP <!-- claim: nuts-leads-pbp-in-the-gap --> by more than two nats a point, and the lowest mean field by more than half a nat. <!-- claim: nuts-leads-the-lowest-mean-field-in-the-gap --> Of all pairs of a method and a data set it wins more than three of four there, <!-- claim: nuts-beats-most-in-the-gap --> and outside more than eight of ten. <!-- claim: nuts-beats-most-outside -->
# - Does every method beat the point estimate? No. Among the data the one MAP network most often scores higher than this BBB, <!-- claim: map-beats-bbb-among-the-data --> and learning the prior's width gains nothing: empirical Bayes is there <!-- claim: eb-gains-nothing-among-the-data --> and outside <!-- claim: eb-gains-nothing-outside --> on average less than 0.3 nats a point above the quiet fit, which was given one (both after 1500 steps). Outside, one network of least squares loses on average more than three nats a point against BBB. <!-- claim: mle-trails-outside -->
# - PBP has to learn the noise from 32 points. After 100 epochs it takes it for one and a half times as loud as it is, or more. <!-- claim: pbp-takes-the-noise-for-louder -->

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 10.4 Calibration: coverage, PIT, reliability
#
# A predictive is **calibrated** if events to which it gives probability $c$ happen with frequency $c$. Take a central interval $[y_-, y_+]$ at level $c$. On data, its **coverage** is the share of targets inside. When the true function is known (a toy problem), no data are needed: a new $y$ is $\mathcal N(f^\*(x), s^2)$, so
#
# $$P(y_- \le y \le y_+) = \Phi\!\left(\frac{y_+ - f^\*(x)}{s}\right) - \Phi\!\left(\frac{y_- - f^\*(x)}{s}\right). \tag{10.4}$$

# %% slideshow={"slide_type": "fragment"}
# eq. 10.4
def expected_coverage(lower, upper):
    return ndtr((upper - truth) / data.noise_std) - ndtr((lower - truth) / data.noise_std)


ends = pred["BBB"].interval(0.95)
exactly = expected_coverage(*ends)
assert np.allclose(exactly, calibration.expected_coverage(truth, 1.0, *ends))
counted = np.mean((ends[0] <= fresh) & (fresh <= ends[1]), axis=0)  # 40 new y at each x
assert abs(counted.mean() - exactly.mean()) < 4 * 0.5 / np.sqrt(fresh.size)

# %% slideshow={"slide_type": "subslide"}
covered = {name: expected_coverage(*p.interval(0.95)) for name, p in pred.items()}
shares = {name: [c[m].mean() for m in masks.values()] for name, c in covered.items()}
print(f"{'95 % interval':14}" + "".join(f"{name:>16}" for name in REGIONS))
for name, row in shares.items():
    print(f"{name:14}" + "".join(f"{share:16.0%}" for share in row))
assert shares["BBB"][1] < shares["BBB"][0] - 0.2  # one number for both would hide it


# %% [markdown] slideshow={"slide_type": "subslide"}
# One level is not enough: 95 % could be right by luck. The **probability integral transform** (PIT) holds all levels at once: feed each target into the distribution function that was announced for it,
#
# $$u_i = F(y_i \mid x_i) = \frac1S\sum_{k=1}^S \Phi\!\left(\frac{y_i - f(w_k, x_i)}{s}\right). \tag{10.5}$$
#
# If the announcements are right, the $u_i$ are uniform on $[0, 1]$. Piled up at both ends: too sure. Piled up in the middle: too unsure. Leaning to one side: biased.

# %% slideshow={"slide_type": "fragment"}
# eq. 10.5
def pit(samples, noise_std, y):
    return ndtr((y - samples) / noise_std).mean(axis=0)


assert np.allclose(pit(draws, 1.0, fresh[0]), calibration.pit(pred["BBB"], fresh[0]))
assert np.allclose(pit(draws, 1.0, fresh[0]), mixture.cdf(fresh[0]))  # TFP again

right = np.random.default_rng(2).standard_normal(20_000)  # announced N(0, 1), and true
u = ndtr(right)
assert np.allclose(np.histogram(u, 10, (0, 1))[0] / 20_000, 0.1, atol=0.012)
assert np.histogram(ndtr(right / 0.5), 10, (0, 1))[0][0] > 2 * 2000  # announced sd 0.5: too sure

# %% slideshow={"slide_type": "subslide"}
values = {name: np.array([calibration.pit(p, y_new) for y_new in fresh])
          for name, p in pred.items()}  # [40, m] each
fig, axes = plt.subplots(1, 3, figsize=(9.5, 3.6), sharey=True, layout="constrained")
for ax, (region, mask) in zip(axes, masks.items(), strict=True):
    for name, color, style in (("BBB", BLUE, "-"), ("PBP", ORANGE, "--"), ("HMC", GREEN, ":")):
        ax.hist(values[name][:, mask].ravel(), np.linspace(0, 1, 11), density=True,
                histtype="step", color=color, label=name, lw=2.4, ls=style)
    ax.axhline(1, color="black", ls="--", lw=1.2)
    panel(ax, region, "PIT value u", "")
label = axes[0].set_ylabel("density (1 is right)")


# %% [markdown] slideshow={"slide_type": "subslide"}
# From the PIT values the coverage of *every* central interval follows. The one at level $c$ runs from the $(1-c)/2$ to the $(1+c)/2$ quantile, so it contains $y_i$ exactly when $|2u_i - 1| \le c$:
#
# $$\mathrm{coverage}(c) = \frac1n\sum_{i=1}^n \mathbb 1\big[\,|2u_i - 1| \le c\,\big]. \tag{10.6}$$
#
# Drawn against $c$, this is the **reliability plot**. Below the diagonal: too sure, or off to one side. *On* the diagonal is necessary for calibration, and not sufficient: central intervals cannot see a forecast that leans to one side at the right rate. Announce $\mathcal N(0, 1)$ while nature draws $y = -|z|$ with $z \sim \mathcal N(0, 1)$: every central interval has its exact coverage, though no target is ever above 0. The PIT shows it.

# %% slideshow={"slide_type": "fragment"}
# eq. 10.6
def reliability(u, levels):
    return np.mean(np.abs(2 * u.ravel() - 1)[:, None] <= levels, axis=0)


levels = np.linspace(0.05, 0.95, 19)
for level in (0.5, 0.95):  # the same as counting targets inside the interval
    lower, upper = pred["BBB"].interval(level)
    inside = np.mean((lower <= fresh) & (fresh <= upper))
    assert abs(inside - reliability(values["BBB"], np.array([level]))[0]) < 1e-3

# %% slideshow={"slide_type": "subslide"}
styles = {"MAP": ("-.", "black"), "BBB": ("-", BLUE), "emp. Bayes": (":", plots.PURPLE),
          "PBP": ("--", ORANGE), "HMC": ("o-", GREEN)}
fig, axes = plt.subplots(1, 3, figsize=(9.5, 4.0), sharey=True, layout="constrained")
for ax, (region, mask) in zip(axes, masks.items(), strict=True):
    ax.plot([0, 1], [0, 1], color="#999999", lw=1.2)
    for name, (style, color) in styles.items():
        share = reliability(values[name][:, mask], levels)
        ax.plot(levels, share, style, color=color, label=name, ms=4)
    ax.set(xlabel="level c of the interval")
    ax.set_title(region, loc="left", fontsize=13)
axes[0].set(ylabel="share of new points inside")
legend = fig.legend(*axes[0].get_legend_handles_labels(), **below)

# %% [markdown] slideshow={"slide_type": "subslide"}
# Three warnings.
#
# **Coverage is not everything.** Announce the same $\mathcal N(\bar y, \mathrm{sd}(y)^2)$ everywhere: the next cell finds 95 % and more inside your 95 % interval. It is useless all the same, and at other levels it is not even calibrated. Among calibrated forecasts prefer the *sharp* one; the log score weighs both.
#
# **Averages hide.** Coverage over all $x$ mixes too wide with too narrow. PBP shows it: 96 % and more are covered among the data, <!-- claim: pbp-covers-too-much-among-the-data --> and on average fewer than two fifths in the gap. <!-- claim: pbp-misses-the-gap -->
#
# **One true function is one draw.** All the new points in the gap share *one* function. Where the true function runs above the posterior mean, that one deviation is counted at every point, and even the PIT of a perfect method leans. A posterior is calibrated on average over the functions that its prior could have given, not for each single one (shown in 10.11).

# %% slideshow={"slide_type": "fragment"}
spread = fresh.std()
dull = expected_coverage(*(fresh.mean() + 1.96 * spread * np.array([[-1.0], [1.0]])))
dull_score = -densities.gaussian_nll(fresh, fresh.mean(), spread**2).mean()
hmc_score = np.mean([pred["HMC"].log_prob(y_new).mean() for y_new in fresh])
u_dull = ndtr((fresh - fresh.mean()) / spread)
at = reliability(u_dull, np.array([0.5, 0.65, 0.95]))
print("dull forecast covers", ", ".join(f"{c:.0%}" for c in at), "at 50, 65 and 95 %")
print(f"its log score {dull_score:.2f}; HMC {hmc_score:.2f}")
assert at[0] < 0.45 < 0.95 < at[2]
assert dull.mean() > 0.9 and dull_score < hmc_score - 0.5


# %% [markdown] slideshow={"slide_type": "slide"}
# ## 10.5 No conclusion from one run
#
# All tables so far come from one data set and one start a method. Take $K$ *worlds*, each a data set and a start of its own, and compare **in pairs**: both methods meet the same world, and what makes a world hard for both drops out. With the difference $d_i$ in world $i$,
#
# $$\bar d \pm \frac{\mathrm{sd}(d)}{\sqrt K}, \qquad \bar d = \frac1K\sum_{i=1}^K d_i, \quad \mathrm{sd}(d)^2 = \frac1{K-1}\sum_{i=1}^K (d_i - \bar d)^2. \tag{10.7}$$
#
# A mean that is not two standard errors from 0 says: these worlds do not decide. Here are twenty worlds of our problem, and in each of them NUTS and all methods of the course.

# %% slideshow={"slide_type": "fragment"}
# eq. 10.7
def standard_error(d):
    return d.std(ddof=1) / np.sqrt(len(d))


def paired(one, other, region, what="lost"):
    """Mean of `other − one` over the worlds, and its standard error."""
    d = np.array([w[f"{other}-{region}-{what}"] - w[f"{one}-{region}-{what}"] for w in worlds])
    return d.mean(), standard_error(d), d


stored = rivals.read()
worlds = stored.worlds
mean, error, d = paired("map", "bbb", "gap")  # nats lost: positive where MAP is better
print(f"log score in the gap, MAP − BBB: {mean:.1f} ± {error:.1f} nats a point")
assert np.isclose(mean, np.mean([w["bbb-gap-lost"] for w in worlds])
                  - np.mean([w["map-gap-lost"] for w in worlds]))

# %% [markdown] slideshow={"slide_type": "subslide"}
# > **Illusion of one run.** "On our data MAP beats BBB (both after 1500 steps) in the gap", or "BBB beats MAP in the gap": whoever has one data set can publish either, with nats to spare. Look at six of them.

# %% slideshow={"slide_type": "fragment"}
fig, ax = plt.subplots(figsize=(9.5, 3.4), layout="constrained")
ax.bar(range(6), d[:6], color=plots.SKY, label="six data sets")
ax.bar(range(6, 20), d[6:], color="#CCCCCC", label="fourteen more")
ax.axhline(0, color="black", lw=1)
ax.axhspan(mean - 2 * error, mean + 2 * error, color=ORANGE, alpha=0.25, label="mean ± 2 SE")
ax.set(xticks=range(20))
panel(ax, "Log score in the gap, MAP − BBB", "world", "nats a point", loc="lower right")
print(f"MAP ahead in {np.sum(d > 0)} of 20; median {np.median(d):.1f} nats; mean {mean:.1f} ± "
      f"{error:.1f}, without MAP's worst world {d[d > d.min()].mean():.1f}")
assert d.min() < -1 and d.max() > 1  # either winner, by more than a nat

# %% [markdown] slideshow={"slide_type": "subslide"}
# Which of the two is ahead depends on the data set: MAP on more than half of them, BBB on more than one in twenty. <!-- claim: map-and-bbb-trade-places-in-the-gap -->
#
# **Mean or median?** These twenty worlds leave the *mean* undecided: in a few of them MAP loses many nats, and without the worst one alone the mean has another sign. The *median* does not hear how large a loss is. In many data sets the median lead is MAP's. <!-- claim: map-leads-bbb-by-the-median-in-the-gap --> The two answer different questions: the median, who is ahead on a data set like this one; the mean, who loses less in the long run. Say which one you report. The tables below print medians and, in brackets, the sixth lowest and the sixth highest of the twenty worlds: fewer than six of twenty fall on one side of the true median with a probability of 2 %, so it lies between them with 96 %.
#
# Coverage is luck, too: between the best and the worst of ten, the share of the gap inside MAP's interval changes by more than a half, as the line happens to bend. <!-- claim: map-covers-the-gap-by-luck -->
#
# What holds in most data sets, or on average, is worth a sentence. The interval of NUTS holds on average more than seven tenths of the gap, <!-- claim: nuts-covers-the-gap --> since its band is more than two and a half times as wide there as among the data. <!-- claim: nuts-widens-in-the-gap --> That of BBB after 1500 steps does not become one and a half times as wide, <!-- claim: bbb-does-not-widen-in-the-gap --> that of the lowest mean field not one and a quarter times. <!-- claim: the-lowest-mean-field-does-not-widen-in-the-gap -->

# %% slideshow={"slide_type": "fragment"}
width = {key: np.mean([w[f"{key}-gap-sd"] / w[f"{key}-data-sd"] for w in worlds])
         for key in ("nuts", "bbb", "trained_on", "lowest")}
print("sd in the gap over sd among the data:", {k: f"{v:.2f}" for k, v in width.items()})

# %% [markdown] slideshow={"slide_type": "subslide"}
# **All methods** (the new ones are from [chapter 8](08_ensembles_laplace_and_sampling.ipynb)): distance (10.1) to NUTS, and $F$ in nats of those that minimise the same one. The last line is half of NUTS against the other half; the line above it is HMC, a second sampler of the same posterior. The rows with † have another model than NUTS (10.2); the infinitely wide network learns no features. A world redraws the noise on y and every start: the 32 x and the sine are the same in all, and other problems are not sampled. NUTS is run until it has converged, at most eight times as long; the first line says in how many worlds it has.

# %% slideshow={"slide_type": "fragment"}
print(stored.converged)
print(rivals.as_text(stored, "distance to NUTS"))
far = stored.of("laplace-outside")
print(f"\nLaplace outside: median {np.median(far):.2f}; mean {np.mean(far):.2f}, "
      f"{max(far) / 20:.2f} of which is one world")

# %% [markdown] slideshow={"slide_type": "subslide"}
# - **In the gap a sampler comes nearest.** SGHMC is less than half as far from NUTS as BBB after 1500 steps, <!-- claim: sghmc-is-far-nearer-than-one-gaussian --> and the nearest of all is on average still more than three fifths as far as SGHMC. <!-- claim: none-comes-much-nearer-than-sghmc-in-the-gap --> Among the data it scores less than a tenth of a nat below NUTS. <!-- claim: sghmc-scores-as-nuts-among-the-data --> Outside the median of full Laplace is the least; its mean is not, since in one world it is far off.
# - **Several networks, then.** An ensemble of ten MAP networks is nearer to NUTS in the gap than one of its kind. <!-- claim: an-ensemble-is-nearer-than-one-of-its-kind --> Anchors open it where there are no data: outside, its interval holds over a tenth more of the new points than without. <!-- claim: anchors-hold-more-outside -->
# - **Columns do not help** in 1500 steps: a Gaussian with five columns of correlations is as far from NUTS in the gap as one without, within a half. <!-- claim: columns-do-not-bring-it-nearer -->
#
# **Early stopping is a posterior of its own.** The rows *BBB* (twice), *quiet* and *lowest* minimise one $F$ over one family. After 1500 steps BBB is more than 20 nats above the lowest $F$. <!-- claim: bbb-stops-far-above-the-lowest --> 1500 steps more bring it nearer to NUTS in the gap, to less than three quarters of the distance. <!-- claim: training-on-brings-bbb-nearer-in-the-gap --> At the lowest $F$ it is further away again, <!-- claim: the-lowest-mean-field-is-further-than-a-stopped-one --> and surer in the gap than where it first stopped. <!-- claim: the-lowest-mean-field-is-surest-in-the-gap --> So "BBB" alone does not name a row. A row is a family, a start, and the step at which training stopped. An optimiser that has not arrived draws from a distribution which neither $F$ nor the prior names (Maclaurin et al. 2015 bound its evidence). If a stopped fit looks better than the optimum, the credit is not the family's.

# %% slideshow={"slide_type": "fragment"}
print(rivals.as_text(stored, "% in the 95 % interval"))

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Why coverage is not enough.** Two rows of this table look better by coverage than they are.
#
# - *Outside*, MC dropout holds more of the new points than one MAP network does, <!-- claim: dropout-holds-more-outside-than-map --> and its mean is further from the true function. <!-- claim: dropout-errs-more-outside-than-map --> It is biased, and wide enough to hide it. In the gap it holds fewer than a fifth. <!-- claim: dropout-misses-the-gap -->
# - *In the gap*, full Laplace holds more than half, <!-- claim: a-full-laplace-holds-the-gap --> and its distance to NUTS there is on average still more than three fifths of that of one bare MAP network. <!-- claim: a-full-laplace-is-no-nearer-than-its-mode -->
#
# A wrong mean can be paid for with width. So look at the bias as well, and at a score that charges for both. By that score both still beat MAP there, <!-- claim: dropout-scores-higher-outside-than-map, a-full-laplace-scores-higher-in-the-gap-than-its-mode --> since too wide costs less than too sure: what is wrong with them is their distance to the posterior.

# %% slideshow={"slide_type": "fragment"}
print(f"{'outside':20}{'held':>8}{'bias':>8}{'sd':>8}{'NLL':>8}")
for key in ("map", "dropout", "anchored", "sgmcmc", "nuts"):
    share, error, sd, nats = (np.median(stored.of(f"{key}-outside-{what}"))
                             for what in ("covered", "error", "sd", "lost"))
    print(f"{rivals.LABELS[key]:20}{share:8.0%}{error:8.2f}{sd:8.2f}{nats + entropy:8.2f}")

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Why is the gap not seen?** A family without correlations stays away from NUTS however long it is trained; <!-- claim: under-a-wide-prior-the-family-stays-away --> and with the prior $\mathcal N(0, 1)$ NUTS itself sees next to nothing of the gap. <!-- claim: nuts-misses-the-gap-under-a-narrow-prior --> [Chapter 4](04_how_right_is_it.ipynb) splits the distance into its parts. All that is said here holds for *this* prior, $\mathcal N(0, 3^2)$, and this network.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 10.6 What it costs, and what that buys
#
# One refit of each, once compiled, beside the distance to NUTS in the gap. (The times are stored ones; those of your machine differ.)

# %% slideshow={"slide_type": "subslide"}
fig, ax = plt.subplots(figsize=(9.5, 5.0), layout="constrained")
for key, label in rivals.LABELS.items():
    far = np.sort(stored.of(f"{key}-gap"))
    middle = np.median(far)
    bar = {"yerr": [[middle - far[5]], [far[14] - middle]], "ms": 7, "capsize": 3}
    ax.errorbar(stored.milliseconds[key], middle, fmt="o", color=BLUE, **bar)
    left = key in ("mle", "map", "bbb", "dropout", "swag", "anchored")
    low = key in ("map", "swag", "trained_on", "ensemble", "local")
    place = (-7 if left else 7, -12 if low else 4)
    ax.annotate(label, (stored.milliseconds[key], middle), place, fontsize=10,
                textcoords="offset points", ha="right" if left else "left")
ax.set(xscale="log", ylim=(0, None), xlim=(0.04, 20_000))
ax.set(xlabel="one refit, milliseconds (log scale)", ylabel="distance to NUTS in the gap, median")
title = ax.set_title("To the left: cheap. Below: near NUTS", loc="left", fontsize=13)

# %% [markdown] slideshow={"slide_type": "subslide"}
# How it *grows* matters more. With $n$ points and $W$ weights, a step of gradient descent costs $O(nW)$, or $O(BW)$ with minibatches of $B$. PBP takes $n$ steps of $O(W)$ an epoch, one after the other. NUTS evaluates the *whole* data set up to 255 times for each transition (its longest path here), and between the many modes of a network no chain can be relied upon to travel: it is a tool for small networks.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 10.7 BBB or PBP?
#
# | | BBB | PBP |
# |---|---|---|
# | what it minimises | $\mathrm{KL}[q\,\|\,p]$, globally, by sampled gradients | matches moments of $q$ times one likelihood term, point by point (assumed density filtering) |
# | of two separate modes, alike | may keep one (*Mistakes in circulation*) | spreads over both, in one exact update |
# | you choose | prior, noise, learning rate, steps, draws | number of epochs |
# | the noise | given, or [learnt](11_how_loud_is_the_noise.ipynb) | learnt, with its own Gamma posterior |
# | prediction | average over drawn networks | closed form, no sampling error |
# | architecture | anything that can be differentiated | layers whose moments someone has derived (ReLU, linear) |
# | data | minibatches, any loss | one point at a time, regression |
# | objective to watch | free energy, a bound on −log evidence | none; log Z of the next point |
#
# One character trait has to be seen. PBP goes through the data *again and again*, and each pass treats the points as new ones. After $E$ epochs the noise's Gamma has counted about $E\,n$ points ($\alpha \approx En/2$, chapter 7). Here, on our one data set:

# %% slideshow={"slide_type": "subslide"}
epochs, among = (1, 10, 40, 100, 400), masks["among the data"]
passes = {e: pbp.fit(x, y, hidden_units=(20,), epochs=e) for e in epochs}
for e, fit in passes.items():
    p = fit.predict(x_grid)
    sd, error = p.epistemic_std[among].mean(), metrics.rmse(truth[among], p.mean[among])
    print(f"{e:4} epochs: α = {fit.alpha:6.0f} (n·E/2 = {16 * e:5}), noise {fit.noise_std:.2f}, "
          f"epistemic sd {sd:.2f}, RMSE to the true function {error:.2f}")

# %% [markdown] slideshow={"slide_type": "subslide"}
# So the number of epochs plays two roles. From 40 epochs to 400, PBP lowers its estimate of the noise <!-- claim: pbp-lowers-the-noise-with-epochs --> and becomes twice as sure and more, <!-- claim: pbp-grows-surer-with-epochs --> on the same 32 points. Nothing in the method says where to stop.
#
# **Which to use when**, measured: nats a point ahead of BBB after 1500 steps (behind it if negative), in pairs. Dots are the twenty worlds, the diamond their median, the bar runs from the sixth lowest to the sixth highest. Where the bar crosses 0, these worlds do not decide; of so many bars two or so would miss it by luck alone.

# %% slideshow={"slide_type": "subslide"}
fig, axes = plt.subplots(1, 3, figsize=(12, 6.4), sharey=True, layout="constrained")
for ax, region in zip(axes, ("data", "gap", "outside"), strict=True):
    ahead = {name: paired(key, "bbb", region)[2] for key, name in rivals.LABELS.items()
             if key != "bbb"}
    plots.draw_forest(ax, ahead, rivals.median_and_limits)
    ax.set_xscale("symlog", linthresh=0.2)
    ax.set_xticks((-10, -1, 0, 1, 10), ("−10", "−1", "0", "1", "10"))
    words = ax.set(title=region, xlabel="nats a point ahead of BBB", xlim=(-60, 60))

# %% [markdown] slideshow={"slide_type": "subslide"}
# Read the bars that cross 0 first: they are what one seed would have turned into a ranking. What the worlds do say:
#
# - **You can afford NUTS** (tens to hundreds of weights, not too many points): use it, and read R-hat and ESS. Its lead over BBB after 1500 steps and PBP is more than two nats a point in the gap, <!-- claim: nuts-leads-bbb-in-the-gap, nuts-leads-pbp-in-the-gap --> and more than one and a half outside. <!-- claim: nuts-leads-bbb-outside, nuts-leads-pbp-outside -->
# - **You have a tenth of a second, not seconds**: SGHMC, less than half as far from it in the gap as that BBB. <!-- claim: sghmc-is-far-nearer-than-one-gaussian --> Its chains must be watched as those of NUTS; at this length they have not converged (section 8.6).
# - **You have code that trains one network**: train ten, <!-- claim: an-ensemble-is-nearer-than-one-of-its-kind --> with anchors where test points may lie outside the data. <!-- claim: anchors-hold-more-outside -->
# - **A network is trained already**: Laplace costs next to nothing more at this size (its full covariance grows as $W^2$, its time as $W^3$: a large network takes the last layer, or a covariance with structure); walk to the mode first, and read its width in a gap as a warning, not as an answer.
# - **MC dropout** not where a gap matters, <!-- claim: dropout-misses-the-gap --> **one network of least squares** not where test points may lie outside the data. <!-- claim: mle-trails-outside -->
# - **Only points like the training points matter**: the MAP network most often scores higher than that BBB. <!-- claim: map-beats-bbb-among-the-data -->
# - **BBB or PBP in a gap**: neither; BBB after 1500 steps and PBP cover on average fewer than two fifths of it, <!-- claim: bbb-misses-the-gap, pbp-misses-the-gap --> the lowest mean field fewer than three quarters. <!-- claim: the-lowest-mean-field-misses-the-gap -->
# - **A large network, or layers that nobody has derived moments for**: all but PBP, the infinite width and full Laplace need gradients only. PBP needs no learning rate, and learns the noise.
#
# This is one problem with one network. Of others it says nothing: repeat it on yours, in pairs.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 10.8 Acting on it: Thompson sampling
#
# Uncertainty pays when there is something to *decide*. In a **contextual bandit** you see a context, choose an action, and learn the reward of the chosen action only. Here is a mushroom stand in the manner of Blundell et al. (synthetic, and with rewards of our own): each mushroom is of one of ten kinds, and you see which. Leave it: reward 0. Eat it: +5 if it is edible; if it is poisonous, −15 or +5 with equal chances. Some kinds are mostly edible, some mostly not, one never; even that one harms only every second time.

# %% slideshow={"slide_type": "fragment"}
RUNS, ROUNDS, D = 40, 2000, 10
rng = np.random.default_rng(4)
safe = np.array([0.95, 0.9, 0.85, 0.8, 0.75, 0.3, 0.2, 0.1, 0.1, 0.0])  # P(edible) of each kind
kind = rng.integers(0, D, (ROUNDS, RUNS))
seen = np.eye(D)[kind]  # what the agent sees [round, run, kind]: one 1, the rest 0
edible = safe[kind]
pays = 5 * edible - 5 * (1 - edible)  # expected reward of eating; leaving it pays 0
harmed = (rng.random(kind.shape) > edible) & (rng.random(kind.shape) < 0.5)
reward = np.where(harmed, -15.0, 5.0)  # what eating it would bring
print(f"worth eating: {np.mean(pays > 0):.0%} of the mushrooms; eating all: {pays.mean():.2f} each")

# %% [markdown] slideshow={"slide_type": "subslide"}
# The agent models the reward of eating as $w^\top x$ plus noise: a Bayesian linear model, exact at every moment (chapter 1). It eats, sees a reward, and updates. **Greedy** acts on the posterior mean. **Thompson sampling** draws *one* $w$ from the posterior and acts as if it were true. By construction it chooses an action exactly as often as it believes that action to be the best:
#
# $$P(a_t = a) = P\big(a = \operatorname*{arg\,max}_{a'} r_{a'}(w, x_t) \,\big|\, D_t\big). \tag{10.8}$$

# %% slideshow={"slide_type": "fragment"}
# eq. 10.8
m_w, root = np.array([0.5, -0.2]), np.array([[1.0, 0.0], [0.6, 0.5]])  # posterior N(m, L Lᵀ)
context = np.array([1.0, 1.0])
w_draws = m_w + np.random.default_rng(5).standard_normal((200_000, 2)) @ root.T
chosen = np.mean(w_draws @ context > 0)  # how often a draw says "eat"
sd = np.linalg.norm(context @ root)
belief = ndtr(context @ m_w / sd)  # P(eating is better | D), exactly
print(f"eats {chosen:.1%} of the time, believes in it with probability {belief:.1%}")
assert abs(chosen - belief) < 4 * 0.5 / np.sqrt(200_000)

# %% [markdown] slideshow={"slide_type": "subslide"}
# After each meal, the posterior $\mathcal N(\Lambda^{-1} b, \Lambda^{-1})$ takes in one more point. With noise variance $s^2$:
#
# $$\Lambda \leftarrow \Lambda + \frac{x x^\top}{s^2}, \qquad b \leftarrow b + \frac{x\, r}{s^2}. \tag{10.9}$$

# %% slideshow={"slide_type": "fragment"}
# eq. 10.9
NOISE, PRIOR = 8.0, 5.0  # sd of the rewards around their mean; sd of each weight before any meal


def update(precision, b, x, r, ate):
    """One meal of each run: precision [run, d, d], b [run, d], x [run, d], r [run]."""
    x = x * ate[:, None]  # a mushroom that is left teaches nothing
    return precision + x[:, :, None] * x[:, None, :] / NOISE**2, b + x * r[:, None] / NOISE**2


precision, b = np.eye(D)[None] / PRIOR**2, np.zeros((1, D))
for t in range(50):
    precision, b = update(precision, b, seen[t, :1], reward[t, :1], np.ones(1))
at_once = exact.linear_regression(seen[:50, 0], reward[:50, 0], prior_std=PRIOR, noise_std=NOISE)
assert np.allclose(np.linalg.solve(precision[0], b[0]), at_once.mean)
assert np.allclose(np.linalg.inv(precision[0]), at_once.cov)


# %% [markdown] slideshow={"slide_type": "subslide"}
# What is lost by not knowing is the **regret**: the expected reward of the best action minus that of the chosen one, added up,
#
# $$R_t = \sum_{j=1}^t \Big( \max_a \bar r_a(x_j) - \bar r_{a_j}(x_j) \Big). \tag{10.10}$$
#
# A third agent, **ε-greedy**, is greedy, but in 5 % of the rounds a coin decides.

# %% slideshow={"slide_type": "fragment"}
# eq. 10.10
def play(policy, seed=6):
    """Regret of each run after each round [round, run]."""
    rng, lost = np.random.default_rng(seed), []
    precision, b = np.tile(np.eye(D) / PRIOR**2, (RUNS, 1, 1)), np.zeros((RUNS, D))
    for x_t, r_t, pays_t in zip(seen, reward, pays, strict=True):
        mean = np.linalg.solve(precision, b[..., None])[..., 0]
        ate = policy(x_t, mean, precision, rng)
        lost.append(np.maximum(pays_t, 0) - pays_t * ate)  # eq. 10.10: never negative
        precision, b = update(precision, b, x_t, r_t, ate)
    return np.cumsum(lost, axis=0)


always = play(lambda x, *_: np.ones(RUNS))
assert np.allclose(always[-1], np.sum(np.maximum(-pays, 0), axis=0)) and (always >= 0).all()


# %% slideshow={"slide_type": "subslide"}
def greedy(x, mean, precision, rng):
    return (np.sum(x * mean, axis=1) >= 0).astype(float)


def epsilon_greedy(x, mean, precision, rng):
    explore = rng.random(RUNS) < 0.05
    return np.where(explore, rng.random(RUNS) < 0.5, greedy(x, mean, precision, rng))


def thompson(x, mean, precision, rng):
    root = np.linalg.cholesky(precision)  # Λ = L Lᵀ, so L⁻ᵀ ε has covariance Λ⁻¹
    eps = rng.standard_normal((RUNS, D, 1))
    w = mean + np.linalg.solve(root.swapaxes(1, 2), eps)[..., 0]
    return (np.sum(x * w, axis=1) >= 0).astype(float)


# %% slideshow={"slide_type": "subslide"}
policies = {"greedy": (greedy, "-.", RED), "ε-greedy, 5 %": (epsilon_greedy, "--", ORANGE),
            "Thompson": (thompson, "-", BLUE)}
regret = {name: play(policy) for name, (policy, *_) in policies.items()}
fig, ax = plt.subplots(layout="constrained")
for name, (_, style, color) in policies.items():
    mean, error = regret[name].mean(axis=1), regret[name].std(axis=1) / np.sqrt(RUNS)
    ax.plot(mean, style, color=color, label=name)
    ax.fill_between(range(ROUNDS), mean - 2 * error, mean + 2 * error, color=color, alpha=0.2)
    late = (mean[-1] - mean[-500]) / 500
    print(f"{name:14} regret {mean[-1]:6.0f} ± {error[-1]:.0f}; at the end {late:.2f} a round")
panel(ax, "Thompson sampling loses less and less", "mushroom", "regret (± 2 SE over 40 runs)")

# %% [markdown] slideshow={"slide_type": "subslide"}
# Over 2000 rounds Thompson sampling loses less than both others, <!-- claim: thompson-loses-least --> and in the last 500 it loses less than half of what the better of them still loses. <!-- claim: thompson-loses-little-in-the-end --> The reason is in (10.8). A greedy agent that meets bad mushrooms of a good kind early may never eat of that kind again, and so never learns that it was wrong. ε-greedy keeps paying for its experiments, needed or not. Thompson sampling explores *where it is unsure*, and the posterior narrows as it eats.
#
# **With a network** in the place of the linear model the recipe is the same: one draw of the weights per decision (Blundell et al. 2015). By (10.8) it explores as much as its posterior is unsure: one that is too sure explores too little. Where is that so? In our gap. A stand offers things with a context $x$, uniform on $[-\tfrac12, \tfrac12]$. To take one costs 8 and brings $10\sin 2\pi x$ and noise: it pays round the peak only, where nobody has measured. Every agent knows the 32 points; it is fitted anew after 10, 20, 40 and 80 of 160 rounds.

# %% slideshow={"slide_type": "subslide"}
print(inspect.getsource(network_bandits.play))
some = ("greedy", "bbb", "lowest", "hmc")
lost = {agent: network_bandits.play(agent, World(2)) for agent in some}
named = {**rivals.LABELS, "greedy": "greedy (MAP)", "hmc": "true posterior (HMC)"}
print({named[agent]: round(float(regret[-1]), 1) for agent, regret in lost.items()})

# %% [markdown] slideshow={"slide_type": "subslide"}
# That is one data set. Forty are stored; "beside" is in pairs.

# %% slideshow={"slide_type": "subslide"}
forty = claims.measured("network-bandits").values()
fig, ax = plt.subplots(figsize=(9.5, 3.8), layout="constrained")
total = {agent: np.array([world[agent] for world in forty]) for agent in network_bandits.AGENTS}
print(f"{'regret':24}mean     beside greedy     beside HMC")
for agent, regrets in total.items():
    columns = (regrets, regrets - total["greedy"], regrets - total["hmc"])
    print(f"{named[agent]:20}",
          "".join(f"{each.mean():8.1f} ± {standard_error(each):3.1f}" for each in columns))
plots.draw_forest(ax, {named[a]: regrets - total["hmc"] for a, regrets in total.items()
                       if a != "hmc"})
ax.set(xlabel="regret above that of the true posterior (dots: worlds; bar: mean ± 2 SE)")
title = ax.set_title("Who is unsure in the gap finds what is there", loc="left", fontsize=13)


# %% [markdown] slideshow={"slide_type": "subslide"}
# BBB after 1500 steps and MC dropout are sure of themselves in the gap, and wrong. The control is the greedy network. Thompson sampling with this BBB loses less than the greedy network on fewer than one data set in five. <!-- claim: bbb-explores-too-little --> On more than one in ten the two are tied, down to the last choice that counts. <!-- claim: bbb-often-acts-as-if-greedy --> On average it loses more, <!-- claim: bbb-loses-more-than-greedy --> as does MC dropout. <!-- claim: dropout-explores-too-little --> But this is BBB where it stopped. Trained on, the same BBB loses less than before; <!-- claim: training-on-explores-more --> at its lowest $F$ the family loses more again. <!-- claim: the-lowest-mean-field-explores-less-than-a-stopped-one --> Compared with the greedy network neither is decided: trained on, BBB is ahead in these worlds, and in twenty others not clearly.
#
# Draws of the posterior (HMC, until R-hat is at most 1.02, in the gap, too) lose less than greedy <!-- claim: the-posterior-loses-less-than-greedy --> and than the lowest mean field; <!-- claim: the-posterior-loses-less-than-the-lowest-mean-field --> whether less than full Laplace, too, is undecided. Of the others an anchored ensemble, <!-- claim: anchored-members-lose-less-than-greedy --> a full Laplace <!-- claim: laplace-loses-less-than-greedy --> and a plain ensemble <!-- claim: an-ensemble-loses-less-than-greedy --> gain on greed. Beside BBB after 1500 steps the first loses less than two thirds, <!-- claim: anchored-members-find-the-peak --> and Laplace less: <!-- claim: laplace-finds-the-peak --> a band that is too wide costs trials; one that is too narrow may never make the one that is needed. In theory a small error of inference can cost regret in every round (Phan et al. 2019); one that is bounded in two senses need not, in linear bandits (Huang et al. 2024). On other problems the order may differ (Riquelme et al. 2018). <!-- from: methods/mcmc.py -->

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 10.9 A level that is counted: conformal bands
#
# Can one have the 95 % without trusting any posterior? Yes, for points *like those one has*. Keep $n$ points out of the training. Score each of them by how many of the method's own standard deviations it is off, $z_i = |y_i - m(x_i)|/\sigma(x_i)$, and take as factor the
#
# $$k = \big\lceil (n + 1)\,c \big\rceil\text{-th smallest of } z_1, \dots, z_n. \tag{10.11}$$
#
# The band $m(x) \pm z_{(k)}\,\sigma(x)$ holds a new point with probability $c$ at least and, if no two scores are equal, $c + 1/(n+1)$ at most, whatever the method: if the new point is drawn as the $n$ were, its score is equally likely to have each of the $n + 1$ ranks among theirs (Lei et al. 2018). If $k > n$, no finite band keeps the promise. The probability is over everything, the $n$ points included.

# %% slideshow={"slide_type": "fragment"}
# eq. 10.11
def conformal_factor(scores, level):
    rank = int(np.ceil((len(scores) + 1) * level - 1e-9))  # 30 of 33, not 31: 33 · 0.9 is not exact
    return np.sort(scores)[rank - 1]


many = np.random.default_rng(9).standard_exponential((20_000, 33))  # any distribution will do
inside = [new <= conformal_factor(old, 0.9) for *old, new in many]
print(f"new score within the factor: {np.mean(inside):.4f} of the time; 30/33 = {30 / 33:.4f}")
assert abs(np.mean(inside) - 30 / 33) < 0.008

# %% [markdown] slideshow={"slide_type": "subslide"}
# **And with the one set that you have?** Then the share that the band holds is some number. The scores' distribution function makes the scores uniform on [0, 1], and the share is the $k$-th smallest of $n$ uniform numbers: drawn from $\mathrm{Beta}(k,\, n + 1 - k)$ (Vovk 2012). On average that is $k/(n+1)$, as promised. But for 32 points and $c = 0.9$ it is Beta(30, 3):

# %% slideshow={"slide_type": "fragment"}
by_one_set = beta(30, 3)
print(f"held with one set of 32: {by_one_set.mean():.3f} on average, sd {by_one_set.std():.3f}; "
      f"below 85 % with probability {by_one_set.cdf(0.85):.2f}")
found = np.array([1 - np.exp(-conformal_factor(old, 0.9)) for old in many[:, :32]])
assert np.isclose(found.mean(), by_one_set.mean(), atol=0.002)
assert np.isclose(found.std(), by_one_set.std(), atol=0.002)
assert np.isclose(np.mean(found < 0.85), by_one_set.cdf(0.85), atol=0.01)

# %% [markdown] slideshow={"slide_type": "subslide"}
# With 32 points one band in eight holds less than 85 % where it says 90.
#
# Now with the networks of section 10.1, which have seen the 32 points, and 32 fresh ones of the same kind, without any in the gap. Every level at once; `level` is yours to move:

# %% slideshow={"slide_type": "subslide"}
rng = np.random.default_rng(10)
away = rng.uniform(-0.5, 0.5, 200)
away = away[(away < low) | (away > high)][:32, None]  # none in the gap, as in training
scores_of = {}
for name in ("MAP", "BBB", "PBP"):
    p = fits[name].predict(away)
    missed = data.truth(away)[:, 0] + rng.standard_normal(32) - p.mean
    scores_of[name] = np.abs(missed) / p.total_std


def held(name, level):
    """Share of new points in the conformal band, at each x of the grid."""
    p = pred[name]
    reach = conformal_factor(scores_of[name], level) * p.total_std
    return expected_coverage(p.mean - reach, p.mean + reach)


# %% slideshow={"slide_type": "subslide"}
fig, axes = plt.subplots(1, 2, figsize=(9.5, 4.0), sharey=True, layout="constrained")
for ax, region in zip(axes, REGIONS[:2], strict=True):
    ax.plot([0, 1], [0, 1], color="#999999", lw=1.2)
    for name in scores_of:
        style, color = styles[name]
        shares = [held(name, c)[masks[region]].mean() for c in levels]
        ax.plot(levels, shares, style, color=color, label=name)
    panel(ax, f"{region}, conformal", "level c", "")
label = axes[0].set_ylabel("share of new points inside")

# %% slideshow={"slide_type": "fragment"}
level = 0.9  # change it, and run the cell again: 0.5, 0.8, 0.95
for name in scores_of:
    inside = held(name, level)
    print(f"{name}: its own sds times {conformal_factor(scores_of[name], level):.2f}; holds",
          ", ".join(f"{inside[mask].mean():.0%} {region}" for region, mask in masks.items()))

# %% [markdown] slideshow={"slide_type": "subslide"}
# Among the data the bands of the three hold their level, on average over methods and data sets. <!-- claim: conformal-bands-hold-their-level --> In the gap the best of the three still falls short of three quarters at 90 %. <!-- claim: conformal-bands-miss-the-gap --> The proof says why: a point in the gap is *not* drawn as the others were. The promise is **marginal**, an average over all $x$ as they come. Nothing that is counted where there are points can say what is where there are none; a posterior at least has an opinion there.
#
# In the explorer, *conformal* draws these ends over the bands, and *level* moves them; nothing is fitted anew. It counts on 99 points: each percent is then one rank of a hundred. Over levels from 50 to 99 % and the three methods, what is held among the data is on average within 0.03 of the level; <!-- claim: counted-bands-hold-any-level --> at 99 % BBB after 1500 steps and PBP hold on average fewer than six tenths of the gap. <!-- claim: no-level-mends-the-gap-for-bbb-and-pbp -->

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 10.10 Play
#
# The explorer again, with all its sliders:

# %% tags=["explorer"] slideshow={"slide_type": "subslide"}
explorer

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Look at this**
#
# - Twelve of the methods of section 10.5 are behind *more*. Their own options (members, rate, rank, temperature) are in `RivalsExplorer`, in [chapter 8](08_ensembles_laplace_and_sampling.ipynb).
# - *gap* to 0.4: the orange diamonds gather near the left edge. <!-- claim: a-wide-gap-is-missed-by-all -->
# - *noise σ* up to 3: PBP covers more of the gap. <!-- claim: loud-noise-helps-pbp-cover -->
# - *PBP epochs* from 40 to 400: surer and surer, on the same points. <!-- claim: pbp-grows-surer-with-epochs -->
# - preset *conformal*: among the data the blue dots come to the dashed line, on average, <!-- claim: counted-bands-hold-95-among-the-data --> the diamonds do not: in the gap even the best of the three falls short. <!-- claim: counted-bands-fall-short-in-the-gap -->
# - *seed*: which of your conclusions hold for other data? Note MAP's diamond over ten seeds. <!-- claim: map-covers-the-gap-by-luck -->

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 10.11 Appendix: calibrated over which functions?
#
# Section 10.4 says that a posterior is calibrated on average over the functions that its prior could have given, not for each single one. A linear model, whose posterior is exact, shows it. Over 4000 functions from the prior the PIT values are uniform. For the one that lies furthest above its posterior mean, they pile up near 1, however many points are drawn:

# %% slideshow={"slide_type": "subslide"}
rng = np.random.default_rng(8)
inputs = np.array([[-1.0, 1.0], [-0.9, 1.0], [1.2, 1.0]])  # slope and bias, three data points
asked = np.array([3.0, 1.0])  # far outside
w_true = rng.standard_normal((4000, 2))  # 4000 true functions from the prior N(0, 1)
seen_y = w_true @ inputs.T + rng.standard_normal((4000, 3))
cov = exact.linear_regression(inputs, seen_y[0], prior_std=1.0, noise_std=1.0).cov
mean, sd = seen_y @ inputs @ cov @ asked, np.sqrt(asked @ cov @ asked + 1)  # noise sd 1
u = ndtr((w_true @ asked + rng.standard_normal(4000) - mean) / sd)
assert np.allclose(np.histogram(u, 10, (0, 1))[0] / 4000, 0.1, atol=0.02)  # over many: flat
k = np.argmax(w_true @ asked - mean)  # one function, new noise: piled up
u_k = ndtr((w_true[k] @ asked + rng.standard_normal(4000) - mean[k]) / sd)
print(f"mean PIT value over 4000 functions {u.mean():.2f}, of one of them {u_k.mean():.2f}")


# %% [markdown] slideshow={"slide_type": "slide"}
# ## Exercises
#
# Replace `...`, run the cell. Each check says which mistake it sees. NumPy (`np`) and SciPy's `logsumexp` and `ndtr` (Φ) are there.

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 10.1 Compute: the score of a point that was left out
# A *training* point $(x_i, y_i)$ would be a test point if $p(w\mid D)$ had not seen it. Nobody wants to sample anew for each point. But $p(w\mid D_{-i}) \propto p(w\mid D)\,/\,p(y_i\mid x_i, w)$: draws from $p(w\mid D)$, with the right weights, stand for draws without the point. Return $\log p(y_i\mid x_i, D_{-i})$ in nats, from the outputs `samples` `[S]` at $x_i$ of $S$ networks that *have* seen the point, and its target `y`. It is tried up to a hundred noise standard deviations away from all of them. (The estimate is only as good as the weights are even: where one draw has nearly all of the weight, believe nothing.)
#
# <details><summary>Hint</summary>A mean with weights is a sum of weight times value, divided by the sum of the weights. What is weight times value here?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_left_out(y, samples, noise_std):
    return ...


exercises.check("10.1", my_left_out)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_1(y, samples, noise_std):
    z = (y - samples) / noise_std
    each = -0.5 * z**2 - np.log(noise_std) - 0.5 * np.log(2 * np.pi)
    return np.log(len(samples)) - logsumexp(-each)


assert exercises.check("10.1", solution_1, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 10.2 Compute: the coverage of a 95 % interval
# The predictive is Gaussian at each of $m$ inputs: mean, epistemic standard deviation, and noise. Return the share of the targets inside the central 95 % interval for *new data*. (The 97.5 % quantile of a standard normal is 1.96.)
#
# <details><summary>Hint</summary>Which of the two uncertainties does a *new* target have, and in which form do they add?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_coverage(y, mean, epistemic_std, noise_std):
    return ...


exercises.check("10.2", my_coverage)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_2(y, mean, epistemic_std, noise_std):
    total_std = np.sqrt(epistemic_std**2 + noise_std**2)
    return np.mean(np.abs(y - mean) <= 1.96 * total_std)


assert exercises.check("10.2", solution_2, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 10.3 Compute: a quantile of an ensemble
# (10.5) leads from a target to its level. Go the way back, as for the ends of an interval: return for each input the $y$ below which the ensemble sees the probability `level`. `samples` has shape `[S, m]`, `level` has shape `[m]`.
#
# <details><summary>Hint</summary>There is no formula for S > 1. But F grows with y, and you know a y that is too small and one that is too large.</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_quantile(level, samples, noise_std):
    return ...


exercises.check("10.3", my_quantile)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_3(level, samples, noise_std):
    low, high = (samples.min(axis=0) - 9 * noise_std, samples.max(axis=0) + 9 * noise_std)
    for _ in range(60):  # halve the distance
        middle = (low + high) / 2
        below = ndtr((middle - samples) / noise_std).mean(axis=0) < level
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return middle


assert exercises.check("10.3", solution_3, record=False)

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 10.4 Explain: true or false
# Put the letters of the true statements into the string.
#
# - **a** A predictive that covers 95 % of the test points is a good one, however wide it is.
# - **b** Multiplying all predictive standard deviations by 10 leaves the RMSE unchanged.
# - **c** Coverage of 95 % over all test points means coverage of about 95 % in the gap too.
# - **d** No forecast has a larger expected log score than the true distribution.
# - **e** Of a posterior with two modes, variational inference may keep one; moment matching spreads over both.
# - **f** When all R-hat are 1.00, the chains have found every mode.
#
# <details><summary>Hint</summary>What does each score see, and what not? What can a chain tell that has seen one mode?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
my_letters = ...  # such as {"a", "b"}

exercises.check("10.4", my_letters)

# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
# The letters of the statements that are true:
solution_4 = {"b", "d", "e"}

assert exercises.check("10.4", solution_4, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 10.5 Extend: a distance without Gaussians
# By (10.1) a predictive with two peaks is 0 away from the Gaussian of the same mean and sd. Let the draws themselves be moved: `a` and `b` `[S, m]` hold the outputs of $S$ networks each, at $m$ inputs. At each input, every draw of `a` goes to a draw of `b` of its own, so that the root-mean-square way is the least. Return that distance, with the mean over the inputs where (10.1) has it: one number, in the units of $y$.
#
# <details><summary>Hint</summary>Take two points on a line, and two others. Is the sum of the squared ways less if the ways cross, or if they do not?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_gap(a, b):
    return ...


exercises.check("10.5", my_gap)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_5(a, b):
    return np.sqrt(np.mean((np.sort(a, axis=0) - np.sort(b, axis=0)) ** 2))


assert exercises.check("10.5", solution_5, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 10.6 Break: mend an overconfident model by one factor
# A model announces $\mathcal N(m_i, s_i^2)$ and is too sure. Return the factor $k$ for which $\mathcal N(m_i, (k s_i)^2)$ has the largest log score on the given targets. (Set the derivative of the sum of log densities with respect to $k$ to 0.) Then ask yourself: would a factor fitted *among the data* mend the gap?
#
# <details><summary>Hint</summary>Which terms of the log density contain k?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_factor(y, mean, std):
    return ...


exercises.check("10.6", my_factor)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_6(y, mean, std):
    return np.sqrt(np.mean(((y - mean) / std) ** 2))


assert exercises.check("10.6", solution_6, record=False)
p = pred["BBB"]
factor = {region: solution_6(fresh[:, m], p.mean[m], p.total_std[m]) for region, m in masks.items()}
print("the factor that BBB needs:", {region: round(float(k), 1) for region, k in factor.items()})
assert factor["in the gap"] > 1.5 * factor["among the data"]  # no: one factor does not fit both


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 10.7 Extend: Thompson's choice
# The posterior of the weights is $\mathcal N(m, \Sigma)$, the reward of action $a$ is $x_a^\top w$, with $x_a$ the rows of `contexts`. Use the standard normal `eps` (one entry a weight) and the Cholesky root of Σ to draw one $w$, and return the *index* of the action to take.
#
# <details><summary>Hint</summary>Which matrix L has L Lᵀ = Σ? And which of value and index does the question ask for?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_choice(mean, covariance, contexts, eps):
    return ...


exercises.check("10.7", my_choice)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_7(mean, covariance, contexts, eps):
    w = mean + np.linalg.cholesky(covariance) @ eps
    return np.argmax(contexts @ w)


assert exercises.check("10.7", solution_7, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 10.8 Extend: cumulative regret
# `pays[t, a]` is the expected reward of action $a$ in round $t$, `chosen[t]` the action taken. Return the regret (10.10) after each round, as an array.
#
# <details><summary>Hint</summary>First the loss of a single round. With what is the chosen action compared: the best of *that* round, or the best over all?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_regret(pays, chosen):
    return ...


exercises.check("10.8", my_regret)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_8(pays, chosen):
    best, got = pays.max(axis=1), pays[np.arange(len(chosen)), chosen]
    return np.cumsum(best - got)


assert exercises.check("10.8", solution_8, record=False)

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 10.9 Open: an exploration that ends
# ε-greedy with 5 % pays to the end. Find a better plan: return ε for each round `t = 0, …, 1999` of the mushroom stand, as an array of shares. The check plays it at four stands that you have not seen, twenty runs each, and wants a mean regret below 600. Draw the regret of several plans first: `epsilon_greedy` above needs one line changed, and a counter.
#
# <details><summary>Hint</summary>How many mushrooms of each kind must be eaten before the kinds can be told apart? What is the use of experiments after that?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
curves = {}  # of each plan: its mean regret after each of the 2000 rounds
fig, ax = plt.subplots(figsize=(6, 2.8))
for name, mean_regret in curves.items():
    ax.plot(mean_regret, label=name)
ax.set_title("Your graph: which exploring is worth its price?", loc="left", fontsize=13)
axis_labels = ax.set(xlabel="mushroom", ylabel="mean regret")


def my_plan(t):
    return ...


exercises.check("10.9", my_plan)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def exploring(plan):
    """epsilon_greedy, with a share of its own for each round."""
    shares = iter(plan)

    def policy(x, mean, precision, rng):
        explore = rng.random(RUNS) < next(shares)
        return np.where(explore, rng.random(RUNS) < 0.5, greedy(x, mean, precision, rng))

    return policy


def solution_9(t):
    return 0.2 * (t < 500)


assert exercises.check("10.9", solution_9, record=False)

# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
rounds = np.arange(ROUNDS)
plans = {"20 % in 500 rounds": (solution_9(rounds), "-", BLUE),
         "20 % in 100": (0.2 * (rounds < 100), "-.", GREEN),
         "20 % to the end": (0.2 + 0 * rounds, ":", RED)}
fig, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
ax.plot(regret["ε-greedy, 5 %"].mean(axis=1), "--", color=ORANGE, label="5 % to the end")
for name, (plan, style, color) in plans.items():
    by_run = play(exploring(plan))
    ax.plot(by_run.mean(axis=1), style, color=color, label=name)
    print(f"{name:18} regret {by_run[-1].mean():.0f} ± {by_run[-1].std() / np.sqrt(RUNS):.0f}")
ax.set_ylim(0, 1200)
panel(ax, "Explore at first, then use what was learnt", "mushroom", "regret, mean of 40 runs")

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 10.10 Open: cover the gap without NUTS
# `problems` is a sequence of data sets `(x, y)` with our gap, 32 points and noise of sd 1 each. With any method of the course but NUTS, return for each of them a pair (mean, sd) of your predictive for new *targets* at `x_new`. Over six data sets, your 95 % intervals shall hold at least 70 % of the new points in the gap and 85 % among the data, and your log score among the data shall be above −2 nats. Draw your bands on two data sets before you check.
#
# <details><summary>Hint</summary>Section 10.5: on some data sets one MAP network bends the right way, on others not.</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
two_sets = [datasets.sinusoid(seed=seed, gap=(0.1, 0.4)) for seed in (0, 1)]
bands = []  # of each of the two: (mean, sd) of a new target at x_grid
fig, axes = plt.subplots(1, 2, figsize=(9.5, 3), sharey=True, layout="constrained")
for ax, one_set in zip(axes, two_sets, strict=True):
    plots.draw_data(ax, one_set.x, one_set.y)
    axis_labels = ax.set(xlabel="x", ylabel="y", xlim=(-0.5, 0.5), ylim=(-20, 25))
for ax, (middle, sd_new) in zip(axes, bands, strict=False):
    ax.plot(x_grid, middle)
    ax.fill_between(x_grid[:, 0], middle - 1.96 * sd_new, middle + 1.96 * sd_new, alpha=0.2)
title = axes[0].set_title("Your graph: do the bands hold the gap?", loc="left", fontsize=13)


def my_bands(problems, x_new):
    return ...


exercises.check("10.10", my_bands)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_10(problems, x_new):
    bands, wide = [], densities.Gaussian(10.0)
    for x, y in problems:
        fits = [point.fit(x, y, prior=wide, **by_slope, seed=k) for k in range(10)]
        f = np.array([fit.predict(x_new).mean for fit in fits])  # [member, m]
        bands.append((f.mean(axis=0), np.sqrt(f.var(axis=0) + 1.0)))
    return bands


assert exercises.check("10.10", solution_10, record=False)

# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
fig, axes = plt.subplots(1, 2, figsize=(9.5, 3.8), sharey=True, layout="constrained")
found = solution_10([(each.x, each.y) for each in two_sets], x_grid)
for ax, each, (middle, sd_10), seed in zip(axes, two_sets, found, (0, 1), strict=True):
    lone = point.fit(each.x, each.y, prior=densities.Gaussian(10.0), **by_slope).predict(x_grid)
    for k in (-1.96, 1.96):
        ax.plot(x_grid, lone.mean + k, "--", color=ORANGE, label="one network" if k > 0 else None)
        ax.plot(x_grid, middle + k * sd_10, color=BLUE, label="ten networks" if k > 0 else None)
    plots.draw_data(ax, each.x, each.y)
    plots.draw_truth(ax, x_grid, each.truth(x_grid))
    ax.set(xlim=(-0.5, 0.5), ylim=(-20, 30))
    panel(ax, f"Data set {seed}: 95 % of new targets", "x", "y", loc="upper left", ncols=2)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 10.11 Extend: a counted band that may lean
# The band of (10.11) goes as far up as down. Let it lean: count the scores with their sign, $r_i = (y_i - m(x_i))/s(x_i)$, and choose each end by itself, so that a new point lies above the upper end with a probability of $(1-c)/2$ at most, and below the lower end likewise. Points `y` were kept apart; for them a method announced `mean` and `std` `[n]`, at new inputs it announces `new_mean` and `new_std` `[m]`. Return the pair (lower ends, upper ends), each `[m]`, for the level $c$, `level`. No level here asks for more scores than there are.
#
# <details><summary>Hint</summary>(10.11) leaves out 1 − c. How much is the upper end to leave out alone, and which rank is that? For the lower end turn all scores upside down.</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_conformal(y, mean, std, new_mean, new_std, level):
    return ...


exercises.check("10.11", my_conformal)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_11(y, mean, std, new_mean, new_std, level):
    scores, each = (y - mean) / std, (1 + level) / 2  # what each end holds alone
    upper, lower = conformal_factor(scores, each), -conformal_factor(-scores, each)
    return new_mean + lower * new_std, new_mean + upper * new_std


assert exercises.check("10.11", solution_11, record=False)

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 10.12 Open: an agent that tries the gap
# `problems` is a sequence of data sets `(x, y)` with our gap, as in 10.10. For each of them return 50 functions at `x_new`, an array `[50, m]`: draws from what your *network* of one hidden layer believes, by any method of the course. An agent that takes one draw a decision pays 8 wherever its draw promises 8 or more. Over six data sets, in each of them, at least one draw in twenty shall take what lies within 0.1 of the peak, and among the data next to none shall pay. First draw the functions of two methods on one data set.
#
# <details><summary>Hint</summary>Section 10.8: whose agents found the peak, and whose were sure that there is none? An ensemble has ten members: how does one draw fifty from it?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
drawn_by = {}  # of each of two methods: fifty functions at x_grid, [50, 141]
fig, axes = plt.subplots(1, 2, figsize=(9.5, 3), sharey=True, layout="constrained")
for ax in axes:
    plots.draw_data(ax, data.x, data.y)
    ax.axhline(8, color="black", lw=1)  # the price
    axis_labels = ax.set(xlabel="x", ylabel="y", xlim=(-0.5, 0.5), ylim=(-20, 25))
for ax, (name, functions) in zip(axes, drawn_by.items(), strict=False):
    ax.plot(x_grid, np.transpose(functions), color="0.6", lw=0.8)
    ax.set_xlabel(f"x: {name}")
title = axes[0].set_title("Your graph: which draws would pay 8?", loc="left", fontsize=13)


def my_draws(problems, x_new):
    return ...


exercises.check("10.12", my_draws)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_12(problems, x_new):
    pick, drawn = np.random.default_rng(2).integers(0, 10, 50), []
    for x, y in problems:
        fit = ensemble.fit(x, y, prior=prior, anchored=True, **by_slope, seed=1)
        drawn.append(fit.predict(x_new).samples[pick])
    return drawn


assert exercises.check("10.12", solution_12, record=False)

# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
fig, axes = plt.subplots(1, 2, figsize=(9.5, 3.8), sharey=True, layout="constrained")
two = {"BBB": pred["BBB"].samples[:50],
       "Anchored ensemble": solution_12([(data.x, data.y)], x_grid)[0]}
peak = abs(x_grid[:, 0] - 0.25) < 0.1
for ax, (name, f) in zip(axes, two.items(), strict=True):
    for part, colour, label in ((f < 8, "0.6", "left"), (f >= 8, RED, "taken")):
        lines = ax.plot(x_grid, np.where(part, f, np.nan).T, color=colour, lw=0.8)
        lines[0].set_label(label)
    plots.draw_data(ax, data.x, data.y)
    plots.draw_truth(ax, x_grid, data.truth(x_grid))
    ax.set(xlim=(-0.5, 0.5), ylim=(-20, 25))
    panel(ax, f"{name}: {np.mean(f[:, peak] >= 8):.0%} of the peak taken", "x", "y", ncols=2)

# %% slideshow={"slide_type": "fragment"}
exercises.progress(10)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Mistakes in circulation
#
# Claims from the course's own sources and from papers and blogs on the subject. Run them.

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Claim:** a test log-likelihood computed from the network's variance alone, "without noise". **True:** that is a density for the *function*, not for $y$. A target with noise falls far outside such a band, and the score collapses:

# %% slideshow={"slide_type": "fragment"}
p = pred["PBP"]
with_noise = metrics.log_likelihood(fresh[0, among], p.mean[among], p.total_std[among] ** 2)
without = metrics.log_likelihood(fresh[0, among], p.mean[among], p.epistemic_std[among] ** 2)
print(f"PBP among the data: {with_noise:.2f} nats with the noise, {without:.2f} without")
assert without < with_noise - 2

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Claim:** "assumed density filtering minimises the same KL divergence as variational inference." **True:** the opposite direction. VI minimises $\mathrm{KL}[q\,\|\,p]$ and may sit in one mode; each update of ADF matches the moments of the tilted density $\tilde p$, which minimises $\mathrm{KL}[\tilde p\,\|\,q]$: it spreads over both modes of *that*.

# %% slideshow={"slide_type": "fragment"}
w_axis = np.linspace(-8, 8, 2001)
two = sum(0.5 * np.exp(-densities.gaussian_nll(w_axis, m, 0.7**2)) for m in (-2.0, 2.0))
moment_sd = np.sqrt(np.trapezoid(two * w_axis**2, w_axis))  # its mean is 0
kls = {}
for m, sd in [(m, sd) for m in np.linspace(0, 3, 31) for sd in np.linspace(0.3, 3, 55)]:
    log_q = -densities.gaussian_nll(w_axis, m, sd**2)
    kls[m, sd] = np.trapezoid(np.exp(log_q) * (log_q - np.log(two)), w_axis)
best = min(kls, key=kls.get)
print(f"moments: N(0, {moment_sd:.2f}²);  least KL[q‖p]: N({best[0]:.2f}, {best[1]:.2f}²)")
assert abs(best[0] - 2) < 0.2 and best[1] < 0.9 < 2 < moment_sd

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Claim:** a band of mean ± 2 sd of the drawn functions should contain the data. **True:** it is the place of the *function*. For noisy $y$ add the noise. Even the epistemic band of the true posterior leaves out a good part of the new data here. With the noise, the 95 % interval of NUTS holds 95 % of them over many data sets, give or take three. <!-- claim: nuts-covers-the-data -->

# %% slideshow={"slide_type": "fragment"}
p = pred["HMC"]
for kind, sd in (("epistemic", p.epistemic_std), ("total", p.total_std)):
    share = expected_coverage(p.mean - 2 * sd, p.mean + 2 * sd)[among].mean()
    print(f"HMC, ±2 sd {kind}: {share:.0%} of new points among the data")
    assert (share > 0.88) if kind == "total" else (share < 0.85)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Claim:** "for Thompson sampling, average the predictions of many posterior draws and take the best action." **True:** the average of many draws is near the posterior mean, and acting on that is greedy. *One* draw a decision is the point; the average loses more. <!-- claim: averaged-draws-explore-less -->

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Claim:** "MCMC is exact." **True** for infinitely long chains. Stop early, and what you have depends on the start. R-hat and ESS say so:

# %% slideshow={"slide_type": "fragment"}
short = sample(3, n_samples=20)
for label, run in (("20 draws a chain:  ", short), ("2000 draws a chain:", hmc)):
    print(f"{label} largest R-hat {run.r_hat.max():.3f}, least ESS {run.ess.min():.0f}")
assert not short.converged and short.ess.min() < 0.25 * hmc.ess.min()

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Summary
#
# - Compare with the true posterior where you can: a distance in the units of $y$, and beside it the distance between two halves of the gold standard.
# - RMSE sees the mean. The log score sees the whole distribution, is strictly proper, and punishes overconfidence most. Coverage and PIT see calibration; they do not see sharpness.
# - Compare in pairs, over worlds, with standard errors. One data set can make either of two methods the winner.
# - Judge where it matters. Among the data NUTS leads BBB after 1500 steps by less than three quarters of a nat; <!-- claim: nuts-leads-bbb-a-little-among-the-data --> in the gap by more than two. <!-- claim: nuts-leads-bbb-in-the-gap -->
# - Early stopping is a posterior of its own: say after how many steps, or the lowest $F$ of how many starts.
# - In the gap SGHMC is far nearer to NUTS than one Gaussian after 1500 steps, <!-- claim: sghmc-is-far-nearer-than-one-gaussian --> ten networks nearer than one. <!-- claim: an-ensemble-is-nearer-than-one-of-its-kind --> Read coverage with the bias beside it.
# - Conformal bands hold their level among points like those they were counted on; <!-- claim: conformal-bands-hold-their-level --> in the gap they do not. <!-- claim: conformal-bands-miss-the-gap -->
# - Thompson sampling: one draw, act as if it were true. What it loses to exploring fades. <!-- claim: thompson-loses-little-in-the-end --> With a network it explores as much as that network is unsure; with BBB after 1500 steps it most often gains nothing on a greedy one, <!-- claim: bbb-explores-too-little --> with the posterior it does. <!-- claim: the-posterior-loses-less-than-greedy -->

# %% [markdown] slideshow={"slide_type": "subslide"}
# ## References
#
# - Gneiting, Balabdaoui, Raftery (2007). Probabilistic forecasts, calibration and sharpness. [doi:10.1111/j.1467-9868.2007.00587.x](https://doi.org/10.1111/j.1467-9868.2007.00587.x)
# - Gneiting, Raftery (2007). Strictly proper scoring rules, prediction, and estimation. [doi:10.1198/016214506000001437](https://doi.org/10.1198/016214506000001437)
# - Vehtari, Gelman, Simpson, Carpenter, Bürkner (2021). Rank-normalization, folding, and localization: an improved R-hat for assessing convergence of MCMC. [arXiv:1903.08008](https://arxiv.org/abs/1903.08008)
# - Hernández-Lobato, Adams (2015). Probabilistic backpropagation for scalable learning of Bayesian neural networks. [arXiv:1502.05336](https://arxiv.org/abs/1502.05336)
# - Blundell, Cornebise, Kavukcuoglu, Wierstra (2015). Weight uncertainty in neural networks. [arXiv:1505.05424](https://arxiv.org/abs/1505.05424)
# - Russo, Van Roy, Kazerouni, Osband, Wen (2018). A tutorial on Thompson sampling. [arXiv:1707.02038](https://arxiv.org/abs/1707.02038)
# - Lakshminarayanan, Pritzel, Blundell (2017). Simple and scalable predictive uncertainty estimation using deep ensembles. [arXiv:1612.01474](https://arxiv.org/abs/1612.01474)
# - Lei, G'Sell, Rinaldo, Tibshirani, Wasserman (2018). Distribution-free predictive inference for regression. [arXiv:1604.04173](https://arxiv.org/abs/1604.04173)
# - Vovk (2012). Conditional validity of inductive conformal predictors. [arXiv:1209.2673](https://arxiv.org/abs/1209.2673)
# - Phan, Abbasi-Yadkori, Domke (2019). Thompson sampling with approximate inference. [arXiv:1908.04970](https://arxiv.org/abs/1908.04970)
# - Huang, Lam, Zhang (2024). Bayesian bandit algorithms with approximate inference in stochastic linear bandits. [arXiv:2406.14071](https://arxiv.org/abs/2406.14071)
# - Maclaurin, Duvenaud, Adams (2015). Early stopping is nonparametric variational inference. [arXiv:1504.01344](https://arxiv.org/abs/1504.01344)
# - Riquelme, Tucker, Snoek (2018). Deep Bayesian bandits showdown. [arXiv:1802.09127](https://arxiv.org/abs/1802.09127)
# - Pearce, Leibfried, Brintrup, Zaki, Neely (2020). Uncertainty in neural networks: approximately Bayesian ensembling. [arXiv:1810.05546](https://arxiv.org/abs/1810.05546)
# - Hoffman, Gelman (2014). The No-U-Turn sampler. [arXiv:1111.4246](https://arxiv.org/abs/1111.4246)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Previous:** [9 · Pictures and the unknown](09_pictures_and_the_unknown.ipynb) · **Next:** [11 · How loud is the noise?](11_how_loud_is_the_noise.ipynb)

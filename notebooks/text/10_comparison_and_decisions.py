# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown] slideshow={"slide_type": "slide"}
# # 10 · Comparison and decisions
#
# *Every method of the course on one problem, beside the true posterior: who is right, where, and at what price.*
#
# **Time** 60 minutes · **Section times** 10.1-10.2: 10 · 10.3: 8 · 10.4: 10 · 10.5: 7 · 10.6-10.7: 8 · 10.8: 10 · play: 8 · exercises: as long as you like
#
# **What you will be able to do**
#
# - say how far a method is from the true posterior, as a number, and how far chance alone would put it;
# - tell what the RMSE, the log score and the coverage each see, and what each is blind to;
# - read a reliability plot, and compute one;
# - say why one Gaussian per weight is too sure between two groups of data;
# - choose between Bayes by Backprop and probabilistic backpropagation, and defend the choice;
# - turn a posterior into decisions with Thompson sampling.
#
# **Prerequisites** [Chapter 3](03_bayes_by_backprop.ipynb) (free energy, the two kinds of uncertainty). Chapters 5 to 7 help, but each method is used here as a black box with one `fit` and one `predict`. Notation: [chapter 0](00_start_here.ipynb#Notation).

# %% [markdown] slideshow={"slide_type": "notes"}
# For the lecturer. Run all cells before the lecture. The picture to remember is the reliability plot of section 10.4. If time is short, show 10.1, 10.4, 10.5 and the bandit. NUTS in the explorer takes some seconds: switch it on before you speak about it.

# %% [markdown] slideshow={"slide_type": "subslide"}
# ## What you will understand by the end
#
# Below, six ways to train one and the same network see the same 32 points. There is a gap in the data. On the right: how many of 100 *new* points fall into each method's 95 % interval. It should be about 95, everywhere.

# %% slideshow={"slide_type": "subslide"}
from bdl_teach.widgets import ComparisonExplorer

explorer = ComparisonExplorer()
explorer

# %% [markdown] slideshow={"slide_type": "subslide"}
# ## Predict first
#
# Write down your answers. Sections 10.4 to 10.9 test them.
#
# 1. Bayes by Backprop (BBB) is trained on data with a gap. In the gap, does its 95 % interval hold about 95 %, more, or far less?
# 2. Two methods have the same root-mean-square error (RMSE). Can one of them have given the new data a hundred times the probability density?
# 3. You train probabilistic backpropagation (PBP) for 400 epochs instead of 100, on the same 32 points. Does it become more or less sure of its weights? Should it?
# 4. An agent always takes the action with the largest *expected* reward, and learns from what it sees. Does it find the best action in the end?

# %% slideshow={"slide_type": "skip"}
import time

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import logsumexp, ndtr

from bdl_teach import calibration, datasets, densities, exercises, metrics, plots
from bdl_teach.backend import tfd
from bdl_teach.methods import bbb, empirical_bayes, exact, local_reparam, pbp, point
from bdl_teach.plots import BLUE, GREEN, ORANGE, RED, panel

plots.lecture_style()

# %% slideshow={"slide_type": "skip"}
REGIONS = ("among the data", "in the gap", "outside")

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 10.1 One problem, one network, seven answers
#
# The problem is the sinusoid of chapter 3, 32 points of $10\sin 2\pi x$ plus noise with standard deviation 1, on $[-\tfrac12, \tfrac12]$. But nobody measured between 0.1 and 0.4, where the sine has its peak. The network has one hidden layer of 20 units; the prior of each weight is $\mathcal N(0, 3^2)$.
#
# We judge in three regions: among the data, in the gap, and outside. Good answers are easy in the first; they matter in the other two.

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
# | MLE | the one network with the smallest squared error | 1 |
# | MAP | the one network with the largest posterior density | 1 |
# | BBB | a Gaussian per weight, nearest to the posterior in $\mathrm{KL}[q\,\|\,p]$ | 3 |
# | local | the same, with less noise in the gradient | 4 |
# | emp. Bayes | the same, with the prior's width learnt from the data | 5 |
# | PBP | a Gaussian per weight by moment matching, one point at a time; learns the noise | 6 |

# %% slideshow={"slide_type": "fragment"}
x, y = data.x, data.y
FIT = {
    "MLE": lambda: point.fit(x, y, **settings),
    "MAP": lambda: point.fit(x, y, prior=prior, **settings),
    "BBB": lambda: bbb.fit(x, y, prior=prior, **settings),
    "local": lambda: local_reparam.fit(x, y, prior=prior, **settings),
    "emp. Bayes": lambda: empirical_bayes.fit(x, y, tie="all", **settings),
    "PBP": lambda: pbp.fit(x, y, hidden_units=(20,), epochs=100),
}
fits = {name: fit() for name, fit in FIT.items()}
pred = {name: fit.predict(x_grid, n_samples=500) for name, fit in fits.items()}

# %% [markdown] slideshow={"slide_type": "subslide"}
# The seventh answer is the true posterior, sampled by NUTS (chapter 3): same network, same prior, same noise. Two chains, 400 draws each. The report below says whether to believe them. **R-hat** near 1: the chains agree with each other. **ESS**, the effective sample size: how many independent draws they are worth. Neither can speak of a mode that no chain has visited.

# %% slideshow={"slide_type": "fragment"}
def sample(seed):
    return exact.nuts(x, y, prior=prior, n_samples=400, n_warmup=300, seed=seed, **settings)


nuts, again = sample(0), sample(1)
pred["NUTS"] = nuts.predict(x_grid)
print(nuts.report)
assert nuts.r_hat.max() < 1.2 and nuts.divergences < 0.05

# %% slideshow={"slide_type": "subslide"}
def band(ax, name):
    plots.draw_predictive(ax, x_grid, pred[name])
    plots.draw_truth(ax, x_grid, truth)
    plots.draw_data(ax, x, y)
    ax.axvspan(low, high, color="#EEEEEE", zorder=0)
    ax.set(ylim=(-24, 24), xlim=(-0.7, 0.7), xlabel="x")
    ax.set_title(name, loc="left", fontsize=13)


fig, axes = plt.subplots(1, 3, figsize=(9.5, 4.0), sharey=True, layout="constrained")
for ax, name in zip(axes, ("BBB", "PBP", "NUTS"), strict=True):
    band(ax, name)
axes[0].set(ylabel="y")
below = {"loc": "outside lower center", "ncols": 5, "fontsize": 10, "frameon": False}
legend = fig.legend(*axes[0].get_legend_handles_labels(), **below)

# %% [markdown] slideshow={"slide_type": "subslide"}
# Look at the grey stripe. BBB and PBP draw one flat line across it and stand by it, even where it misses the points on the far side. The true posterior does not know which way the function goes there, and its band says so. Nothing else in this chapter is as important.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 10.2 The gold standard, and a distance to it
#
# "Looks similar" is no measurement. At each $x$, take two predictives as Gaussians over the *function* value, with means $m$ and epistemic standard deviations $s$. Their 2-Wasserstein distance is the least root-mean-square distance by which one has to be moved to become the other, and for Gaussians it is simply the distance of the points $(m, s)$ in the plane. Averaged over a region:
#
# $$\mathrm{distance}(a, b) = \sqrt{\frac1m\sum_{j=1}^{m}\Big[\big(m_a(x_j) - m_b(x_j)\big)^2 + \big(s_a(x_j) - s_b(x_j)\big)^2\Big]}. \tag{10.1}$$
#
# It is in the units of $y$. (The explorer calls it the *gap to NUTS*.) To know what is large, we need to know what chance does: the distance between two independent NUTS runs.

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
assert np.isclose(distance(pred["BBB"], pred["NUTS"], gap),
                  calibration.distance(pred["BBB"], pred["NUTS"], gap))

# %% slideshow={"slide_type": "subslide"}
pred_again = again.predict(x_grid)
print(f"{'distance':12}" + "".join(f"{name:>16}" for name in REGIONS))
rows = {**pred, "NUTS": pred_again}  # the last row: another NUTS run
gaps = {name: [distance(p, pred["NUTS"], mask) for mask in masks.values()]
        for name, p in rows.items()}
for name, row in gaps.items():
    label = name if name != "NUTS" else "NUTS again"
    print(f"{label:12}" + "".join(f"{g:16.2f}" for g in row))
for name in FIT:  # every method is further away in the gap than among the data
    assert gaps[name][1] > 1.5 * gaps[name][0]
    assert gaps[name][1] > 3 * gaps["NUTS"][1]

# %% [markdown] slideshow={"slide_type": "subslide"}
# Among the data every method is within one or two noise standard deviations. In the gap each is much further away, and many times as far as chance. A distance says *that* two answers differ. It does not say which one is right: for that, we need data.

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
# Why this score? Because it cannot be cheated. If $y$ comes from $p$ and you announce $q$, you expect
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
    print(f"truth N(0, 1), announced N({mean}, {sd}²): {expected:.3f} nats, RMSE {rmse:.2f}")

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

# %% slideshow={"slide_type": "subslide"}
def nats(name, region):
    return table[name][REGIONS.index(region)][1]


perfect = -entropy  # nobody can expect more than this: the noise is there
assert all(nats(name, "among the data") < perfect + 0.1 for name in pred)
assert nats("NUTS", "among the data") > nats("MLE", "among the data")
assert nats("BBB", "among the data") > nats("MLE", "among the data")
for region in ("in the gap", "outside"):
    assert all(nats("NUTS", region) > nats(name, region) + 1 for name in FIT)

# %% [markdown] slideshow={"slide_type": "subslide"}
# Among the data, all answers lie within half a nat or so of each other, and the RMSEs within a third. In the gap the approximations lose nats by the handful, because they are *sure* of a wrong mean. That is the pattern of most published comparisons too: test points drawn like the training points cannot tell the methods apart.
#
# Does every method beat the point estimate? Among the data BBB and local reparameterization beat MLE. Empirical Bayes and PBP need not: the first pays for a prior so wide that many weights stay vague, the second has to learn the noise from 32 points and, after 100 epochs, still takes it to be larger than 1 (section 10.7).

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 10.4 Calibration: coverage, PIT, reliability
#
# A predictive is **calibrated** if events to which it gives probability $c$ happen with frequency $c$. Take a central interval $[l, u]$ at level $c$. On data, its **coverage** is the share of targets inside. When the truth is known (a toy problem), no data are needed: a new $y$ is $\mathcal N(f^\*(x), s^2)$, so
#
# $$P(l \le y \le u) = \Phi\!\left(\frac{u - f^\*(x)}{s}\right) - \Phi\!\left(\frac{l - f^\*(x)}{s}\right). \tag{10.4}$$

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
for name in FIT:
    assert shares[name][1] < 0.5 < 0.8 < shares["NUTS"][1]
assert all(share > 0.8 for share in shares["NUTS"])

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
    for name, color, style in (("BBB", BLUE, "-"), ("PBP", ORANGE, "--"), ("NUTS", GREEN, ":")):
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
# Drawn against $c$, this is the **reliability plot**. On the diagonal: calibrated. Below it: too sure.

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
          "PBP": ("--", ORANGE), "NUTS": ("o-", GREEN)}
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

# %% slideshow={"slide_type": "subslide"}
curves = {name: reliability(values[name][:, gap], levels) for name in pred}
assert all((curves[name] < levels - 0.04).all() for name in ("MAP", "BBB"))  # far too sure
assert np.abs(curves["NUTS"] - levels).max() < 0.35
among = masks["among the data"]
assert np.abs(reliability(values["NUTS"][:, among], levels) - levels).max() < 0.15

# %% [markdown] slideshow={"slide_type": "subslide"}
# Three warnings.
#
# **Coverage is not everything.** Announce the same $\mathcal N(\bar y, \mathrm{sd}(y)^2)$ everywhere, and your 95 % interval holds 95 % or more: nearly calibrated, and useless. Among calibrated forecasts prefer the *sharp* one; the log score weighs both.
#
# **Averages hide.** Coverage over all $x$ mixes too wide with too narrow. PBP shows it: nearly everything is covered among the data, hardly anything in the gap.
#
# **One truth is one draw.** In the gap even NUTS lies below the diagonal, and its PIT values lean to one side. That is no fault. All the new points in the gap share *one* function; the true sine runs above the posterior mean there, and that one deviation is counted at every point. A posterior is calibrated on average over the functions that its prior could have given, not for each single one. An exact model shows it:

# %% slideshow={"slide_type": "subslide"}
rng = np.random.default_rng(8)
inputs = np.array([[-1.0, 1.0], [-0.9, 1.0], [1.2, 1.0]])  # slope and bias, three data points
asked = np.array([3.0, 1.0])  # far outside
w_true = rng.standard_normal((4000, 2))  # 4000 truths from the prior N(0, 1)
seen_y = w_true @ inputs.T + rng.standard_normal((4000, 3))
cov = exact.linear_regression(inputs, seen_y[0], prior_std=1.0, noise_std=1.0).cov
mean, sd = seen_y @ inputs @ cov @ asked, np.sqrt(asked @ cov @ asked + 1)  # noise sd 1
u = ndtr((w_true @ asked + rng.standard_normal(4000) - mean) / sd)
assert np.allclose(np.histogram(u, 10, (0, 1))[0] / 4000, 0.1, atol=0.02)  # over many truths: flat
k = np.argmax(w_true @ asked - mean)  # one truth, new noise each time: piled up at one end
u_k = ndtr((w_true[k] @ asked + rng.standard_normal(4000) - mean[k]) / sd)
assert u_k.mean() > 0.8

# %% [markdown] slideshow={"slide_type": "subslide"}
# Back to the dull forecast of the first warning:

# %% slideshow={"slide_type": "fragment"}
spread = fresh.std()
dull = expected_coverage(*(fresh.mean() + 1.96 * spread * np.array([[-1.0], [1.0]])))
dull_score = -densities.gaussian_nll(fresh, fresh.mean(), spread**2).mean()
nuts_score = np.mean([pred["NUTS"].log_prob(y_new).mean() for y_new in fresh])
print(f"dull forecast: covers {dull.mean():.0%}, log score {dull_score:.2f}; NUTS {nuts_score:.2f}")
assert dull.mean() > 0.9 and dull_score < nuts_score - 0.5

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 10.5 Why the gap is not seen
#
# Two causes, and an exact model shows both. Take a linear model with two weights whose inputs are correlated. The posterior is a known Gaussian with covariance $\Sigma$ and precision $\Lambda = \Sigma^{-1}$. The Gaussian *without* correlations that is nearest to it in $\mathrm{KL}[q\,\|\,p]$ has the right mean and
#
# $$\sigma_{q,i}^2 = \frac{1}{\Lambda_{ii}} \;\le\; \Sigma_{ii} . \tag{10.7}$$
#
# $1/\Lambda_{ii}$ is the variance of weight $i$ *when all others are known*. Variational inference with independent weights reports no more than that here. (Matching moments, the other direction of the KL, would report $\Sigma_{ii}$: the right margin, but still no correlation.)

# %% slideshow={"slide_type": "fragment"}
# eq. 10.7
rng = np.random.default_rng(3)
shared = rng.standard_normal((40, 1))
design = shared + 0.3 * rng.standard_normal((40, 2))  # two inputs that nearly say the same
target = design @ [[1.0], [-0.5]] + 0.5 * rng.standard_normal((40, 1))
full = np.hstack([design, np.ones((40, 1))])  # the network's bias is a third weight
known = exact.linear_regression(full, target, prior_std=3.0, noise_std=0.5)
conditional = 1 / np.sqrt(np.diag(np.linalg.inv(known.cov)))
marginal = np.sqrt(np.diag(known.cov))
fitted = bbb.fit(design, target, prior=densities.Gaussian(3.0), noise_std=0.5, hidden_units=(),
                 steps=4000, learning_rate=0.02, n_samples=10)
print("marginal", marginal.round(3), "1/√Λ", conditional.round(3), "BBB", fitted.std.round(3))
assert (conditional <= marginal + 1e-12).all() and (marginal / conditional)[:2].min() > 2
assert np.allclose(fitted.std, conditional, rtol=0.1)

# %% [markdown] slideshow={"slide_type": "subslide"}
# That is the first cause: **too narrow a $q$**. Where data are, it matters little, since the data hold the function in place. Between two groups of data the uncertainty of the function lives *in the correlations*: "if this kink moves left, that slope must fall". Independent weights can only express it by being vague about each weight, and then the fit *at the data* would get worse. The free energy prefers to be right at the data.
#
# For networks with one hidden layer of ReLUs there is a theorem (Foong et al. 2020, who state its conditions): in simple cases a mean-field Gaussian *cannot* be much less sure between two regions than it is in them, whatever its parameters. The second cause is **one mode**: $q$ sits in one of the many ways to draw the bridge. We can see both in BBB's own draws:

# %% slideshow={"slide_type": "subslide"}
middle = np.argmin(np.abs(x_grid[:, 0] - 0.25))
fig, axes = plt.subplots(1, 2, figsize=(9.5, 3.8), sharey=True, layout="constrained")
for ax, name in zip(axes, ("BBB", "NUTS"), strict=True):
    ax.plot(x_grid, pred[name].samples[::20].T, color=BLUE, lw=0.7)
    plots.draw_truth(ax, x_grid, truth)
    plots.draw_data(ax, x, y)
    ax.set(ylim=(-16, 20))
    sd = pred[name].epistemic_std[middle]
    panel(ax, f"{name}: sd at x = ¼ is {sd:.1f}", "x", "", loc="lower left")
axes[0].set(ylabel="y")
assert pred["NUTS"].epistemic_std[middle] > 1.4 * pred["BBB"].epistemic_std[middle]

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 10.6 What it costs
#
# Time one fit of each, after compiling. The times on your machine differ; their orders of magnitude should not. (All of them, with PBP's growth in data and width, in one table: `python3 -m bdl_teach bench methods`.)

# %% slideshow={"slide_type": "subslide"}
def seconds(action):
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


cost = {name: min(seconds(fit) for _ in range(3)) for name, fit in FIT.items()}
cost["NUTS"] = seconds(lambda: sample(2))
fig, ax = plt.subplots(figsize=(9.5, 3.2), layout="constrained")
ax.barh(list(cost), [1e3 * s for s in cost.values()], color=plots.SKY)
ax.invert_yaxis()
ax.set(xscale="log", xlabel="one fit, milliseconds (log scale)")
ax.set_title("From milliseconds to seconds, for 61 weights", loc="left", fontsize=13)
assert cost["NUTS"] > 3 * max(cost["MLE"], cost["BBB"])

# %% [markdown] slideshow={"slide_type": "subslide"}
# How it *grows* matters more. With $n$ points and $W$ weights, a step of gradient descent costs $O(nW)$, or $O(BW)$ with minibatches of $B$. PBP takes $n$ steps of $O(W)$ an epoch, one after the other. NUTS evaluates the *whole* data set up to 255 times for each draw (its longest path here), and the number of draws that it needs grows with the dimension. For 60 weights it is the best choice here. For 60 million it is none.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 10.7 BBB or PBP?
#
# The two serious candidates for larger networks have opposite characters.
#
# | | BBB | PBP |
# |---|---|---|
# | what it minimises | $\mathrm{KL}[q\,\|\,p]$, globally, by sampled gradients | matches moments of $q$ times one likelihood term, point by point (assumed density filtering) |
# | when $q$ cannot fit | sits inside one mode, too narrow | covers, too wide; for one pass |
# | you choose | prior, noise, learning rate, steps, draws | number of epochs |
# | the noise | given (or learnt as one more parameter) | learnt, with its own Gamma posterior |
# | prediction | average over drawn networks | closed form, no sampling error |
# | architecture | anything that can be differentiated | layers whose moments someone has derived (ReLU, linear) |
# | data | minibatches, any loss | one point at a time, regression |
# | objective to watch | free energy, a bound on −log evidence | none; log Z of the next point |
#
# One character trait has to be seen. PBP goes through the data *again and again*, and each pass treats the points as new ones. After $E$ epochs the posterior thinks that it has seen $E\,n$ points:

# %% slideshow={"slide_type": "subslide"}
epochs = (1, 10, 40, 100, 400)
passes = {e: pbp.fit(x, y, hidden_units=(20,), epochs=e) for e in epochs}
for e, fit in passes.items():
    p = fit.predict(x_grid)
    sd, error = p.epistemic_std[among].mean(), metrics.rmse(truth[among], p.mean[among])
    print(f"{e:4} epochs: α = {fit.alpha:6.0f} (n·E/2 = {16 * e:5}), noise {fit.noise_std:.2f}, "
          f"epistemic sd {sd:.2f}, RMSE to the truth {error:.2f}")
assert 0.8 < passes[400].alpha / (16 * 400) < 1.2
sds = [passes[e].predict(x_grid).epistemic_std[among].mean() for e in epochs]
assert sds[-1] < 0.5 * sds[2]  # the same 32 points, "seen" ten times as often
noises = [passes[e].noise_std for e in epochs]
assert noises[0] > noises[2] > noises[4]

# %% [markdown] slideshow={"slide_type": "subslide"}
# So the number of epochs plays two roles: too few, and the mean has not arrived and the noise is taken to be huge; too many, and the epistemic band vanishes. On thousands of points with a few tens of epochs (chapter 7) the first is what counts. On 32 points you meet both.
#
# **Which to use when**, from what this chapter measured, in one table. `+` is good, `o` fair, `-` poor. *fit*: up to 0.1 s, up to 1 s, longer. The others: nats a point below the best possible log score, with the limits 0.35 and 0.6 among the data, 1.5 and 4 in the gap and outside.

# %% slideshow={"slide_type": "subslide"}
def stars(value, good, fair):
    return "+" if value <= good else "o" if value <= fair else "-"


print(f"{'':12}{'fit':>6}{'data':>6}{'gap':>6}{'out':>6}{'noise':>7}   fit: time, rest: log score")
for name in pred:
    lost = [perfect - log for _, log in table[name]]  # nats a point below the best possible
    marks = [stars(cost[name], 0.1, 1.0), stars(lost[0], 0.35, 0.6),
             *(stars(each, 1.5, 4.0) for each in lost[1:])]
    noise = "learnt" if name == "PBP" else "given"
    print(f"{name:12}" + "".join(f"{mark:>6}" for mark in marks) + f"{noise:>7}")

# %% [markdown] slideshow={"slide_type": "subslide"}
# - **You can afford NUTS** (hundreds of weights, thousands of points): use it, and check R-hat.
# - **A large network, any architecture:** BBB; with large batches its local form (chapter 5); prune with empirical Bayes (chapter 6). Do not trust it between groups of data.
# - **Regression, tables, no wish to tune anything:** PBP with the paper's settings; watch the noise.
# - **Test points like the training points, only the mean matters:** a regularised point estimate is hard to beat.
# - **Not on the list, and often strong:** deep ensembles, several MAP networks from different starts: many modes, each without width.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 10.8 Acting on it: Thompson sampling
#
# Uncertainty pays when there is something to *decide*. In a **contextual bandit** you see a context, choose an action, and learn the reward of the chosen action only. Here is a mushroom stand in the manner of Blundell et al. (synthetic, and with rewards of our own): each mushroom is of one of ten kinds, and you see which. Leave it: reward 0. Eat it: +5 if it is edible; if it is poisonous, −15 or +5 with equal chances. Some kinds are mostly edible, some mostly not; none is certain.

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
S, PRIOR = 8.0, 5.0  # sd of the rewards around their mean; sd of each weight before any meal


def update(precision, b, x, r, ate):
    """One meal of each run: precision [run, d, d], b [run, d], x [run, d], r [run]."""
    x = x * ate[:, None]  # a mushroom that is left teaches nothing
    return precision + x[:, :, None] * x[:, None, :] / S**2, b + x * r[:, None] / S**2


precision, b = np.eye(D)[None] / PRIOR**2, np.zeros((1, D))
for t in range(50):
    precision, b = update(precision, b, seen[t, :1], reward[t, :1], np.ones(1))
at_once = exact.linear_regression(seen[:50, 0], reward[:50, 0], prior_std=PRIOR, noise_std=S)
assert np.allclose(np.linalg.solve(precision[0], b[0]), at_once.mean)
assert np.allclose(np.linalg.inv(precision[0]), at_once.cov)

# %% [markdown] slideshow={"slide_type": "subslide"}
# What is lost by not knowing is the **regret**: the expected reward of the best action minus that of the chosen one, added up,
#
# $$R_T = \sum_{t=1}^T \Big( \max_a \bar r_a(x_t) - \bar r_{a_t}(x_t) \Big). \tag{10.10}$$
#
# A third agent, **ε-greedy**, is greedy but eats at random in 5 % of the rounds.

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

# %% slideshow={"slide_type": "subslide"}
final = {name: r[-1] for name, r in regret.items()}
assert final["Thompson"].mean() < 0.8 * min(final[name].mean() for name in list(policies)[:2])
slope = {name: (r[-1] - r[-500]).mean() for name, r in regret.items()}
assert slope["Thompson"] < 0.5 * min(slope["greedy"], slope["ε-greedy, 5 %"])

# %% [markdown] slideshow={"slide_type": "subslide"}
# Greedy is ahead at first: it does not experiment. But it meets one bad mushroom of a good kind, never eats of that kind again, and so never learns that it was wrong: its regret grows for ever. ε-greedy keeps paying for its experiments, needed or not. Thompson sampling explores *where it is unsure*, and less and less of it, because the posterior narrows.
#
# With a network in the place of the linear model the recipe is the same: one draw of the weights from BBB's $q$ per decision. It inherits BBB's faults. A $q$ that is too sure explores too little.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 10.9 Play
#
# The explorer again. All sliders at once:

# %% slideshow={"slide_type": "subslide"}
explorer

# %% [markdown] slideshow={"slide_type": "subslide"}
# The cell below moves every control from Python and says what must happen. Try each by hand first.

# %% slideshow={"slide_type": "fragment"}
start = explorer.preset("start").result
assert start.coverage["bbb"]["gap"] < 0.5 < start.coverage["bbb"]["data"]
no_gap = explorer.preset("no gap").result
assert not no_gap.regions["gap"].any() and no_gap.coverage["bbb"]["data"] > 0.8
loud = explorer.preset("start").set(noise_std=3.0).result
assert loud.coverage["bbb"]["gap"] > start.coverage["bbb"]["gap"]  # the noise hides it
few = explorer.preset("start").set(n=8).result
assert len(few.data.x) == 8
other = explorer.preset("start").set(seed=7).result
assert (other.data.y != start.data.y).all()

# %% slideshow={"slide_type": "fragment"}
sure = explorer.preset("start").set(epochs=400).result.predictions["pbp"].epistemic_std
unsure = explorer.set(epochs=40).result.predictions["pbp"].epistemic_std
assert sure.mean() < unsure.mean()  # the same data, counted ten times as often
chosen = explorer.preset("start").set(mle=True, local=True, eb=True).result.predictions
assert set(chosen) == {"mle", "map", "bbb", "local", "eb", "pbp"}
assert (chosen["mle"].epistemic_std == 0).all() and (chosen["eb"].epistemic_std > 0).all()
explorer.set(map=False, bbb=False, pbp=False)
assert set(explorer.result.predictions) == {"mle", "local", "eb"}

# %% slideshow={"slide_type": "subslide"}
explorer.preset("all methods").set(nuts=True)  # runs in the background; come back in a moment
for _ in range(1000):
    if explorer.wait().result.nuts is not None:
        break
    time.sleep(0.1)
print(explorer.status)
result = explorer.result
assert result.coverage["nuts"]["gap"] > 0.8
assert all(distances["gap"] > distances["data"] for distances in result.gap.values())

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Look at this**
#
# - *width of the gap* from 0 to 0.4: the orange diamond falls from the dashed line towards the left edge, for every method but NUTS.
# - *noise σ* up to 3: every method covers more of the gap. Not because it knows more: a wider noise band hides the mistake.
# - *PBP epochs* from 10 to 400: first vague everywhere, then sure everywhere.
# - *seed*: which of your conclusions hold for other data? In the first cell of section 10.1, `seed=1` for the data lets the MAP network bend the right way by luck: it covers three quarters of the gap, and an assertion there fails. The ranking of single fits is not a law; that BBB and PBP miss the gap, and NUTS does not, stays.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Exercises
#
# Replace `...`, run the cell. Each check says which mistake it sees. NumPy (`np`) and SciPy's `logsumexp` and `ndtr` (Φ) are there.

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 10.1 Compute: the log score of an ensemble
# Return the log predictive density (10.2) of *one* target `y`, in nats. `samples`, of shape `[S]`, are the outputs of the $S$ networks at its input. It is tried up to a hundred noise standard deviations away from all of them.

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_log_score(y, samples, noise_std):
    return ...


exercises.check("10.1", my_log_score)

# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_1(y, samples, noise_std):
    z = (y - samples) / noise_std
    each = -0.5 * z**2 - np.log(noise_std) - 0.5 * np.log(2 * np.pi)
    return logsumexp(each) - np.log(len(samples))


assert exercises.check("10.1", solution_1, record=False)

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 10.2 Compute: the coverage of a 95 % interval
# The predictive is Gaussian at each of $m$ inputs: mean, epistemic standard deviation, and noise. Return the share of the targets inside the central 95 % interval for *new data*. (The 97.5 % quantile of a standard normal is 1.96.)

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
# ### 10.3 Compute: the probability integral transform
# Return the PIT value (10.5) of each target. `samples` has shape `[S, m]`, `y` has shape `[m]`.

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_pit(y, samples, noise_std):
    return ...


exercises.check("10.3", my_pit)

# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_3(y, samples, noise_std):
    return ndtr((y - samples) / noise_std).mean(axis=0)


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

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
my_letters = ...

exercises.check("10.4", my_letters)

# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
# The letters of the statements that are true:
solution_4 = "bde"

assert exercises.check("10.4", solution_4, record=False)

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 10.5 Change: the distance to a gold standard
# In section 10.2 the distance (10.1) came from two predictives. Write it for four arrays: means and standard deviations of `a`, then of `b`. Return one number, in the units of $y$.

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_gap(mean_a, std_a, mean_b, std_b):
    return ...


exercises.check("10.5", my_gap)

# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_5(mean_a, std_a, mean_b, std_b):
    return np.sqrt(np.mean((mean_a - mean_b) ** 2 + (std_a - std_b) ** 2))


assert exercises.check("10.5", solution_5, record=False)

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 10.6 Break: mend an overconfident model by one factor
# A model announces $\mathcal N(m_i, s_i^2)$ and is too sure. Return the factor $k$ for which $\mathcal N(m_i, (k s_i)^2)$ has the largest log score on the given targets. (Set the derivative of the sum of log densities with respect to $k$ to 0.) Then ask yourself: would a factor fitted *among the data* mend the gap?

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
assert factor["in the gap"] > 2 * factor["among the data"]  # no: one factor does not fit both

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 10.7 Extend: Thompson's choice
# The posterior of the weights is $\mathcal N(m, \Sigma)$, the reward of action $a$ is $x_a^\top w$, with $x_a$ the rows of `contexts`. Use the standard normal `eps` (one entry a weight) and the Cholesky root of Σ to draw one $w$, and return the *index* of the action to take.

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

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_regret(pays, chosen):
    return ...


exercises.check("10.8", my_regret)

# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_8(pays, chosen):
    best, got = pays.max(axis=1), pays[np.arange(len(chosen)), chosen]
    return np.cumsum(best - got)


assert exercises.check("10.8", solution_8, record=False)

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
# **Claim:** "assumed density filtering minimises the same KL divergence as variational inference." **True:** the opposite direction. VI minimises $\mathrm{KL}[q\,\|\,p]$ and may sit in one mode; ADF matches moments, which minimises $\mathrm{KL}[p\,\|\,q]$, and spreads over both.

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
# **Claim:** a band of mean ± 2 sd of the drawn functions should contain the data. **True:** it is the place of the *function*. For noisy $y$ add the noise. Even the true posterior's epistemic band leaves out a good part of new data:

# %% slideshow={"slide_type": "fragment"}
p = pred["NUTS"]
for kind, sd in (("epistemic", p.epistemic_std), ("total", p.total_std)):
    share = expected_coverage(p.mean - 2 * sd, p.mean + 2 * sd)[among].mean()
    print(f"NUTS, ±2 sd {kind}: {share:.0%} of new points among the data")
    assert (share > 0.88) if kind == "total" else (share < 0.85)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Claim:** "our method is better: its test RMSE is lower." **True** of the mean. Here are two forecasts with exactly the same mean, the second with its standard deviations divided by four:

# %% slideshow={"slide_type": "fragment"}
sd = p.total_std[among]
errors = fresh[:, among] - p.mean[among]
honest = -densities.gaussian_nll(errors, 0.0, sd**2).mean()
boastful = -densities.gaussian_nll(errors, 0.0, (sd / 4) ** 2).mean()
rmse = np.sqrt(np.mean(errors**2))
print(f"RMSE {rmse:.2f} both; log score {honest:.2f} and {boastful:.2f} nats")
assert boastful < honest - 3

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Claim:** "for Thompson sampling, average the predictions of many posterior draws and take the best action." **True:** the average of many draws is the posterior mean, and acting on it is greedy. *One* draw a decision is the point.

# %% slideshow={"slide_type": "fragment"}
def averaged_thompson(x, mean, precision, rng):
    root = np.linalg.cholesky(precision)
    eps = rng.standard_normal((RUNS, D, 50)).mean(axis=2, keepdims=True)
    w = mean + np.linalg.solve(root.swapaxes(1, 2), eps)[..., 0]
    return (np.sum(x * w, axis=1) >= 0).astype(float)


averaged = play(averaged_thompson)[-1].mean()
print(f"regret: one draw {final['Thompson'].mean():.0f}, average of 50 draws {averaged:.0f}, "
      f"greedy {final['greedy'].mean():.0f}")
assert averaged > 1.1 * final["Thompson"].mean()

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Claim:** "MCMC is exact." **True** for infinitely long chains. Stop early, and what you have is the start. Without R-hat you would not know:

# %% slideshow={"slide_type": "fragment"}
short = exact.nuts(x, y, prior=prior, n_samples=20, n_warmup=300, seed=3, **settings)
print(f"20 draws a chain: largest R-hat {short.r_hat.max():.2f}, least ESS {short.ess.min():.0f}")
print(f"400 draws:        largest R-hat {nuts.r_hat.max():.2f}, least ESS {nuts.ess.min():.0f}")
assert short.ess.min() < 0.5 * nuts.ess.min()

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Summary
#
# - Compare with the true posterior where you can: a distance in the units of $y$, and beside it the distance between two runs of the gold standard.
# - RMSE sees the mean. The log score sees the whole distribution, is strictly proper, and punishes overconfidence most. Coverage and PIT see calibration; they do not see sharpness.
# - Judge where it matters. Among the data all methods look alike; in the gap and outside they do not.
# - One Gaussian per weight has variances $1/\Lambda_{ii}$, no correlations and one mode: too sure between groups of data.
# - PBP needs no tuning and learns the noise, but counts the data once an epoch. BBB takes any architecture, but you choose more.
# - Thompson sampling: one draw, act as if it were true. Exploration fades by itself.

# %% [markdown] slideshow={"slide_type": "subslide"}
# ## References
#
# - Gneiting, Balabdaoui, Raftery (2007). Probabilistic forecasts, calibration and sharpness. [doi:10.1111/j.1467-9868.2007.00587.x](https://doi.org/10.1111/j.1467-9868.2007.00587.x)
# - Gneiting, Raftery (2007). Strictly proper scoring rules, prediction, and estimation. [doi:10.1198/016214506000001437](https://doi.org/10.1198/016214506000001437)
# - Foong, Burt, Li, Turner (2020). On the expressiveness of approximate inference in Bayesian neural networks. [arXiv:1909.00719](https://arxiv.org/abs/1909.00719)
# - Hernández-Lobato, Adams (2015). Probabilistic backpropagation for scalable learning of Bayesian neural networks. [arXiv:1502.05336](https://arxiv.org/abs/1502.05336)
# - Blundell, Cornebise, Kavukcuoglu, Wierstra (2015). Weight uncertainty in neural networks. [arXiv:1505.05424](https://arxiv.org/abs/1505.05424)
# - Russo, Van Roy, Kazerouni, Osband, Wen (2018). A tutorial on Thompson sampling. [arXiv:1707.02038](https://arxiv.org/abs/1707.02038)
# - Lakshminarayanan, Pritzel, Blundell (2017). Simple and scalable predictive uncertainty estimation using deep ensembles. [arXiv:1612.01474](https://arxiv.org/abs/1612.01474)
# - Hoffman, Gelman (2014). The No-U-Turn sampler. [arXiv:1111.4246](https://arxiv.org/abs/1111.4246)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Previous:** [7 · Probabilistic backpropagation](07_probabilistic_backpropagation.ipynb) · **Next:** you have reached the end. [Start here](00_start_here.ipynb) has the map.

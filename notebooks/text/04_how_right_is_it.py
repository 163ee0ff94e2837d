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
# # 4 · How right is it?
#
# *The answer of chapter 3 beside the true posterior, and what makes the two differ.*
#
# **Run the cell below** (Shift+Enter): beside the answer of mean field comes the true posterior, which HMC draws from. Nobody has measured in the *gap* (between x = 0.1 and 0.4). Which of the two is less sure there?

# %% tags=["explorer"] slideshow={"slide_type": "fragment"}
from bdl_teach.widgets import TruthExplorer

explorer = TruthExplorer()
explorer

# %% [markdown] slideshow={"slide_type": "subslide"}
# ## What you will be able to do
#
# - split the distance between an answer and the true function into three parts, each a number: optimiser, family, prior;
# - say what a low free energy proves, and what it does not;
# - say in which direction mean field is too sure, and in which too unsure;
# - tell a KL weight from a temperature;
# - compare two methods in pairs, and see through a conclusion that rests on one run, or on where it stopped.
#
# **Time** 43 minutes · **Minutes per section** 4.1: 2 · 4.2: 3 · 4.3: 3 · 4.4: 3 · 4.5: 3 · 4.6: 5 · 4.7: 6 · 4.8: 2 · 4.9: 3 · 4.10: 2 · 4.11: 1 · opening and end: 10
#
# **Prerequisites** The free energy, from [chapter 3](03_bayes_by_backprop.ipynb); exact linear regression, from [chapter 1](01_from_mle_to_bayes.ipynb). Notation: [chapter 0](00_start_here.ipynb#Notation).

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Predict first
#
# Write down your answers. Sections 4.1, 4.6 and 4.9 test them.
#
# 1. Two inputs are nearly the same, so that the data speak of the sum of two weights only. Each weight gets a Gaussian of its own, and is trained to the very end. What is left of the KL to the posterior?
# 2. Nobody measured between x = 0.1 and 0.4, and the band of Bayes by Backprop misses the true function there. Would that of exact inference, with the same prior N(0, 1), cover it?
# 3. Two recipes minimise the same free energy, and one ends 70 nats lower. Does it predict better among the data?

# %% slideshow={"slide_type": "skip"}
import math

import matplotlib.pyplot as plt
import numpy as np

from bdl_teach import calibration, claims, datasets, densities, exercises, plots
from bdl_teach.backend import tfp
from bdl_teach.claims import World
from bdl_teach.methods import bbb, exact, local_reparam, mcmc, point
from bdl_teach.methods.pbp import relu_moments
from bdl_teach.plots import BLUE, GREEN, ORANGE, RED, panel
from bdl_teach.predictive import evaluate_weights

plots.lecture_style()
tfd = tfp.distributions
BELOW = {"loc": "lower center", "ncols": 2, "fontsize": 10}  # a legend under the curves

# %% [markdown] slideshow={"slide_type": "slide"}
# ## The picture, step by step
#
# **One network, then thirty.** The sinusoid of chapter 3, and a *gap*: nobody measured between x = 0.1 and 0.4, where the sine (dotted) has its peak. On the left is one network, trained by least squares; on the right are thirty that were drawn from mean field's $q$. Look at the peak: does any of them reach it?

# %% slideshow={"slide_type": "fragment"}
data = datasets.sinusoid(n=32, noise_std=1.0, seed=0, gap=(0.1, 0.4))
x_grid = np.linspace(-1, 1, 201)[:, None]
wide = {"prior": densities.Gaussian(3.0), "hidden_units": (32,)}


def points_and_sine():  # two panels
    axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True)[1]
    for ax in axes:
        plots.draw_truth(ax, x_grid, data.truth(x_grid))
        plots.draw_data(ax, data.x, data.y)
        ax.set_ylim(-75, 45)
    return axes


# %% slideshow={"slide_type": "fragment"}
one_network = point.fit(data.x, data.y, hidden_units=(32,)).predict(x_grid)
mean_field = local_reparam.fit(data.x, data.y, **wide, **local_reparam.LOWEST)
drawn = mean_field.predict(x_grid, n_samples=1000)
left, right = points_and_sine()
left.plot(x_grid, one_network.mean, color=RED, label="one network")
right.plot(x_grid, drawn.samples[:30].T, color=BLUE, lw=0.8, alpha=0.6)
panel(left, "One network", "x", "y", **BELOW)
panel(right, "Thirty networks drawn from q", "x", "", **BELOW)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Mean and bands, and what the prior expects.** On the left are the mean and the bands of a thousand such networks. On the right are twelve networks drawn from the prior, N(0, 3²) for each weight. Look at the gap: the prior has functions that reach 10 there, and the band on the left excludes them.

# %% slideshow={"slide_type": "fragment"}
left, right = points_and_sine()
plots.draw_predictive(left, x_grid, drawn)
functions = mean_field.evaluate(wide["prior"].sample((12, 97), seed=3), x_grid)
right.plot(x_grid, functions.T, color="0.6", lw=1)
panel(left, "Mean field: mean and bands", "x", "y", **BELOW)
panel(right, "Twelve drawn from the prior", "x", "", **BELOW)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **The true posterior.** On the left it stands alone, drawn by HMC (section 4.5); on the right it lies over mean field. Look at the gap first, then among the points.

# %% slideshow={"slide_type": "fragment"}
sampled = mcmc.hmc(data.x, data.y, n_samples=1000, **wide)
posterior_says = sampled.predict(x_grid)
left, right = points_and_sine()
plots.draw_predictive(right, x_grid, drawn)
for ax in (left, right):
    plots.OverlayArtists(ax, x_grid[:, 0], "true posterior").show(posterior_says)
panel(left, "The posterior opens in the gap", "x", "y", **BELOW)
panel(right, "Mean field does not", "x", "", **BELOW)
at_peak = np.argmin(np.abs(x_grid[:, 0] - 0.25))
assert posterior_says.epistemic_std[at_peak] > 2 * drawn.epistemic_std[at_peak]

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4.1 Three parts of the distance
#
# An answer can differ from what you hoped for because the *optimiser* stopped early, because the *family* has no member that is the posterior, or because the *prior* let the posterior know no better. With $q^*$ for the best member of the family, chapter 3's $\mathrm{KL}[q\|P(w\mid D)] = F + \log P(D)$ splits into the first two:
#
# $$\mathrm{KL}[q\,\|\,P(w\mid D)] = \underbrace{F(q) - F(q^*)}_{\text{optimisation}} + \underbrace{\mathrm{KL}[q^*\,\|\,P(w\mid D)]}_{\text{family}} . \tag{4.1}$$
#
# The third part is in neither: exact inference has it too. (Network and noise are assumptions, too. Here they are right or held fixed, so that only the prior is judged. The luck of 32 noisy points remains, and no prior removes it.)

# %% slideshow={"slide_type": "fragment"}
# eq. 4.1
x, y = np.array([[1.0, 0.9], [0.9, 1.0], [1.1, 1.1]]), np.array([1.9, 2.1, 2.0])
truth = exact.linear_regression(x, y, prior_std=1.0, noise_std=0.5)
posterior = tfd.MultivariateNormalTriL(truth.mean, np.linalg.cholesky(truth.cov))


# %% slideshow={"slide_type": "fragment"}
def free_energy(mean, std):
    complexity = 0.5 * np.sum(std**2 + mean**2 - 1) - np.log(std).sum()  # KL to N(0, 1)
    misfit = np.sum((y - x @ mean) ** 2 + x**2 @ std**2) / 0.5**2  # expected under q
    return complexity + 0.5 * misfit + len(y) * np.log(0.5 * np.sqrt(2 * np.pi))


def kl(mean, std):
    return tfd.MultivariateNormalDiag(mean, std).kl_divergence(posterior).numpy()


# %% slideshow={"slide_type": "fragment"}
# eq. 4.1
best = truth.mean, np.diag(np.linalg.inv(truth.cov)) ** -0.5  # where the slopes of F are 0
early = 0.7 * truth.mean, 1.5 * best[1]  # an optimiser on its way
optimisation, family = free_energy(*early) - free_energy(*best), kl(*best)
assert np.isclose(free_energy(*best) + truth.log_evidence, family)
assert np.isclose(kl(*early), optimisation + family)
print(f"KL {kl(*early):.2f} nats = optimisation {optimisation:.2f} + family {family:.2f}")


# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4.2 Too sure and too unsure, at once
#
# In the example above only the family's KL is left at the end, and it is not small (question 1). In which directions does $q^*$ differ from the posterior? Along a direction $u$ of length 1 the posterior and the best $q$ have the variances
#
# $$\mathrm{Var}_P[u^\top w] = u^\top\Sigma\,u , \qquad \mathrm{Var}_{q^*}[u^\top w] = \sum_i \frac{u_i^2}{\Lambda_{ii}} , \quad \Lambda = \Sigma^{-1} , \tag{4.2}$$
#
# since at the minimum of $F$ each $\sigma_i^2$ is $1/\Lambda_{ii}$, the variance that $w_i$ has left when all others are *held fixed*. Neither is always the larger.

# %% slideshow={"slide_type": "fragment"}
# eq. 4.2, by draws
def along(u, cov, n=100_000):
    rng, u = np.random.default_rng(0), np.array(u) / np.linalg.norm(u)
    drawn = rng.multivariate_normal([0, 0], cov, n)
    independent = rng.normal(0, np.diag(np.linalg.inv(cov)) ** -0.5, (n, 2))
    return (drawn @ u).std(), (independent @ u).std()


stiff, loose = along([1, 1], truth.cov), along([1, -1], truth.cov)  # data speak of w₁ + w₂
assert np.allclose(best[1] ** 2, 1 / np.diag(np.linalg.inv(truth.cov)))
assert stiff[1] > 1.2 * stiff[0] and loose[1] < 0.5 * loose[0]
for name, (p, q) in {"along (1, 1)": stiff, "along (1, −1)": loose}.items():
    print(f"{name}: posterior sd {p:.3f}, mean field {q:.3f}")

# %% slideshow={"slide_type": "fragment"}
angle = np.linspace(0, 2 * np.pi, 200)
circle = 2 * np.stack([np.cos(angle), np.sin(angle)])
fig, ax = plt.subplots(figsize=(6, 4.5))
for root, name, colour, style in (
    (np.linalg.cholesky(truth.cov), plots.POSTERIOR, GREEN, "--"),
    (np.diag(best[1]), "best mean field", BLUE, "-"),
):
    ax.plot(*(truth.mean[:, None] + root @ circle), style, color=colour, label=f"{name}: 2 sd")
ax.set_aspect("equal")
panel(ax, "Wider than the posterior one way, narrower the other", "w₁", "w₂")

# %% [markdown] slideshow={"slide_type": "subslide"}
# Both of the sentences that you will read, "mean field is too narrow" and "mean field is too wide", are true of this one picture. A prediction asks for one direction. At $x = (1, 1)$ it asks for the sum, which the data know: there mean field is too *unsure*. At $x = (1, -1)$ it asks for the difference: there mean field is too *sure*.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4.3 The optimiser's part, on a network
#
# For a network $\log P(D)$ is unknown, and with it the KL to the posterior. But (4.1) needs no $\log P(D)$ for its first part: $F(q) - F(q^*)$ is a difference of two free energies. $q^*$ is not known either; the lowest $F$ that anybody has found takes its place, so that what we measure is a lower bound: the optimiser's part is *at least* this much.
#
# The problem is that of the pictures above: the sinusoid with a gap, one hidden layer of 32 units, the prior $\mathcal N(0, \sigma_p^2)$ for each weight. With one hidden layer `fit.free_energy` is exact. Compare three fits of one family: Bayes by Backprop *after 1500 steps*, its default; that fit *trained on* for 6000; and mean field *at its lowest*. For the last, `LOWEST` trains 16 starts side by side, without noise in the gradient; `again` trains 16 others; and `refined` trains the best of them on.

# %% slideshow={"slide_type": "fragment"}
narrow = {"prior": densities.Gaussian(1.0), "hidden_units": (32,)}

reached = {}
for name, settings in (("N(0, 3²)", wide), ("N(0, 1)", narrow)):
    fit = bbb.fit(data.x, data.y, **settings)
    found = local_reparam.fit(data.x, data.y, **settings, **local_reparam.LOWEST)
    lowest = found.again().refined()
    reached[name] = fits = {"after 1500 steps": fit, "trained on": fit.refined(6000),
                            "at its lowest": lowest}
    said = ", ".join(f"{key} {f.free_energy:.0f}" for key, f in fits.items())
    agree = (lowest.starts_free_energy < lowest.free_energy + 0.5).sum()
    print(f"prior {name}: F = {said} nats (of 32 starts, on which {agree} agree)")
    assert fit.free_energy - lowest.free_energy > 20  # the optimiser's part, at least

# %% [markdown] slideshow={"slide_type": "subslide"}
# On average, and in most worlds, training on gains more than 20 nats under the wide prior. <!-- claim: training-on-lowers-f --> Under the narrow one it is not enough: a start at a mode, the best single network with each σ at 0.1, ends more than another 20 nats lower. <!-- claim: a-mode-is-a-better-start-under-a-narrow-prior --> Not to have arrived is one fault; to have arrived in a minimum that is not the lowest is another. That several starts agree is a good sign and no proof: write "the lowest of 32 starts, of which so many agree", and no more than that.
#
# `fit.converged` says whether a single fit has arrived. It trains eight longer runs, one from here and seven from other starts, and says no if one of them ends more than 16 nats lower. How far can it be trusted? At random settings more than one fit in fifty has not arrived, <!-- claim: some-fits-have-not-arrived --> the answer is right in more than 85 of a hundred cases, <!-- claim: converged-knows --> and fewer than one fit in seven is said to have arrived when it has not. <!-- claim: converged-is-seldom-mistaken -->

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4.4 Nats that change nothing
#
# Swap two hidden units, with all weights that come in and go out: the network computes the same function. A layer of $H$ units can be ordered in $H!$ ways, so that the posterior stands there in $K = \prod H!$ copies, all alike. A mean-field $q$ that has learnt something sits at one of them. Let $\bar q$ be its average over the copies: it predicts exactly as $q$ does, and since the posterior density is the same at each copy,
#
# $$0 \;\le\; F(q) - F(\bar q) = \mathrm{E}_q\!\left[\log \frac{q(w)}{\bar q(w)}\right] \;\le\; \log K , \tag{4.3}$$
#
# for $\bar q \ge q/K$. The upper end is reached where the copies do not overlap; where $q$ still *is* the prior, they are one and the same, and nothing is paid. In one dimension, with two copies at $\pm m$:

# %% slideshow={"slide_type": "fragment"}
# eq. 4.3
w = np.linspace(-12, 20, 32001)


def paid(m):
    one = tfd.Normal(np.float64(m), 1.0).log_prob(w).numpy()
    other = tfd.Normal(np.float64(-m), 1.0).log_prob(w).numpy()
    return np.trapezoid(np.exp(one) * (one - np.logaddexp(one, other) + math.log(2)), w)


nats = [paid(m) for m in (0, 0.5, 1, 2, 4)]
print("paid:", np.round(nats, 3), f"nats; log 2 = {math.log(2):.3f}")
assert np.all(np.diff(nats) > 0) and abs(nats[0]) < 1e-9
assert abs(nats[-1] - math.log(2)) < 1e-3

# %% slideshow={"slide_type": "fragment"}
one = reached["N(0, 3²)"]["after 1500 steps"]
order = np.random.default_rng(0).permutation(32)
swapped = np.concatenate([one.mean[:32][order], one.mean[32:64][order],
                          one.mean[64:96][order], one.mean[96:]])
outputs = one.evaluate(np.stack([one.mean, swapped]), x_grid)
assert not np.allclose(one.mean, swapped) and np.allclose(*outputs, atol=1e-3)
print(f"one layer of 32: up to {math.lgamma(33):.1f} nats; "
      f"two of 20, chapter 3's network: up to {2 * math.lgamma(21):.1f}")

# %% [markdown] slideshow={"slide_type": "subslide"}
# So "the lower $F$, the nearer to the posterior" is a theorem about KL, and KL counts the copies. What you want is to be near in what is *predicted*, and predictions do not count them. Part of the family's KL, up to 85 nats in chapter 3, says nothing about any curve. Nor is this part the same for each $q$: one that leaves units at the prior pays less. Kurle et al. (2022) trace part of mean field's underfitting to this.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4.5 In between: what a theorem says
#
# Let $f$ have *one* hidden layer of ReLUs and independent Gaussian weights. For inputs $x_1 < 0 < x_2$, and $x_0$ nearer to 0 than both, Foong et al. (2020, theorem 1) prove
#
# $$\mathrm{Var}[f(x_0)] \;\le\; \mathrm{Var}[f(x_1)] + \mathrm{Var}[f(x_2)] . \tag{4.4}$$
#
# Sure at $x_1$ and sure at $x_2$: then it *cannot* be unsure at any such $x_0$, whatever the data, the prior and the optimiser. The variance has a closed form, since the units are independent; two thousand random $q$ may try.

# %% slideshow={"slide_type": "fragment"}
# eq. 4.4
rng = np.random.default_rng(0)


def variance(x, mean, std):  # rows of mean, std: input weight, bias, output weight; [3, q, 32]
    e, v = relu_moments(mean[0] * x + mean[1], (std[0] * x) ** 2 + std[1] ** 2)
    return (mean[2] ** 2 * v + std[2] ** 2 * (v + e**2)).sum(axis=-1)


shape = (3, 2000, 32)
mean, std = rng.normal(size=shape), np.exp(rng.normal(-1, 1, shape))
x1, x2 = -rng.uniform(0.1, 2, (2000, 1)), rng.uniform(0.1, 2, (2000, 1))
x0 = rng.uniform(-1, 1, (2000, 1)) * np.minimum(-x1, x2)
ratio = variance(x0, mean, std) / (variance(x1, mean, std) + variance(x2, mean, std))
print(f"Var[f(x₀)] is at most {ratio.max():.2f} times the sum")
assert 0.5 < ratio.max() <= 1


# %% [markdown] slideshow={"slide_type": "subslide"}
# What it does *not* say. It is silent about two hidden layers. Three certain units and one uncertain weight already make a $q$ that is sure at ±½ and unsure at 0:

# %% slideshow={"slide_type": "fragment"}
def two_layers(x, v):  # the first two layers are certain; v is the last weight
    bump = np.maximum(0, 1 - 2 * (np.maximum(0, x) + np.maximum(0, -x)))  # relu(1 − 2|x|)
    return v * bump


values = two_layers(np.array([-0.5, 0.0, 0.5])[:, None], rng.standard_normal(4000))
print("sd at −½, 0, ½:", values.std(axis=1).round(2))
assert values[[0, 2]].std() == 0 and values[1].std() > 0.9

# %% [markdown] slideshow={"slide_type": "subslide"}
# And it is silent about our gap, which lies on one side of 0. So whether mean field opens *there* is no theorem but an experiment. The judge draws from the posterior itself: Hamiltonian Monte Carlo (HMC). Give the weights a random push, let them roll over the surface −log posterior in small (*leapfrog*) steps, and either take the end of the path or stay where they are. The choice is made so that draws from the posterior stay draws from the posterior. It needs no normaliser. NUTS (Hoffman and Gelman 2014) stops by itself where the path turns back: it is slower here, and the check. How one sees that it has arrived, [chapter 10](10_comparison_and_decisions.ipynb) says. Under the prior $\mathcal N(0, 3^2)$ the posterior is more than twice as unsure in the gap as among the data; <!-- claim: nuts-opens-in-the-gap --> mean field at its lowest is there even *surer*. <!-- claim: mean-field-does-not-open-in-the-gap --> As far as 32 starts can tell, this is the family's doing.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4.6 The prior: what does exact inference know?
#
# Now question 2. Before blaming an approximation, ask what it approximates: run HMC under two priors and look at the functions that each of them *expects*.

# %% slideshow={"slide_type": "subslide"}
draws, in_gap = {}, (x_grid[:, 0] > 0.1) & (x_grid[:, 0] < 0.4)
for name, settings in (("N(0, 1)", narrow), ("N(0, 3²)", wide)):
    draws[name] = mcmc.hmc(data.x, data.y, n_samples=2000, **settings)
    p = draws[name].predict(x_grid)
    inside = np.abs(p.mean - data.truth(x_grid)[:, 0]) < 2 * p.epistemic_std
    print(f"prior {name}: {inside[in_gap].mean():.0%} of the gap covered; {draws[name].report}")
    assert draws[name].converged

peak = np.array([[0.25]])
for name, settings in (("N(0, 1)", narrow), ("N(0, 3²)", wide)):
    w = settings["prior"].sample((4000, 97), seed=1)
    prior_sd = evaluate_weights(draws[name].network, w, peak).std()
    print(f"prior {name}: the peak of 10 is {10 / prior_sd:.1f} sd of f(0.25) away from 0")
    assert prior_sd < 5 or name != "N(0, 1)"

# %% slideshow={"slide_type": "fragment"}
check = mcmc.nuts(data.x, data.y, n_samples=800, **wide)
apart = calibration.distance(check.predict(x_grid), p, in_gap)
print(f"HMC and NUTS, wide prior: {apart:.2f} apart in the gap; {check.report}")
assert apart < 0.5

# %% slideshow={"slide_type": "fragment"}
fig, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True)
for ax, (name, sampled) in zip(axes, draws.items(), strict=True):
    prior = (narrow if name == "N(0, 1)" else wide)["prior"]
    functions = evaluate_weights(sampled.network, prior.sample((12, 97), seed=3), x_grid)
    ax.plot(x_grid, functions.T, color=plots.GREY, lw=0.9)
    lowest = reached[name]["at its lowest"]
    both = (sampled, GREEN, "-.", plots.POSTERIOR), (lowest, BLUE, "-", "lowest mean field")
    for fit, colour, style, who in both:
        p = fit.predict(x_grid)
        for k, label in ((-2, None), (2, f"{who} ±2 sd")):
            ax.plot(x_grid, p.mean + k * p.epistemic_std, style, color=colour, label=label)
    plots.draw_data(ax, data.x, data.y)
    ax.set_ylim(-45, 30)
    plots.draw_truth(ax, x_grid, data.truth(x_grid))
    panel(ax, f"Prior {name}; grey: drawn from it", "x", "y", loc="lower left")

# %% [markdown] slideshow={"slide_type": "subslide"}
# The same as one curve: how unsure each is, along $x$, under the wide prior.

# %% slideshow={"slide_type": "fragment"}
fig, ax = plt.subplots(figsize=(8, 3.6))
for fit, colour, style, who in (
    (draws["N(0, 3²)"], GREEN, "-.", plots.POSTERIOR),
    (reached["N(0, 3²)"]["at its lowest"], BLUE, "-", "mean field at its lowest"),
    (reached["N(0, 3²)"]["after 1500 steps"], ORANGE, ":", "mean field after 1500 steps"),
):
    ax.plot(x_grid, fit.predict(x_grid).epistemic_std, style, color=colour, label=who)
ax.axvspan(0.1, 0.4, color="0.9")
panel(ax, "True posterior opens in the gap (grey); mean field does not", "x", "epistemic sd")

# %% [markdown] slideshow={"slide_type": "subslide"}
# Under $\mathcal N(0, 1)$ the posterior itself covers less than a tenth of the gap: <!-- claim: nuts-misses-the-gap-under-a-narrow-prior --> a function of that prior has to go more than two of its standard deviations out to reach the peak of 10. Under $\mathcal N(0, 3^2)$ it covers more than half of it. <!-- claim: nuts-covers-the-gap-under-a-wide-prior --> No optimiser and no richer family would have mended the left picture. This is the third part, and it is in the posterior itself. (For 97 weights HMC says so in a second; on a ResNet-20 it took Izmailov et al. (2021) hundreds of processors.)
#
# It also decides which way mean field, at its lowest, errs outside the data: under the wide prior it is narrower than the posterior, <!-- claim: mean-field-is-too-sure-outside-under-a-wide-prior --> under the narrow one wider. <!-- claim: mean-field-is-too-unsure-outside-under-a-narrow-prior --> Among the data it is, under the wide prior, more than a quarter wider than the posterior. <!-- claim: mean-field-is-too-unsure-among-the-data --> Equation (4.2) says the same of a Gaussian posterior: along what the data know, mean field is too wide.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4.7 The three parts as numbers
#
# To compare the parts, give them one unit. All three are measured in the gap, in units of $y$. *Optimisation* is the distance from the fit after 1500 steps to mean field at its lowest. *Family* is the distance from there to the posterior. (Both distances are of means and sd: `calibration.distance`.) *Prior* is how far the true function lies outside the ±2 sd of the posterior. Unlike nats, distances do not add up. The numbers are those of twenty worlds, each with a data set and a start of its own, which were measured beforehand:

# %% slideshow={"slide_type": "fragment"}
worlds = claims.measured("chapter4-parts").values()
parts = {
    prior: [[f[f"{prior}-{key}"] for f in worlds] for key in ("optimisation", "lowest-distance",
                                                              "prior")]
    for prior in ("narrow", "wide")
}
for prior, rows in parts.items():
    said = zip(("optimisation", "family", "prior"), np.mean(rows, axis=1), strict=True)
    print(f"{prior}:", ", ".join(f"{name} {value:.2f}" for name, value in said))
assert np.mean(parts["narrow"][2]) > 2 > 0.6 > np.mean(parts["wide"][2])

# %% slideshow={"slide_type": "fragment"}
fig, ax = plt.subplots(figsize=(8, 3.6))
styles = (("narrow", "N(0, 1)", ORANGE, "//"), ("wide", "N(0, 3²)", BLUE, ""))
for k, (prior, name, colour, hatch) in enumerate(styles):
    place = np.arange(3) + 0.4 * k - 0.2
    ax.bar(place, np.mean(parts[prior], axis=1), 0.36, color=colour, alpha=0.5, hatch=hatch,
           label=f"prior {name}")
    ax.plot(place, parts[prior], "o", color=colour, ms=5)
ax.set_xticks(range(3), ("optimisation", "family", "prior"))
panel(ax, "A wide prior takes the prior's part away", "dots: worlds", "units of y, in the gap")

# %% [markdown] slideshow={"slide_type": "subslide"}
# Under the narrow prior the prior's part is the largest by far; <!-- claim: under-a-narrow-prior-the-prior-is-the-largest-part --> and mean field at its lowest is nearer to the posterior than after 1500 steps, by more than half a unit. <!-- claim: under-a-narrow-prior-the-lower-f-is-nearer --> Under the wide prior next to nothing is left of the prior's part, <!-- claim: under-a-wide-prior-next-to-nothing-is-the-prior-s --> and even at its lowest mean field stays more than one and a half units away: <!-- claim: under-a-wide-prior-the-family-stays-away --> that is the family's.

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### Early stopping is a posterior of its own
#
# What does training do with the answer? Under the wide prior, in the same twenty worlds:

# %% slideshow={"slide_type": "fragment"}
ways = {"fit": "after 1500 steps", "on": "trained on", "lowest": "at its lowest"}
for key, name in {**ways, "posterior": "posterior"}.items():
    told = ("gap-sd", "among-sd", "distance")
    gap, among, distance = (np.mean([f[f"wide-{key}-{k}"] for f in worlds]) for k in told)
    print(f"{name}: sd in the gap {gap:.2f}, among the data {among:.2f}; "
          f"{distance:.2f} from the posterior in the gap")

# %% [markdown] slideshow={"slide_type": "subslide"}
# Among the data the lowest $F$ has a narrower band than 1500 steps have, and the posterior's is narrower still. <!-- claim: training-brings-the-width-nearer-among-the-data --> In the gap its band is narrower, too, on average by more than a fifth of a unit: but there the posterior is less sure than both. <!-- claim: the-lower-f-is-surer-in-the-gap --> *The better the optimiser, the surer mean field in the gap.* Often it is also further from the posterior: in more than two worlds of five, further than the fit trained on, whose $F$ is higher. <!-- claim: under-a-wide-prior-a-lower-f-is-often-further --> (The control: under the narrow prior it was nearer.) The likelihood cost in $F$ has no point in the gap, so nothing there holds the lowest $F$ near the posterior.
#
# So a stopped fit is not a blurred picture of the family's best: the two differ in the gap by more than seven tenths of a unit. <!-- claim: the-stopped-fit-is-another-answer --> The number of steps chose the answer that is shown, not $F$. Early stopping is a posterior of its own, so say after how many steps you stopped.

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### An illusion of one run
#
# Suppose that one blog post says "Bayes by Backprop sees the gap", and shows a picture, and another "it does not". Both may have run the same program, from two starts.
#
# Take six starts in each world, trained on. The luckiest covers more of the gap than the least lucky, by a tenth of it and more. <!-- claim: gap-coverage-depends-on-the-start --> The one with the lowest $F$ misses the true function there by least in fewer than half of the worlds; by chance it would be one in six. <!-- claim: lowest-f-is-not-nearest-the-truth --> Searches for the lowest $F$ cover the same in most worlds: <!-- claim: six-searches-agree-in-the-gap --> the spread was the optimiser's. And to agree is not to be right. Why does each post seem right? Whoever runs a thing once has one number, and every number has a story. What was measured:

# %% slideshow={"slide_type": "fragment"}
found = claims.show("gap-coverage-depends-on-the-start", "lowest-f-is-not-nearest-the-truth",
                    "six-searches-agree-in-the-gap")

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4.8 A KL weight is not a temperature
#
# A KL weight $\lambda < 1$ is often called a *cold posterior*. Wenzel et al. (2020) mean another thing by that: $P(w\mid D)^{1/T}$, prior and all. Minimising $\lambda\,\mathrm{KL}[q\,\|\,P] - \mathrm{E}_q[\log P(D\mid w)]$ aims at the left one, tempering at the right one:
#
# $$P(w)\,P(D\mid w)^{1/\lambda} \qquad\text{and}\qquad P(w)^{1/T}\,P(D\mid w)^{1/T} . \tag{4.5}$$
#
# With $P(w) = \mathcal N(0, \sigma_p^2)$ the right one is the left one at $\lambda = T$ under the prior $\mathcal N(0, T\sigma_p^2)$: any program with a KL weight can do both. On a linear model, where both are exact, of two inputs of which the second was never anything but 0:

# %% slideshow={"slide_type": "fragment"}
# eq. 4.5
t, x_seen = 0.1, np.array([[1.0, 0.0], [2.0, 0.0]])
bayes = exact.linear_regression(x_seen, [1.0, 2.0], prior_std=1.0, noise_std=1.0)
weighted = exact.linear_regression(x_seen, [1.0, 2.0], 1.0, noise_std=math.sqrt(t))
tempered = exact.linear_regression(x_seen, [1.0, 2.0], math.sqrt(t), noise_std=math.sqrt(t))
assert np.allclose(tempered.cov, t * bayes.cov) and np.allclose(tempered.mean, bayes.mean)
assert np.isclose(weighted.cov[1, 1], 1.0) and weighted.cov[0, 0] < 0.15 * bayes.cov[0, 0]
for name, p in (("Bayes", bayes), ("KL weight 0.1", weighted), ("temperature 0.1", tempered)):
    print(f"{name}: sd of the weight with data {p.cov[0, 0] ** 0.5:.3f}, "
          f"without {p.cov[1, 1] ** 0.5:.3f}")

# %% [markdown] slideshow={"slide_type": "subslide"}
# Where there are data the two nearly agree; where there are none, a KL weight leaves the prior as it was. A network does the same (mean field at its lowest, one hidden layer, the prior $\mathcal N(0, 1)$). Among the data the two bands are about as wide; <!-- claim: both-colds-narrow-alike-among-the-data --> outside, that of the KL weight is more than a quarter wider. <!-- claim: a-kl-weight-stays-wider-outside -->

# %% slideshow={"slide_type": "fragment"}
found = claims.show("both-colds-narrow-alike-among-the-data", "a-kl-weight-stays-wider-outside")

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4.9 Three recipes for one objective
#
# Back to chapter 3's problem: no gap, two layers of 20, the scale-mixture prior. The article starts each σ at 0.69 and keeps the rate at 0.08. TFP's layers start with σ = 0.05 and means drawn with sd 0.1; they get a fixed rate of 0.03. Our defaults start at σ = 0.31 and let the rate fall to 0. The *quiet* estimator averages in closed form what the others draw ([chapter 5](05_local_reparameterization.ipynb)). One objective, one family, 1500 steps each (two layers: $F$ is an average over 1000 draws). <!-- from: the article, the defaults of TFP's layers and of bbb.fit -->

# %% [markdown] slideshow={"slide_type": "subslide"}
# The article's recipe ends more than 30 nats above ours, <!-- claim: the-article-s-recipe-ends-higher --> and TFP's start on average more than 20. <!-- claim: the-library-s-recipe-ends-higher --> The quiet estimator, which bears longer steps, ends 15 nats and more below ours. <!-- claim: the-quiet-estimator-ends-lower --> All these nats are the optimiser's, and they show in the predictions. Among the data the article's recipe scores lower on new points than the quiet fit (question 3). <!-- claim: the-article-s-recipe-scores-lower-among-the-data --> Outside, our mean and that of TFP's start lie on average more than a unit of $y$ apart. <!-- claim: recipes-differ-outside -->
#
# Is this distance the optimiser's, too? Train both on by 6000 steps. Their free energies then end, on average, within 30 nats of each other, <!-- claim: recipes-trained-on-end-alike --> but their means outside still lie more than half a unit apart, on average. <!-- claim: recipes-trained-on-still-differ-outside --> So two answers can have nearly the same $F$, and differ where there are no data to choose between them.
#
# > **Illusion of one recipe.** Train on two starts of *ours* instead. In more than one world in five they end within a unit of each other, <!-- claim: two-starts-trained-on-agree-outside --> and in such a world you would say that the answer is known. Starts that are drawn in the same way may agree for that reason alone: two recipes end further apart than two starts of one, on average, <!-- claim: two-recipes-lie-further-apart-than-two-starts --> though they often agree, too. Vary the recipe, not only the seed.

# %% [markdown] slideshow={"slide_type": "subslide"}
# What was measured:

# %% slideshow={"slide_type": "fragment"}
ids = ("the-article-s-recipe-ends-higher", "the-library-s-recipe-ends-higher",
       "the-quiet-estimator-ends-lower", "the-article-s-recipe-scores-lower-among-the-data",
       "recipes-differ-outside", "recipes-trained-on-end-alike",
       "recipes-trained-on-still-differ-outside", "two-starts-trained-on-agree-outside")
found = claims.show(*ids)


# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4.10 Scores come in pairs
#
# Does it *predict* better than one network of maximum likelihood? Scores swing from data set to data set. As far as a hard one is hard for both methods, the swing is not about the methods: so subtract first, and average afterwards. With $a_w$, $b_w$ the scores of two methods in world $w$,
#
# $$\mathrm{Var}[a - b] = \mathrm{Var}[a] + \mathrm{Var}[b] - 2\,\mathrm{Cov}[a, b] . \tag{4.6}$$

# %% slideshow={"slide_type": "fragment"}
# eq. 4.6
def among(world, kl_weight):  # log density of 20 new targets at each x among the data
    here, x = datasets.sinusoid(n=32, noise_std=1.0, seed=world.data_seed), x_grid[50:151]
    quiet = {**local_reparam.QUIET, "kl_weight": kl_weight, "seed": world.start_seed}
    p = local_reparam.fit(here.x, here.y, **quiet).predict(x)
    noise = np.random.default_rng(world.seed(4)).standard_normal((20, len(x)))
    return np.mean([p.log_prob(y) for y in here.truth(x)[:, 0] + noise])


a, b = (np.array([among(World(n), kl_weight) for n in range(8)]) for kl_weight in (1.0, 0.1))
paired, apart = np.var(a - b, ddof=1), np.var(a, ddof=1) + np.var(b, ddof=1)
assert np.isclose(paired, apart - 2 * np.cov(a, b)[0, 1])
print(f"the whole KL − a tenth: {np.mean(a - b):.3f} ± {np.sqrt(paired / 8):.3f} in pairs, "
      f"± {np.sqrt(apart / 8):.3f} as if they were strangers")
assert paired < apart

# %% [markdown] slideshow={"slide_type": "subslide"}
# Outside the data Bayes by Backprop after 1500 steps scores higher than one network, on average by more than three nats a point: <!-- claim: bbb-beats-mle-outside --> one network is sure of itself everywhere. On most data sets it scores a little *lower* than one network among the data, <!-- claim: bbb-scores-lower-than-mle-among-the-data --> and higher once it is trained on; <!-- claim: trained-on-bbb-scores-higher-among-the-data --> a tenth of the KL scores higher than the whole. <!-- claim: a-tenth-of-the-kl-scores-higher-among-the-data --> What was measured:

# %% slideshow={"slide_type": "fragment"}
found = claims.show("bbb-scores-lower-than-mle-among-the-data", "bbb-beats-mle-outside",
                    "a-tenth-of-the-kl-scores-higher-among-the-data")

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4.11 Play
#
# The three parts, live. While you move a slider you see a quick fit; once you rest, the lowest $F$ of 16 starts, with the quick fit as a pale dashed line. The true posterior follows, and with it the bars are complete. Go through the presets, and say before each which bar will be the longest.

# %% tags=["explorer"] slideshow={"slide_type": "fragment"}
explorer.preset("start")
explorer


# %% [markdown] slideshow={"slide_type": "subslide"}
# - **Quick or lowest**: how much does a search gain? Under σ_p = 1 it ends on average less than twelve nats below the lowest of *eight* quick fits. <!-- claim: eight-starts-leave-the-search-little -->
# - **σ_p**, with *prior functions*: what is expected before any data. Go from 0.5 to 3.
# - **noise**, **gap**, **width** and **N** change the problem, and nothing else does.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Exercises
#
# Replace each `...` and run the cell. The check names the mistake it sees. The last two are experiments: there is no formula to copy, you train and measure, and the check measures what you bring, in three worlds. Each solution is in the collapsed cell below; read the hint first.

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 4.1 Compute: what the family costs
# Return $\mathrm{KL}[q^*\,\|\,P]$ in nats for a Gaussian posterior with covariance `cov`, where $q^*$ is its best mean field.
#
# <details><summary>Hint</summary>In the KL of two Gaussians stand a distance of the means, a trace and the logarithms of two determinants. Section 4.2 has the variances of $q^*$: which of the four need not be computed any more?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_family(cov):
    return ...


exercises.check("4.1", my_family)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_1(cov):
    precision = np.diag(np.linalg.inv(cov))
    return 0.5 * (np.log(precision).sum() + np.linalg.slogdet(cov)[1])


assert exercises.check("4.1", solution_1, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 4.2 Compute: how sure of a difference
# A linear model predicts $f(x) = x^\top w$. Return the standard deviation of $f(b) - f(a)$, the difference of its predictions at the inputs `a` and `b`: first under a Gaussian posterior with covariance `cov`, then under the best mean field for that posterior.
#
# <details><summary>Hint</summary>The two predictions are made with the same weights, whether these are independent or not. Write their difference as *one* sum over the weights.</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_widths(cov, a, b):
    return ...


exercises.check("4.2", my_widths)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_2(cov, a, b):
    u = b - a
    return np.sqrt(u @ cov @ u), np.sqrt(np.sum(u**2 / np.diag(np.linalg.inv(cov))))


assert exercises.check("4.2", solution_2, record=False)

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 4.3 Explain: true or false
# Which statements are true?
#
# - (a) If $F$ is high, the family is too small.
# - (b) Of two members of the same family, $F$ says which has the smaller KL to the posterior, without knowing $\log P(D)$.
# - (c) A band that misses the true function in a gap proves that inference was approximate.
# - (d) All copies of a posterior under swaps of hidden units predict the same.
# - (e) That a mean-field $q$ with two hidden layers is too sure in the gap is no consequence of the theorem.
#
# <details><summary>Hint</summary>For each, ask which of the three parts it speaks of.</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
my_choice = ...  # such as {"a", "b"}

exercises.check("4.3", my_choice)

# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
# The letters of the statements that are true:
solution_3 = {"b", "d", "e"}

assert exercises.check("4.3", solution_3, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 4.4 Compute: what the copies cost at most
# Take tanh for ReLU: $\tanh(-a) = -\tanh a$. Then a swap of two units is not all that changes no output, and under a prior that is symmetric about 0 the posterior has still more copies. Return $\log K$ in nats for a network whose hidden layers have `hidden_units` tanh units, a tuple such as `(20, 20)`. It must not overflow at 400 units.
#
# <details><summary>Hint</summary>Turn the sign of all weights that come into one unit, its bias with them. What must become of those that go out? Count for one unit, then for a layer that stands in a given order, then for all orders and all layers. And look for a function of `math` that never forms the large number.</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_copies(hidden_units):
    return ...


exercises.check("4.4", my_copies)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_4(hidden_units):
    # H! orders of a layer, and in each of them every unit with one sign or the other
    return sum(math.lgamma(n + 1) + n * math.log(2) for n in hidden_units)


assert exercises.check("4.4", solution_4, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 4.5 Change: two ways to be cold
# One weight with prior $\mathcal N(0, \sigma_p^2)$ was measured directly `n` times, each time with noise `noise_std`. Return the posterior's sd at KL weight `t`, and at temperature `t`.
#
# <details><summary>Hint</summary>What does a power of a Gaussian density do to its precision? Then go through the factors of (4.5), one by one.</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_colds(n, prior_std, noise_std, t):
    return ...


exercises.check("4.5", my_colds)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_5(n, prior_std, noise_std, t):
    prior_precision, data_precision = 1 / prior_std**2, n / noise_std**2
    weighted = prior_precision + data_precision / t
    return weighted**-0.5, ((prior_precision + data_precision) / t) ** -0.5


assert exercises.check("4.5", solution_5, record=False)

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 4.6 Experiment: arrive
# On chapter 3's problem, `datasets.sinusoid(seed=seed)` with the defaults of `bbb.fit`, the fit stops too early. Return the means and the standard deviations of a mean-field posterior whose $F$ is at most 350 nats, for the seeds 0, 1 and 2. Any start, rate, estimator and number of steps will do (`LOWEST` is made for one hidden layer, and here are two). First draw $F$ over the number of steps for two ways of training.
#
# <details><summary>Hint</summary>4.3 and 4.9 name three means; more of the same noise is the dearest.</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
lengths = [100, 200, 500, 1000, 2000, 5000]
curves = {}  # of each way of training: F after each number of steps in lengths
fig, ax = plt.subplots(figsize=(6, 2.8))
for name, nats in curves.items():
    ax.semilogx(lengths, nats, "o-", label=name)
ax.axhline(350, color=plots.GREY, lw=1, label="to be reached")
panel(ax, "Your graph: which way arrives first?", "steps", "F, nats")


def my_posterior(seed):
    return ...


exercises.check("4.6", my_posterior)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_6(seed):
    points = datasets.sinusoid(seed=seed)
    quiet = local_reparam.fit(points.x, points.y, starts=2, **local_reparam.QUIET)
    arrived = quiet.refined(4000)
    return arrived.mean, arrived.std


assert exercises.check("4.6", solution_6, record=False)

# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
one_set = datasets.sinusoid(seed=0)
ways = {"our defaults": (bbb.fit, {}), "quiet": (local_reparam.fit, local_reparam.QUIET)}
fig, ax = plt.subplots(figsize=(6, 3.2))
for (name, (train, settings)), style in zip(ways.items(), ("o-", "s--"), strict=True):
    nats = [train(one_set.x, one_set.y, **{**settings, "steps": k}).free_energy for k in lengths]
    ax.semilogx(lengths, nats, style, label=name)
ax.axhline(350, color=plots.GREY, lw=1, label="to be reached")
panel(ax, "Less noise helps more than more steps", "steps", "F, nats")

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 4.7 Experiment: which fits have not arrived?
# For each number of `steps`, fit `datasets.sinusoid(seed=seed)` by `local_reparam.fit(x, y, **quiet)`, where `quiet` is `local_reparam.QUIET` with that number of steps. Return a list: `True` where training on, by 4000 quiet steps, lowers $F$ by more than 10 nats. Draw first the curves of `fit.history["free_energy"]`, and say what you would have guessed from them; then, beside them, what training on has gained.
#
# <details><summary>Hint</summary>`fit.refined` and `fit.free_energy`; a record of one step is a noisy estimate.</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
records, gains = {}, {}  # of each number of steps: fit.history, and the nats gained afterwards
fig, axes = plt.subplots(1, 2, figsize=(10, 2.8), layout="constrained")
for steps, record in records.items():
    axes[0].semilogx(record["step"], record["free_energy"], lw=1, label=f"{steps} steps")
axes[1].semilogx(list(gains), list(gains.values()), "o-", label="gained")
axes[0].axhline(350, color=plots.GREY, lw=1, label="350 nats")
axes[1].axhline(10, color=plots.GREY, lw=1, label="10 nats")
panel(axes[0], "Your graphs: have they arrived?", "step", "F of a step, nats")
panel(axes[1], "What training on gains", "steps of the fit", "nats")


def my_unfinished(seed, steps):
    return ...


exercises.check("4.7", my_unfinished)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def quiet_run(seed, k):
    points = datasets.sinusoid(seed=seed)
    fit = local_reparam.fit(points.x, points.y, **{**local_reparam.QUIET, "steps": k})
    return fit.history, fit.free_energy - fit.refined(4000).free_energy


def solution_7(seed, steps):
    return [quiet_run(seed, k)[1] > 10 for k in steps]


assert exercises.check("4.7", solution_7, record=False)

# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
runs = {k: quiet_run(0, k) for k in (50, 100, 200, 400, 1500, 4000)}
fig, axes = plt.subplots(1, 2, figsize=(10, 3.2), layout="constrained")
for k, style in ((50, "-"), (400, "--"), (4000, ":")):
    axes[0].semilogx(runs[k][0]["step"], runs[k][0]["free_energy"], style, label=f"{k} steps")
axes[1].semilogx(list(runs), [n for _, n in runs.values()], "o-", color=GREEN, label="gained")
axes[0].axhline(350, color=plots.GREY, lw=1, label="350 nats")
axes[1].axhline(10, color=plots.GREY, lw=1, label="10 nats")
panel(axes[0], "Each record flattens at its end", "step", "F of a step, nats")
panel(axes[1], "What training on gains all the same", "steps of the fit", "nats")

# %% slideshow={"slide_type": "fragment"}
exercises.progress(4)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Mistakes in circulation
#
# **Claim:** "the band is wrong, so the family is too small." **True:** (4.1) has another part, and its cause is the optimiser; the prior may be to blame for the rest. Measure all three before you name one.
#
# **Claim:** "mean field underestimates the variance." **True** of each single weight ($1/\Lambda_{ii} \le \Sigma_{ii}$, for a Gaussian posterior) and of the sd along what the data leave open, false along what they know. Run it on any correlated posterior:

# %% slideshow={"slide_type": "fragment"}
for correlation in (0.5, 0.9, 0.99):
    cov = np.array([[1, correlation], [correlation, 1]])
    (p_loose, q_loose), (p_stiff, q_stiff) = along([1, 1], cov), along([1, -1], cov)
    print(f"correlation {correlation}: {q_loose / p_loose:.2f} of the sd along what is open, "
          f"{q_stiff / p_stiff:.2f} along what is known")
    assert q_loose < p_loose and q_stiff > p_stiff

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Claim:** "theorems say that mean field cannot be unsure in a gap." **True** for one hidden layer and a gap about 0, (4.4); the two-layer $q$ of 4.5 is unsure there. What training *finds* is another question.
#
# **Claim:** "we used a cold posterior: KL weight 0.1." **True** in name only: (4.5).

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Summary
#
# - The distance of an answer from the true function has three parts: optimisation, family, prior. In nats the first two add up to $\mathrm{KL}[q\|P(w\mid D)]$; the third is in the posterior itself. As distances they do not add up.
# - The optimiser's part is a difference of free energies: train many starts, keep the lowest, and say how many agree.
# - Early stopping is a posterior of its own: say the steps. Under the wide prior, the better the optimiser, the surer mean field in the gap.
# - The family's part points in directions: too unsure along what the data know, too sure along what they leave open. Some of it, up to $\log K$, is copies and means nothing.
# - The prior's part is what the posterior gets wrong, but for the luck of the data.
# - The theorem about gaps is for one hidden layer.
# - A KL weight tempers the likelihood alone.
# - Subtract within a world, then average over worlds.

# %% [markdown] slideshow={"slide_type": "subslide"}
# ## References
#
# - Blundell, Cornebise, Kavukcuoglu, Wierstra (2015). Weight uncertainty in neural networks. [arXiv:1505.05424](https://arxiv.org/abs/1505.05424)
# - Hoffman, Gelman (2014). The No-U-Turn sampler. [arXiv:1111.4246](https://arxiv.org/abs/1111.4246)
# - Foong, Burt, Li, Turner (2020). On the expressiveness of approximate inference in Bayesian neural networks. [arXiv:1909.00719](https://arxiv.org/abs/1909.00719)
# - Kurle, Herbrich, Januschowski, Wang, Gasthaus (2022). On the detrimental effect of invariances in the likelihood for variational inference. [arXiv:2209.07157](https://arxiv.org/abs/2209.07157)
# - Wenzel et al. (2020). How good is the Bayes posterior in deep neural networks really? [arXiv:2002.02405](https://arxiv.org/abs/2002.02405)
# - Izmailov, Vikram, Hoffman, Wilson (2021). What are Bayesian neural network posteriors really like? [arXiv:2104.14421](https://arxiv.org/abs/2104.14421)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Previous:** [3 · Bayes by Backprop](03_bayes_by_backprop.ipynb) · **Next:** [5 · Local reparameterization](05_local_reparameterization.ipynb): the same objective, with a gradient whose noise falls as the batch grows.

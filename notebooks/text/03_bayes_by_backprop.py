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
# # 3 · Bayes by Backprop
#
# *A neural network that says how sure it is, trained with the backpropagation that you know.*
#
# **Run the cell below** (Shift+Enter), then drag a point up or down: whenever it moves, a neural network with 481 weights is trained again from scratch on all 32 points. Then take the slider **π** all the way to the right. What does the dark band do among the points, and what far from them?

# %% tags=["explorer"] slideshow={"slide_type": "fragment"}
from bdl_teach.widgets import SinusoidExplorer

explorer = SinusoidExplorer()
explorer

# %% [markdown] slideshow={"slide_type": "subslide"}
# **On the screen**
#
# - **Crosses**: the data. **Line and bands**: what many networks, drawn from the fit, say about y. Where they disagree, the **dark band** (*epistemic*) is wide: data there would make it narrower. The **light band** (*total*) adds the noise of each measurement, which no amount of data removes.
# - **σ₁** and **π** (the *prior*): how large weights are expected to be before any data. With probability π a weight comes from a wide bell curve (sd σ₁), else from a narrow one. **noise σ**: how far measurements lie from the function.
# - **samples/step**: how many networks are drawn in each step of the training. The goal stays the same; with more the way to it is smoother, as the orange curve in the tab *training* shows. <!-- claim: ten-draws-descend-smoothly -->
# - **true posterior**: the exact answer of Bayes' rule, in green (dashes: its mean; dash-dots: ±2 sd), found by slow and careful sampling. The fit only comes near to it: where its dark band is narrower than the green lines are apart, it is too sure. (The *true function*, dotted, is what the points were made from.)
# - **The second picture** follows what you move; its tabs choose it by hand. *weights*: the prior's curve, and what training made of it, the distribution *q* of the weights with its means *μ*. *training*: how F fell. *how unsure*: the sds, by x. *distance*: in blue, how far the fit is from the true posterior; in orange, how far the true posterior's mean is from the true function, which better training cannot change.
# - **The sentence below the picture**: *F*, the free energy, is the number that training makes small; its unit is the *nat*. *HMC* is the sampler of the true posterior. Its chains are *mixed* once they agree; until then the green lines are pale.

# %% [markdown] slideshow={"slide_type": "subslide"}
# ## What you will be able to do
#
# - derive the free energy and say which of its two terms does what;
# - write its gradients Δμ and Δρ by hand and check them against automatic differentiation;
# - choose a prior and predict what it will do to the fit;
# - scale the KL term correctly for minibatches;
# - tell epistemic from aleatoric uncertainty, in a formula and in a picture;
# - ask whether a fit has arrived, before you believe what it shows.
#
# **Time** 66 minutes · **Minutes per section** 3.1: 3 · 3.2: 3 · 3.3: 4 · 3.4: 4 · 3.5: 6 · 3.6: 3 · 3.7: 4 · 3.8: 9 · 3.9: 4 · 3.10: 4 · 3.11: 3 · 3.12: 3 · opening and end: 16
#
# **Prerequisites** Python, NumPy, the chain rule, and having trained a network with Keras. No Bayesian statistics: what is needed is built here, briefly; [chapter 1](01_from_mle_to_bayes.ipynb) takes its time over sections 3.1 and 3.2. Notation: [chapter 0](00_start_here.ipynb#Notation).

# %% slideshow={"slide_type": "skip"}
explorer.wait()  # for its first picture, before the next cells need the processor too

import warnings
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np

from bdl_teach import datasets, densities, elbo, estimators, exercises, metrics, plots
from bdl_teach.backend import tf, tfd, tfp
from bdl_teach.methods import bbb, exact, local_reparam, mcmc, point
from bdl_teach.mlp import MLP
from bdl_teach.plots import BLUE, RED, panel

plots.lecture_style()
TOP = {"loc": "upper center", "ncols": 3, "fontsize": 10}  # a legend above the curves

# %% [markdown] slideshow={"slide_type": "subslide"}
# ## The picture, step by step
#
# The explorer draws several things over one another. Here they come one at a time, for the same points, a smaller network (one hidden layer of 20 units, 61 weights) and a simpler prior.
#
# **One network.** The points are 32 noisy measurements of the *true function*, a sine (dotted). The line is one network that was trained on them by least squares. Look beyond the outermost points: nothing says that the line is only a guess there.

# %% slideshow={"slide_type": "fragment"}
data = datasets.sinusoid(n=32, noise_std=1.0, seed=0)
x_wide = np.linspace(-1, 1, 201)[:, None]


def points_and_sine():
    ax = plt.figure(figsize=(9.5, 3.6)).subplots()
    plots.draw_truth(ax, x_wide, data.truth(x_wide))
    plots.draw_data(ax, data.x, data.y)
    ax.set_ylim(-35, 35)
    return ax


one_network = point.fit(data.x, data.y, hidden_units=(20,)).predict(x_wide)
ax = points_and_sine()
ax.plot(x_wide, one_network.mean, color=RED, label="one network")
panel(ax, "One network: no word of doubt", "x", "y", **TOP)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Many networks.** Bayes by Backprop trains no single network but a distribution over weights, called **q**, and networks are drawn from it. Look where these thirty agree, and where they part.

# %% slideshow={"slide_type": "fragment"}
wide = {"prior": densities.Gaussian(3.0), "hidden_units": (20,)}
mean_field = local_reparam.fit(data.x, data.y, **wide, **local_reparam.LOWEST)
drawn = mean_field.predict(x_wide, n_samples=1000)
ax = points_and_sine()
ax.plot(x_wide, drawn.samples[:30].T, color=BLUE, lw=0.8, alpha=0.6)
panel(ax, "Thirty networks drawn from q", "x", "y", **TOP)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Mean and bands.** The line is now the mean of a thousand such networks. The **dark band** (*epistemic*) is how far they differ, ±2 standard deviations (sd); more data would make it narrower. The **light band** (*total*) adds the noise: it is where new points are to be expected. Look which of the two holds the points.

# %% slideshow={"slide_type": "fragment"}
ax = points_and_sine()
plots.draw_predictive(ax, x_wide, drawn)
panel(ax, "The same networks as a mean and two bands", "x", "y", **TOP)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **The prior's functions.** The **prior** says what the weights may be before any data, here N(0, 3²) for each of them. Look how far twelve networks drawn from it reach: only the points hold them back.

# %% slideshow={"slide_type": "fragment"}
ax = points_and_sine()
before_data = mean_field.evaluate(wide["prior"].sample((12, 61), seed=3), x_wide)
ax.plot(x_wide, before_data.T, color="0.6", lw=1)
panel(ax, "Twelve networks drawn from the prior", "x", "y", **TOP)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **The true posterior.** Prior and points together leave one distribution over the weights, by Bayes' rule: the **posterior**. q is only the nearest to it that training found in a simple family. Hamiltonian Monte Carlo (HMC, chapter 4) draws from the posterior itself: the green lines are the mean of its draws and ±2 sd. Look among the points first, then beyond them: where is q too sure?

# %% slideshow={"slide_type": "fragment"}
sampled = mcmc.hmc(data.x, data.y, n_samples=1000, **wide)
print(sampled.report)
ax = points_and_sine()
plots.draw_predictive(ax, x_wide, drawn)
plots.OverlayArtists(ax, x_wide[:, 0], "true posterior").show(sampled.predict(x_wide))
panel(ax, "Where there are no points, q is too sure", "x", "y", **TOP)
ratio = sampled.predict(x_wide).epistemic_std / drawn.epistemic_std
assert sampled.converged and ratio[[0, -1]].min() > 1.2

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Now the sliders.** Training makes one number small, the **free energy F**. It is the sum of *likelihood* (minus the log likelihood: how badly the networks fit the points) and *complexity* (how far the weights had to leave the prior). Both are in *nats*, the unit of a natural logarithm. Of two fits with the same points, prior, noise and KL weight, that with the lower F is the better trained one. Whether it also predicts better, chapter 4 asks.
#
# The list under the explorer says what each of them sets. Where to look:
#
# - **σ₁**, **π** (and **σ₂** under *more*): the prior's curve beside the weights, and the dark band far from the points;
# - **noise σ**: the points, and the light band;
# - **samples/step**: the curve *F, drawn*, rough with 1, smooth with 10;
# - **true posterior**: the green lines beside the dark band.
#
# **Hands off:** while you rest, training goes on, from other starts too. Where it finds a lower F the picture changes once more, and a line says by how much F fell. A few nats can move the curve far from the points a lot: there hardly anything holds it.

# %% [markdown] slideshow={"slide_type": "subslide"}
# ## Predict first
#
# Write down your answers. You will test them in section 3.10.
#
# 1. The noise on the data doubles from σ = 1 to σ = 2. Which band grows *exactly* by that factor: the dark one (epistemic) or the light one (total)? Or neither?
# 2. The prior's wide component σ₁ goes from 1.5 to 3. The network may now use larger weights. Does its *complexity cost* go up or down?
# 3. The KL weight goes to 0. Does the dark band among the data vanish?
# 4. The weights are drawn 10 times in each step instead of once. What changes: the answer, the road to it, or both?

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3.1 One network, one answer
#
# A network with weights $w$ is a *probability model* of the target: it outputs $f(w, x)$, and we say that $y$ is that output plus Gaussian noise with standard deviation $s$. The data $D$ are $n$ pairs $(x_i, y_i)$. Their **likelihood** $P(D \mid w)$ is the density that the model gives to what was seen. Training by **maximum likelihood** (MLE) minimises
#
# $$-\log P(D \mid w) = \frac{1}{2 s^2}\sum_{i=1}^{n} \left(y_i - f(w, x_i)\right)^2 + \frac{n}{2}\log 2\pi s^2 . \tag{3.1}$$
#
# The second term does not contain $w$, the first is the squared error up to a factor: **`loss="mse"` in Keras is maximum likelihood under Gaussian noise**. (For a classifier, where $P(y\mid x, w)$ is categorical, the same step gives the cross-entropy.)
#
# We derive everything on the smallest network there is: one weight, $f(w, x) = w x$, and four points. There every claim can be checked exactly.

# %% slideshow={"slide_type": "subslide"}
# eq. 3.1
x = np.array([-1.0, -0.5, 0.5, 1.5])
y = np.array([-0.9, -0.1, 0.5, 1.1])
s = 0.5  # standard deviation of the noise
grid = np.linspace(-3, 3, 6001)  # values of the one weight w


def nll(w):
    squares = ((y - np.multiply.outer(w, x)) ** 2).sum(axis=-1)
    return squares / (2 * s**2) + len(y) / 2 * np.log(2 * np.pi * s**2)


mse = ((y - np.outer(grid, x)) ** 2).mean(axis=1)
assert np.isclose(nll(0.7), densities.gaussian_nll(y, 0.7 * x, s**2).sum())
assert np.argmin(nll(grid)) == np.argmin(mse)

# %% [markdown] slideshow={"slide_type": "subslide"}
# A **prior** $P(w)$ says which weights are plausible before any data. The most plausible weight *after* the data (**MAP**, maximum a posteriori) minimises
#
# $$-\log P(D \mid w) - \log P(w) . \tag{3.2}$$
#
# With $P(w) = \mathcal N(0, \sigma_p^2)$ the new term is $w^2/2\sigma_p^2$ plus a constant: **L2 regularisation** (for plain gradient steps the same as weight decay, for Adam not: [section 1.2](01_from_mle_to_bayes.ipynb)). With a Laplace prior it is $|w|/b$ plus a constant: **L1**. So a penalty that is added to the loss can be read as minus the log of a prior (early stopping or augmentation cannot).

# %% slideshow={"slide_type": "fragment"}
# eq. 3.2
sigma_p = 1.0
prior_one = densities.Gaussian(sigma_p)
l2 = -prior_one.log_prob(grid) - grid**2 / (2 * sigma_p**2)
l1 = -tfd.Laplace(np.float64(0.0), 0.8).log_prob(grid).numpy() - np.abs(grid) / 0.8
assert np.ptp(l2) < 1e-12 and np.ptp(l1) < 1e-12  # constants: no w left in them

w_map = (x @ y) / (x @ x + s**2 / sigma_p**2)
assert abs(grid[np.argmin(nll(grid) - prior_one.log_prob(grid))] - w_map) < 1e-3
print(f"MLE {x @ y / (x @ x):.3f}, MAP {w_map:.3f}: the prior pulls towards 0")

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3.2 All networks, weighted: the posterior
#
# MLE and MAP return *one* weight vector and throw away how many others explain the data nearly as well. Bayes' rule keeps them all:
#
# $$P(w \mid D) = \frac{P(D \mid w)\,P(w)}{P(D)}, \qquad P(D) = \int P(D \mid w)\,P(w)\,\mathrm dw . \tag{3.3}$$
#
# $P(w \mid D)$ is the **posterior**. Its denominator, the **evidence**, is the trouble. With one weight it is a sum over a grid:

# %% slideshow={"slide_type": "fragment"}
# eq. 3.3
prior_density = np.exp(prior_one.log_prob(grid))
evidence = np.trapezoid(np.exp(-nll(grid)) * prior_density, grid)
posterior = np.exp(-nll(grid)) * prior_density / evidence

known = exact.linear_regression(x[:, None], y, prior_std=sigma_p, noise_std=s)
m, sd = known.mean[0], np.sqrt(known.cov[0, 0])  # the posterior is N(m, sd²)
assert np.isclose(np.log(evidence), known.log_evidence)
assert np.allclose(posterior, np.exp(-densities.gaussian_nll(grid, m, sd**2)), atol=1e-9)
print(f"log P(D) = {known.log_evidence:.4f} nats; posterior mean {m:.3f}, sd {sd:.3f}")

# %% [markdown] slideshow={"slide_type": "subslide"}
# For the network of this chapter, 481 weights, a grid of ten points each has 10⁴⁸¹ cells, and no formula for the integral is known: the evidence is **intractable**. Keep that word apart from "slow": there is nothing to wait for.
#
# If we had the posterior, a prediction would be an average over all networks, each weighted by its posterior probability, the **posterior predictive**:
#
# $$P(y \mid x, D) = \int P(y \mid x, w)\,P(w \mid D)\,\mathrm dw . \tag{3.4}$$
#
# It is an ensemble of infinitely many networks. For one weight it is a Gaussian whose variance has two parts: $x^2\,\mathrm{sd}^2$, because we do not know $w$, and $s^2$, because the data are noisy.

# %% slideshow={"slide_type": "fragment"}
# eq. 3.4
x_new, y_values = 2.0, np.linspace(-2, 5, 15)
likelihoods = np.exp(-densities.gaussian_nll(y_values[:, None], grid * x_new, s**2))
predictive = np.trapezoid(likelihoods * posterior, grid, axis=1)
closed_form = np.exp(-densities.gaussian_nll(y_values, m * x_new, x_new**2 * sd**2 + s**2))
assert np.allclose(predictive, closed_form)
print(f"variance at x = 2: {x_new**2 * sd**2:.3f} (weights) + {s**2:.3f} (noise)")


# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3.3 The free energy
#
# We cannot compute $P(w\mid D)$, so we look for the nearest distribution in a family that we can handle: $q(w \mid \theta)$, one independent Gaussian per weight (a *mean-field* family), $\theta = (\mu, \sigma)$. "Nearest" is measured by the **Kullback-Leibler divergence** $\mathrm{KL}[q\,\|\,p] = \mathbb E_q[\log q - \log p] \ge 0$, which is 0 only when $q = p$. (Where $q = 0$, the integrand $0 \log 0$ counts as 0, its limit.) Put Bayes' rule (3.3) into it:
#
# $$\mathrm{KL}[q\,\|\,P(w\mid D)] = \mathbb E_q\big[\log q(w\mid\theta) - \log P(D\mid w) - \log P(w) + \log P(D)\big].$$
#
# $\log P(D)$ does not depend on $w$, so it leaves the expectation. What remains is the **free energy**
#
# $$F(\theta) = \underbrace{\mathrm{KL}[q(w\mid\theta)\,\|\,P(w)]}_{\text{complexity cost}} \;\underbrace{-\,\mathbb E_{q}[\log P(D\mid w)]}_{\text{likelihood cost}} . \tag{3.5}$$
#
# The complexity cost sees only the prior, the likelihood cost only the data. Both are in *nats*, the unit of natural logarithms. Every term can be computed or sampled. And
#
# $$\mathrm{KL}[q\,\|\,P(w\mid D)] = F(\theta) + \log P(D) . \tag{3.6}$$

# %% slideshow={"slide_type": "subslide"}
# eq. 3.5
def free_energy(mu, sigma):
    """F of q = N(mu, sigma²) in closed form, in nats."""
    complexity = densities.gaussian_kl(mu, sigma, 0.0, sigma_p)
    likelihood = nll(mu) + np.square(sigma) * (x @ x) / (2 * s**2)
    return complexity + likelihood


q = np.exp(-densities.gaussian_nll(grid, 0.3, 0.2**2))
integrand = q * (np.log(q) - prior_one.log_prob(grid) + nll(grid))
assert np.isclose(free_energy(0.3, 0.2), np.trapezoid(integrand, grid))

# %% slideshow={"slide_type": "fragment"}
# eq. 3.6
for mu_try in (-0.5, 0.0, 0.6, 1.5):
    for sigma_try in (0.05, 0.2, 1.0, 3.0):
        distance = densities.gaussian_kl(mu_try, sigma_try, m, sd)  # to the true posterior
        assert np.isclose(distance, free_energy(mu_try, sigma_try) + known.log_evidence)
print("16 different q: KL to the posterior = F + log P(D), each time")

# %% [markdown] slideshow={"slide_type": "subslide"}
# A KL is never negative, so
#
# $$-F(\theta) \le \log P(D), \quad\text{with equality exactly when } q(w\mid\theta) = P(w\mid D). \tag{3.7}$$
#
# $-F$ is therefore called the **evidence lower bound**, ELBO. Two names, one quantity, opposite signs: **the free energy is minimised, the ELBO is maximised**. Minimising $F$ moves $q$ to the posterior without ever computing the evidence. That is the whole idea of *variational inference*: an integral has become an optimisation.

# %% slideshow={"slide_type": "subslide"}
# eq. 3.7
mus, sigmas = np.linspace(-0.4, 1.8, 89)[None], np.linspace(0.05, 0.8, 76)[:, None]
surface = free_energy(mus, sigmas)  # [76, 89]
assert (-surface <= known.log_evidence + 1e-12).all()  # a lower bound everywhere
assert np.isclose(-free_energy(m, sd), known.log_evidence)  # and tight at the posterior

fig, ax = plt.subplots()
lines = ax.contour(mus[0], sigmas[:, 0], surface + known.log_evidence, [0.1, 0.5, 1, 2, 4, 8])
ax.clabel(lines, fmt="%g nats")
ax.plot(m, sd, "*", ms=18, color=RED, label="true posterior: 0 nats")
panel(ax, "F + log P(D) is the distance to the posterior", "mean μ of q", "sd σ of q")


# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3.4 Reparameterization: sampling that lets gradients through
#
# $F$ contains an expectation over $q(w\mid\theta)$, and $\theta$ is what we want to differentiate by. If `w` simply comes out of a random number generator, there is no path from the loss back to $\mu$ and $\sigma$. So let the generator produce noise that knows nothing of $\theta$, and make the weight from it:
#
# $$w = \mu + \sigma \odot \varepsilon, \qquad \sigma = \log(1 + e^{\rho}), \qquad \varepsilon \sim \mathcal N(0, I). \tag{3.8}$$
#
# The function $\log(1+e^\rho)$ is called *softplus*. It makes σ positive for every real ρ, so that an optimiser may step anywhere. From here on $\theta = (\mu, \rho)$.

# %% slideshow={"slide_type": "fragment"}
# eq. 3.8
def softplus(rho):
    return np.logaddexp(0.0, rho)  # log(e^0 + e^rho), without overflow


rng = np.random.default_rng(0)
mu, rho, eps = 0.4, -1.0, rng.standard_normal(200_000)
w = mu + softplus(rho) * eps
assert (softplus(np.array([-50.0, -1.0, 0.0, 800.0])) > 0).all()
assert abs(w.mean() - mu) < 4 * w.std() / np.sqrt(w.size)
assert np.isclose(w.std(), softplus(rho), rtol=0.01)
assert np.isclose(softplus(np.log(np.expm1(0.7))), 0.7)  # the inverse: ρ = log(e^σ − 1)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Why the expectation stays the same.** Substitute $w = \mu + \sigma\varepsilon$, $\mathrm dw = \sigma\,\mathrm d\varepsilon$ in the integral. The density of $w$ is $\mathcal N(\varepsilon\mid 0,1)/\sigma$, so the σ cancels: $q(w\mid\theta)\,\mathrm dw = \mathcal N(\varepsilon\mid 0, 1)\,\mathrm d\varepsilon$, and for any $f$
#
# $$\mathbb E_{q(w\mid\theta)}[f(w, \theta)] = \mathbb E_{\varepsilon}[f(\mu+\sigma\varepsilon, \theta)] . \tag{3.9}$$
#
# On the right, the distribution is free of $\theta$, so the derivative may go inside:
#
# $$\frac{\partial}{\partial\theta}\,\mathbb E_{q(w\mid\theta)}[f(w,\theta)] = \mathbb E_{\varepsilon}\left[\frac{\partial f}{\partial w}\frac{\partial w}{\partial\theta} + \frac{\partial f}{\partial\theta}\right]. \tag{3.10}$$
#
# The same works for any $w = g(\varepsilon, \theta)$ that is differentiable in $\theta$, as long as the noise does not depend on $\theta$, and for any continuous, piecewise differentiable $f$. A ReLU network is one; a network of step functions is not.

# %% slideshow={"slide_type": "fragment"}
# eq. 3.9
sigma = softplus(rho)
e = np.linspace(-8, 8, 4001)
normal = np.exp(-densities.gaussian_nll(e, 0.0, 1.0))
w_axis = np.linspace(mu - 8 * sigma, mu + 8 * sigma, 4001)
q = np.exp(-densities.gaussian_nll(w_axis, mu, sigma**2))
over_w = np.trapezoid(q * nll(w_axis), w_axis)
over_eps = np.trapezoid(normal * nll(mu + sigma * e), e)
assert np.isclose(over_w, over_eps)

# %% slideshow={"slide_type": "fragment"}
# eq. 3.10
step = 1e-5
slope = (free_energy(mu, sigma + step) - free_energy(mu, sigma - step)) / (2 * step)
w = mu + sigma * e  # f = log q − log P(w) − log P(D | w), and its three derivatives
df_dw = -e / sigma + w / sigma_p**2 - ((y - np.outer(w, x)) @ x) / s**2
df_dsigma = (e**2 - 1) / sigma
assert np.isclose(np.trapezoid(normal * (df_dw * e + df_dsigma), e), slope, atol=1e-6)


# %% [markdown] slideshow={"slide_type": "subslide"}
# There is an older way, which needs no path: the **score-function** estimator (REINFORCE) $\mathbb E_q[f(w)\,\partial_\theta \log q(w\mid\theta)]$. It only sees how good a draw was, never in which direction it would improve; [chapter 2](02_reparameterization_and_vae.ipynb) measures what that costs, and where it does not.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3.5 The Monte-Carlo objective and its gradients
#
# With (3.9), the free energy of *any* network is an average over $S$ weight draws:
#
# $$F(\theta) \approx \frac1S\sum_{k=1}^{S}\left[\log q(w^{(k)}\mid\theta) - \log P(w^{(k)}) - \log P(D\mid w^{(k)})\right], \qquad w^{(k)} = \mu + \sigma\odot\varepsilon^{(k)} . \tag{3.11}$$
#
# Mind the $1/S$: three of this course's sources print the sum without it. Each $k$ is a draw of the *whole* weight vector, not a data point; the sum over data points is inside $\log P(D\mid w)$.

# %% slideshow={"slide_type": "fragment"}
# eq. 3.11
def mc_free_energy(eps):
    """One-draw estimates of F at (mu, sigma), one for each eps."""
    w = mu + sigma * eps
    log_q = -densities.gaussian_nll(w, mu, sigma**2)
    return log_q - prior_one.log_prob(w) + nll(w)


draws = mc_free_energy(np.random.default_rng(2).standard_normal(100_000))
assert abs(draws.mean() - free_energy(mu, sigma)) < 4 * draws.std() / np.sqrt(draws.size)
ten = draws[:10]
print(f"exact {free_energy(mu, sigma):.3f}; mean of 10 draws {ten.mean():.3f}; "
      f"their sum, without 1/S: {ten.sum():.1f}")


# %% [markdown] slideshow={"slide_type": "subslide"}
# **Sampled or analytic KL?** For a Gaussian prior the complexity cost has a closed form, and only the likelihood cost must be sampled; for other priors, such as the mixture of section 3.6, (3.11) samples both. Both are unbiased. Which is less noisy is not obvious: a sampled KL can cancel noise of the likelihood cost.

# %% [markdown] slideshow={"slide_type": "subslide"}
# Now the gradients, straight from (3.10) with $f(w,\theta) = \log q(w\mid\theta) - \log P(w)\,P(D\mid w)$. $\partial w/\partial\mu = 1$, and $\partial w/\partial\rho = \varepsilon\,\mathrm{softplus}'(\rho) = \varepsilon/(1+e^{-\rho})$:
#
# $$\Delta\mu = \frac{\partial f}{\partial w} + \frac{\partial f}{\partial \mu}, \tag{3.12}$$
#
# $$\Delta\rho = \frac{\partial f}{\partial w}\,\frac{\varepsilon}{1+e^{-\rho}} + \frac{\partial f}{\partial\rho} . \tag{3.13}$$
#
# $\partial f/\partial w$ is the gradient that ordinary backpropagation already computes, plus the prior's and $q$'s. Everything else is known in closed form. This is why the method is called **Bayes by Backprop**.

# %% slideshow={"slide_type": "fragment"}
# eq. 3.12 and 3.13
def gradients(mu, rho, eps):
    """Δμ and Δρ of the one-weight model, by hand."""
    sigma, slope = np.logaddexp(0.0, rho), 1 / (1 + np.exp(-rho))
    w = mu + sigma * eps
    df_dw = -eps / sigma + w / sigma_p**2 - ((y - np.multiply.outer(w, x)) @ x) / s**2
    df_dmu = eps / sigma  # log q also depends on μ and σ at fixed w
    df_drho = (eps**2 - 1) / sigma * slope
    return df_dw + df_dmu, df_dw * eps * slope + df_drho


by_hand = gradients(0.4, -1.0, 0.7)
package = estimators.bbb_gradients(0.4, -1.0, 0.7, x, y, s, prior_one)
assert np.allclose(by_hand, package)

# %% slideshow={"slide_type": "subslide"}
theta = [tf.Variable(0.4, dtype=tf.float64), tf.Variable(-1.0, dtype=tf.float64)]
with tf.GradientTape() as tape:  # records what is computed, to differentiate it afterwards
    std = tf.nn.softplus(theta[1])
    w_tf = theta[0] + std * 0.7
    log_joint = tfd.Normal(w_tf * x, s).log_prob(y)
    f = tfd.Normal(theta[0], std).log_prob(w_tf) - tf.reduce_sum(log_joint)
    f -= tfd.Normal(np.float64(0.0), sigma_p).log_prob(w_tf)
assert np.allclose(by_hand, tape.gradient(f, theta))
print(f"Δμ = {by_hand[0]:.6f}, Δρ = {by_hand[1]:.6f}: by hand, by the package, by TensorFlow")

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Less noise for nothing.** The explicit derivatives $\partial f/\partial\mu$ and $\partial f/\partial\rho$ are those of $\log q(w\mid\theta)$ at fixed $w$: the *score*, whose expectation is zero:
#
# $$\mathbb E_q\left[\frac{\partial}{\partial\theta}\log q(w\mid\theta)\right] = \frac{\partial}{\partial\theta}\int q(w\mid\theta)\,\mathrm dw = 0 . \tag{3.14}$$
#
# So they may be dropped, and the gradient stays unbiased. Far from the optimum that may raise or lower the variance. Near it they are pure noise, if the family holds the posterior or nearly so: when $q$ is the posterior, $f$ is constant in $w$, and the remaining path gradient is *exactly* zero for every draw ("sticking the landing").

# %% slideshow={"slide_type": "fragment"}
# eq. 3.14
eps = np.random.default_rng(4).standard_normal(100_000)
full, _ = gradients(m, np.log(np.expm1(sd)), eps)  # at the optimum: q is the posterior
explicit = eps / sd  # ∂ log q/∂μ at fixed w
assert abs(explicit.mean()) < 4 * explicit.std() / np.sqrt(eps.size)
print(f"variance of Δμ {full.var():.3f}, without the explicit part {(full - explicit).var():.3f}")
assert (full - explicit).var() < 1e-20 < full.var()

# %% [markdown] slideshow={"slide_type": "subslide"}
# The algorithm is complete. Draw ε, build $w$, compute the gradients, step downhill with learning rate η:
#
# $$\mu \leftarrow \mu - \eta\,\Delta\mu, \qquad \rho \leftarrow \rho - \eta\,\Delta\rho . \tag{3.15}$$
#
# One draw per step will do: the gradient is unbiased, and falling steps average over draws. A few lines of NumPy find the exact posterior here:

# %% slideshow={"slide_type": "fragment"}
# eq. 3.15
rng = np.random.default_rng(5)
mu_t, rho_t = -0.5, 0.0
for t in range(4000):
    d_mu, d_rho = gradients(mu_t, rho_t, rng.standard_normal())
    eta = 0.02 / (1 + t / 50)  # falling, so that the noise dies out
    mu_t, rho_t = mu_t - eta * d_mu, rho_t - eta * d_rho
print(f"found  N({mu_t:.3f}, {softplus(rho_t):.3f}²)\nexact  N({m:.3f}, {sd:.3f}²)")
assert abs(mu_t - m) < 0.05 and abs(softplus(rho_t) - sd) < 0.05

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3.6 A prior with two scales
#
# Perhaps most weights are hardly needed and a few are important. The **scale mixture** says so: a wide Gaussian for the few, a narrow one for the many,
#
# $$P(w) = \prod_j \left[\pi\,\mathcal N(w_j\mid 0,\sigma_1^2) + (1-\pi)\,\mathcal N(w_j\mid 0,\sigma_2^2)\right], \qquad \sigma_1 > \sigma_2 . \tag{3.16}$$
#
# It has no closed-form KL with a Gaussian; (3.11) does not need one. But how its logarithm is computed matters. Both densities underflow for large $|w|$, and $\log 0 = -\infty$. Take logarithms first and add them safely:
#
# $$\log P(w_j) = \operatorname{logsumexp}\left(\log\pi + \log\mathcal N(w_j\mid 0,\sigma_1^2),\; \log(1-\pi) + \log\mathcal N(w_j\mid 0,\sigma_2^2)\right). \tag{3.17}$$

# %% slideshow={"slide_type": "fragment"}
# eq. 3.16 and 3.17
values = np.array([0.0, 0.05, -0.4, 3.0, 22.0, 100.0])
two_feet = tfd.Normal(np.zeros(2), np.array([1.5, 0.1])).prob(values[:, None])
with np.errstate(divide="ignore"):
    as_printed = np.log(two_feet.numpy().mean(axis=1))  # (3.16) with π = ½
safe = densities.scale_mixture_log_prob(values, 1.5, 0.1, 0.5)  # (3.17); exercise 3.7 is yours
for w, one, other in zip(values, as_printed, safe, strict=True):
    print(f"w = {w:6.2f}: log of (3.16) {one:8.2f}, (3.17) {other:8.2f}")
assert np.allclose(as_printed[:-1], safe[:-1])
assert as_printed[-1] == -np.inf and np.isfinite(safe).all()

# %% [markdown] slideshow={"slide_type": "subslide"}
# A prior over weights is a prior over *functions*. Draw weights from it, and look at the networks before they have seen any data. Is your knowledge of the problem in this picture? If not, only data can put it in later.

# %% slideshow={"slide_type": "fragment"}
x_grid = np.linspace(-1.5, 1.5, 201)[:, None]
network = MLP(1, (20, 20))


def evaluate(w, x):
    """Outputs [s, m] of the networks with weights w [s, 481] at inputs x [m, 1]."""
    return network(tf.constant(w, tf.float32), tf.constant(x, tf.float32))[..., 0].numpy()


# %% slideshow={"slide_type": "subslide"}
priors = [densities.ScaleMixture(1.5, 0.1, 0.5), densities.ScaleMixture(0.5, 0.1, 0.5),
          densities.ScaleMixture(1.5, 1.5, 0.5)]
fig, axes = plt.subplots(1, 3, sharey=True, layout="constrained")
for ax, prior_k in zip(axes, priors, strict=True):
    f = evaluate(prior_k.sample((50, 481), seed=1), x_grid)
    ax.plot(x_grid, f[:12].T, color=BLUE, lw=1)
    ax.set_title(f"σ₁ = {prior_k.sigma1}, σ₂ = {prior_k.sigma2}", fontsize=13)
    ax.set(ylim=(-60, 60), xlabel="x")
    print(f"sd of f(0.5) over 50 networks: {f[:, 133].std():.1f}")
axes[0].set_ylabel("f(w, x)")
title = fig.suptitle("Twelve networks from each prior, before any data", fontsize=13)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3.7 Minibatches: who pays the KL?
#
# With $N$ data points in $M$ minibatches $D_1, \dots, D_M$, the likelihood cost splits by itself, the complexity cost does not: there is *one* set of weights. Give each batch a share $\pi_i$ of it:
#
# $$F_i(\theta) = \pi_i\,\mathrm{KL}[q\,\|\,P(w)] - \mathbb E_q[\log P(D_i\mid w)], \qquad \sum_{i=1}^{M}\pi_i = 1 \;\Rightarrow\; \sum_{i=1}^{M}F_i = F . \tag{3.18}$$
#
# Two choices are in use. **Uniform**: $\pi_i = 1/M$ (Graves 2011). **Geometric** (Blundell et al. 2015): the early batches of an epoch carry most of it,
#
# $$\pi_i = \frac{2^{M-i}}{2^M - 1} = \frac{2^{-i}}{1 - 2^{-M}} . \tag{3.19}$$
#
# The first form overflows from $M = 1024$ on, the second one never does. (π here is a share of the KL; the π of section 3.6 is a mixture weight. The papers use the same letter, and so do we.)

# %% slideshow={"slide_type": "fragment"}
# eq. 3.18
kl = float(densities.gaussian_kl(mu, sigma, 0.0, sigma_p))
nll_each = densities.gaussian_nll(y, mu * x, s**2) + sigma**2 * x**2 / (2 * s**2)  # E_q, per point
for scheme in ("uniform", "geometric"):
    shares = elbo.minibatch_weights(2, scheme)
    parts = shares * kl + nll_each.reshape(2, 2).sum(axis=1)
    assert np.allclose(parts, elbo.minibatch_free_energies(kl, nll_each, shares))
    assert np.isclose(parts.sum(), free_energy(mu, sigma))
    print(f"{scheme:10s} shares {shares.round(3)}, F_1 + F_2 = {parts.sum():.4f}")

# %% slideshow={"slide_type": "subslide"}
# eq. 3.19
for n_batches in (1, 3, 10, 1000):
    exact_shares = [2 ** (n_batches - i) / (2**n_batches - 1) for i in range(1, n_batches + 1)]
    shares = elbo.minibatch_weights(n_batches, "geometric")
    assert np.allclose(shares, exact_shares)  # Python's whole numbers are exact
    assert np.allclose(shares[1:], shares[:-1] / 2)  # each batch carries half of the one before
    print(f"M = {n_batches:4d}: the first batches carry {shares[:3].round(4)}")
assert np.isclose(elbo.minibatch_weights(5000, "geometric").sum(), 1)

# %% [markdown] slideshow={"slide_type": "subslide"}
# (3.18) is an identity *at a fixed* θ. During an epoch θ moves, and no single step follows the gradient of $F$. With the uniform scheme the expectation over a random batch is $F/M$, so that the steps are right on average. With the geometric one the early steps pull to the prior and the late ones ignore it. Section 3.11 looks at what comes of it.
#
# **In Keras**, a loss is a *mean* over the batch of size $B$. Dividing $F$ by $N$ makes the two agree:
#
# $$\frac1N\,\mathrm{KL}[q\,\|\,P(w)] - \frac1B\sum_{j\in D_i}\log P(y_j\mid x_j, w), \tag{3.20}$$
#
# whose average over the batches is $F/N$. The same with the weight on the other side: multiply the batch's log likelihood by $N/B$ and keep the whole KL.

# %% slideshow={"slide_type": "fragment"}
# eq. 3.20
n_points, batch_size = len(y), 2
keras_losses = kl / n_points + nll_each.reshape(2, batch_size).mean(axis=1)
assert np.isclose(keras_losses.mean(), free_energy(mu, sigma) / n_points)
scaled_up = kl + n_points / batch_size * nll_each.reshape(2, batch_size).sum(axis=1)
assert np.isclose(scaled_up.mean(), free_energy(mu, sigma))

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3.8 The 32-point sinusoid
#
# Now the network: 1-20-20-1 ReLU units, 481 weights, 962 parameters. The data: 32 points of $10\sin 2\pi x$ on $[-\tfrac12, \tfrac12]$ with noise of sd 1, taken as known.
#
# The free energy of one draw (3.11), from scratch:

# %% slideshow={"slide_type": "fragment"}
prior = densities.ScaleMixture(sigma1=1.5, sigma2=0.1, pi=0.5)


def network_free_energy(mu, rho, eps):
    std = tf.nn.softplus(rho)
    w = mu + std * eps
    f = network(w, tf.constant(data.x, tf.float32))
    log_q = tf.reduce_sum(tfd.Normal(mu, std).log_prob(w))
    log_likelihood = tf.reduce_sum(tfd.Normal(f, 1.0).log_prob(data.y.astype("float32")))
    return log_q - tf.reduce_sum(prior.log_prob(w)) - log_likelihood


# %% slideshow={"slide_type": "subslide"}
rng = np.random.default_rng(6)
mu_0 = tf.constant(0.3 * prior.std * rng.standard_normal(481), tf.float32)
rho_0 = tf.fill([481], -1.0)
eps = tf.constant(rng.standard_normal(481), tf.float32)

std = tf.nn.softplus(rho_0)
w = mu_0 + std * eps
package = elbo.complexity_cost(eps, std, prior.log_prob(w)) + elbo.likelihood_cost(
    tf.constant(data.y, tf.float32), network(w, tf.constant(data.x, tf.float32)), 1.0)
assert np.isclose(network_free_energy(mu_0, rho_0, eps), package, rtol=1e-4)

# %% [markdown] slideshow={"slide_type": "subslide"}
# The training loop: draw ε, differentiate, step. Adam replaces plain steps, and its rate falls to 0.

# %% slideshow={"slide_type": "fragment"}
theta = [tf.Variable(mu_0), tf.Variable(rho_0)]
adam = tf.keras.optimizers.legacy.Adam(0.08)


@tf.function
def train_step(eps):
    with tf.GradientTape() as tape:
        free = network_free_energy(*theta, eps)
    adam.apply_gradients(zip(tape.gradient(free, theta), theta, strict=True))


for t in range(1500):
    adam.learning_rate.assign(0.08 * (1 - t / 1500))
    train_step(tf.constant(rng.standard_normal(481), tf.float32))

# %% [markdown] slideshow={"slide_type": "subslide"}
# The package does the same in one compiled loop. What a fit has reached is `fit.free_energy`: the mean over 1000 fresh draws, on all data: no lucky last step flatters it.

# %% slideshow={"slide_type": "fragment"}
fit = bbb.fit(data.x, data.y, prior=prior, noise_std=1.0, hidden_units=(20, 20))
scratch = replace(fit, mean=theta[0].numpy(), std=softplus(theta[1].numpy()))
for name, q in (("from scratch", scratch), ("package", fit)):
    print(f"{name:13s} {q.cost()}")
assert abs(scratch.free_energy - fit.free_energy) < 60  # about four sd between two runs

# %% [markdown] slideshow={"slide_type": "subslide"}
# What has been learnt is a distribution on every connection. For four hidden units: prior N(0, 3²) dashed, posterior solid, a mark at 0. Three units carry this wave. The fourth is not needed: its two weights keep nearly the prior, and its bias (not drawn) keeps it shut.

# %% slideshow={"slide_type": "fragment"}
small = local_reparam.fit(data.x, data.y, prior=densities.Gaussian(3.0), hidden_units=(4,),
                          starts=4, **local_reparam.QUIET)
mean, std = (np.stack([v[:4], v[8:12]]) for v in (small.mean, small.std))  # the rest are biases
lines = plots.draw_beliefs(plt.figure().subplots(), mean, std, prior_std=3.0)
panel(plt.gca(), "A belief about every weight", "", "")
assert sum(std.max(axis=0) < 0.6) == 3 and 2.0 < std.max() < 3.0

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### An illusion of one run
#
# The two differ in nothing but their random numbers, and yet not in the last digit only. Have they found two minima? Before a run says anything of a *method*, ask whether it has arrived: run it from other starts, train it on, disturb it less. The *quiet* estimator (chapter 5) draws less at random, and its expectation is the same $F$.

# %% slideshow={"slide_type": "fragment"}
starts = [bbb.fit(data.x, data.y, prior=prior, seed=k) for k in range(4)]
ways = {
    "weights drawn, 1500 steps": starts,
    "the same, trained on": [q.refined(4000) for q in starts],
    "quiet, 1500 steps": [local_reparam.fit(data.x, data.y, prior=prior, seed=k,
                                            **local_reparam.QUIET) for k in range(4)],
}
for name, fits in ways.items():
    print(f"{name:26s} F = {', '.join(f'{q.free_energy:.0f}' for q in fits)} nats")
left = [a.free_energy - b.free_energy for a, b in zip(*list(ways.values())[:2], strict=True)]
print(f"left by the optimiser: {np.mean(left):.0f} nats on average")
assert min(left) > np.ptp([q.free_energy for q in starts]) > 5

# %% [markdown] slideshow={"slide_type": "subslide"}
# None of the four had arrived: training on lowers $F$ by more than they differ. In the same number of steps, weights drawn once a step end more than 15 nats above the quiet estimator, which bears longer steps (a rate of 0.2 for 0.08). <!-- claim: the-quiet-estimator-ends-lower --> So the explorers use the quiet one, and a fit says whether it has `converged`. From here on we look at the fit trained on; a claim of this chapter is about 1500 steps unless it says otherwise.
#
# A low $F$ says nothing about the *family*: $\log P(D)$ is unknown. [Chapter 4](04_how_right_is_it.ipynb) measures how far this $q$ is from the posterior, and how much of that is due to the optimiser, the family and the prior.

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### Two kinds of uncertainty
#
# The draws of the weights give functions that disagree. Their spread is **epistemic** uncertainty: what we do not know because there are few data. The noise $s$ is **aleatoric** uncertainty: it stays however many data come. A new observation contains both, and independent variances add:
#
# $$\operatorname{Var}[y \mid x, D] \approx \underbrace{\operatorname{Var}_q[f(w,x)]}_{\text{epistemic}} + \underbrace{s^2}_{\text{aleatoric}} . \tag{3.21}$$
#
# Variances add, standard deviations do not.

# %% slideshow={"slide_type": "subslide"}
# eq. 3.21
fit = fit.refined(4000)
pred = fit.predict(x_grid, n_samples=1000)
noisy = pred.samples + 1.0 * np.random.default_rng(8).standard_normal(pred.samples.shape)
assert np.allclose(pred.total_std**2, pred.epistemic_std**2 + pred.aleatoric_std**2)
assert np.allclose(noisy.std(axis=0), pred.total_std, rtol=0.12)

inside = np.abs(x_grid[:, 0]) <= 0.5
fig, ax = plt.subplots()
plots.draw_predictive(ax, x_grid, pred)
plots.draw_truth(ax, x_grid, data.truth(x_grid))
plots.draw_data(ax, data.x, data.y)
ax.set_ylim(-30, 30)
panel(ax, "Wider outside the data", "x", "y", **TOP)

# %% [markdown] slideshow={"slide_type": "subslide"}
# Far from the data the band is wider than among them. <!-- claim: bbb-is-wide-outside --> Wide *enough* is another question, and for chapter 4.
#
# **Which band should contain the data?** The total one: a point is function *plus* noise. Test it on fresh noisy observations. <!-- claim: total-band-covers-new-points, epistemic-band-covers-fewer -->

# %% slideshow={"slide_type": "fragment"}
x_in = x_grid[inside]
noise = np.random.default_rng(9).standard_normal((len(x_in), 300))
fresh = data.truth(x_in) + data.noise_std * noise
distance = np.abs(fresh - pred.mean[inside, None])
for name, band in (("epistemic", pred.epistemic_std), ("total", pred.total_std)):
    covered = np.mean(distance <= 2 * band[inside, None])
    print(f"±2 sd {name:9s} band covers {covered:.0%} of fresh noisy y")
assert covered > 0.9


# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3.9 The same with TensorFlow Probability
#
# `tfp.layers` has this method ready-made. `DenseReparameterization` makes a mean-field Gaussian over its kernel, draws one weight matrix in each call, and adds the KL to the model's losses. Know that biases are *not* random unless you ask, that the KL must fit the loss (here a sum: weight 1), and that it needs Keras 2 (`tf_keras`).

# %% slideshow={"slide_type": "fragment"}
def mixture_prior(dtype, shape, name, trainable, add_variable_fn):
    parts = tfd.MixtureSameFamily(
        tfd.Categorical(probs=[0.5, 0.5]), tfd.Normal([0.0, 0.0], [1.5, 0.1])
    )
    return tfd.Sample(parts, shape)


def sampled_kl(q, p, w):  # no closed form: eq. 3.11's first two terms, at the layer's own draw
    return tf.reduce_sum(q.log_prob(w)) - p.log_prob(w)


# %% slideshow={"slide_type": "subslide"}
def bayesian_layer(units, activation=None):
    return tfp.layers.DenseReparameterization(
        units, activation, kernel_prior_fn=mixture_prior, kernel_divergence_fn=sampled_kl,
        bias_posterior_fn=tfp.layers.default_mean_field_normal_fn(),
        bias_prior_fn=mixture_prior, bias_divergence_fn=sampled_kl,
    )


def summed_nll(y, f):
    return -tf.reduce_sum(tfd.Normal(f, 1.0).log_prob(y))


# %% slideshow={"slide_type": "fragment"}
tf.keras.utils.set_random_seed(0)
relu = tf.nn.relu
model = tf.keras.Sequential([bayesian_layer(20, relu), bayesian_layer(20, relu), bayesian_layer(1)])
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # TFP's layers call a deprecated Keras method
    model.build((None, 1))
model.compile(tf.keras.optimizers.legacy.Adam(0.03), loss=summed_nll)

points = tf.constant(data.x, tf.float32), tf.constant(data.y, tf.float32)
model.fit(tf.data.Dataset.from_tensors(points).repeat(1200), epochs=1, verbose=0)


# %% [markdown] slideshow={"slide_type": "subslide"}
# Is it the same objective? Put TFP's means and standard deviations into our own fit, in our order of the weights, and compare the library's free energy with `fit.free_energy`:

# %% slideshow={"slide_type": "fragment"}
@tf.function
def draw_free_energy():  # each call: a new draw of all weights, and its KL in model.losses
    return summed_nll(points[1], model(points[0])) + tf.add_n(model.losses)


def flat(moment):  # layer by layer: the kernel as [out, in], then the bias
    parts = [q for layer in model.layers for q in (layer.kernel_posterior, layer.bias_posterior)]
    return np.concatenate([np.ravel(np.transpose(getattr(q, moment)())) for q in parts])


tfp_fit = replace(fit, mean=flat("mean"), std=flat("stddev"))
draws = np.array([draw_free_energy() for _ in range(300)])
print(f"TFP's F: {draws.mean():.0f} by its own losses, {tfp_fit.free_energy:.0f} by ours")
assert abs(draws.mean() - tfp_fit.free_energy) < 5 * draws.std() / np.sqrt(300)

# %% [markdown] slideshow={"slide_type": "subslide"}
# The same objective, family and data, and another number. Before we compare their pictures, the question of section 3.8: have they arrived?

# %% slideshow={"slide_type": "fragment"}
tfp_on = tfp_fit.refined(4000)
print(f"TFP: F = {tfp_fit.free_energy:.0f}, trained on {tfp_on.free_energy:.0f}; "
      f"ours: {starts[0].free_energy:.0f}, trained on {fit.free_energy:.0f} nats")
before, after = tfp_fit.free_energy - starts[0].free_energy, tfp_on.free_energy - fit.free_energy
assert abs(after) < 0.5 * before  # nats between the two

# %% [markdown] slideshow={"slide_type": "subslide"}
# They had not: most of the nats between the two were the *optimisers'*. How far apart their pictures still are when both have been trained on, [chapter 4](04_how_right_is_it.ipynb) measures.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3.10 Play
#
# The explorer again: this view and the one at the top move together. Take your answers from "Predict first", move *one* slider, look. The menu "start from" holds presets, and says what to look for; *more* opens the other controls, such as the KL weight and the number of points.

# %% tags=["explorer"] slideshow={"slide_type": "subslide"}
explorer

# %% [markdown] slideshow={"slide_type": "subslide"}
# - **noise σ**, from 1 to 2. The aleatoric band follows it *exactly*: it is the model's assumption, not something learnt. The epistemic band grows as well, by less than the factor two. (Question 1: neither band of the picture doubles. The aleatoric part of the total does. <!-- claim: noise-doubled-epistemic-grows -->)
# - **σ₁**, from 1.5 to 3; read the complexity under *numbers*. A wider prior is not a cheaper one: a weight in the wide foot costs about $\log(\sigma_1/\sigma)$ nats, which grows with σ₁. (Question 2: up. <!-- claim: wider-prior-costs-complexity -->)
# - **σ₂ and π** set how wide the spike is and how much of the prior it holds. With π = 1 only the wide half is left, and σ₂ has no effect at all.
# - **samples/step.** Under *more*, choose the fit "weights drawn (paper)" first. Averaging $S$ draws divides the variance of the gradient by $S$. The objective is the same. (Question 4: the road; and in the same number of steps it also ends lower, nearer to where both would end. <!-- claim: ten-draws-descend-smoothly, ten-draws-end-lower -->)
# - **points N, width, seed** stand behind *more*. More points: less epistemic uncertainty. <!-- claim: few-points-more-epistemic, more-points-less-epistemic --> Another seed: other data, another start.
# - **true posterior** draws from the posterior itself, over the fit, and the sentence below the picture says how far apart they are: chapter 4.

# %% [markdown] slideshow={"slide_type": "subslide"}
# **KL weight.** With weight λ the objective is λ times the free energy of a likelihood to the power 1/λ: as if each point had come 1/λ times. (A *cold posterior* in the sense of Wenzel et al. tempers the prior as well; both go by that name.) At 0.01 the band among the data shrinks and does not vanish, and outside it shrinks less; at x = ±1.5 it may even grow. <!-- claim: cold-shrinks-among-the-data, cold-does-not-vanish, cold-shrinks-less-outside, cold-may-widen-the-ends -->
#
# (Question 3: with weight 0 the best $q$ holds nothing but networks of maximum likelihood, so the band at the data must vanish. But 1500 steps leave one, which is no property of the method. <!-- claim: no-kl-leaves-a-band-for-a-while, no-kl-ends-at-one-network -->)

# %% slideshow={"slide_type": "fragment"}
zero = bbb.fit(data.x, data.y, prior=prior, kl_weight=0.0)
left = {name: q.predict(x_in).epistemic_std.mean()
        for name, q in (("1500 steps", zero), ("4000 quiet ones more", zero.refined(4000)))}
said = ", ".join(f"{sd:.3f} after {name}" for name, sd in left.items())
print("sd among the data at KL weight 0:", said)
assert left["4000 quiet ones more"] < 0.05 < left["1500 steps"]

# %% [markdown] slideshow={"slide_type": "subslide"}
# **An illusion of one run, the largest here.** At KL weight 10 (the preset "KL takes over") a fit from a fresh start goes flat, as if the KL had forbidden the sine. It had not. Started from the fit that we have, the same objective ends more than a hundred nats lower, and its mean still follows the sine, only less high. (The explorer finds this a few seconds later.) <!-- claim: a-fresh-start-gives-up-at-kl-ten, kl-of-ten-lowers-the-mean --> Six points and loud noise have the same trap. <!-- claim: a-fresh-start-gives-six-points-up, a-fresh-start-gives-loud-noise-up -->

# %% slideshow={"slide_type": "fragment"}
heavy = {"prior": prior, "kl_weight": 10.0, "estimator": "quiet"}
fresh_start = local_reparam.fit(data.x, data.y, learning_rate=0.2, **heavy)
kept = local_reparam.fit(data.x, data.y, learning_rate=0.1, steps=3000,
                         initial=(fit.mean, fit.std), **heavy)
for name, q in (("fresh start", fresh_start), ("from our fit", kept)):
    top = np.abs(q.predict(x_in).mean).max()
    print(f"{name:12s} F = {q.free_energy:.0f} nats, the mean reaches {top:.1f}")
assert kept.free_energy < fresh_start.free_energy - 50

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3.11 The KL-budget lab
#
# How the KL is shared among minibatches, and what it does to the fit. Predict first: with 32 batches of one point each, which scheme ends nearer to the full-batch fit?

# %% tags=["explorer"] slideshow={"slide_type": "subslide"}
from bdl_teach.widgets import KLBudgetLab

lab = KLBudgetLab()
lab

# %% [markdown] slideshow={"slide_type": "subslide"}
# Then look at the number. $F$ of the *whole* data set judges each fit, whatever objective its single steps saw. In one world:

# %% slideshow={"slide_type": "fragment"}
judged = {}
for n_batches, scheme in ((1, "uniform"), (8, "uniform"), (8, "geometric"),
                          (32, "uniform"), (32, "geometric")):
    result = lab.set(n_batches=n_batches, scheme=scheme).result
    judged[n_batches, scheme] = result.fit.free_energy
    print(f"M = {n_batches:2d}, {scheme:9s}: the first batch carries {result.shares[0]:6.1%} of "
          f"the KL; F = {judged[n_batches, scheme]:.0f} nats")
lab.reset()  # it has a question of its own
assert min(judged[32, "uniform"], judged[32, "geometric"]) > judged[1, "uniform"] + 30

# %% [markdown] slideshow={"slide_type": "subslide"}
# **An illusion of one run**, again: whichever scheme won above at $M = 32$, another world may have it the other way round. <!-- claim: either-scheme-may-end-higher-at-32 --> See four:

# %% slideshow={"slide_type": "fragment"}
for k in range(1, 5):
    d, ends = datasets.sinusoid(seed=100 + k), {}
    for rate in (0.08, 0.02):
        pair = [bbb.fit(d.x, d.y, prior=prior, n_batches=32, kl_scheme=name, seed=k,
                        learning_rate=rate) for name in ("geometric", "uniform")]
        ends[rate] = pair[0].free_energy - pair[1].free_energy
    print(f"world {k}: F, geometric − uniform: {ends[0.08]:+5.0f} nats at rate 0.08, "
          f"{ends[0.02]:+5.0f} at 0.02")

# %% [markdown] slideshow={"slide_type": "subslide"}
# What twenty worlds say: in the same number of steps, eight minibatches with uniform shares end on average less than 40 nats above the full batch, <!-- claim: eight-minibatches-cost-little --> and geometric shares end within 40 nats of uniform ones. <!-- claim: shares-hardly-matter-at-eight --> With one point a step, $F$ ends more than a hundred nats higher. <!-- claim: minibatches-of-one-end-higher --> With calm steps (rate 0.02) geometric shares end higher in most worlds. <!-- claim: geometric-ends-higher-at-32 --> And if you forget the $1/M$, the mean is lowered, with eight minibatches to less than nine tenths of its height. <!-- claim: whole-kl-in-each-batch-flattens-the-mean -->

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 3.12 Two uses of a weight's uncertainty
#
# **Pruning.** A weight with $|\mu|$ small against its σ carries no signal: the fit has not decided even its sign. Sort the weights by the signal-to-noise ratio $|\mu|/\sigma$, set the lowest to 0, and watch the error of the network of means. Nine tenths can go; at random, not even half. <!-- claim: nine-tenths-can-go, half-at-random-cannot-go -->

# %% slideshow={"slide_type": "fragment"}
order = np.argsort(fit.signal_to_noise)
at_random = np.random.default_rng(10).permutation(order)
for name, ranking in (("lowest |μ|/σ first", order), ("at random", at_random)):
    errors = {}
    for fraction in (0, 0.5, 0.9, 0.98):
        w = fit.mean.copy()
        w[ranking[: int(fraction * w.size)]] = 0.0
        errors[fraction] = metrics.rmse(data.truth(x_in)[:, 0], evaluate(w[None], x_in)[0])
    print(f"{name:19s} RMSE to the true function:",
          ", ".join(f"{e:.2f} without {f:.0%}" for f, e in errors.items()))
    assert (errors[0.9] < 1.2 * errors[0]) == (ranking is order)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **The curve of the paper.** Blundell et al. show Bayes by Backprop on $y = x + 0.3\sin 2\pi(x+\varepsilon) + 0.3\sin 4\pi(x+\varepsilon) + \varepsilon$, $\varepsilon\sim\mathcal N(0, 0.02^2)$ (the paper prints "$\mathcal N(0, 0.02)$"; we read 0.02 as the standard deviation). A prior has a scale, so the data must have one that suits it: we stretch $x$ to $[-1, 1]$ and $y$ by 20. Of three starts, from the prior's whole width, we keep the one with the lowest $F$. The band opens where the data end. <!-- claim: curve-opens-where-the-data-end -->

# %% slideshow={"slide_type": "fragment"}
curve, x_curve = datasets.blundell_curve(n=32), np.linspace(-0.4, 0.9, 201)[:, None]
best = bbb.fit(4 * (curve.x - 0.25), 20 * (curve.y - 0.4), prior=prior, noise_std=1.0, starts=3,
               start_scale=1.0)
curve_pred = best.predict(4 * (x_curve - 0.25), n_samples=1000)
mean, std = 0.4 + curve_pred.mean / 20, curve_pred.epistemic_std / 20  # back to the units of y
fig, ax = plt.subplots()
ax.plot(x_curve, mean, **plots.mark("mean"))
ax.fill_between(x_curve[:, 0], mean - 2 * std, mean + 2 * std, lw=0, **plots.mark("epistemic"))
plots.draw_truth(ax, x_curve, curve.truth(x_curve))
plots.draw_data(ax, curve.x, curve.y)
ax.set_ylim(-0.8, 1.4)
panel(ax, "The paper's curve: the band opens where the data end", "x", "y", loc="upper right")
assert std[[0, -1]].min() > 1.5 * std[(x_curve[:, 0] > 0.05) & (x_curve[:, 0] < 0.45)].mean()


# %% [markdown] slideshow={"slide_type": "subslide"}
# **Pictures.** Put the cross-entropy in the place of the squared error, convolutions in the place of dense layers, and all of this holds for a classifier of pictures. Does it notice what it has never seen, and better than an ordinary network or an ensemble? That is [chapter 9](09_pictures_and_the_unknown.ipynb).

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Exercises
#
# Replace each `...` and run the cell. The check says ✓, or which mistake it recognises and where to read. Solutions are in the collapsed cells below. Exercises 3.1 to 3.10 rise from computing to extending; 3.11 to 3.13 do the same for networks that choose among classes ([chapter 9](09_pictures_and_the_unknown.ipynb) has more of these); 3.14 and 3.15 are experiments: you train, measure and draw, and the check measures what you bring, on more than one data set.

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 3.1 Compute: the KL between two Gaussians
# Write $\mathrm{KL}[\mathcal N(\mu_q, \sigma_q^2)\,\|\,\mathcal N(\mu_p, \sigma_p^2)]$ in nats, for NumPy arrays: one KL for each element. The formula is (1.21) of chapter 1.
#
# <details><summary>Hint</summary>Both densities are Gaussian: write log q − log p, and take its expectation under q with E(w − μ_p)² = σ_q² + (μ_q − μ_p)².</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_kl(mu_q, sigma_q, mu_p, sigma_p):
    return ...


exercises.check("3.1", my_kl)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_1(mu_q, sigma_q, mu_p, sigma_p):
    return np.log(sigma_p / sigma_q) + (sigma_q**2 + (mu_q - mu_p) ** 2) / (2 * sigma_p**2) - 0.5


assert exercises.check("3.1", solution_1, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 3.2 Compute: how many draws?
# `estimates` holds many one-draw estimates of $F$, the terms of (3.11), from a pilot run. Return the smallest number $S$ of draws with which (3.11) has a standard error of at most `error`: one whole number. Take the variance of the pilot for that of a draw.
#
# <details><summary>Hint</summary>What becomes of the variance of a mean when it is taken over S independent draws? And of its square root?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_number_of_draws(estimates, error):
    return ...


exercises.check("3.2", my_number_of_draws)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_2(estimates, error):
    return np.ceil(np.var(estimates, ddof=1) / error**2)


assert exercises.check("3.2", solution_2, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 3.3 Change: Δρ for σ = e^ρ
# Some programs keep σ positive by $\sigma = e^{\rho}$ instead of the softplus of (3.8). Given $\mu$, $\rho$, ε and the values of $\partial f/\partial w$ and $\partial f/\partial\rho$, all numbers or all arrays with one entry a weight, return their $\Delta\rho$.
#
# <details><summary>Hint</summary>ρ reaches f along two ways: through w, and directly. Which factor of (3.13) came from softplus?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_delta_rho(mu, rho, eps, df_dw, df_drho):
    return ...


exercises.check("3.3", my_delta_rho)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_3(mu, rho, eps, df_dw, df_drho):
    return df_dw * eps * np.exp(rho) + df_drho


assert exercises.check("3.3", solution_3, record=False)

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 3.4 Explain: true or false
# Answer with the set of letters of the *true* statements, for example `{"a", "d"}`.
#
# - **a** Minimising the free energy maximises the ELBO.
# - **b** If $F$ is at its minimum over $\theta$, then $q$ is the posterior.
# - **c** The complexity cost does not depend on the data, for a given $q$.
# - **d** More data shrink the aleatoric uncertainty.
# - **e** In the model with one weight, the best $q$ is narrower for a KL weight of 0.1 than for 1.
# - **f** A weight with a large σ is always important.
#
# <details><summary>Hint</summary>For (b), ask what the family can express; for (e), what 1/λ copies of each point would do.</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
my_letters = ...  # such as {"a", "b"}

exercises.check("3.4", my_letters)

# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
# One reason for each letter.
# a: F = −ELBO. b: only if the family contains it. c: KL[q ‖ P(w)] has no D in it. d: that is what
# "aleatoric" means. e: as if each point came ten times. f: σ large and |μ| small is a weight that
# the data say nothing about.
assert exercises.check("3.4", {"a", "c", "e"}, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 3.5 Diagnose: which KL weight is that?
# A program minimises `factor` × KL + the $-\log P(y_j\mid x_j, w)$ of one minibatch: their *mean* over its `batch_size` points if `mean` is true, else their *sum*. There are `n_data` points. Which KL weight λ (section 3.10) does it train with, on average over the batches? Return λ; 1 is Bayes' rule.
#
# <details><summary>Hint</summary>Multiply the loss with the number that makes its likelihood cost that of all the data. The KL is multiplied with it, too.</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_kl_weight(factor, n_data, batch_size, mean):
    return ...


exercises.check("3.5", my_kl_weight)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_5(factor, n_data, batch_size, mean):
    return factor * n_data / (1 if mean else batch_size)


assert exercises.check("3.5", solution_5, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 3.6 Change: the band for a new observation
# Return (lower, upper) of the mean ± 2 sd band that should contain a *new noisy y*. `mean` and `epistemic_std` are arrays with one entry an input, `noise_std` is one number.
#
# <details><summary>Hint</summary>Which of the three, σ, σ², log σ, adds when the causes are independent?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_band(mean, epistemic_std, noise_std):
    return ...


exercises.check("3.6", my_band)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_6(mean, epistemic_std, noise_std):
    total = np.sqrt(epistemic_std**2 + noise_std**2)
    return mean - 2 * total, mean + 2 * total


assert exercises.check("3.6", solution_6, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 3.7 Break: a log prior that cannot break
# Write the log density (3.17) of the scale mixture: one number for each weight of the array `w`, right also where both densities are 0 in floating point, up to $|w| = 1000$. NumPy arrays of float64; do not call `densities`.
#
# <details><summary>Hint</summary>Take the logarithm of each part first; NumPy has a function that adds in the logarithm.</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_log_prior(w, sigma1, sigma2, pi):
    return ...


exercises.check("3.7", my_log_prior)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_7(w, sigma1, sigma2, pi):
    def log_normal(sigma):
        return -0.5 * (w / sigma) ** 2 - np.log(sigma) - 0.5 * np.log(2 * np.pi)

    return np.logaddexp(np.log(pi) + log_normal(sigma1), np.log1p(-pi) + log_normal(sigma2))


assert exercises.check("3.7", solution_7, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 3.8 Break: shares of any ratio
# In (3.19) each batch carries half of what the one before it carries. Let it be `ratio` times as much: above 1 the last batch carries most, at 1 all carry alike. Return the $M$ shares as an array, in the order of the batches. They sum to 1, also for $M = 5000$.
#
# <details><summary>Hint</summary>What do you know of one share without the others? It is needed up to a factor that all have in common; choose the factor so that nothing overflows.</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_shares(n_batches, ratio):
    return ...


exercises.check("3.8", my_shares)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_8(n_batches, ratio):
    log_share = np.arange(n_batches) * np.log(ratio)
    share = np.exp(log_share - log_share.max())
    return share / share.sum()


assert exercises.check("3.8", solution_8, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 3.9 Extend: drop the weights whose sign is open
# Section 3.12 removes a *share* of the weights. Here each is judged by itself: return a copy of `mean` in which every weight is 0 that, under $q$, has the *other* sign than its mean with a probability above `level`. `mean` and `std` have one entry a weight.
#
# <details><summary>Hint</summary>On which side of 0 is the other sign, and how many standard deviations from the mean does it begin? And do not change the array that you were given.</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_decided(mean, std, level):
    return ...


exercises.check("3.9", my_decided)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_9(mean, std, level):
    from scipy.stats import norm

    return np.where(norm.sf(np.abs(mean) / std) > level, 0.0, mean)


assert exercises.check("3.9", solution_9, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 3.10 Extend: a gradient that lands
# Another model and the other parameter: a classifier with one weight, $P(y=1\mid x,w) = 1/(1+e^{-wx})$, and the prior $\mathcal N(0, \sigma_p^2)$. Return Δρ *without* the explicit part, see (3.14). `x` and `y` are arrays with one entry a data point, `y` holds labels 0 and 1; σ = softplus(ρ).
#
# <details><summary>Hint</summary>What is left reaches $f$ through w alone. So first: how does f change when w does, at w = μ + σε? Then: how does w change when ρ does?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_path_gradient(mu, rho, eps, x, y, sigma_p):
    return ...


exercises.check("3.10", my_path_gradient)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_10(mu, rho, eps, x, y, sigma_p):
    sigma, slope = np.log1p(np.exp(rho)), 1 / (1 + np.exp(-rho))
    w = mu + sigma * eps
    df_dw = -eps / sigma + w / sigma_p**2 + np.sum((1 / (1 + np.exp(-w * x)) - y) * x)
    return df_dw * eps * slope


assert exercises.check("3.10", solution_10, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 3.11 Compute: predictive entropy
# `p` is an array `[T, n, classes]`: the class probabilities that $T$ networks give to $n$ pictures. Return the predictive entropy of each picture in nats, the entropy $-\sum_c \bar p_c\log\bar p_c$ of their mean $\bar p_c = \frac1T\sum_t p_{tc}$ (section 9.4 of [chapter 9](09_pictures_and_the_unknown.ipynb)). A probability may be exactly 0; do not add a small number to it.
#
# <details><summary>Hint</summary>First the mean over the networks, then the entropy. What is the limit of p log p at 0?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_entropy(p):
    return ...


exercises.check("3.11", my_entropy)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_11(p):
    mean = p.mean(axis=0)
    return -np.sum(mean * np.log(np.where(mean > 0, mean, 1.0)), axis=-1)


assert exercises.check("3.11", solution_11, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 3.12 Break: a cross-entropy that cannot break
# For a classifier the cost (3.1) becomes the cross-entropy $\log\sum_c e^{f_c} - f_y$ of its outputs $f_c$, the *logits*, and the label $y$. Return it for each picture from `logits` `[n, classes]` and `labels` `[n]`, finite also for logits of ±2000. Write the logsumexp yourself: subtract each row's largest logit first.
#
# <details><summary>Hint</summary>Subtracting a number from all logits of a row changes nothing, and the largest exponent is then 0.</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_cross_entropy(logits, labels):
    return ...


exercises.check("3.12", my_cross_entropy)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_12(logits, labels):
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return np.log(np.exp(shifted).sum(axis=-1)) - shifted[np.arange(len(labels)), labels]


assert exercises.check("3.12", solution_12, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 3.13 Extend: which pictures should be labelled next?
# You may buy labels for `k` of the $n$ pictures, and choose those from which the *weights* learn most: those of the highest mutual information: the entropy of the mean $\bar p$ over the $T$ networks less the mean of their entropies. This is active learning by disagreement (BALD). Return the indices of the `k` pictures, the most informative first. `p` is `[T, n, classes]`, all probabilities are > 0.
#
# <details><summary>Hint</summary>Total minus aleatoric: which of the two entropies is taken before the mean over the networks?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_choice(p, k):
    return ...


exercises.check("3.13", my_choice)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_13(p, k):
    mean = p.mean(axis=0)
    total = -np.sum(mean * np.log(mean), axis=-1)
    expected = -np.sum(p * np.log(p), axis=-1).mean(axis=0)
    return np.argsort(expected - total)[:k]


assert exercises.check("3.13", solution_13, record=False)

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 3.14 Experiment: eighteen weights
# Train the network of section 3.8 on `datasets.sinusoid(seed=seed)`, any way you like, and return its weights as one flat array of 481 numbers of which *at most 18 are not 0*, so that on $[-\tfrac12, \tfrac12]$ the RMSE to the sine stays below 1.2. The check tries the seeds 0, 1 and 2. Draw first: the RMSE over the number of weights left, when the weights go in the order of $|\mu|/\sigma$, of $|\mu|$ alone, at random. Then the same for another prior.
#
# <details><summary>Hint</summary>Section 3.12 has nearly all of it; `evaluate(w[None], x)` gives the outputs. If the curve rises too early, ask what the optimiser left (section 3.8) before you blame the order.</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
kept = [481, 200, 100, 50, 30, 24, 18, 12]  # weights left
curves = {}  # of each order, "|μ|/σ" say: the RMSE for each number of weights in kept
fig, ax = plt.subplots(figsize=(6, 2.8))
for name, rmse in curves.items():
    ax.semilogx(kept, rmse, "o-", label=name)
ax.set_title("Your graph: how few weights carry the sine?", loc="left", fontsize=13)
labels = ax.set(xlabel="weights left", ylabel="RMSE to the sine")


def my_few_weights(seed):
    return ...


exercises.check("3.14", my_few_weights)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def left(q, score, n_left):
    w = q.mean.copy()
    w[np.argsort(score)[: w.size - n_left]] = 0.0
    return w


def solution_14(seed):
    points = datasets.sinusoid(seed=seed)
    q = local_reparam.fit(points.x, points.y, prior=prior, **local_reparam.QUIET)
    return left(q, q.signal_to_noise, 18)


assert exercises.check("3.14", solution_14, record=False)

# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
fig, ax = plt.subplots()
chance = np.random.default_rng(11).random(481)
orders = {"|μ|/σ": fit.signal_to_noise, "|μ|": np.abs(fit.mean), "at random": chance}
for (name, score), style in zip(orders.items(), ("o-", "s--", "^:"), strict=True):
    rmse = [metrics.rmse(data.truth(x_in)[:, 0], evaluate(left(fit, score, n)[None], x_in)[0])
            for n in kept]
    ax.semilogx(kept, rmse, style, label=name)
panel(ax, "Weights removed in three orders", "weights left", "RMSE to the sine")

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 3.15 Experiment: tune the prior
# `problems` is a sequence of four data sets `(x, y)` like ours. Return *one* σ₁ for the scale mixture (σ₂ = 0.1, π = ½): one whose fits reach a low $F$ on average. The check fits eight data sets that you have not seen, and wants a mean $F$ within 20 nats of the lowest that we know. Draw first: the mean $F$ over σ₁, and a thin line for each data set. Would one of them have been enough? How much of the rise on the right is the model's, how much the optimiser's: train a fit on.
#
# <details><summary>Hint</summary>`local_reparam.fit(x, y, prior=..., **local_reparam.QUIET).free_energy`, at five σ₁ whose *ratios* are alike. (A low F on average is a bound on the evidence, and section 1.6 says what that is not.)</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
sigma1s = [0.3, 0.6, 1.1, 2.0, 4.0]
curves = {}  # of each data set, and of their mean: F for each of sigma1s
fig, ax = plt.subplots(figsize=(6, 2.8))
for name, free in curves.items():
    ax.semilogx(sigma1s, free, "o-", label=name)
ax.set_title("Your graph: where is F lowest?", loc="left", fontsize=13)
labels = ax.set(xlabel="σ₁", ylabel="F, nats")


def my_sigma1(problems):
    return ...


exercises.check("3.15", my_sigma1)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def free_energies(problems, values):  # [data set, value]
    quiet = local_reparam.QUIET
    priors = [densities.ScaleMixture(s1, 0.1, 0.5) for s1 in values]
    return np.array([[local_reparam.fit(x, y, prior=one, **quiet).free_energy for one in priors]
                     for x, y in problems])


def solution_15(problems):
    values = np.array([0.5, 0.7, 1.0, 1.4, 2.0])
    return values[np.argmin(free_energies(problems, values).mean(axis=0))]


assert exercises.check("3.15", solution_15, record=False)

# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
each = free_energies([(d.x, d.y) for d in map(datasets.sinusoid, (32,) * 3, (1.0,) * 3, range(3))],
                     sigma1s)
fig, ax = plt.subplots()
ax.semilogx(sigma1s, each.T, color=BLUE, lw=1)
ax.semilogx(sigma1s, each.mean(axis=0), "o-", color=RED, label="mean of three data sets")
panel(ax, "Too narrow cannot fit, too wide has to pay", "σ₁", "F, nats")

# %% slideshow={"slide_type": "subslide"}
exercises.progress(3)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Mistakes in circulation
#
# Each of these is printed in a book, a blog or a tutorial on this subject, some in the very sources of this course. Do not believe us either: run them.

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Claim:** "the ELBO, also called variational free energy, is minimised"; two pages later "the goal is to maximise the ELBO". **True:** $F = -\mathrm{ELBO}$. Minimise $F$. The wrong sign walks away from the posterior.
#
# **Claim:** $F \approx \sum_k \log q - \log P(w) - \log P(D\mid w)$ over the draws. **True:** an expectation is a *mean*; without $1/S$ the loss is $S$ times too large, as the cell after (3.11) shows. And $k$ counts weight draws, not data points.
#
# **Claim:** "the predictive mean could also be had from one pass with the mean weights." **True** for a linear model. For a ReLU the mean of the outputs is not the output of the mean:
#
# $$\mathbb E[\operatorname{relu}(w)] = \mu\,\Phi(\mu/\sigma) + \sigma\,\phi(\mu/\sigma) \;\ne\; \operatorname{relu}(\mu) . \tag{3.22}$$

# %% slideshow={"slide_type": "fragment"}
# eq. 3.22
normal_01 = tfd.Normal(np.float64(0.0), 1.0)
for a, b in ((0.0, 1.0), (0.5, 0.3), (-1.0, 2.0)):
    formula = a * normal_01.cdf(a / b) + b * normal_01.prob(a / b)
    draws = np.maximum(a + b * np.random.default_rng(12).standard_normal(400_000), 0)
    assert np.isclose(formula, draws.mean(), atol=4 * draws.std() / 600)
one_pass = evaluate(fit.mean[None], x_grid)[0]
print(f"our network: the two differ by up to {np.max(np.abs(one_pass - pred.mean)):.1f} units of y")
assert np.max(np.abs(one_pass - pred.mean) / pred.mc_error) > 5


# %% [markdown] slideshow={"slide_type": "subslide"}
# **Claim:** "each `model.predict` draws one network." **True:** Keras predicts in batches of 32, and each batch calls the model anew: another draw of the weights. One `predict` on 201 inputs shows pieces of seven networks, with a jump at each seam. Pass `batch_size=len(x)`.

# %% slideshow={"slide_type": "fragment"}
def seams(f):
    steps = np.abs(np.diff(f[:, 0]))
    at_seam = np.arange(1, len(f)) % 32 == 0
    return steps[at_seam].mean() / steps[~at_seam].mean()


pieces = np.mean([seams(model.predict(x_grid, verbose=0)) for _ in range(5)])
whole = np.mean([seams(model.predict(x_grid, batch_size=201, verbose=0)) for _ in range(5)])
print(f"step at the seams / step elsewhere: {pieces:.1f} by default, {whole:.1f} in one batch")
assert pieces > 2 * whole

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Claim:** `log(π · N(w|0,σ₁²) + (1−π) · N(w|0,σ₂²))`. **True** on paper. In float32 the densities underflow: with σ₁ = 1.5 from $|w| = 21.4$ on at the latest the logarithm is −∞ and the gradient NaN, which then destroys every weight (exercise 3.7).
#
# **Claim:** $\pi_i = 2^{M-i}/(2^M-1)$, as code. **True** for whole numbers; in floating point it overflows from $M = 1024$ on. (Exercise 3.8.)
#
# **Claim:** a shaded band of mean ± 2 sd of the drawn functions, with the data drawn over it, and no word on what it is. **True:** that is the *epistemic* band, the place of the *function*. It is not meant to contain the points. Say which band you draw.
#
# **Claim:** "in the KL we use the convention 0/0 = 1." **True:** where $q = 0$ the integrand is $0\log 0 := 0$. Where $p = 0$ and $q > 0$ the KL is infinite.
#
# **Claim:** gradients for σ itself, $\sigma \leftarrow \sigma - \eta\,\nabla_\sigma f$. **True** as calculus; but nothing keeps σ positive. One large step, and the next $\log\sigma$ is NaN. That is what ρ is for.
#
# **Claim:** "the KL is added to the loss, TensorFlow does the rest." **True** only if the loss is a sum over all data. Keras' default is a mean; then the KL must be divided by $N$ (3.20). To forget it, on 32 points, is a KL weight of 32, and the network does not fit. <!-- claim: kl-of-n-does-not-fit -->

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Summary
#
# - MSE and weight decay give one network; the posterior weighs all, but its normaliser is intractable.
# - $F = \mathrm{KL}[q\|P(w)] - \mathbb E_q \log P(D\mid w) = -\mathrm{ELBO}$, and $\mathrm{KL}[q\|P(w\mid D)] = F + \log P(D)$: minimise $F$.
# - $w = \mu + \operatorname{softplus}(\rho)\,\varepsilon$ moves the randomness out of the way of the gradient; Δμ and Δρ follow by the chain rule.
# - Averages need their $1/S$, minibatches their share of the KL, mixtures their logsumexp.
# - Epistemic variance comes from $q$, aleatoric variance from the noise; they add. Only the total band should contain data.
# - Before a run says anything about a method, ask whether it has arrived. Then ask other worlds.

# %% [markdown] slideshow={"slide_type": "subslide"}
# ## References
#
# - Blundell, Cornebise, Kavukcuoglu, Wierstra (2015). Weight uncertainty in neural networks. [arXiv:1505.05424](https://arxiv.org/abs/1505.05424)
# - Kingma, Welling (2014). Auto-encoding variational Bayes. [arXiv:1312.6114](https://arxiv.org/abs/1312.6114)
# - Roeder, Wu, Duvenaud (2017). Sticking the landing. [arXiv:1703.09194](https://arxiv.org/abs/1703.09194)
# - Wenzel et al. (2020). How good is the Bayes posterior in deep neural networks really? (cold posteriors) [arXiv:2002.02405](https://arxiv.org/abs/2002.02405)
# - Houlsby, Huszár, Ghahramani, Lengyel (2011). Bayesian active learning for classification and preference learning (the mutual information). [arXiv:1112.5745](https://arxiv.org/abs/1112.5745)
#
# The sinusoid and the network's settings are those of M. Krasser's article "Variational inference in Bayesian neural networks" (2019). The uniform minibatch scheme is from A. Graves, "Practical variational inference for neural networks" (NeurIPS 2011).

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Previous:** [2 · Reparameterization and the variational autoencoder](02_reparameterization_and_vae.ipynb) · **Next:** [4 · How right is it?](04_how_right_is_it.ipynb): the answer beside the true posterior, and what makes them differ.

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
# # 11 · How loud is the noise?
#
# *Every method so far was told σ. No data come with it.*
#
# **Run the cell below** (Shift+Enter). The noise is learnt; its true σ is 1. Beside the picture stands what each says of σ: the true posterior, mean field, maximum likelihood. Take *points N* to 128. Who changes his mind?

# %% tags=["explorer"] slideshow={"slide_type": "fragment"}
from bdl_teach.widgets import NoiseExplorer

explorer = NoiseExplorer()
explorer

# %% [markdown] slideshow={"slide_type": "subslide"}
# ## What you will be able to do
#
# - say why least squares cannot tell the noise, and why maximum likelihood says too little;
# - put σ into the posterior, and check it where the answer is known;
# - derive what mean field says of σ, and say what it has paid with it;
# - tell the family's part from the prior's;
# - let σ depend on x, and see a likelihood without an end;
# - check a noise before you believe it, and a whole program by simulation.
#
# **Time** 28 minutes · **Minutes per section** 11.1: 1 · 11.2: 1 · 11.3: 3 · 11.4: 1 · 11.5: 4 · 11.6: 1 · 11.7: 1 · 11.8: 3 · 11.9: 2 · 11.10: 3 · 11.11: 1 · opening and end: 7
#
# **Prerequisites** The free energy, from [chapter 3](03_bayes_by_backprop.ipynb); linear regression and the evidence, from [chapter 1](01_from_mle_to_bayes.ipynb); the lowest F and HMC, from [chapter 4](04_how_right_is_it.ipynb). Notation: [chapter 0](00_start_here.ipynb#Notation).

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Predict first
#
# Write down your answers. Sections 11.2, 11.5 and 11.9 test them.
#
# 1. A linear model with 8 weights is fitted to 32 points. By what share is the mean square of the residuals smaller than σ²?
# 2. Mean field learns σ as one more number, and minimises the same free energy. The true σ is 1, there are 32 points. Does it say less than 1, about 1, or more?
# 3. The noise is learnt too large because the fit has missed the curve. Do new points show it? Do the residuals?

# %% slideshow={"slide_type": "skip"}
import math

import matplotlib.pyplot as plt
import numpy as np

from bdl_teach import claims, exercises, plots
from bdl_teach.densities import HALF_LOG_TWO_PI, Gaussian, HalfNormal
from bdl_teach.methods import exact, local_reparam, mcmc, pbp, point
from bdl_teach.plots import BLACK, GREEN, ORANGE
from bdl_teach.problems import Problem

plots.lecture_style()


# %% [markdown] slideshow={"slide_type": "slide"}
# ## 11.1 Why least squares cannot tell
#
# What we want is σ. The cost of $n$ points under Gaussian noise is
#
# $$-\log P(D\mid w,\sigma) = \frac{1}{2\sigma^2}\sum_i \big(y_i - f_w(x_i)\big)^2 + n\log\sigma + \frac n2\log 2\pi . \tag{11.1}$$
#
# Least squares keeps the sum and drops the rest. Without a prior that is allowed: whatever σ is, the same $w$ is best. So the fit does not tell σ. Minimise over σ, too: set the derivative of (11.1) to 0, and σ² is the mean square of the residuals,
#
# $$\hat\sigma^2_{ML} = \frac1n\sum_i\big(y_i - f_{\hat w}(x_i)\big)^2 . \tag{11.2}$$

# %% slideshow={"slide_type": "fragment"}
# eq. 11.1 and 11.2
def cost(residuals, sigma):
    squares = (residuals**2).sum() / (2 * sigma**2)
    return squares + len(residuals) * (np.log(sigma) + HALF_LOG_TWO_PI)


rng = np.random.default_rng(0)
residuals, grid = 1.3 * rng.standard_normal(32), np.linspace(0.5, 3.0, 2501)
best = grid[np.argmin([cost(residuals, s) for s in grid])]
assert abs(best - np.sqrt(np.mean(residuals**2))) < 1e-3
print(f"the lowest cost is at σ = {best:.3f}")

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 11.2 The residuals are too small
#
# The fit has seen the noise, and bent towards it. For a linear model with $p$ weights the sum of squares is known: least squares takes $p$ of the $n$ directions of the noise for signal, and
#
# $$\mathbb E\sum_i \big(y_i - x_i\hat w\big)^2 = (n - p)\,\sigma^2 . \tag{11.3}$$
#
# So $\hat\sigma^2_{ML}$ is too small by $p/n$: with 8 weights and 32 points by a quarter (question 1). Divide by $n - p$ instead of $n$, and it is right on average. For a network with more weights than points that is no way out. How many of its weights does it use?

# %% slideshow={"slide_type": "fragment"}
# eq. 11.3
n, p, sums = 32, 8, []
for _ in range(2000):
    x, noise = rng.standard_normal((n, p)), 1.5 * rng.standard_normal(n)
    y = x @ np.ones(p) + noise
    sums.append(((y - x @ np.linalg.lstsq(x, y)[0]) ** 2).sum())
error = np.std(sums) / np.sqrt(len(sums))
assert abs(np.mean(sums) - (n - p) * 1.5**2) < 5 * error
print(f"mean sum of squares {np.mean(sums):.1f}; (n − p) σ² = {(n - p) * 1.5**2:.1f}")

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 11.3 Where the answer is known
#
# Bayes has no count of weights to take off. He averages over $w$, and what is left is a function of σ alone. For a linear model that average is the evidence of chapter 1, so the posterior of σ is known up to its normaliser:
#
# $$P(\sigma\mid D) \propto P(\sigma)\int P(D\mid w,\sigma)P(w)\,dw = P(\sigma)\,P(D\mid\sigma). \tag{11.4}$$
#
# As prior we take the half-normal density: that of $|z|$ for $z\sim\mathcal N(0, s^2)$. It says: noise of more than $2s$ would surprise us.
#
# A sampler cannot walk over the edge σ = 0, so it walks over $u = \log\sigma$. A density changes with its variable: $d\sigma = \sigma\,du$, therefore
#
# $$\log P(u) = \log P(\sigma) + u. \tag{11.5}$$
#
# Who forgets the $+u$ samples another posterior (exercise 11.4). HMC over $(w, u)$ is `mcmc.hmc(..., noise_std=HalfNormal(s))`. Here it is beside (11.4):

# %% slideshow={"slide_type": "subslide"}
# eq. 11.4 and 11.5
x = rng.uniform(-1, 1, (20, 1))
y = 0.8 * x - 0.4 + 0.5 * rng.standard_normal((20, 1))
u, prior = np.linspace(-2.5, 1.5, 2001), HalfNormal(2.0)
ones = np.hstack([x, np.ones_like(x)])
evidence = [exact.linear_regression(ones, y, 0.7, s).log_evidence for s in np.exp(u)]
log_density = evidence + prior.log_prob(np.exp(u)) + u
density = np.exp(log_density - log_density.max())
density /= density.sum() * (u[1] - u[0])
below = np.cumsum(density) * (u[1] - u[0])

linear = mcmc.hmc(x, y, prior=Gaussian(0.7), noise_std=prior, hidden_units=(), n_samples=1000)
for q in (0.05, 0.5, 0.95):
    share = np.mean(np.log(linear.noise_draws) < np.interp(q, below, u))
    assert abs(share - q) < 5 * np.sqrt(q * (1 - q) / linear.ess[-1])

# %% slideshow={"slide_type": "subslide"}
fig, ax = plt.subplots()
ax.hist(np.log(linear.noise_draws), 60, density=True, color=GREEN, alpha=0.4, label="HMC")
ax.plot(u, density, color=BLACK, label="exact")
ax.axvline(math.log(0.5), color=BLACK, ls=":", label="true")
ax.set_xlim(-1.6, 0.4)
plots.panel(ax, "The noise of a linear model", "log σ", "density")

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 11.4 A network
#
# Now 20 hidden units, 32 points of the sine with a gap, the prior $\mathcal N(0, 3^2)$ of each weight and half-normal(5) of σ. Nothing is known in closed form; what was checked above is the program.

# %% slideshow={"slide_type": "fragment"}
problem = Problem(seed=1, noise="learnt")
data, given = problem.data, problem.settings  # settings: prior, HalfNormal(5), 20 units, seed
flat = {**given, "prior": None, "noise_std": HalfNormal(math.inf)}

likely = point.fit(data.x, data.y, **flat, steps=5000, starts=4)
mode = point.fit(data.x, data.y, **given, steps=5000, starts=4)
chains = mcmc.hmc(data.x, data.y, **given)
low, high = np.quantile(chains.noise_draws, [0.05, 0.95])
print(f"maximum likelihood {likely.noise_std:.2f}, MAP {mode.noise_std:.2f}, "
      f"posterior {low:.2f} to {high:.2f}; R-hat of log σ {chains.r_hat[-1]:.3f}")

# %% [markdown] slideshow={"slide_type": "subslide"}
# That is one data set. In twenty, maximum likelihood says less than 0.95; <!-- claim: most-likely-noise-is-too-small --> the mean of the posterior is on average between 0.9 and 1.4, <!-- claim: posterior-noise-is-near-the-true-one --> and its interval of nine in ten holds the true σ in more than half of the worlds. <!-- claim: posterior-noise-holds-the-true-one -->

# %% slideshow={"slide_type": "fragment"}
found = claims.show("most-likely-noise-is-too-small", "posterior-noise-is-near-the-true-one",
                    "posterior-noise-holds-the-true-one")

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 11.5 Mean field's bill
#
# In Bayes by Backprop σ can be one more parameter of the free energy. (We take its best value, not a distribution over it.) Only the likelihood cost depends on it. Its mean over $q$ has the mean of a square in it, and the mean of a square is the square of the mean plus the variance:
#
# $$F(\sigma) = \mathrm{KL} + \frac{1}{2\sigma^2}\sum_i\Big[\big(y_i - \mathbb E f(x_i)\big)^2 + \operatorname{Var}f(x_i)\Big] + n\log\sigma + \frac n2\log2\pi . \tag{11.6}$$
#
# Set its derivative to 0, as before:
#
# $$\hat\sigma^2 = \frac1n\sum_i\big(y_i-\mathbb E f(x_i)\big)^2 + \frac1n\sum_i\operatorname{Var}f(x_i). \tag{11.7}$$
#
# There is a second term. **Doubt about the weights is booked as noise.** (With a prior of σ, $-\log P(\sigma)$ is added to F.)

# %% slideshow={"slide_type": "subslide"}
# eq. 11.6 and 11.7
LOWEST = local_reparam.LOWEST
field = local_reparam.fit(data.x, data.y, **{**given, "noise_std": HalfNormal(math.inf)}, **LOWEST)
f = field.evaluate(field.draw(20_000), data.x)  # [draws, n]
squares, doubt = (data.y[:, 0] - f.mean(axis=0)) ** 2, f.var(axis=0)
assert abs(field.noise_std**2 / (squares + doubt).mean() - 1) < 0.03
whole = cost(np.sqrt(squares + doubt), field.noise_std)
assert abs(field.cost(20_000).likelihood - whole) < 0.5
print(f"σ² {field.noise_std**2:.1f} = residuals {squares.mean():.1f} + doubt {doubt.mean():.1f}")

# %% [markdown] slideshow={"slide_type": "subslide"}
# So σ is far above 1 (question 2). But look at the two terms: it is the *residuals* that are large. The fit has given up the sine. Why is that the better bargain? At (11.7) the likelihood cost is $n\log\hat\sigma$ plus a constant. Two fits with $\hat\sigma_1 > \hat\sigma_2$ have
#
# $$F_1 - F_2 = \mathrm{KL}_1 - \mathrm{KL}_2 + n\log\frac{\hat\sigma_1}{\hat\sigma_2} . \tag{11.8}$$
#
# A point pays only the *logarithm* of the ratio for a noise that is too loud. Told σ = 1, the same misfit costs $r^2/2$ a point. To follow the sine, mean field must make many weights sure, which costs KL; and at 32 points the bill is not worth it.

# %% slideshow={"slide_type": "fragment"}
# eq. 11.8
follows = local_reparam.fit(data.x, data.y, **{**given, "noise_std": 1.0}, **LOWEST)
other = follows.evaluate(follows.draw(20_000), data.x)
best = np.sqrt(np.mean((data.y[:, 0] - other) ** 2))  # σ by (11.7) for this q
kl = field.cost(20_000).complexity, follows.cost(20_000).complexity
difference = kl[0] - kl[1] + len(data.y) * np.log(field.noise_std / best)
at_best = kl[1] + cost(np.sqrt(np.mean((data.y[:, 0] - other) ** 2, axis=0)), best)
assert abs(field.cost(20_000).total - at_best - difference) < 1.0
print(f"KL {kl[0]:.0f} against {kl[1]:.0f} nats; the noise costs "
      f"{len(data.y) * np.log(field.noise_std / best):.0f} more: F differs by {difference:.0f}")

# %% [markdown] slideshow={"slide_type": "subslide"}
# In twenty data sets mean field at its lowest F says on average a σ of more than 3, <!-- claim: mean-field-books-doubt-as-noise --> and misses the sine among the data by more than twice what it misses when it is told σ. <!-- claim: mean-field-flat-beside-told --> The control: told σ = 1, its mean is on average within 1.5 of the sine. <!-- claim: told-the-noise-mean-field-follows-the-sine --> The optimiser is not to blame: F with the noise learnt is on average *lower* than with the true σ. <!-- claim: the-flat-fit-has-the-lower-free-energy -->

# %% slideshow={"slide_type": "fragment"}
found = claims.show("mean-field-books-doubt-as-noise", "mean-field-flat-beside-told",
                    "told-the-noise-mean-field-follows-the-sine",
                    "the-flat-fit-has-the-lower-free-energy")

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 11.6 Family or prior?
#
# As in chapter 4, the posterior is the judge. Under $\mathcal N(0, 3^2)$ it has its σ near 1: what mean field adds is the family's part. Under $\mathcal N(0, 1)$ the posterior's own mean of σ is more than 3.5: <!-- claim: a-narrow-prior-takes-the-sine-for-noise --> a function of that prior hardly reaches the peak of 10, and loud noise is the cheaper story. That part is the prior's, and no better inference mends it.
#
# And the family's part has an end. The KL does not grow with $n$ as $n\log(\hat\sigma_1/\hat\sigma_2)$ does: with 128 points mean field's σ is on average between 0.9 and 1.25. <!-- claim: more-points-mend-mean-field -->

# %% slideshow={"slide_type": "fragment"}
found = claims.show("a-narrow-prior-takes-the-sine-for-noise", "more-points-mend-mean-field")

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 11.7 PBP's Gamma, seen again
#
# PBP has always learnt its noise: $\sigma^{-2}$ has a Gamma(α, β), and chapter 7 derives its update. It is a mean field, too, and the same doubt is in it: the update adds the variance of $f$ to the squared residual before it asks how loud the noise is. What it says of these points:

# %% slideshow={"slide_type": "fragment"}
gamma = pbp.fit(data.x, data.y, hidden_units=(20,), seed=1)
print(f"PBP after 40 epochs: σ = {gamma.noise_std:.2f}; the posterior {low:.2f} to {high:.2f}")


# %% [markdown] slideshow={"slide_type": "slide"}
# ## 11.8 Noise that depends on x
#
# Give the network a second output, $s(x) = \log\sigma(x)$ (Nix and Weigend 1994). The cost of a point is
#
# $$-\log P(y\mid f, s) = \tfrac12 (y - f)^2 e^{-2s} + s + \tfrac12\log2\pi . \tag{11.9}$$
#
# `likelihood="heteroscedastic"` does that. But (11.9) has no lower end. Where $f = y$, it is $s$ plus a constant, and $s$ may fall for ever. A network that can pass through one point can make its σ there as small as it likes: the likelihood *collapses*.

# %% slideshow={"slide_type": "subslide"}
# eq. 11.9
def two_heads(y, f, s):
    return 0.5 * ((y - f) * np.exp(-s)) ** 2 + s + HALF_LOG_TWO_PI


for s in (0.0, -5.0, -50.0):
    assert np.isclose(two_heads(0.3, 0.3, s), s + HALF_LOG_TWO_PI)
loud_x = rng.uniform(-0.5, 0.5, (64, 1))
true_s = 0.2 + 1.8 * loud_x
loud_y = 2 * np.sin(np.pi * loud_x) + np.exp(true_s) * rng.standard_normal((64, 1))
heads = {"likelihood": "heteroscedastic", "hidden_units": (20,), "seed": 1}
lone = [point.fit(loud_x, loud_y, **heads, steps=k) for k in (500, 20_000)]
print("maximum likelihood, −log P after 500 and 20,000 steps:",
      ", ".join(f"{fit.history['loss'][-1]:.1f}" for fit in lone))

# %% [markdown] slideshow={"slide_type": "subslide"}
# The cure is the same as everywhere in this course: a prior, and an average over weights instead of the best ones. Where it is quietest, maximum likelihood's σ(x) is less than 0.75 of the true one; <!-- claim: most-likely-heads-are-too-quiet --> the posterior's median of log σ(x) errs less. <!-- claim: posterior-heads-err-less -->

# %% slideshow={"slide_type": "fragment"}
loud = mcmc.hmc(loud_x, loud_y, **heads, prior=Gaussian(1.0))
at = np.linspace(-0.5, 0.5, 51)[:, None]
three = np.quantile(loud.predict(at).noise_draws, [0.05, 0.5, 0.95], axis=0)
fig, ax = plt.subplots()
ax.fill_between(at[:, 0], three[0], three[2], color=GREEN, alpha=0.25, label="HMC, nine in ten")
ax.plot(at, three[1], color=GREEN, label="HMC, median")
for fit, style in zip(lone, ("--", "-"), strict=True):
    label = f"max. likelihood, {fit.history['step'][-1]} steps"
    ax.plot(at, fit.predict(at).aleatoric_std, style, color=ORANGE, label=label)
ax.plot(at, np.exp(0.2 + 1.8 * at), ":", color=BLACK, label="true")
plots.panel(ax, "How loud, by x", "x", "σ(x)")
print(loud.report)


# %% [markdown] slideshow={"slide_type": "fragment"}
# Read the report of its chains before you believe the band.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 11.9 In practice
#
# You do not know the true σ. What can you look at?
#
# **New points.** Their mean square about the prediction is an honest estimate of noise plus error. It does not tell the two apart: where a fit has given up the sine, new points are as far from it as the learnt σ says. What tells is a comparison: on new points among the data the posterior scores higher than mean field, by more than half a nat a point. <!-- claim: new-points-tell-mean-field-from-the-posterior -->
#
# **The residuals' order.** Noise does not know x; a missed sine does. So compare neighbours along x: with residuals $r_i$ in the order of x,
#
# $$T(r) = \frac{\sum_i r_i\,r_{i+1}}{\sum_i r_i^2}, \tag{11.10}$$
#
# which is about 0 for noise, and near 1 where a curve was taken for it. A *posterior check* asks how often noise as smooth as that would come by chance: for each draw of the posterior, compare T of its residuals with T of new noise. (Question 3.)

# %% slideshow={"slide_type": "subslide"}
# eq. 11.10
def smoothness(r):
    return (r[..., 1:] * r[..., :-1]).sum(axis=-1) / (r**2).sum(axis=-1)


assert np.isclose(smoothness(np.array([1.0, 2.0, -1.0])), (2 - 2) / 6)
order = np.argsort(data.x[:, 0])
narrow = mcmc.hmc(data.x, data.y, **{**given, "prior": Gaussian(1.0)})
for name, fit in (("N(0, 3²)", chains), ("N(0, 1)", narrow)):
    r = (data.y[:, 0] - fit.evaluate(fit.draw(500), data.x))[:, order]
    share = np.mean(smoothness(rng.standard_normal(r.shape)) >= smoothness(r))
    print(f"{name}: σ = {fit.noise_std:.2f}, {share:.0%} of draws pass for noise")

# %% [markdown] slideshow={"slide_type": "subslide"}
# Under $\mathcal N(0, 1)$ fewer than one draw in twenty passes; <!-- claim: a-check-sees-a-sine-taken-for-noise --> under $\mathcal N(0, 3^2)$ on average more than one in five. <!-- claim: the-check-passes-the-wide-prior -->
#
# So: look at the residuals in the order of each input; compare scores on new points; and if a family doubts too much, give it more points, or tell it the noise from repeated measurements.

# %% slideshow={"slide_type": "fragment"}
found = claims.show("new-points-tell-mean-field-from-the-posterior",
                    "a-check-sees-a-sine-taken-for-noise", "the-check-passes-the-wide-prior")

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 11.10 Check the whole program
#
# Is the sampler right? In a network no answer is known. But one thing is (Talts et al. 2018): draw σ and $w$ from the prior, data from them, and the posterior from the data. Then truth and posterior draws are draws from the same distribution. So the rank of the truth among $S$ draws is uniform:
#
# $$P\big(\text{rank} \le k\big) = \frac{k + 1}{S + 1}, \qquad k = 0,\dots,S. \tag{11.11}$$
#
# A U says that the draws are too narrow, a hump that they are too wide, a slope that they are shifted. This is **simulation-based calibration**. For the linear model of 11.3 with known noise it takes a moment:

# %% slideshow={"slide_type": "subslide"}
# eq. 11.11
S, ranks = 99, {"right": [], "noise_std for its square": []}
for _ in range(1000):
    w = rng.standard_normal(2)
    t = ones @ w + 0.5 * rng.standard_normal(20)
    for name, s in zip(ranks, (0.5, 0.25), strict=True):  # the bug: σ² where σ belongs
        post = exact.linear_regression(ones, t, 1.0, s)
        draws = rng.multivariate_normal(post.mean, post.cov, S)[:, 0]
        ranks[name].append((draws < w[0]).sum())
for name, found_ranks in ranks.items():
    inside = np.mean((np.array(found_ranks) >= 5) & (np.array(found_ranks) < 95))
    print(f"{name}: the middle nine in ten hold the truth in {inside:.0%}")
assert abs(np.mean(np.array(ranks["right"]) < 50) - 0.5) < 5 * 0.5 / np.sqrt(1000)

# %% [markdown] slideshow={"slide_type": "subslide"}
# The same for the network, under $\mathcal N(0, 1)$ and half-normal(5), the noise learnt. The 95 % bands of HMC hold the function at 85 to 99 % of all x, <!-- claim: bands-of-hmc-hold-what-they-say --> and its interval of nine in ten holds the drawn σ in more than seven tenths of the data sets. <!-- claim: noise-of-hmc-holds-what-it-says --> The 95 % bands of mean field hold the function at more than 95 %, <!-- claim: bands-of-mean-field-hold-too-much --> since they are more than one and a half times as wide. <!-- claim: bands-of-mean-field-are-wider --> That is no virtue: they are not what they say. The check needs no second sampler, and works for the settings that you use.

# %% slideshow={"slide_type": "fragment"}
found = claims.show("bands-of-hmc-hold-what-they-say", "noise-of-hmc-holds-what-it-says",
                    "bands-of-mean-field-hold-too-much", "bands-of-mean-field-are-wider")

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 11.11 Play
#
# The panel beside the picture has two tabs: *σ*, the noise as one number, and *by x*.
#
# - *told*, then *learnt*: the same family, the same points. Watch the curve, then F under *numbers*.
# - *σ_p* from 3 to 1 with the noise learnt: the green density moves, too. Whose part is that?
# - *points N*, one step at a time: where does mean field change its mind?
# - *more*: let the noise grow with x, and take *σ(x)*. Who is right on the left, who on the right?

# %% tags=["explorer"] slideshow={"slide_type": "fragment"}
explorer.preset("doubt as noise")
explorer


# %% [markdown] slideshow={"slide_type": "slide"}
# ## Exercises
#
# The check names the mistake, if it knows it.

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 11.1 Compute: the noise of maximum likelihood
# `y` and `f` `[n]` are targets and outputs of a fitted network. Return the σ that minimises (11.1).
#
# <details><summary>Hint</summary>Which σ makes the derivative of (11.1) vanish?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_noise(y, f):
    return ...


exercises.check("11.1", my_noise)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_1(y, f):
    return np.sqrt(((y - f) ** 2).sum() / len(y))


assert exercises.check("11.1", solution_1, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 11.2 Compute: what least squares owes
# `x` [n, p] are the inputs of a linear model without a further bias, `y` [n] the targets. Return an estimate of the *variance* of the noise that is right on average.
#
# <details><summary>Hint</summary>How many directions of the noise has the fit taken for signal?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_variance(x, y):
    return ...


exercises.check("11.2", my_variance)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_2(x, y):
    return ((y - x @ np.linalg.pinv(x) @ y) ** 2).sum() / (len(y) - x.shape[1])


assert exercises.check("11.2", solution_2, record=False)

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 11.3 Explain: true or false
# Which are true? Answer with a set of letters, such as `{"a", "b"}`.
#
# - (a) Without a prior of the weights, the weights of highest likelihood do not depend on σ.
# - (b) With the prior $\mathcal N(0, \sigma_p^2)$, the weights of highest posterior density do not depend on σ.
# - (c) Mean field's σ is too large because the optimiser stops too early.
# - (d) Under $\mathcal N(0, 1)$ a better family than mean field would find a σ near 1.
# - (e) Maximum likelihood with σ(x) has no best fit if the network can pass through a point.
# - (f) If 95 % of new points lie in the 95 % intervals, the noise was learnt right.
#
# <details><summary>Hint</summary>Two of the statements are about whose fault it is: what was the control?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
my_statements = ...

exercises.check("11.3", my_statements)

# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
# The letters of the statements that are true:
solution_3 = {"a", "e"}

assert exercises.check("11.3", solution_3, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 11.4 Change: a density of log σ
# σ has the half-normal density of scale `scale`. Return the log density of `log_std` = log σ, in nats: a function that a sampler could use.
#
# <details><summary>Hint</summary>A probability is a density times a width. How wide is $d\sigma$, if $d\log\sigma$ is 1?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_log_density(log_std, scale):
    return ...


exercises.check("11.4", my_log_density)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_4(log_std, scale):
    return 0.5 * np.log(2 / np.pi) - np.log(scale) - 0.5 * (np.exp(log_std) / scale) ** 2 + log_std


assert exercises.check("11.4", solution_4, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 11.5 Compute: what mean field says of σ
# Mean field's outputs at the data have means `mean` and variances `var` `[n]`. Return the σ that minimises F, without a prior of σ.
#
# <details><summary>Hint</summary>(11.7).</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_sigma(y, mean, var):
    return ...


exercises.check("11.5", my_sigma)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_5(y, mean, var):
    return np.sqrt(np.mean((y - mean) ** 2) + np.mean(var))


assert exercises.check("11.5", solution_5, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 11.6 Extend: when following pays
# A mean field that follows the curve costs `kl` nats more KL than a flat one. By (11.7) the flat one says the noise is `flat_std`, the other `std`, and more points of the same kind change none of the three. Return the smallest number of points at which following has the lower F.
#
# <details><summary>Hint</summary>(11.8): what does each point pay?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_points(kl, flat_std, std):
    return ...


exercises.check("11.6", my_points)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_6(kl, flat_std, std):
    return math.floor(kl / (math.log(flat_std) - math.log(std)) + 1)


assert exercises.check("11.6", solution_6, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 11.7 Change: a score with the noise of each draw
# HMC has drawn S networks with a noise each: outputs `f` [S] at one x, and `std` [S]. Return the log predictive density of `y`, in nats. It must be finite where every single density is 0 in float64.
#
# <details><summary>Hint</summary>An average of densities. Which term may you take out of a sum of exponentials?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_score(y, f, std):
    return ...


exercises.check("11.7", my_score)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_7(y, f, std):
    each = -0.5 * ((y - f) / std) ** 2 - np.log(std)
    return np.logaddexp.reduce(each) - np.log(len(f)) - HALF_LOG_TWO_PI


assert exercises.check("11.7", solution_7, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 11.8 Break: two heads at the edge
# Return (11.9) for arrays `[n]`, right also where $e^{-2s}$ overflows and the cost does not: `s` from −500 to 500.
#
# <details><summary>Hint</summary>What is small where $e^{-s}$ is large? Multiply before you square.</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_two_heads(y, f, s):
    return ...


exercises.check("11.8", my_two_heads)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_8(y, f, s):
    return ((y - f) / np.exp(s)) ** 2 / 2 + s + np.log(2 * np.pi) / 2


assert exercises.check("11.8", solution_8, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 11.9 Experiment: find the planted bug
# Four programs (in some worlds three) were calibrated by simulation: `ranks` [program, world] holds the share of posterior draws below the truth. Return for each program 0 if it is right, 1 if its bands are too narrow (a noise_std that was squared below 1), 2 if they are too wide (a likelihood that lost half of its points), 3 if its draws are shifted (a Jacobian forgotten). Draw the histograms first.
#
# <details><summary>Hint</summary>Uniform numbers have mean ½ and variance 1/12. What have a U, a hump and a slope?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_programs(ranks):
    return ...


exercises.check("11.9", my_programs)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_9(ranks):
    mean, var = ranks.mean(axis=1), ranks.var(axis=1)
    widths = np.select([var > 0.1, var < 0.065], [1, 2], 0)
    return np.where(abs(mean - 0.5) > 0.07, 3, widths)


assert exercises.check("11.9", solution_9, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 11.10 Extend: the mode under a half-normal prior
# Return the σ that maximises $P(\sigma)\prod_i\mathcal N(r_i\mid0,\sigma^2)$ for `residuals` [n] and the half-normal prior of this `scale`, as a density of σ.
#
# <details><summary>Hint</summary>A derivative by σ, times σ³: a quadratic equation in σ². Which way of writing its root loses no digits?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_mode(residuals, scale):
    return ...


exercises.check("11.10", my_mode)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_10(residuals, scale):
    n, rss = len(residuals), (residuals**2).sum()
    root = np.sqrt(n**2 + 4 * rss / scale**2)  # s² (root − n)/2 would lose digits
    return np.sqrt(2 * rss / (root + n))


assert exercises.check("11.10", solution_10, record=False)

# %% slideshow={"slide_type": "fragment"}
exercises.progress(11)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Mistakes in circulation

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Claim:** "the noise is the standard deviation of the training residuals." **True** as a description of maximum likelihood. It is too small: by (11.3) for a linear model, and for a network by as much as it has bent.

# %% slideshow={"slide_type": "fragment"}
fits = [point.fit(data.x, data.y, hidden_units=(h,), noise_std=HalfNormal(math.inf), steps=5000)
        for h in (1, 3, 20)]
print("σ with 1, 3 and 20 hidden units:", ", ".join(f"{fit.noise_std:.2f}" for fit in fits))
assert fits[0].noise_std > fits[2].noise_std

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Claim:** "the model is calibrated: its 95 % intervals hold 95 % of new points." **True** for new points. Mean field that has given up the sine passes it, and more, for its loud noise makes room for everything. Coverage says nothing of sharpness:

# %% slideshow={"slide_type": "fragment"}
new_x = rng.choice(data.x[:, 0], 2000)[:, None]
new_y = data.truth(new_x)[:, 0] + rng.standard_normal(2000)
for name, fit in (("mean field", field), ("posterior", chains)):
    seen = fit.predict(new_x)
    low_y, high_y = seen.interval(0.95)
    held = np.mean((low_y < new_y) & (new_y < high_y))
    print(f"{name}: {held:.0%} held, mean width {np.mean(high_y - low_y):.1f}")

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Claim:** "a flat prior on σ, log σ or σ² is the same: it says nothing." **True** of none of them. They are three priors, and their modes differ: with $n$ residuals and a prior flat in σ the mode has $\hat\sigma^2 = \mathrm{RSS}/n$, flat in σ², with u = σ² as the variable, the same, but a density *of* log σ has its mode at $\mathrm{RSS}/(n-1)$.

# %% slideshow={"slide_type": "fragment"}
r, u = rng.standard_normal(5), np.linspace(-3, 3, 60_001)
likelihood = np.array([-cost(r, s) for s in np.exp(u)])
flat_in_sigma = np.exp(u[np.argmax(likelihood)])
as_density_of_u = np.exp(u[np.argmax(likelihood + u)])
assert np.isclose(flat_in_sigma**2, (r**2).sum() / 5, rtol=1e-3)
assert np.isclose(as_density_of_u**2, (r**2).sum() / 4, rtol=1e-3)
print(f"mode as a density of σ: {flat_in_sigma:.3f}; of log σ: {as_density_of_u:.3f}")

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Summary
#
# - Least squares does not tell σ; maximum likelihood says the root mean square of the residuals, which is too small.
# - In the posterior σ is one more unknown: sample log σ, and add the $+u$ of (11.5).
# - Mean field's $\hat\sigma^2$ is residuals plus doubt. At 32 points its lowest F gives up the sine: a noise that is too loud costs only a logarithm.
# - Under a wide prior that is the family's part; under a narrow one the posterior does it, too. More points mend the family.
# - σ(x) by maximum likelihood has no end; a prior and an average have.
# - Look at residuals in the order of x, compare scores on new points, and calibrate the program by simulation.

# %% [markdown] slideshow={"slide_type": "subslide"}
# ## References
#
# - Nix, Weigend (1994). Estimating the mean and variance of the target probability distribution. [doi:10.1109/ICNN.1994.374138](https://doi.org/10.1109/ICNN.1994.374138)
# - Gelman (2006). Prior distributions for variance parameters in hierarchical models. [doi:10.1214/06-BA117A](https://doi.org/10.1214/06-BA117A)
# - Seitzer, Tavakoli, Antic, Martius (2022). On the pitfalls of heteroscedastic uncertainty estimation with probabilistic neural networks. [arXiv:2203.09168](https://arxiv.org/abs/2203.09168)
# - Talts, Betancourt, Simpson, Vehtari, Gelman (2018). Validating Bayesian inference algorithms with simulation-based calibration. [arXiv:1804.06788](https://arxiv.org/abs/1804.06788)
# - Hernández-Lobato, Adams (2015). Probabilistic backpropagation for scalable learning of Bayesian neural networks. [arXiv:1502.05336](https://arxiv.org/abs/1502.05336)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Previous:** [10 · Comparison and decisions](10_comparison_and_decisions.ipynb) · **Next:** you have reached the end. [Start here](00_start_here.ipynb) has the map.

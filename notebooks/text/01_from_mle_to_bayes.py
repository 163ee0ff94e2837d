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
# # 1 · From maximum likelihood to Bayes
#
# *One model in which nothing has to be approximated, and everything that the later chapters approximate.*
#
# **Run the cell below** (Shift+Enter), then move the slider *points N*: a linear model meets the points of a noisy sine one at a time. It is linear in its *weights*; bell-shaped features let it bend, and all that you see is exact. Where does the band close first, and where does it stay open?

# %% tags=["explorer"] slideshow={"slide_type": "fragment"}
from bdl_teach.widgets import LinearRegressionExplorer

explorer = LinearRegressionExplorer()
explorer

# %% [markdown] slideshow={"slide_type": "subslide"}
# ## What you will be able to do
#
# - say which probability model stands behind a squared error, a cross-entropy, a weight decay;
# - write down the posterior of a linear model, and draw functions from it;
# - predict with all weights instead of one, and split the uncertainty into epistemic and aleatoric;
# - compute the evidence in three ways, choose a prior with it, and say what that may cost;
# - say why the evidence is out of reach for a network, and what it costs to try;
# - tell the two directions of the KL divergence apart by what they do.
#
# **Time** 58 minutes · **Minutes per section** 1.1: 4 · 1.2: 6 · 1.3: 3 · 1.4: 5 · 1.5: 7 · 1.6: 7 · 1.7: 4 · 1.8: 8 · 1.9: 3 · opening and end: 11
#
# **Prerequisites** Python, NumPy, the Gaussian density, a least-squares fit. Notation: [chapter 0](00_start_here.ipynb#Notation).

# %% [markdown] slideshow={"slide_type": "subslide"}
# ## Predict first
#
# Write down your answers. You will test them in section 1.9.
#
# Two words that come later: the *epistemic* band shows what the model does not know about the function (1.5); the *evidence* is the density that it gave to the data before seeing them (1.6).
#
# 1. A ninth point arrives right beside another one. Can the epistemic band get *wider* anywhere?
# 2. The prior σ of the weights, how large they were thought to be before the data, grows from 10 to 30. Does the *training* error go up or down? And the evidence?
# 3. The model is a straight line, the true function a sine, and there are 32 points. Is the epistemic band wide, because the model is wrong, or narrow?
# 4. Far outside the data, at x = ±1, what decides the width of the band: the data, the noise, or the prior? And how wide will it be at x = 2, where there is nothing at all?

# %% slideshow={"slide_type": "skip"}
import matplotlib.pyplot as plt
import numpy as np
from scipy import stats
from scipy.special import expit, logsumexp, rel_entr
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Lasso, Ridge
from sklearn.metrics import log_loss

from bdl_teach import claims, datasets, densities, exercises, features, metrics, plots
from bdl_teach.backend import tfd, tfp
from bdl_teach.methods import exact
from bdl_teach.mlp import MLP
from bdl_teach.plots import BLUE, GREEN, GREY, ORANGE, RED, panel

plots.lecture_style()

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1.1 A loss is a probability model
#
# A model with weights $w$ maps an input $x$ to an output $f(w, x)$. To speak of probability, say how the target scatters around it. With Gaussian noise of standard deviation $s$, the $n$ data pairs $D$ have a density, the **likelihood** $P(D\mid w)$, and
#
# $$-\log P(D\mid w) = \frac{1}{2s^2}\sum_{i=1}^n \big(y_i - f(w, x_i)\big)^2 + \frac n2\log 2\pi s^2 . \tag{1.1}$$
#
# The weights that make the data most probable are the **maximum-likelihood estimate** (MLE). Only the first term contains $w$: under Gaussian noise, *maximum likelihood is least squares*.
#
# The smallest model of all is $f(w, x) = wx$, with one weight. On it every claim can be checked by brute force.

# %% slideshow={"slide_type": "fragment"}
# eq. 1.1
x = np.array([-1.0, -0.5, 0.5, 1.5])
y = np.array([-0.9, -0.1, 0.5, 1.1])
s = 0.5  # standard deviation of the noise
grid = np.linspace(-3, 3, 6001)  # values of the one weight


def nll(w, s=s):
    return -stats.norm(np.multiply.outer(w, x), s).logpdf(y).sum(axis=-1)


squares = ((y - np.outer((0.7, 0.2), x)) ** 2).sum(axis=1)  # of two weights
assert np.isclose(nll(0.7) - nll(0.2), np.subtract(*squares) / (2 * s**2))  # no s alone in it
w_mle = x @ y / (x @ x)  # least squares
assert abs(grid[np.argmin(nll(grid))] - w_mle) < 1e-3

# %% [markdown] slideshow={"slide_type": "subslide"}
# The second term is not idle: it contains $s$. Minimise over $s$ too, and the noise comes out as the mean squared error:
#
# $$\hat s^2 = \frac1n\sum_{i=1}^n \big(y_i - f(\hat w, x_i)\big)^2 . \tag{1.2}$$
#
# So a network with an output for $s$, trained on (1.1), *learns* a noise: its training error, which is too small if it overfits. With the square alone it could not: the larger $s$, the smaller the first term.

# %% slideshow={"slide_type": "fragment"}
# eq. 1.2
s_axis = np.linspace(0.05, 1.0, 2001)
s_best = s_axis[np.argmin([nll(w_mle, s_k) for s_k in s_axis])]
mse = np.mean((y - w_mle * x) ** 2)
assert abs(s_best**2 - mse) < 1e-4
print(f"noise sd by maximum likelihood: {s_best:.3f} = root of the mean squared error")

# %% [markdown] slideshow={"slide_type": "subslide"}
# For a classifier with two classes, the target is 0 or 1 and the model says $P(y = 1\mid x, w) = p = 1/(1+e^{-f})$. Then
#
# $$-\log P(D\mid w) = -\sum_{i=1}^n \big[y_i\log p_i + (1-y_i)\log(1-p_i)\big] = \sum_{i=1}^n\big[\log(1+e^{f_i}) - y_i f_i\big]: \tag{1.3}$$
#
# the **cross-entropy**. With more classes and a softmax it is $-\sum_i \log p_{i, y_i}$. Nobody chose these losses for their looks.

# %% slideshow={"slide_type": "fragment"}
# eq. 1.3
f = np.array([-2.0, 0.3, 1.5, 4.0])
labels = np.array([0, 1, 0, 1])
p = expit(f)
cross_entropy = -np.sum(labels * np.log(p) + (1 - labels) * np.log(1 - p))
assert np.isclose(cross_entropy, -stats.bernoulli(p).logpmf(labels).sum())
assert np.isclose(cross_entropy, np.sum(np.logaddexp(0, f) - labels * f))
assert np.isclose(cross_entropy, log_loss(labels, p, normalize=False))

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1.2 A regulariser is a prior
#
# MLE asks which weights make the data probable. The other question is which weights are *probable, given the data*. It needs a **prior** $P(w)$: what was plausible before. The **maximum a posteriori** estimate (MAP) minimises
#
# $$-\log P(D\mid w) - \log P(w) . \tag{1.4}$$
#
# With independent Gaussians $\mathcal N(0, \sigma_p^2)$ as the prior,
#
# $$-\log P(w) = \frac{1}{2\sigma_p^2}\sum_j w_j^2 + \text{const}: \quad\text{L2, or ridge, with}\quad \lambda = \frac{s^2}{\sigma_p^2} \tag{1.5}$$
#
# if the loss is written as $\sum_i (y_i - f(w, x_i))^2 + \lambda\sum_j w_j^2$. The penalty is measured *against the noise*: the louder the data, the more the prior counts.

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Weight decay.** The name is of plain gradient steps: there the penalty's part shrinks each weight by the same factor. What stands in the *loss* is the prior, with any optimiser that arrives. A decay beside the loss, as in AdamW, is the same for plain steps alone: Adam divides a gradient by its recent size, and not the decay, so that each weight would get a λ of its own ([Loshchilov and Hutter 2019](https://arxiv.org/abs/1711.05101)).

# %% slideshow={"slide_type": "fragment"}
# eq. 1.4
sigma_p = 1.0
prior = densities.Gaussian(sigma_p)
objective = nll(grid) - prior.log_prob(grid)
w_map = grid[np.argmin(objective)]
print(f"MLE {w_mle:.3f}, MAP {w_map:.3f}: the prior pulls towards 0")
assert abs(w_map) < abs(w_mle)

# %% slideshow={"slide_type": "fragment"}
# eq. 1.5
ridge = Ridge(alpha=s**2 / sigma_p**2, fit_intercept=False).fit(x[:, None], y)
assert abs(ridge.coef_[0] - w_map) < 1e-3
assert np.isclose(ridge.coef_[0], x @ y / (x @ x + s**2 / sigma_p**2))
constant = -prior.log_prob(grid) - grid**2 / (2 * sigma_p**2)
assert np.ptp(constant) < 1e-12  # no w is left in it

# %% [markdown] slideshow={"slide_type": "subslide"}
# With Laplace distributions of scale $b$ instead,
#
# $$-\log P(w) = \frac1b\sum_j |w_j| + \text{const}: \quad\text{L1, or lasso.} \tag{1.6}$$
#
# Its kink at 0 holds weak weights at *exactly* 0: sparse. For one weight the minimum has a closed form: least squares, moved towards 0 by $s^2/(b\sum_i x_i^2)$, and stopped there.

# %% slideshow={"slide_type": "fragment"}
# eq. 1.6
for b in (10.0, 1.0, 0.15, 0.05):
    shrink = s**2 / (b * (x @ x))
    closed = np.sign(w_mle) * max(abs(w_mle) - shrink, 0.0)
    by_grid = grid[np.argmin(nll(grid) - stats.laplace(0, b).logpdf(grid))]
    lasso = Lasso(alpha=s**2 / (len(y) * b), fit_intercept=False, tol=1e-10).fit(x[:, None], y)
    assert abs(by_grid - closed) < 1e-3 and np.isclose(lasso.coef_[0], closed, atol=1e-6)
    print(f"b = {b:5.2f}: MAP weight {closed:.3f}")
assert closed == 0  # a tight Laplace prior holds the MAP weight at 0

# %% [markdown] slideshow={"slide_type": "subslide"}
# **The mode is sparse, the belief is not.** "This prior switches the weight off" is true of MAP alone. Look at the whole posterior under the same prior, b = 0.05 (section 1.3 derives it: multiply and normalise). Its mean is not 0, and it gives hardly any probability to weights that are nearly 0:

# %% slideshow={"slide_type": "fragment"}
whole = np.exp(-nll(grid) + stats.laplace(0, b).logpdf(grid))
whole /= np.trapezoid(whole, grid)
nearly_0 = np.abs(grid) < 0.0015  # three points of the grid
mean_w, chance = np.trapezoid(grid * whole, grid), whole[nearly_0].sum() * (grid[1] - grid[0])
print(f"MAP {closed:.3f}, posterior mean {mean_w:.3f}, P(|w| < 0.0015) = {chance:.3f}")
assert np.isclose(mean_w, 0.061, atol=0.001) and 0.01 < chance < 0.03

# %% [markdown] slideshow={"slide_type": "subslide"}
# Real data: 442 patients, ten measurements, and how far their diabetes progressed in a year. All columns are standardised here, so that one σ_p fits all weights. Which measurements does each prior keep? L2 shortens the *vector* of weights; where columns are correlated, a single weight may even grow.

# %% slideshow={"slide_type": "fragment"}
patients = load_diabetes()
x_all = patients.data / patients.data.std(axis=0)
y_all = (patients.target - patients.target.mean()) / patients.target.std()
s_all = 0.7  # what a straight line leaves unexplained, in sds of y
few = np.random.default_rng(0).permutation(len(y_all))[:60]
weights = {"MLE": np.linalg.lstsq(x_all[few], y_all[few], rcond=None)[0]}
weights["L2: σ_p = 0.15"] = Ridge(alpha=(s_all / 0.15) ** 2, fit_intercept=False).fit(
    x_all[few], y_all[few]).coef_
weights["L1: b = 0.1"] = Lasso(alpha=s_all**2 / (60 * 0.1), fit_intercept=False).fit(
    x_all[few], y_all[few]).coef_
print({name: f"{(w == 0).sum()} of 10 weights are 0" for name, w in weights.items()})
assert (weights["L1: b = 0.1"] == 0).sum() >= 1 and (weights["L2: σ_p = 0.15"] != 0).all()
assert np.linalg.norm(weights["L2: σ_p = 0.15"]) < np.linalg.norm(weights["MLE"])

# %% slideshow={"slide_type": "subslide"}
fig, ax = plt.subplots()
marks = zip(weights.items(), ("o", "s", "^"), (GREY, BLUE, RED), (-0.15, 0, 0.15), strict=True)
for (name, w), mark, colour, shift in marks:
    ax.plot(np.arange(10) + shift, w, mark, ms=9, color=colour, label=name)
ax.axhline(0, color="black", lw=0.8)
ax.set_xticks(range(10), patients.feature_names)
panel(ax, "L2 shortens the vector of weights, L1 drops some of them", "measurement",
      "weight (sds)", loc="lower left")

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1.3 All weights, with their probabilities
#
# MLE and MAP keep one weight and forget how many others do nearly as well. **Bayes' rule** keeps them all:
#
# $$P(w\mid D) = \frac{P(D\mid w)\,P(w)}{P(D)}, \qquad P(D) = \int P(D\mid w)\,P(w)\,\mathrm dw . \tag{1.7}$$
#
# The left side is the **posterior**: how plausible each weight is once the data are known. The denominator is the **evidence**, a number that makes the posterior integrate to 1; section 1.6 is about it.
#
# A *classic* network has deterministic weights: each is a number, found by backpropagation. Here a weight is **random**: it has a distribution, and the model's output for one input is a random number as well. To get one, take two steps: draw the weights, then run the model. (Logarithms of probabilities are given in **nats**: the unit that belongs to the natural logarithm.)

# %% slideshow={"slide_type": "fragment"}
# eq. 1.7
joint = np.exp(-nll(grid) + prior.log_prob(grid))  # P(D | w) P(w)
evidence = np.trapezoid(joint, grid)
posterior = joint / evidence
assert np.isclose(np.trapezoid(posterior, grid), 1)

known = exact.linear_regression(x[:, None], y, prior_std=sigma_p, noise_std=s)
m, sd = known.mean[0], np.sqrt(known.cov[0, 0])
assert np.isclose(np.log(evidence), known.log_evidence)
assert np.allclose(posterior, stats.norm(m, sd).pdf(grid), atol=1e-9)
print(f"posterior N({m:.3f}, {sd:.3f}²); log P(D) = {known.log_evidence:.3f} nats")

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Learning one point at a time.** Data need not come at once. After some of them the posterior is simply the prior for the rest:
#
# $$P(w\mid D_1, D_2) \;\propto\; P(D_2\mid w)\,P(w\mid D_1) . \tag{1.8}$$
#
# The order does not matter, and nothing has to be kept but the distribution itself. (Chapter 7 lives from this.)

# %% slideshow={"slide_type": "fragment"}
# eq. 1.8
fig, ax = plt.subplots()
belief = np.exp(prior.log_prob(grid))
ax.plot(grid, belief, "--", color=GREY, label="prior")
styles = zip(("-.", ":", (0, (5, 1)), "-"), (ORANGE, GREEN, BLUE, RED), strict=True)
for i, (style, colour) in enumerate(styles):
    belief = belief * stats.norm(grid * x[i], s).pdf(y[i])
    belief = belief / np.trapezoid(belief, grid)
    ax.plot(grid, belief, ls=style, color=colour, label=f"after point {i + 1} (x = {x[i]:g})")
assert np.allclose(belief, posterior)
ax.set_xlim(-1.5, 2.5)
panel(ax, "Each point adds x²/s² to the precision", "weight w", "density")


# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1.4 Linear regression, exactly
#
# Replace $x$ by $d$ **features** $\phi(x)$, such as powers of $x$, or bumps side by side: $f(w, x) = \phi(x)^\top w$. The model can bend, but it is linear in $w$; so (1.4) is quadratic in $w$, and the posterior is Gaussian. With the features of all points as the rows of a matrix $\Phi$ [n, d], complete the square:
#
# $$P(w\mid D) = \mathcal N(m, \Sigma), \qquad \Sigma^{-1} = \frac{1}{\sigma_p^2} I + \frac{1}{s^2}\Phi^\top\Phi, \qquad m = \frac{1}{s^2}\,\Sigma\,\Phi^\top y . \tag{1.9}$$
#
# The inverse $\Sigma^{-1}$ is called the **precision**; for one weight it is one over the variance. **Precisions add**: that of the prior, and one term for each point. The data move the mean; but as long as $s$ and $\sigma_p$ are given, the width depends only on *where* you measured, not on what came out.

# %% slideshow={"slide_type": "fragment"}
# eq. 1.9
def linear_posterior(phi, y, prior_std, noise_std):
    """Exact posterior mean [d] and covariance [d, d]."""
    precision = np.eye(phi.shape[1]) / prior_std**2 + phi.T @ phi / noise_std**2
    cov = np.linalg.inv(precision)
    return cov @ phi.T @ y / noise_std**2, cov


data = datasets.sinusoid(n=32, noise_std=1.0, seed=0)
seen = np.random.default_rng(0).permutation(32)[:8]
phi, y_seen = features.bumps(data.x[seen], 10), data.y[seen, 0]
mean, cov = linear_posterior(phi, y_seen, 10.0, 1.0)
post = exact.linear_regression(phi, y_seen, prior_std=10.0, noise_std=1.0)
assert np.allclose(mean, post.mean) and np.allclose(cov, post.cov)
assert np.allclose(mean, Ridge(alpha=0.01, fit_intercept=False).fit(phi, y_seen).coef_)

# %% [markdown] slideshow={"slide_type": "subslide"}
# The posterior mean *is* the ridge solution: for a Gaussian, mean and mode coincide. What Bayes adds is $\Sigma$. Draw weights from it, and each draw is a function that the data do not exclude:

# %% slideshow={"slide_type": "fragment"}
x_grid = np.linspace(-1, 1, 201)[:, None]
phi_grid = features.bumps(x_grid, 10)
centres = np.linspace(-1, 1, 10)
assert np.allclose(phi_grid, np.exp(-0.5 * ((x_grid - centres) / (0.75 * 2 / 9)) ** 2))
rng = np.random.default_rng(1)
fig, axes = plt.subplots(1, 3, figsize=(12, 4), sharey=True)
shown = {"the ten features (× 10)": 10 * np.eye(10),
         "8 draws from the prior": 10 * rng.standard_normal((8, 10)),
         "8 draws from the posterior": rng.multivariate_normal(mean, cov, 8)}
for ax, (name, w) in zip(axes, shown.items(), strict=True):
    ax.plot(x_grid, phi_grid @ w.T, color=BLUE, lw=1.4)
    ax.set_title(name, loc="left", fontsize=13)
    ax.set(xlabel="x", ylabel="y", ylim=(-25, 25))
    ax.label_outer()
points = plots.draw_data(axes[2], data.x[seen], data.y[seen])

# %% [markdown] slideshow={"slide_type": "subslide"}
# **The same with TensorFlow Probability.** A linear model with Gaussian weights *is* a Gaussian process, whose kernel is the covariance of two outputs under the prior, $k(x, x') = \sigma_p^2\,\phi(x)^\top\phi(x')$. TFP has Gaussian processes; they never mention weights, and agree:

# %% slideshow={"slide_type": "fragment"}
kernel = tfp.math.psd_kernels.Linear(slope_amplitude=np.float64(10.0))
process = tfd.GaussianProcessRegressionModel(
    kernel, index_points=phi_grid, observation_index_points=phi, observations=y_seen,
    observation_noise_variance=np.float64(1.0), predictive_noise_variance=np.float64(0.0),
)
pred = post.predict(phi_grid)
assert np.allclose(process.mean(), pred.mean, atol=1e-6)
assert np.allclose(process.stddev(), pred.epistemic_std, atol=1e-4)
print("weights or functions: the same predictions at 201 inputs")

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1.5 Predict with all weights
#
# The usual prediction plugs one estimate in: $P(y\mid x, \hat w)$. That is nearly right when the posterior is narrow: many points, or a tight prior that is right. Otherwise it claims to know what it does not. The **posterior predictive** averages over all weights, each with its probability:
#
# $$P(y\mid x, D) = \int P(y\mid x, w)\,P(w\mid D)\,\mathrm dw \tag{1.10}$$
#
# For the linear model the integral is known: $\phi^\top w$ is Gaussian, the noise is Gaussian, and variances of independent things add:
#
# $$P(y\mid x, D) = \mathcal N\big(\phi^\top m,\; \underbrace{\phi^\top\Sigma\,\phi}_{\text{epistemic}} + \underbrace{s^2}_{\text{aleatoric}}\big) . \tag{1.11}$$
#
# **Epistemic** is what we do not know about the function: more data shrink it. **Aleatoric** is the noise of the data themselves: more data do nothing to it.

# %% slideshow={"slide_type": "fragment"}
# eq. 1.10
x_new, y_values = 2.0, np.linspace(-2, 5, 15)
densities_y = stats.norm(grid * x_new, s).pdf(y_values[:, None])  # [15, grid]
integral = np.trapezoid(densities_y * posterior, grid, axis=1)
assert np.allclose(integral, stats.norm(m * x_new, np.hypot(x_new * sd, s)).pdf(y_values))

# %% slideshow={"slide_type": "fragment"}
# eq. 1.11
epistemic_var = np.einsum("md,de,me->m", phi_grid, cov, phi_grid)
assert np.allclose(pred.mean, phi_grid @ mean)
assert np.allclose(pred.epistemic_std**2, epistemic_var)
assert np.allclose(pred.total_std**2, epistemic_var + 1.0**2)

# %% slideshow={"slide_type": "subslide"}
fig, axes = plt.subplots(1, 2, figsize=(12, 4.2), sharey=True)
line, y_map = x_grid[:, 0], phi_grid @ mean
axes[0].plot(line, y_map, color=RED, label="one function: MAP")
axes[0].fill_between(line, y_map - 2, y_map + 2, color=ORANGE, alpha=0.35, label="±2 sd noise")
plots.draw_predictive(axes[1], x_grid, pred)
for ax, title in zip(axes, ("Plug-in: equally sure everywhere",
                            "Posterior predictive: sure where there are data"), strict=True):
    plots.draw_truth(ax, x_grid, data.truth(x_grid))
    plots.draw_data(ax, data.x[seen], data.y[seen])
    ax.set_ylim(-25, 42)  # room for the legend
    panel(ax, title, "x", "y", loc="upper left", ncols=2, fontsize=10)

# %% [markdown] slideshow={"slide_type": "subslide"}
# When the integral is not known, draw $S$ weights from the posterior and average the *densities*:
#
# $$P(y\mid x, D) \approx \frac1S\sum_{k=1}^S P(y\mid x, w_k), \qquad w_k\sim P(w\mid D) . \tag{1.12}$$
#
# The same draws show the two uncertainties, by the law of total variance:
#
# $$\operatorname{Var}[y] = \underbrace{\operatorname{Var}_w\big(\mathbb E[y\mid w]\big)}_{\text{epistemic}} + \underbrace{\mathbb E_w\big[\operatorname{Var}(y\mid w)\big]}_{\text{aleatoric}} . \tag{1.13}$$

# %% slideshow={"slide_type": "fragment"}
# eq. 1.12
rng = np.random.default_rng(2)
w_draws = rng.multivariate_normal(mean, cov, 20_000)
at, y_at = 150, 3.0  # x = 0.5, and a value of y
each = stats.norm(w_draws @ phi_grid[at], 1.0).pdf(y_at)
exactly = np.exp(pred.log_prob(np.full(201, y_at))[at])
assert abs(each.mean() - exactly) < 5 * each.std() / np.sqrt(len(each))
print(f"density at y = 3: {each.mean():.4f} from 20,000 draws, {exactly:.4f} exactly")

# %% slideshow={"slide_type": "fragment"}
# eq. 1.13
outputs = w_draws @ phi_grid.T  # E[y | w], [draws, m]
noisy = outputs + rng.standard_normal(outputs.shape)  # y itself
assert np.allclose(outputs.var(axis=0) + 1.0, noisy.var(axis=0), rtol=0.06)
assert np.allclose(outputs.std(axis=0), pred.epistemic_std, rtol=0.03)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **How fast does epistemic uncertainty fall?** Averaged over the training inputs it is
#
# $$\frac1n\sum_{i=1}^n \phi_i^\top\Sigma\,\phi_i = \frac{s^2\,d_{\text{eff}}}{n}, \qquad d_{\text{eff}} = \sum_{j=1}^d \frac{\nu_j}{\nu_j + s^2/\sigma_p^2}, \tag{1.14}$$
#
# with $\nu_j$ the eigenvalues of $\Phi^\top\Phi$. $d_{\text{eff}}$ counts the directions in the space of weights that the data have decided, from 0 to $d$ (MacKay's number of well-determined parameters). It grows ever more slowly, so that the epistemic *variance* falls nearly as $1/n$; the noise stays.

# %% slideshow={"slide_type": "fragment"}
# eq. 1.14
for n in (4, 16, 64, 256, 1024):
    many = datasets.sinusoid(n=n, seed=3)
    phi_n = features.bumps(many.x, 10)
    fitted = exact.linear_regression(phi_n, many.y, prior_std=10.0, noise_std=1.0)
    average = np.mean(fitted.predict(phi_n).epistemic_std ** 2)
    eigenvalues = np.maximum(np.linalg.eigvalsh(phi_n.T @ phi_n), 0)
    d_eff = np.sum(eigenvalues / (eigenvalues + 1.0**2 / 10.0**2))
    assert np.isclose(average, 1.0**2 * d_eff / n)
    print(f"n = {n:4d}: epistemic variance {average:.4f}, aleatoric 1; "
          f"{d_eff:.1f} of 10 directions decided")


# %% [markdown] slideshow={"slide_type": "subslide"}
# **Does it pay?** The diabetes data, trained on few patients, scored by the log predictive density of the others (nats a patient, more is better), over 40 random splits:

# %% slideshow={"slide_type": "fragment"}
def scores(n_train, seed):
    """Mean log density of unseen patients: (MLE plugged in, MAP plugged in, predictive)."""
    order = np.random.default_rng(seed).permutation(len(y_all))
    train, test = order[:n_train], order[n_train:]
    mle = np.linalg.lstsq(x_all[train], y_all[train], rcond=None)[0]
    fitted = exact.linear_regression(x_all[train], y_all[train], 0.3, s_all)
    plug_ins = [stats.norm(x_all[test] @ w, s_all).logpdf(y_all[test]).mean()
                for w in (mle, fitted.mean)]
    return [*plug_ins, fitted.predict(x_all[test]).log_prob(y_all[test]).mean()]


table = {n: np.mean([scores(n, seed) for seed in range(40)], axis=0) for n in (12, 20, 50, 200)}
for n, (mle, plugged, bayes) in table.items():
    print(f"{n:3d} patients: MLE {mle:7.2f}, MAP {plugged:.3f}, predictive {bayes:.3f}")
    assert bayes > plugged > mle

# %% [markdown] slideshow={"slide_type": "subslide"}
# With 12 patients for ten weights, MLE is a disaster on these data, MAP is saved by its prior, and the predictive is better still, because it says where it does not know. With 200 they hardly differ: what counts is how much each direction of the weights has been measured (eq. 1.14 puts a number on it). A neural network often has more weights than data.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1.6 The evidence chooses the prior
#
# The denominator of Bayes' rule, the **evidence** or *marginal likelihood* $P(D)$, is the density that the model gave to the data *before* seeing them. For the linear model $y = \Phi w + \text{noise}$ is Gaussian under the prior, so
#
# $$\log P(D) = \log\mathcal N\big(y\mid 0,\; \sigma_p^2\,\Phi\Phi^\top + s^2 I\big) . \tag{1.15}$$
#
# A second way needs no integral once the posterior is known with its normaliser: Bayes' rule, solved for the denominator. It holds at *any* $w$:
#
# $$\log P(D) = \log P(D\mid w) + \log P(w) - \log P(w\mid D) . \tag{1.16}$$
#
# The third way says what it means. By the product rule,
#
# $$\log P(D) = \sum_{i=1}^n \log P(y_i\mid x_i,\, D_{<i}): \tag{1.17}$$
#
# predict each point from those before it, and add the scores. In the evidence every point was a test point once. But it scores the whole course of learning, from the prior's first blind guess on, and not the model that you end with.

# %% slideshow={"slide_type": "subslide"}
# eq. 1.15
marginal_cov = 10.0**2 * phi @ phi.T + 1.0**2 * np.eye(8)
log_evidence = stats.multivariate_normal(np.zeros(8), marginal_cov).logpdf(y_seen)
assert np.isclose(log_evidence, post.log_evidence)
print(f"log P(D) = {log_evidence:.3f} nats for 8 points")

# %% slideshow={"slide_type": "fragment"}
# eq. 1.16
for w in (np.zeros(10), mean, w_draws[0]):
    log_likelihood = stats.norm(phi @ w, 1.0).logpdf(y_seen).sum()
    log_prior = stats.norm(0, 10.0).logpdf(w).sum()
    log_posterior = stats.multivariate_normal(mean, cov).logpdf(w)
    assert np.isclose(log_likelihood + log_prior - log_posterior, log_evidence)

# %% slideshow={"slide_type": "fragment"}
# eq. 1.17
one_step = [stats.norm(0, np.sqrt(marginal_cov[0, 0])).logpdf(y_seen[0])]  # from the prior alone
for i in range(1, 8):
    before = exact.linear_regression(phi[:i], y_seen[:i], prior_std=10.0, noise_std=1.0)
    one_step.append(before.predict(phi[i : i + 1]).log_prob(y_seen[i : i + 1])[0])
assert np.isclose(np.sum(one_step), log_evidence)
print("log density of each point, predicted from those before it:", np.round(one_step, 1))

# %% [markdown] slideshow={"slide_type": "subslide"}
# So the evidence can choose what training cannot judge: how many features, how wide a prior. Add a feature, and least squares fits the training data at least as well as before. More features also spread the prior over more functions, so that each gets less; a model that could have explained anything gains little when it explains these data. That is **Occam's razor**, and nobody had to put it in.

# %% slideshow={"slide_type": "fragment"}
sizes = np.arange(1, 13)
train, test = datasets.sinusoid(n=32, seed=0), datasets.sinusoid(n=400, seed=99)
log_p, fit_error, test_score = [], [], []
for d in sizes:
    phi_d = features.polynomial(train.x, d)
    fitted = exact.linear_regression(phi_d, train.y, prior_std=25.0, noise_std=1.0)
    log_p.append(fitted.log_evidence)
    least_squares = np.linalg.lstsq(phi_d, train.y[:, 0], rcond=None)[0]
    fit_error.append(metrics.rmse(train.y[:, 0], phi_d @ least_squares))
    predicted = fitted.predict(features.polynomial(test.x, d))
    test_score.append(predicted.log_prob(test.y).mean())
best = sizes[np.argmax(log_p)]
assert best == 6 and (np.diff(fit_error) < 1e-9).all()
assert max(test_score) - test_score[np.argmax(log_p)] < 0.05  # on these 32 points

# %% slideshow={"slide_type": "subslide"}
fig, axes = plt.subplots(1, 3, figsize=(12, 3.8))
curves = (("least-squares training RMSE: falls", fit_error, "units of y", "upper right"),
          ("log evidence: peaks", log_p, "nats", "lower right"),
          ("test log density", test_score, "nats a point", "lower right"))
for ax, (title, values, unit, place) in zip(axes, curves, strict=True):
    ax.plot(sizes, values, "o-", color=BLUE)
    ax.axvline(best, color=RED, ls="--", lw=1.6, label="evidence's choice")
    ax.set_xticks(sizes[1::2])
    panel(ax, title, "features (degree + 1)", unit, loc=place, fontsize=10)
axes[1].set_ylim(-100, -55)
axes[2].set_ylim(-2.6, -1.3)
fig.tight_layout()

# %% [markdown] slideshow={"slide_type": "subslide"}
# To choose the prior by its evidence is called **empirical Bayes**, or type-II maximum likelihood. For the diabetes weights one line of search finds σ_p. Chapter 6 does it for every weight of a network.

# %% slideshow={"slide_type": "fragment"}
candidates = 10.0 ** np.linspace(-2.5, 1, 36)
by_prior = [exact.linear_regression(x_all[few], y_all[few], c, s_all).log_evidence
            for c in candidates]
chosen = candidates[np.argmax(by_prior)]
others = np.setdiff1d(np.arange(442), few)
unseen = [exact.linear_regression(x_all[few], y_all[few], c, s_all).predict(
    x_all[others]).log_prob(y_all[others]).mean() for c in candidates]
print(f"evidence chooses σ_p = {chosen:.2f}; unseen patients: {unseen[np.argmax(by_prior)]:.3f} "
      f"nats, {max(unseen):.3f} at best, {unseen[-1]:.3f} with σ_p = 10")
assert np.isclose(chosen, 0.2, rtol=0.01)  # nothing is drawn here but the 60 patients
assert max(unseen) - unseen[np.argmax(by_prior)] < 0.002

# %% [markdown] slideshow={"slide_type": "subslide"}
# **When it misleads.** The evidence is a score of the points that you have, not of those to come. We tried six values of σ_p from 0.3 to 100, with six bumps and 32 points of the sine, on ten data sets in each of twenty worlds. On most data sets the prior with the highest evidence is *not* the one that does best on new points. <!-- claim: evidence-can-prefer-a-worse-test --> The loss is small, less than a twentieth of a nat a point; <!-- claim: evidence-loses-little --> the worst of the six priors would lose more than a nat. <!-- claim: evidence-avoids-the-worst-prior -->

# %% slideshow={"slide_type": "fragment"}
found = claims.show("evidence-can-prefer-a-worse-test", "evidence-loses-little",
                    "evidence-avoids-the-worst-prior")


# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1.7 Why the evidence is hard
#
# Take the Gaussians away, and $\int P(D\mid w)P(w)\,\mathrm dw$ has no formula. Brute force is a grid: with $g$ values a weight,
#
# $$\text{cost} = g^d \text{ evaluations of the model for } d \text{ weights.} \tag{1.18}$$

# %% slideshow={"slide_type": "fragment"}
# eq. 1.18
def evidence_by_grid(phi, y, prior_std, noise_std, g):
    """(log evidence, number of grid points) by summing over a grid on ±5 prior sds."""
    axis = np.linspace(-5, 5, g) * prior_std
    points = np.stack(np.meshgrid(*[axis] * phi.shape[1]), axis=-1).reshape(-1, phi.shape[1])
    log_joint = stats.norm(0, prior_std).logpdf(points).sum(axis=1)
    log_joint += stats.norm(0, noise_std).logpdf(y - points @ phi.T).sum(axis=1)
    return logsumexp(log_joint) + phi.shape[1] * np.log(axis[1] - axis[0]), len(points)


for d in (1, 2, 3):
    phi_d = features.polynomial(x[:, None] / 2, d)
    by_grid, cost = evidence_by_grid(phi_d, y, 1.0, s, 61)
    right = exact.linear_regression(phi_d, y, 1.0, s).log_evidence
    assert cost == 61**d and abs(by_grid - right) < 1e-6
    print(f"{d} weights: {cost:7,d} evaluations, log P(D) = {by_grid:.4f} (exact {right:.4f})")

# %% slideshow={"slide_type": "subslide"}
for hidden in ((), (5,), (20, 20)):
    n_weights = MLP(1, hidden).n_weights
    print(f"hidden units {hidden}: {n_weights} weights, 10^{n_weights} grid points at 10 a weight")


# %% [markdown] slideshow={"slide_type": "subslide"}
# There are some $10^{80}$ atoms in the universe. This is not slow, it is **intractable**: waiting does not help.
#
# Drawing weights from the *prior* and averaging their likelihoods does not help either:
#
# $$P(D) \approx \frac1S\sum_{k=1}^S P(D\mid w_k), \qquad w_k \sim P(w) . \tag{1.19}$$
#
# The estimate is unbiased, but nearly all draws explain nothing, and a lucky few carry the sum. The **effective number of draws** $(\sum_k p_k)^2/\sum_k p_k^2$ tells how many:

# %% slideshow={"slide_type": "fragment"}
# eq. 1.19
def evidence_by_sampling(phi, y, n_draws, rng):
    """(log of the estimate, effective number of draws), under w ~ N(0, 5²), noise sd 1."""
    w = 5.0 * rng.standard_normal((n_draws, phi.shape[1]))
    log_p = stats.norm(0, 1.0).logpdf(y - w @ phi.T).sum(axis=1)
    share = np.exp(log_p - logsumexp(log_p))
    return logsumexp(log_p) - np.log(n_draws), 1 / np.sum(share**2)


rng = np.random.default_rng(4)
estimate, _ = evidence_by_sampling(x[:, None], y, 200_000, rng)
assert abs(estimate - exact.linear_regression(x[:, None], y, 5.0, 1.0).log_evidence) < 0.05

# %% slideshow={"slide_type": "subslide"}
for d in (2, 4, 8, 16, 32):
    phi_d = rng.standard_normal((2 * d, d))
    y_d = phi_d @ (5 * rng.standard_normal(d)) + rng.standard_normal(2 * d)
    estimate, effective = evidence_by_sampling(phi_d, y_d, 20_000, rng)
    right = exact.linear_regression(phi_d, y_d, 5.0, 1.0).log_evidence
    print(f"{d:2d} weights: estimate {estimate:8.1f}, exact {right:7.1f} nats; "
          f"{effective:6.1f} of 20,000 draws count")
assert effective < 20 and estimate < right - 20  # and it is far too low, nearly always


# %% [markdown] slideshow={"slide_type": "subslide"}
# Too low, although unbiased? Its mean is right because once in an age it is enormous. What you will see is too low.
#
# Hence the rest of this course. Chapters 2, 3, 5 and 6 replace the integral by an *optimisation* over simple distributions (variational inference); chapter 4 puts it to the test. Chapter 7 replaces it by a *sequence* of one-point updates like (1.8), and chapter 8 by many trained networks, by a Gaussian round one of them, or by a walk with noise. Markov chains (HMC and NUTS), the yardstick of chapters 4 and 10, draw from the posterior without knowing $P(D)$.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1.8 How far is one distribution from another?
#
# To put a simple $q$ in the place of the posterior $p$ we need a distance. The **Kullback-Leibler divergence** is the average of $\log(q/p)$ *over the first of the two*:
#
# $$\mathrm{KL}[q\,\|\,p] = \int q(w)\,\log\frac{q(w)}{p(w)}\,\mathrm dw \;\ge\; 0, \qquad 0\log 0 := 0 . \tag{1.20}$$
#
# It is 0 only if $q = p$, it is measured in nats, and it is *not symmetric*. For two Gaussians,
#
# $$\mathrm{KL}\big[\mathcal N(\mu_q, \sigma_q^2)\,\|\,\mathcal N(\mu_p, \sigma_p^2)\big] = \log\frac{\sigma_p}{\sigma_q} + \frac{\sigma_q^2 + (\mu_q-\mu_p)^2}{2\sigma_p^2} - \frac12 . \tag{1.21}$$

# %% slideshow={"slide_type": "fragment"}
# eq. 1.20
def kl_on_grid(q, p):
    return np.trapezoid(rel_entr(q, p), grid)  # rel_entr is q log(q/p), with 0 log 0 = 0


narrow, wide = stats.norm(0.5, 0.3).pdf(grid), stats.norm(0.0, 0.9).pdf(grid)
assert kl_on_grid(narrow, narrow) == 0
assert kl_on_grid(narrow, wide) > 0 and kl_on_grid(wide, narrow) > 0
print(f"narrow from wide {kl_on_grid(narrow, wide):.2f} nats, "
      f"wide from narrow {kl_on_grid(wide, narrow):.2f}")
assert rel_entr(0.0, 0.3) == 0 and rel_entr(0.3, 0.0) == np.inf


# %% slideshow={"slide_type": "subslide"}
# eq. 1.21
def gaussian_kl(mu_q, sigma_q, mu_p, sigma_p):
    squares = sigma_q**2 + (mu_q - mu_p) ** 2
    return np.log(sigma_p / sigma_q) + squares / (2 * sigma_p**2) - 0.5


assert np.isclose(gaussian_kl(0.5, 0.3, 0.0, 0.9), kl_on_grid(narrow, wide), atol=1e-3)
assert np.isclose(gaussian_kl(0.5, 0.3, 0.0, 0.9), densities.gaussian_kl(0.5, 0.3, 0.0, 0.9))
assert np.isclose(tfd.kl_divergence(tfd.Normal(0.5, 0.3), tfd.Normal(0.0, 0.9)),
                  gaussian_kl(0.5, 0.3, 0.0, 0.9))

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Reverse or forward?** With $p$ the target, $\mathrm{KL}[q\|p]$ (reverse, over $q$) punishes $q$ for mass where $p$ has none. $\mathrm{KL}[p\|q]$ (forward, over $p$) punishes $q$ for *missing* mass that $p$ has. If $q$ is too simple, they disagree. Two hills, one Gaussian:

# %% slideshow={"slide_type": "fragment"}
w_axis = grid[::20]
hills = 0.6 * stats.norm(-1.0, 0.3).pdf(w_axis) + 0.4 * stats.norm(1.0, 0.4).pdf(w_axis)
centres, widths = np.linspace(-2, 2, 81)[:, None, None], np.linspace(0.15, 1.6, 59)[:, None]
every_q = stats.norm(centres, widths).pdf(w_axis)  # [81, 59, w]
reverse = np.trapezoid(rel_entr(every_q, hills), w_axis)
forward = np.trapezoid(rel_entr(hills, every_q), w_axis)

# %% slideshow={"slide_type": "fragment"}
best_q = {}
for name, table_kl in (("reverse", reverse), ("forward", forward)):
    i, j = np.unravel_index(np.argmin(table_kl), table_kl.shape)
    best_q[name] = float(centres[i, 0, 0]), float(widths[j, 0])
    print(f"{name}: q = N({best_q[name][0]:.2f}, {best_q[name][1]:.2f}²)")
mean_p = np.trapezoid(w_axis * hills, w_axis)
sd_p = np.sqrt(np.trapezoid((w_axis - mean_p) ** 2 * hills, w_axis))
assert np.allclose(best_q["forward"], (mean_p, sd_p), atol=0.03)  # it matches the moments
assert np.allclose(best_q["reverse"], (-1.0, 0.3), atol=0.06)  # it picks one hill

# %% slideshow={"slide_type": "subslide"}
fig, ax = plt.subplots()
ax.fill_between(w_axis, hills, color=GREY, alpha=0.35, label="target p")
for (name, (c, s_q)), colour, style in zip(best_q.items(), (RED, BLUE), ("-", "--"), strict=True):
    ax.plot(grid, stats.norm(c, s_q).pdf(grid), style, color=colour, label=f"best q, {name} KL")
panel(ax, "Reverse KL settles on one hill, forward KL covers both", "w", "density")


# %% [markdown] slideshow={"slide_type": "subslide"}
# The second disagreement concerns *correlation*. Let $p = \mathcal N(m, \Sigma)$ and $q$ be independent Gaussians, one a weight, as in chapter 3. Then
#
# $$\text{reverse: } \sigma_j^2 = \frac{1}{(\Sigma^{-1})_{jj}}, \qquad \text{forward: } \sigma_j^2 = \Sigma_{jj} . \tag{1.22}$$
#
# The first is the width of a *slice* of the posterior, the other weights held fixed; the second is that of its *shadow*, the other weights averaged over. A slice is never wider than the shadow. So an independent $q$ that minimises KL[q‖p] to a Gaussian posterior reports *weights* that are surer than they should be, as soon as they are correlated.

# %% slideshow={"slide_type": "fragment"}
# eq. 1.22
def kl_to_posterior(stds):
    """KL[q ‖ p] and KL[p ‖ q] for independent Gaussians with the right means."""
    q = tfd.MultivariateNormalDiag(np.zeros(2), stds)
    p = tfd.MultivariateNormalTriL(np.zeros(2), np.linalg.cholesky(pair))
    return float(tfd.kl_divergence(q, p)), float(tfd.kl_divergence(p, q))


pair = cov[4:6, 4:6]  # two neighbouring bumps of section 1.4
inside, outside = np.diag(np.linalg.inv(pair)) ** -0.5, np.sqrt(np.diag(pair))
for step in (0.95, 1.05):
    for j in range(2):
        scale = np.where(np.arange(2) == j, step, 1.0)
        assert kl_to_posterior(inside * scale)[0] > kl_to_posterior(inside)[0]
        assert kl_to_posterior(outside * scale)[1] > kl_to_posterior(outside)[1]
assert (inside < outside).all()

# %% slideshow={"slide_type": "subslide"}
fig, ax = plt.subplots(figsize=(6.5, 5))
angle = np.linspace(0, 2 * np.pi, 200)
circle = np.stack([np.cos(angle), np.sin(angle)])
shapes = (("true posterior", np.linalg.cholesky(pair), GREY, "-"),
          ("reverse KL", np.diag(inside), RED, "-"), ("forward KL", np.diag(outside), BLUE, "--"))
for name, factor, colour, style in shapes:
    ax.plot(*(2 * factor @ circle + mean[4:6, None]), style, color=colour, label=f"{name}, 2 sd")
ax.set_ylim(1, 16)  # room for the legend
panel(ax, "Independent weights: as wide as a slice, or as the shadow", "weight 4", "weight 5",
      loc="upper right")

# %% [markdown] slideshow={"slide_type": "subslide"}
# One more identity, and chapter 3 can begin. Put Bayes' rule into $\mathrm{KL}[q\,\|\,P(w\mid D)]$, and the evidence steps out of the integral:
#
# $$\mathrm{KL}[q\,\|\,P(w\mid D)] = \underbrace{\mathrm{KL}[q\,\|\,P(w)] - \mathbb E_q[\log P(D\mid w)]}_{\text{free energy } F \;=\; -\text{ELBO}} + \log P(D) . \tag{1.23}$$
#
# $F$ contains no evidence and no posterior, so it can be computed; and minimising it over $q$ minimises the distance to the posterior. Because a KL is never negative, $-F$ is a *lower bound* of the log evidence: the **ELBO**, evidence lower bound.

# %% slideshow={"slide_type": "fragment"}
# eq. 1.23
wide_grid = np.linspace(-9, 9, 18_001)
for mu_q, sigma_q in ((0.0, 1.0), (0.5, 0.2), (m, sd)):
    q = stats.norm(mu_q, sigma_q).pdf(wide_grid)
    free_energy = np.trapezoid(q * nll(wide_grid), wide_grid)  # the likelihood cost
    free_energy += gaussian_kl(mu_q, sigma_q, 0.0, sigma_p)  # and the complexity cost
    distance = gaussian_kl(mu_q, sigma_q, m, sd)
    assert np.isclose(distance, free_energy + known.log_evidence)
    print(f"q = N({mu_q:.2f}, {sigma_q:.2f}²): ELBO {-free_energy:7.3f} ≤ log P(D) "
          f"{known.log_evidence:.3f}; distance {distance:.3f} nats")

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1.9 Play
#
# The explorer again: this view and the one at the top move together. Take your answers from "Predict first", move *one* slider, and look. Under *two weights* each is measured in sds of its prior, so that the prior is always the same curve. Under *evidence*, 0 is the best value of that slider, given all the others. (The ten thin curves are drawn from the posterior for your eyes; the band does not need them.)
#
# The picture can be touched: drag a point, click to add one, hold Shift and click to take one away; **pin A** keeps what is shown to compare with; **missions** has three things to bring about, with hints. If you run the cell at the top again it makes a *new* explorer: run the one below again, too.

# %% tags=["explorer"] slideshow={"slide_type": "subslide"}
explorer

# %% [markdown] slideshow={"slide_type": "subslide"}
# - **points N.** (Question 1: no. A new point adds a term to the precision and takes nothing away: the band narrows or stays, everywhere. This is a property of the *Gaussian* linear model; elsewhere a surprising point can widen it.)
# - **prior σ**, from the preset *eight points*. (Question 2: the training error falls, always; the evidence has its peak, and falls on the far side. Question 4: at x = ±1 no point has spoken; the band there is almost the prior's, and widens with it.)
# - **noise σ.** Louder data say less: the posterior stays wider, and the aleatoric band is exactly the slider.
# - **how many d** and **features**, preset *sure and wrong*. (Question 3: *narrow*. The epistemic band answers "which straight line?", and 32 points settle that. It does not ask "is it a line at all?". The evidence does: it is hundreds of nats lower than that of a model that can bend.)
# - **seed** decides the noise, the order of arrival and the draws.
#
# One answer lies outside the picture. Does the band go on opening beyond x = 1? (Question 4.) The prior's own sd says no: the bumps end at ±1, and beyond them the model is certain that f = 0. It does not know that it knows nothing there, and no data were needed to be so sure:

# %% slideshow={"slide_type": "fragment"}
beyond = 10 * np.linalg.norm(features.bumps(np.array([[1.0], [1.5], [2.0]]), 10), axis=1)
print("sd of the prior's functions at x = 1, 1.5, 2:", beyond.round(2))


# %% [markdown] slideshow={"slide_type": "slide"}
# ## 1.10 Exercises
#
# Replace each `...` and run the cell. The check says "right", or which mistake it recognises and where to read. Below each exercise, collapsed, is a worked solution; before it, a hint. 1.9 and 1.10 are experiments: you measure and draw, and the check measures what you bring on data that you have not seen.

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 1.1 Compute: the negative log likelihood
# Return (1.1) as one number. `y` and `f` are arrays of targets and outputs, `s` is the standard deviation of the noise. It must also hold for hundreds of points, and for a point so far off that its density is 0 in floating point.
#
# <details><summary>Hint</summary>Take the logarithm of one Gaussian with a pencil, and add over the points. What does each point contribute besides its square?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_nll(y, f, s):
    return ...


exercises.check("1.1", my_nll)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_1(y, f, s):
    return np.sum((y - f) ** 2) / (2 * s**2) + len(y) / 2 * np.log(2 * np.pi * s**2)


assert exercises.check("1.1", solution_1, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 1.2 Compute: the posterior of one weight
# The model is $y = wx$ + noise of sd $s$, the prior $w\sim\mathcal N(0, \sigma_p^2)$. Return the posterior's mean and *standard deviation* as a pair. `x`, `y` are arrays with one entry a point.
#
# <details><summary>Hint</summary>(1.9) with one feature: which of its matrices are now single numbers? Precisions add.</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_posterior(x, y, s, sigma_p):
    return ...


exercises.check("1.2", my_posterior)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_2(x, y, s, sigma_p):
    precision = x @ x / s**2 + 1 / sigma_p**2
    return (x @ y / s**2) / precision, 1 / np.sqrt(precision)


assert exercises.check("1.2", solution_2, record=False)

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 1.3 Explain: true or false
# Put the letters of the *true* statements into the set.
#
# - **a** If the weights were known exactly, a prediction of $y$ would have no uncertainty.
# - **b** The plug-in prediction announces less variance than the posterior predictive, because it leaves the epistemic part out.
# - **c** A narrow epistemic band means that the model is near the true function.
# - **d** Let the points come in another order: each may be predicted better or worse than before, but the evidence stays what it was.
# - **e** If a model fits the training data better than another, its evidence is higher.
# - **f** With few data, the posterior predictive is wide where different plausible functions disagree.
#
# <details><summary>Hint</summary>For (c), the explorer has a preset that is sure; for (e), add one more feature.</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
my_letters = ...  # such as {"a", "b"}
exercises.check("1.3", my_letters)

# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
# One reason for each letter.
# a: the noise remains. b: (1.11). c: "sure and wrong". d: the left side of (1.17) knows of no
# order. e: the training error only falls. f: section 1.5.
assert exercises.check("1.3", {"b", "d", "f"}, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 1.4 Change: a prior for Keras
# Keras minimises the *mean* of the squared errors over $N$ points, plus $\lambda\sum_j w_j^2$. Which λ makes that the MAP estimate under independent priors $\mathcal N(0, \sigma_p^2)$ on the weights, with noise of sd $s$? (`n` is $N$.)
#
# <details><summary>Hint</summary>Write down (1.4), and multiply it with the number that turns its first term into a mean of squares.</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_weight_decay(s, sigma_p, n):
    return ...


exercises.check("1.4", my_weight_decay)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_4(s, sigma_p, n):
    return s**2 / (n * sigma_p**2)  # multiply (1.4) by 2s²/N


assert exercises.check("1.4", solution_4, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 1.5 Change: a log predictive density from weighted draws
# The $S$ models were not drawn from the posterior but from something else, and carry weights to make up for it: $w_k$ counts in proportion to $a_k$. Return the *logarithm* of what then takes the place of (1.12), for one target `y`. `f` is an array of the $S$ outputs, `s` the sd of the noise, `log_weights` are the $\log a_k$; they are known up to a constant only, so that all may lie near −1000. Every draw may be far from `y`.
#
# <details><summary>Hint</summary>What is a mean with weights that do not sum to 1? Write its logarithm as a difference, and neither of the two sums has to be a number in floating point.</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_log_predictive(y, f, s, log_weights):
    return ...


exercises.check("1.5", my_log_predictive)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_5(y, f, s, log_weights):
    each = -0.5 * ((y - f) / s) ** 2 - np.log(s) - 0.5 * np.log(2 * np.pi)
    return logsumexp(each + log_weights) - logsumexp(log_weights)


assert exercises.check("1.5", solution_5, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 1.6 Break: a KL of two that are sure
# Two classifiers give their logits for one picture, `a` and `b`, an entry a class: $q_i = e^{a_i}/\sum_j e^{a_j}$, and $p$ from `b` likewise. Return $\mathrm{KL}[q\,\|\,p]$ in nats, a sum over the classes. A logit may be 1000 or −1000; then a probability rounds to 0, and the KL is finite all the same. Do not clip, and add nothing.
#
# <details><summary>Hint</summary>Which of the three things that (1.20) needs, $q$, $\log q$ and $\log p$, may round to 0 without harm? The other two never have to be logarithms of something rounded.</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_kl(a, b):
    return ...


exercises.check("1.6", my_kl)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_6(a, b):
    log_q, log_p = a - logsumexp(a), b - logsumexp(b)
    return np.sum(np.exp(log_q) * (log_q - log_p))


assert exercises.check("1.6", solution_6, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 1.7 Extend: a prior width for each weight
# Chapter 6 gives each weight a prior of its own, $w_j\sim\mathcal N(0, \sigma_j^2)$. Each row of `candidates` [k, d] holds the $d$ widths σ_j of one such prior; return its $\log P(D)$, an array of length k. `phi` is the matrix of features [n, d], `y` an array [n], `noise_std` is $s$. It must also hold for hundreds of points.
#
# <details><summary>Hint</summary>What is the covariance of two outputs if each weight has its own variance? Or: a weight of width σ_j is σ_j times one of width 1.</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_evidence(phi, y, noise_std, candidates):
    return ...


exercises.check("1.7", my_evidence)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_7(phi, y, noise_std, candidates):
    return np.array([exact.linear_regression(phi * widths, y, 1.0, noise_std).log_evidence
                     for widths in candidates])


assert exercises.check("1.7", solution_7, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 1.8 Extend: how much too sure?
# The posterior is $\mathcal N(m, \Sigma)$, `cov` is Σ. Let $q$ keep correlations, but only inside of groups of weights, such as the layers of a network: it is a product of Gaussians, one a group, each with a full covariance matrix. `group` holds the number of each weight's group. Take the $q$ with the smallest $\mathrm{KL}[q\,\|\,p]$, and return for each weight the sd that $q$ reports over the posterior's own: an array of ratios.
#
# <details><summary>Hint</summary>(1.22) has the answer for groups of one weight: which others are held fixed there, and which are now? With one group for all weights each ratio must be 1.</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_too_sure(cov, group):
    return ...


exercises.check("1.8", my_too_sure)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_8(cov, group):
    precision, ratios = np.linalg.inv(cov), np.ones(len(cov))
    for k in set(group):
        inside = np.linalg.inv(precision[np.ix_(group == k, group == k)])
        ratios[group == k] = np.sqrt(np.diag(inside) / np.diag(cov)[group == k])
    return ratios


assert exercises.check("1.8", solution_8, record=False)

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 1.9 Experiment: where to measure next
# A model of ten bumps, σ_p = 10, has been measured at the inputs `seen`, with noise of sd 1. You may measure six times more. Return six inputs in $[-1, 1]$ after which the largest epistemic sd on $[-1, 1]$ is below 3. The check tries twelve sets `seen` that you do not know. Draw first: the epistemic sd over x with `seen` alone, and after each of your points. Do six evenly spread inputs do?
#
# <details><summary>Hint</summary>By (1.9) the width depends on where you measure, not on what comes out: you can compute how sure you will be *before* you measure. Where would one more measurement help most? And then?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
seen_here = np.random.default_rng(3).uniform(-0.6, 0.3, 12)
bands = {}  # of each number of new points: the epistemic sd at x_grid
fig, ax = plt.subplots(figsize=(6, 2.8))
for name, sds in bands.items():
    ax.plot(x_grid[:, 0], sds, label=name)
ax.set_title("Your graph: how sure, and where?", loc="left", fontsize=13)
axis_labels = ax.set(xlabel="x", ylabel="epistemic sd")


def my_inputs(seen):
    return ...


exercises.check("1.9", my_inputs)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def sd_after(inputs):
    phi_in = features.bumps(np.reshape(inputs, (-1, 1)), 10)
    sure = exact.linear_regression(phi_in, np.zeros(len(phi_in)), 10.0, 1.0)  # any y will do
    return sure.predict(phi_grid).epistemic_std


def solution_9(seen):
    inputs = list(seen)
    for _ in range(6):
        inputs.append(x_grid[np.argmax(sd_after(inputs)), 0])  # where it knows least
    return inputs[-6:]


assert exercises.check("1.9", solution_9, record=False)

# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
chosen_inputs = solution_9(seen_here)
fig, ax = plt.subplots()
for n_new, colour, style in ((0, GREY, ":"), (2, GREEN, "--"), (4, ORANGE, "-."), (6, BLUE, "-")):
    ax.plot(x_grid, sd_after([*seen_here, *chosen_inputs[:n_new]]), style, color=colour,
            label=f"{n_new} new points")
ax.plot(seen_here, np.zeros(12), "|", color="black", ms=12, label="seen")
evenly = sd_after([*seen_here, *np.linspace(-1, 1, 6)])
ax.plot(x_grid, evenly, color=RED, lw=1, label="6 evenly spread")
panel(ax, "Each point goes where the model knows least", "x", "epistemic sd")

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 1.10 Experiment: how loud are the data?
# `problems` is a sequence of 24 data sets `(x, y)`: 16 points of our sine each, with noise whose sd differs from set to set. Return your estimate of the sd of each. On average over the sets, the logarithm of your estimate over the true sd must be within ±0.12 of 0, and scatter by at most 0.5. Draw first, for one or two of the sets: the log evidence over `noise_std`, for 2, 6 and 10 bumps, and beside each curve the training RMSE of least squares (1.2).
#
# <details><summary>Hint</summary>The evidence judges the noise as it judges a prior. If you would rather use the training error: how many of the n points did the fit use up (1.14)?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
noises = np.geomspace(0.2, 10, 40)
curves = {}  # of each number of bumps: the log evidence at each of noises
fig, ax = plt.subplots(figsize=(6, 2.8))
for name, log_ps in curves.items():
    ax.semilogx(noises, log_ps, label=name)
ax.set_title("Your graph: which noise explains the data?", loc="left", fontsize=13)
axis_labels = ax.set(xlabel="noise sd", ylabel="log evidence, nats")


def my_noises(problems):
    return ...


exercises.check("1.10", my_noises)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def over_noises(x_k, y_k, d):
    phi_k = features.bumps(x_k, d)
    return [exact.linear_regression(phi_k, y_k, 10.0, noise).log_evidence for noise in noises]


def solution_10(problems):
    return [noises[np.argmax(over_noises(x_k, y_k, 10))] for x_k, y_k in problems]


assert exercises.check("1.10", solution_10, record=False)

# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
one_set = datasets.sinusoid(n=16, noise_std=2.0, seed=5)
fig, ax = plt.subplots()
for d, colour, style in ((2, GREY, ":"), (6, RED, "--"), (10, BLUE, "-")):
    ax.semilogx(noises, over_noises(one_set.x, one_set.y, d), style, color=colour,
                label=f"{d} bumps")
    phi_d = features.bumps(one_set.x, d)
    rest = one_set.y - phi_d @ np.linalg.lstsq(phi_d, one_set.y, rcond=None)[0]
    ax.axvline(np.sqrt(np.mean(rest**2)), color=colour, ls=style, lw=1)  # its training RMSE
ax.axvline(2.0, color="black", lw=1, label="true noise sd (thin: training RMSE)")
ax.set_ylim(-60, -30)
panel(ax, "The evidence counts what the fit used up", "noise sd", "log evidence, nats")

# %% slideshow={"slide_type": "fragment"}
exercises.progress(1)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Mistakes in circulation
#
# Claims that you will meet, some in the sources of this course. Run them.

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Claim:** "maximum likelihood makes no assumption: all weights count as equally probable". **True** only for *this* way of writing the weights. Write the noise as $s$ or as $\log s$: "all values equally probable" means something else in each, and the posterior mode, the MAP, moves with it. The MLE does not move: a likelihood is no density over $s$.

# %% slideshow={"slide_type": "fragment"}
log_s = np.log(s_axis)
log_like = np.array([-nll(w_mle, s_k) for s_k in s_axis])
mode_flat_in_s = s_axis[np.argmax(log_like)]  # the MLE too
flat_in_log_s = log_like - log_s  # the same likelihood; density of s if log s is flat
mode_flat_in_log_s = s_axis[np.argmax(flat_in_log_s)]
print(f"most probable s: {mode_flat_in_s:.3f} or {mode_flat_in_log_s:.3f}, both 'without prior'")
assert mode_flat_in_s - mode_flat_in_log_s > 0.01

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Claim:** "the Bayesian estimate is the most probable weight". **True:** the mode is one point, and in many dimensions *nothing is near it*. Draws of a standard Gaussian in $d$ dimensions lie at a distance of about $\sqrt d$ from the mode. Predictions average over the shell, not over the peak.

# %% slideshow={"slide_type": "fragment"}
for d in (1, 10, 481):
    radius = np.linalg.norm(np.random.default_rng(5).standard_normal((2000, d)), axis=1)
    print(f"{d:3d} weights: distance from the mode {radius.mean():.1f} ± {radius.std():.1f}")
assert radius.min() > 15 and abs(radius.mean() - np.sqrt(481)) < 0.5

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Claim:** "a Bayesian model cannot overfit, whatever the size of the data". **True** on average over data sets that really come from this model and prior: no other forecast then has a better expected score. Nothing protects from a bad prior. Fourteen bumps, eight points, and a prior a hundred times too wide:

# %% slideshow={"slide_type": "fragment"}
test_in, found = datasets.sinusoid(n=400, seed=99), []
for prior_std in (6.0, 600.0):
    fitted = exact.linear_regression(features.bumps(data.x[seen], 14), y_seen, prior_std, 1.0)
    predicted = fitted.predict(features.bumps(test_in.x, 14))
    error = metrics.rmse(test_in.y[:, 0], predicted.mean)
    score = predicted.log_prob(test_in.y).mean()
    print(f"prior σ {prior_std:5.0f}: RMSE {error:.2f}, log density {score:.2f}, "
          f"log evidence {fitted.log_evidence:.0f}")
    found.append((-error, score, fitted.log_evidence))
assert (np.array(found[1]) < np.array(found[0])).all()  # worse in all three

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Claim:** "average the log likelihoods of the draws". **True:** average the *densities*. The logarithm is concave, so the average of logarithms is never larger (Jensen), and the difference is large where the draws disagree:

# %% slideshow={"slide_type": "fragment"}
log_each = stats.norm(w_draws[:2000] @ phi_grid.T, 1.0).logpdf(data.truth(x_grid)[:, 0])
log_of_mean = logsumexp(log_each, axis=0) - np.log(2000)
mean_of_log = log_each.mean(axis=0)
assert (mean_of_log <= log_of_mean + 1e-12).all()
among, far = np.abs(line) < 0.3, np.abs(line) > 0.8
lost = log_of_mean - mean_of_log
print(f"lost among the data {lost[among].mean():.2f} nats, outside {lost[far].mean():.0f} nats")
assert lost[far].mean() > 10 * lost[among].mean()

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Claim:** "in the KL, 0/0 = 1." **True:** the convention is $0\log 0 := 0$: where $q = 0$ the term is 0. Where $q > 0$ and $p = 0$ the KL is infinite, and must be: $q$ says possible to something that $p$ excludes. Written naively the first case gives NaN:

# %% slideshow={"slide_type": "fragment"}
q_table, p_table = np.array([0.5, 0.5, 0.0]), np.array([0.25, 0.25, 0.5])
with np.errstate(divide="ignore", invalid="ignore"):
    naive = np.sum(q_table * np.log(q_table / p_table))
print(f"naive {naive}; with 0 log 0 = 0: {rel_entr(q_table, p_table).sum():.4f}; "
      f"the other way round: {rel_entr(p_table, q_table).sum()}")
assert np.isnan(naive) and np.isclose(rel_entr(q_table, p_table).sum(), np.log(2))
assert np.isinf(rel_entr(p_table, q_table).sum())

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Smaller ones.** "The evidence is the data $D$": it is the *number* $P(D)$. "The negative log likelihood $\log P(D\mid w)$": the minus sign is missing. "$P(y, x\mid w)$" for the likelihood of a regression: the model says nothing about $x$; it is $P(y\mid x, w)$.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Summary
#
# - Squared error, cross-entropy, L2, L1: each is −log of a density that can be written down.
# - The posterior of a linear model is Gaussian, and precisions add. Its mean is the ridge solution; its covariance is what ridge forgets.
# - Predict by averaging densities over the posterior. Variance = epistemic (where the data are, it falls nearly as $1/n$) + aleatoric (stays).
# - Epistemic uncertainty is uncertainty *within* the model. A wrong model can be sure.
# - The evidence is the sum of one-step-ahead scores. It avoids the worst priors without a test set; <!-- claim: evidence-avoids-the-worst-prior --> between good ones it may take the second best. <!-- claim: evidence-can-prefer-a-worse-test -->
# - For a network the evidence is an integral over hundreds of dimensions: intractable, not slow.
# - Of two hills far apart $\mathrm{KL}[q\|p]$ picks one, and of correlated weights it is too sure; $\mathrm{KL}[p\|q]$ matches moments. $\mathrm{KL}[q\|P(w\mid D)] = F + \log P(D)$.

# %% [markdown] slideshow={"slide_type": "subslide"}
# ## References
#
# - MacKay (1992). Bayesian interpolation. [doi:10.1162/neco.1992.4.3.415](https://doi.org/10.1162/neco.1992.4.3.415)
# - Tipping (2004). Bayesian inference: an introduction to principles and practice in machine learning. [doi:10.1007/978-3-540-28650-9_3](https://doi.org/10.1007/978-3-540-28650-9_3)
# - Chib (1995). Marginal likelihood from the Gibbs output (eq. 1.16). [doi:10.1080/01621459.1995.10476635](https://doi.org/10.1080/01621459.1995.10476635)
# - Loshchilov, Hutter (2019). Decoupled weight decay regularization. [arXiv:1711.05101](https://arxiv.org/abs/1711.05101)
# - Efron, Hastie, Johnstone, Tibshirani (2004). Least angle regression (the diabetes data). [doi:10.1214/009053604000000067](https://doi.org/10.1214/009053604000000067)
# - Kendall, Gal (2017). What uncertainties do we need in Bayesian deep learning for computer vision? [arXiv:1703.04977](https://arxiv.org/abs/1703.04977)
# - Blei, Kucukelbir, McAuliffe (2017). Variational inference: a review for statisticians. [arXiv:1601.00670](https://arxiv.org/abs/1601.00670)
# - Lotfi, Izmailov, Benton, Goldblum, Wilson (2022). Bayesian model selection, the marginal likelihood, and generalization. [arXiv:2202.11678](https://arxiv.org/abs/2202.11678)
#
# The textbook for sections 1.3 to 1.6 is C. Bishop, *Pattern Recognition and Machine Learning* (2006), chapter 3.

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Previous:** [0 · Start here](00_start_here.ipynb) · **Next:** [2 · Reparameterization and the variational autoencoder](02_reparameterization_and_vae.ipynb): how a gradient passes through a random number. Chapter 3, [Bayes by Backprop](03_bayes_by_backprop.ipynb), continues from (1.23).

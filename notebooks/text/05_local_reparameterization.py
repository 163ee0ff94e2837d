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
# # 5 · Local reparameterization
#
# *The same objective, with a gradient whose noise falls as the batch grows.*
#
# **Run the cell below** (Shift+Enter), then move the slider *batch M*, the size of a minibatch. One gradient is estimated in two ways, a few hundred times at each of nine batch sizes. Which of the two gets quieter as the batch grows?

# %% tags=["explorer"] slideshow={"slide_type": "fragment"}
from bdl_teach.widgets import LocalReparamLab

explorer = LocalReparamLab()
explorer

# %% [markdown] slideshow={"slide_type": "subslide"}
# ## What you will be able to do
#
# - say which part of a gradient's noise a larger minibatch removes, and which it does not;
# - derive mean and variance of what reaches a unit, and draw it without drawing a weight;
# - say what is independent of what, with shared weights and with local draws;
# - count what each way costs;
# - choose between one shared W, local draws and Flipout, and treat the KL term right in each;
# - say what need not be drawn at all, and derive the quiet estimator of the free energy.
#
# **Time** 51 minutes · **Minutes per section** 5.1: 2 · 5.2: 4 · 5.3: 3 · 5.4: 5 · 5.5: 2 · 5.6: 11 · 5.7: 3 · 5.8: 5 · 5.9: 4 · 5.10: 2 · 5.11: 1 · opening and end: 9
#
# **Prerequisites** The free energy and the reparameterization $w = \mu + \sigma\varepsilon$, from [chapter 3](03_bayes_by_backprop.ipynb). Notation: [chapter 0](00_start_here.ipynb#Notation).

# %% [markdown] slideshow={"slide_type": "subslide"}
# ## Predict first
#
# Write down your answers. Questions 1 and 2 are tested in section 5.11, question 3 in 5.5, question 4 in 5.2.
#
# 1. In Bayes by Backprop all points of a minibatch share one draw of the weights. The batch grows from 1 point to 256, and its cost is scaled to stand for all the data. Hold the batch fixed, and draw the weights again and again: is the variance of the gradient smaller for the larger batch?
# 2. Now each point gets a draw of its own. The same question.
# 3. A layer has 1000 inputs and 1000 units, the batch 100 rows. How many random numbers does a draw for each row need? Can you do with fewer?
# 4. You average over a batch of 100 points that are all the same point. Does "a draw for each point" still help?

# %% slideshow={"slide_type": "skip"}
import warnings

import matplotlib.pyplot as plt
import numpy as np

from bdl_teach import claims, datasets, densities, elbo, estimators, exercises, plots
from bdl_teach.backend import tf, tfp
from bdl_teach.methods import bbb, local_reparam, pbp
from bdl_teach.mlp import MLP
from bdl_teach.plots import BLUE, GREEN, ORANGE, RED

plots.lecture_style()

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5.1 Why a minibatch does not always average
#
# The likelihood cost of $N$ points is estimated from a minibatch of $M$, scaled by $N/M$. (Here $M$ is the *size* of a minibatch, as in Kingma et al.; in chapter 3 it was the number of minibatches.) Its gradient is $\frac NM\sum_{m=1}^{M} g_m$, where $g_m$ is the gradient of point $m$ at the drawn weights. The variance of a sum is the sum of *all* covariances: $M$ variances, and $M(M-1)$ pairs. With $\overline{\mathrm{Var}}$ the mean variance of the $g_m$ and $\overline{\mathrm{Cov}}$ the mean covariance of the pairs,
#
# $$\operatorname{Var}\Big[\frac NM\sum_{m=1}^{M} g_m\Big] = N^2\left(\frac{1}{M}\,\overline{\mathrm{Var}} + \frac{M-1}{M}\,\overline{\mathrm{Cov}}\right). \tag{5.1}$$
#
# The first term falls as $1/M$. The second one does not fall: it tends to the covariance. Where the gradients of two points covary, a larger batch soon stops helping. And they do covary, if all points see the same draw of the weights.
#
# All variances of this chapter are over the draws of the weights, for a *given* minibatch; pictures show them divided by $N^2$. Which points are in the minibatch adds a noise of its own. It falls as $1/M$ whichever way the weights are drawn.

# %% slideshow={"slide_type": "subslide"}
# eq. 5.1
rng = np.random.default_rng(0)
N, s = 1024, 0.5  # data points; standard deviation of the noise on y
x = rng.uniform(0.5, 1.5, 64)
y = 0.7 * x + s * rng.standard_normal(64)
mu, sigma = 0.6, 0.3  # q(w) = N(0.6, 0.3²), for the one weight of y = w x

w = mu + sigma * rng.standard_normal(10_000)  # one draw for all points
g = x * (np.outer(w, x) - y) / s**2  # [draws, M]: d/dμ of each point's cost
covariance, M = np.cov(g.T), len(x)
var, cov = np.diag(covariance).mean(), covariance[~np.eye(M, dtype=bool)].mean()
all_entries, in_parts = (N / M) ** 2 * covariance.sum(), N**2 * (var / M + (M - 1) / M * cov)
assert np.allclose((N / M * g.sum(axis=1)).var(ddof=1), [all_entries, in_parts])
print(f"variance of a point {var:.2f}, covariance of two points {cov:.2f}")

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5.2 One weight, exactly
#
# The model is $y = wx$ plus noise of standard deviation $s$, and $q(w) = \mathcal N(\mu, \sigma^2)$. For one weight both parts can be written down. The gradient for μ is $\frac{N}{Ms^2}\sum_m x_m(x_m w - y_m)$. If all points **share** $w = \mu + \sigma\varepsilon$, its random part is $\frac{N}{Ms^2}\,\sigma\varepsilon\sum_m x_m^2$:
#
# $$\operatorname{Var}_\text{shared} = \Big(\frac{N\sigma}{Ms^2}\Big)^2\Big(\sum_m x_m^2\Big)^2 . \tag{5.2}$$
#
# If each point has an $\varepsilon_m$ of its **own**, the squares add instead:
#
# $$\operatorname{Var}_\text{own} = \Big(\frac{N\sigma}{Ms^2}\Big)^2\sum_m x_m^4 . \tag{5.3}$$

# %% slideshow={"slide_type": "fragment"}
# eq. 5.2 and 5.3
scale = N / M / s**2
shared_var = (scale * sigma) ** 2 * (x**2).sum() ** 2
own_var = (scale * sigma) ** 2 * (x**4).sum()

eps = rng.standard_normal((10_000, M))
shared = scale * ((mu + sigma * eps[:, :1]) * x - y) @ x
own = scale * ((mu + sigma * eps) * x - y) @ x
for draws, theory in ((shared, shared_var), (own, own_var)):
    assert np.isclose(draws.var(), theory, rtol=5 * np.sqrt(2 / len(draws)))
    truth = scale * (mu * x - y) @ x  # both have the same mean: the gradient itself
    assert abs(draws.mean() - truth) < 5 * draws.std() / np.sqrt(len(draws))
print(f"sd of one gradient: shared {shared.std():.0f}, own {own.std():.0f}, mean {truth:.0f}")


# %% [markdown] slideshow={"slide_type": "subslide"}
# Their ratio is what a draw for each point gains:
#
# $$\frac{\operatorname{Var}_\text{shared}}{\operatorname{Var}_\text{own}} = \frac{\left(\sum_m x_m^2\right)^2}{\sum_m x_m^4} \;\le\; M , \tag{5.4}$$
#
# with equality only if all $|x_m|$ are equal (Cauchy-Schwarz). A batch with one large input gains little: that point decides the gradient alone. (Question 4: it helps as much as it can, by a factor $M$. The points need not differ, only their draws.)

# %% slideshow={"slide_type": "fragment"}
# eq. 5.4
def gain(x):
    return (x**2).sum() ** 2 / (x**4).sum()


assert np.isclose(shared_var / own_var, gain(x))
batches = {"64 points of this data set": x, "100 times the same point": np.full(100, 1.3),
           "99 ordinary ones and one outlier": np.r_[np.ones(99), 20.0]}
for name, batch in batches.items():
    print(f"{name}: gain {gain(batch):.1f} of at most {len(batch)}")

# %% [markdown] slideshow={"slide_type": "subslide"}
# The package has five estimators of this gradient, for any number of weights: `score` is the score function of chapter 2, `shared` one draw for all points, `per_example` a draw for each; `local` and `flipout` come in sections 5.3 and 5.6. All have the same mean:

# %% slideshow={"slide_type": "fragment"}
problem = estimators.minibatch([mu], [sigma], x[:, None], y, noise_std=s, n_data=N)
exact = problem.expected.mu
for kind in estimators.KINDS:
    draws = estimators.gradient_samples(kind, problem, n_draws=10_000).mu
    theory = estimators.gradient_variance(kind, problem).mu
    assert abs(draws.mean() - exact) < 5 * draws.std() / np.sqrt(len(draws))
    print(f"{kind:12s} sd of one gradient {draws.std():6.0f}, in theory {theory[0] ** 0.5:6.0f}")

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5.3 What reaches a unit
#
# Giving each row its own weight *matrix* is expensive: a layer of 1000 inputs and 1000 units has a million weights, and it would need a million draws for every row. But nobody ever looks at those weights. The next layer sees only what reaches a unit, its **pre-activation** $b_{mj} = \sum_i x_{mi} w_{ij}$, for row $m$, input $i$, unit $j$. Given the layer's inputs $x$, a sum of independent Gaussians is Gaussian. Its mean is
#
# $$\gamma_{mj} = \sum_i x_{mi}\,\mu_{ij}, \tag{5.5}$$
#
# and, since variances of independent terms add and $\operatorname{Var}[x w] = x^2\operatorname{Var}[w]$, its variance is
#
# $$\delta_{mj} = \sum_i x_{mi}^2\,\sigma_{ij}^2 . \tag{5.6}$$
#
# So draw *that*, for each row and unit:
#
# $$b_{mj} = \gamma_{mj} + \sqrt{\delta_{mj}}\,\zeta_{mj}, \qquad \zeta_{mj}\sim\mathcal N(0,1). \tag{5.7}$$
#
# This is **local reparameterization** (Kingma, Salimans, Welling 2015): the noise moves from the weights (global, shared by all data) to the pre-activations (local, one for each datum).

# %% slideshow={"slide_type": "subslide"}
# eq. 5.5 and 5.6
rng = np.random.default_rng(1)
X, MU = rng.normal(size=(4, 3)), rng.normal(size=(3, 2))  # 4 rows, 3 inputs, 2 units
SIGMA = rng.uniform(0.2, 1.0, (3, 2))
gamma, delta = local_reparam.preactivation_moments(X, MU, SIGMA)

W = MU + SIGMA * rng.standard_normal((50_000, 3, 2))  # as a check: draw the weights after all
b = X @ W
assert np.allclose(b.mean(axis=0), gamma, atol=5 * np.sqrt(delta.max() / 50_000))
assert np.allclose(b.var(axis=0), delta, rtol=5 * np.sqrt(2 / 50_000))

# %% slideshow={"slide_type": "subslide"}
# eq. 5.7
b_local = rng.normal(gamma, np.sqrt(delta), (50_000, 4, 2))
assert np.allclose(b_local.mean(axis=0), gamma, atol=5 * np.sqrt(delta.max() / 50_000))
assert np.allclose(b_local.var(axis=0), delta, rtol=5 * np.sqrt(2 / 50_000))
print("each b, alone, has the same distribution both ways")

# %% [markdown] slideshow={"slide_type": "subslide"}
# γ and δ are differentiable in μ and σ, so the gradient reaches them: $\partial b_{mj}/\partial\mu_{ij} = x_{mi}$ as ever, and $\partial b_{mj}/\partial\sigma_{ij} = \zeta_{mj}\,x_{mi}^2\sigma_{ij}/\sqrt{\delta_{mj}}$. The noise ζ does not depend on θ. It is the same trick as in chapter 3, one floor higher.

# %% slideshow={"slide_type": "fragment"}
zeta = rng.standard_normal((4, 2))
theta = tf.constant(MU), tf.constant(SIGMA)
with tf.GradientTape() as tape:
    tape.watch(theta)
    total = tf.reduce_sum(X @ theta[0] + tf.sqrt(X**2 @ theta[1] ** 2) * zeta)
d_mu, d_sigma = tape.gradient(total, theta)
assert np.allclose(d_mu, X.sum(axis=0)[:, None])
assert np.allclose(d_sigma, SIGMA * ((X**2).T @ (zeta / np.sqrt(delta))))

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5.4 What is independent, and what is not
#
# "After the multiplication the results are independent Gaussians as well", says one of our sources. Look closely; there are two directions. (In both, the layer's inputs are given.)
#
# - **Two units, same row:** different columns of $W$, hence independent. True.
# - **Two rows, same unit:** the same column of $W$. If $W$ is shared, they covary:
#
# $$\operatorname{Cov}(b_{mj}, b_{m'j}) = \sum_i x_{mi}\,x_{m'i}\,\sigma_{ij}^2 . \tag{5.8}$$
#
# Local draws set this to 0 for $m \ne m'$. So local reparameterization is **not** a cheaper way to compute the same thing: it equals a *fresh $W$ for every row*. It is right all the same, because the likelihood cost is a sum over rows, and the mean of a sum asks for each row's distribution only. What changes is the variance of the sum, and that is the gain.

# %% slideshow={"slide_type": "subslide"}
# eq. 5.8
theory = np.stack([estimators.row_covariance("shared", X, sd) for sd in SIGMA.T], axis=-1)
for name, draws, apart in (("one shared W", b, 1.0), ("local", b_local, np.eye(4)[..., None])):
    centred = draws - gamma
    measured = np.einsum("smj,snj->mnj", centred, centred) / len(draws)
    assert np.allclose(measured, theory * apart, atol=0.05)
    print(f"{name:12s}: covariance of rows 0 and 1 {measured[0, 1, 0]:+.2f}, of units 0 and 1 "
          f"{np.cov(draws[:, 0].T)[0, 1]:+.2f}")

# %% [markdown] slideshow={"slide_type": "subslide"}
# **The price.** A draw of $W$ is a *function*: it may be evaluated anywhere, and it is continuous. Local draws at many inputs are not values of one function. For pictures of drawn functions, and for anything else that needs one network at several inputs, draw weights.

# %% slideshow={"slide_type": "fragment"}
data = datasets.sinusoid(n=32, noise_std=1.0, seed=0)
x_grid = np.linspace(-1.0, 1.0, 201)[:, None]
network = MLP(1, (20, 20))
fit = local_reparam.fit(data.x, data.y, hidden_units=(20, 20))
assert isinstance(fit, bbb.Fit)  # the same kind of object: it predicts by drawing weights


def local_network(mu, std, x, zeta):
    """Outputs [n, 1] with local draws in each layer; zeta: [units, n] for each layer."""
    m, sd, h = network.unflatten(mu), network.unflatten(std), tf.transpose(x)
    for i, z in enumerate(zeta):
        gamma = m[2 * i] @ h + m[2 * i + 1]  # [out, in] @ [in, n]
        delta = sd[2 * i] ** 2 @ h**2 + sd[2 * i + 1] ** 2
        b = gamma + tf.sqrt(delta) * z
        h = tf.nn.relu(b)
    return tf.transpose(b)


# %% slideshow={"slide_type": "subslide"}
def draw_local(x, seed):
    rng = np.random.default_rng(seed)
    zeta = [rng.standard_normal((k, len(x))).astype("float32") for k in (20, 20, 1)]
    parameters = (tf.constant(v, tf.float32) for v in (fit.mean, fit.std, x))
    return local_network(*parameters, zeta).numpy()[:, 0]


wiggly = np.array([draw_local(x_grid, seed) for seed in range(400)])
smooth = fit.predict(x_grid, n_samples=400).samples
steps = [np.abs(np.diff(f, axis=1)).mean() for f in (smooth, wiggly)]
print(f"mean step from one grid point to the next: shared {steps[0]:.2f}, local {steps[1]:.2f}")
assert np.allclose(wiggly.std(axis=0), smooth.std(axis=0), rtol=0.35)  # each point alone agrees

# %% slideshow={"slide_type": "subslide"}
fig, axes = plt.subplots(1, 2, sharey=True, layout="constrained")
for ax, f, name, colour in ((axes[0], smooth, "a draw of W is a function", RED),
                            (axes[1], wiggly, "local draws are not", BLUE)):
    ax.plot(x_grid, f[:3].T, color=colour, lw=1.4)
    plots.draw_data(ax, data.x, data.y)
    ax.set(xlabel="x", ylim=(-35, 35))
    ax.set_title(f"Three times: {name}", loc="left", fontsize=13)
label = axes[0].set_ylabel("f(x)")


# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5.5 What it costs
#
# A layer with $n_\text{in}$ inputs and $n_\text{out}$ units, a batch of $M$ rows. Random numbers for one step:
#
# $$\underbrace{M\,n_\text{in}\,n_\text{out}}_{\text{a } W \text{ for each row}}, \qquad \underbrace{n_\text{in}\,n_\text{out}}_{\text{one shared } W}, \qquad \underbrace{M\,n_\text{out}}_{\text{local}} . \tag{5.9}$$
#
# And the multiplications: with a $W$ for each row, $M$ separate products of a vector and a matrix; shared, one matrix product; local, **two** of them, for γ and δ. So local draws need two matrix products where one shared $W$, which is what Bayes by Backprop has, needs one. Whether they need fewer random numbers depends on the batch: $M$ for each unit, against $n_\text{in}$. They are cheaper than a $W$ for each row, and as good for μ; for σ they are better (section 5.6). (Question 3: $10^8$ random numbers. $10^5$ will do.)

# %% slideshow={"slide_type": "fragment"}
# eq. 5.9
def random_numbers(rows, n_in, n_out):
    return {"a W for each row": rows * n_in * n_out, "one shared W": n_in * n_out,
            "local": rows * n_out}


counts = random_numbers(100, 1000, 1000)
for name, count in counts.items():
    print(f"{name:17s} {count:11,d} random numbers for 100 rows")
layers = list(zip(network.sizes[:-1], network.sizes[1:], strict=True))
ours = {name: sum(random_numbers(32, i + 1, j)[name] for i, j in layers) for name in counts}
print("the network of section 5.4, biases included, 32 rows:", ours)
assert ours["one shared W"] == len(fit.mean)  # what the package draws a step
assert ours["local"] == 32 * sum(local_reparam.noise_widths("local", network))

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5.6 Flipout: one draw, many signs
#
# Local draws need a layer whose output is a sum of independent Gaussians. Convolutions share weights between positions, recurrent layers between time steps; there the pre-activations of one row covary as well, and local draws are only an approximation. **Flipout** (Wen et al. 2018) draws one change of the weights, $\Delta W = \sigma\odot\varepsilon$, and gives each row its own random signs: $r_{mi} = \pm1$ for the inputs, $r'_{mj} = \pm1$ for the units,
#
# $$\Delta W^{(m)}_{ij} = r_{mi}\,\Delta W_{ij}\,r'_{mj} \quad\Rightarrow\quad b_m = x_m\mu + \big[(x_m\odot r_m)\,\Delta W\big]\odot r'_m . \tag{5.10}$$
#
# A Gaussian with its sign flipped is the same Gaussian, so each row sees a proper draw of $W$. Between rows the signs $r$ average the covariance away; with $r'$ the *product* of two units' deviations, to which one draw would give the same sign in many rows, averages over the batch, too. One draw, two matrix products, any kind of layer with independent, symmetric noise.

# %% slideshow={"slide_type": "subslide"}
# eq. 5.10, the slow way: a W for each row
changes = SIGMA * rng.standard_normal((50_000, 1, 3, 2))  # one draw for all four rows
r_in, r_out = (rng.choice([-1.0, 1.0], (50_000, 4, k)) for k in (3, 2))
own_w = MU + r_in[..., None] * changes * r_out[:, :, None]  # [draw, row, in, out]
b_flip = np.einsum("mi,kmij->kmj", X, own_w)
assert np.allclose(b_flip.var(axis=0), delta, rtol=0.1)
assert abs(np.corrcoef(b_flip[:, :2, 0].T)[0, 1]) < 0.03

# %% [markdown] slideshow={"slide_type": "subslide"}
# **What the signs cannot hide.** Rows no longer covary, but they still share the *size* $|\varepsilon|$. See it: how do the eight pre-activations (two units, four rows) correlate, and how do the *squares* of their deviations from the mean?

# %% slideshow={"slide_type": "fragment"}
fig, axes = plt.subplots(2, 3, figsize=(10, 5.8), layout="constrained")
ways = (("one shared W", b), ("local", b_local), ("Flipout", b_flip))
for column, (name, draws) in zip(axes.T, ways, strict=True):
    flat = (draws - gamma).transpose(0, 2, 1).reshape(len(draws), 8)  # unit by unit
    for ax, what, power in zip(column, ("deviations", "their squares"), (1, 2), strict=True):
        picture = ax.imshow(np.corrcoef((flat**power).T), cmap="RdBu", vmin=-1, vmax=1)
        ax.set_xticks([1.5, 5.5], ["unit 0\nrows 0-3", "unit 1\nrows 0-3"])
        ax.set_yticks([1.5, 5.5], ["unit 0", "unit 1"])
        ax.set_title(f"{name}: {what}", loc="left", fontsize=12)
bar = fig.colorbar(picture, ax=axes, shrink=0.6, label="correlation")

# %% [markdown] slideshow={"slide_type": "subslide"}
# With a shared $W$ the rows of one unit correlate. With local draws only the diagonal is left: each pre-activation correlates with itself, and with no other. With Flipout the deviations look the same; but their squares correlate. For the gradient in μ of a linear model that does not matter. For σ it does. With one weight, of which row $m$ sees $w_m = \mu + \sigma\varepsilon_m$, the gradient for σ is
#
# $$\frac{N}{Ms^2}\sum_m x_m(x_m w_m - y_m)\,\varepsilon_m = \frac{N}{Ms^2}\Big[\sum_m x_m(\mu x_m - y_m)\,\varepsilon_m + \sigma\sum_m x_m^2\,\varepsilon_m^2\Big].$$
#
# (The two sums do not covary, as $\varepsilon^3$ has mean 0.) In the first, a sign is enough to make rows uncorrelated. The second has $\varepsilon_m^2$, whose variance is 2. With local draws each row has its own, and variances add. With Flipout $\varepsilon_m^2 = \varepsilon^2$ is the same in all rows, and comes out of the sum. With $\partial_\sigma$ for this gradient,
#
# $$\Big(\frac{Ms^2}{N}\Big)^2\operatorname{Var}[\partial_\sigma] = \sum_m x_m^2(\mu x_m - y_m)^2 + 2\sigma^2\begin{cases}\sum_m x_m^4 & \text{local}\\ \big(\sum_m x_m^2\big)^2 & \text{Flipout.}\end{cases} \tag{5.11}$$
#
# The last line is a floor that no batch size removes; one shared $W$ has it, too.

# %% slideshow={"slide_type": "fragment"}
# eq. 5.11
floor = {"flipout": 2 * sigma**2 * (x**2).sum() ** 2, "local": 2 * sigma**2 * (x**4).sum()}
for kind, last in floor.items():
    theory = scale**2 * ((x**2 * (mu * x - y) ** 2).sum() + last)
    assert np.isclose(theory, estimators.gradient_variance(kind, problem).sigma)
    drawn = estimators.gradient_samples(kind, problem, n_draws=10_000).sigma
    print(f"{kind:8s} sd of the gradient for σ: {drawn.std():.0f}, in theory {theory**0.5:.0f}")

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Many inputs.** With $b_m = \sum_k x_{mk}(\mu_k + \sigma_k\varepsilon_{mk})$, row $m$ adds to the gradient for $\sigma_i$, but for the factor $N/M$, the slope of its cost by $b_m$ times $\partial b_m/\partial\sigma_i$:
#
# $$\frac{b_m - y_m}{s^2}\;x_{mi}\,\varepsilon_{mi} = \frac{1}{s^2}\Big[(x_m\mu - y_m)\,x_{mi}\,\varepsilon_{mi} + \sum_k x_{mi}\,x_{mk}\,\sigma_k\,\varepsilon_{mi}\,\varepsilon_{mk}\Big].$$
#
# Look at the sum. If all rows share the draw, its $\varepsilon_i\varepsilon_k$ are the same in all of them. Flipout has $\varepsilon_{mi} = r_{mi}\,\varepsilon_i\,r'_m$. For another weight, $k \ne i$, $\varepsilon_{mi}\,\varepsilon_{mk}$ then has the sign $r_{mi}r_{mk}$, which differs from row to row: these terms average away. For the weight itself, $k = i$, it is $\varepsilon_i^2$, and no sign is left: that is the floor. If the inputs have one sign, as after a ReLU, rows with a shared draw covary strongly and Flipout gains much. If they have both, rows covary little, and the floor is nearly all there is.
#
# For σ, local draws beat even a fresh $W$ for each row. The gradient is the slope of the cost at $b$, times $\partial b/\partial\sigma_i = x_i\varepsilon_i$. Given $b$, only the second factor is still random; put its mean in its place. For two variables that are Gaussian together there is a rule: the mean of one, given the other, is a straight line,
#
# $$\mathbb E[\varepsilon_i\mid b] = \frac{\operatorname{Cov}[\varepsilon_i, b]}{\operatorname{Var}[b]}\,(b - \gamma), \qquad\text{here with}\quad \operatorname{Cov}[\varepsilon_i, b] = x_i\sigma_i, \quad \operatorname{Var}[b] = \delta .$$
#
# (What is left of $\varepsilon_i$ without that line does not covary with $b$. For Gaussians it is then independent of $b$, and its mean is 0.) So
#
# $$\mathbb E\Big[\frac{\partial b}{\partial\sigma_i}\,\Big|\,b\Big] = x_i\cdot\frac{x_i\sigma_i}{\delta}\,(b - \gamma) = \frac{x_i^2\,\sigma_i}{\sqrt\delta}\,\zeta, \qquad \operatorname{Var}[x_i\varepsilon_i] = \operatorname{Var}\big[\mathbb E[x_i\varepsilon_i\mid b]\big] + \mathbb E\big[\operatorname{Var}[x_i\varepsilon_i\mid b]\big] . \tag{5.12}$$
#
# The mean is the local gradient of section 5.3. So local draws keep the first part of the variance and lose the second: what $b$ does not need is averaged over beforehand. To replace an estimate by its mean given a part of what was drawn is called **Rao-Blackwell**; it never adds noise.

# %% slideshow={"slide_type": "fragment"}
# eq. 5.12
eps_i = rng.standard_normal((50_000, 3))  # of one row's three weights to unit 0
zeta_0 = eps_i @ (X[0] * SIGMA[:, 0]) / np.sqrt(delta[0, 0])
by_weights = X[0] * eps_i
by_local = np.outer(zeta_0, X[0] ** 2 * SIGMA[:, 0]) / np.sqrt(delta[0, 0])
lost = by_weights - by_local
assert np.allclose(by_weights.var(0), by_local.var(0) + lost.var(0), rtol=0.03)
assert np.abs((lost * zeta_0[:, None]).mean(0)).max() < 0.03  # b knows nothing of what is lost
print("variance of ∂b/∂σ of three weights: drawn", by_weights.var(0).round(2), "local",
      by_local.var(0).round(2))


# %% slideshow={"slide_type": "subslide"}
def sigma_variances(inputs):
    """Variance of the gradient for the first weight's σ, by kind, relative to local draws."""
    d = inputs.shape[1]
    layer = estimators.minibatch(np.zeros(d), np.full(d, 0.3), inputs, y=np.zeros(256))
    found = {k: estimators.gradient_variance(k, layer).sigma[0] for k in estimators.KINDS[1:]}
    return {k: float(v / found["local"]) for k, v in found.items()}


both_signs = np.random.default_rng(5).standard_normal((256, 50))
print("variance of the gradient for σ, over that of local draws:")
for name, inputs in (("1 input", np.abs(both_signs[:, :1])), ("50 inputs, all ≥ 0",
                     np.abs(both_signs)), ("50 inputs, both signs", both_signs)):
    ratio = sigma_variances(inputs)
    print(f"{name:22s}" + ", ".join(f"{k} {v:.1f}" for k, v in ratio.items()))

# %% [markdown] slideshow={"slide_type": "subslide"}
# All of it in one picture: variance against the batch size, drawn (marks) and in theory (lines), for one weight. Each $M$ is another minibatch, the first $M$ points of 256: the line of the shared $W$ moves a little with their inputs. Where two lines coincide, the large hollow marks belong to Flipout and to a $W$ for each row.

# %% slideshow={"slide_type": "fragment"}
sizes = 2 ** np.arange(0, 9, 2)
pool = rng.uniform(0.5, 1.5, (256, 1))
targets = 0.7 * pool[:, 0] + s * rng.standard_normal(256)
curves = {kind: [] for kind in estimators.KINDS}
for size in sizes:
    part = estimators.minibatch([mu], [sigma], pool[:size], targets[:size], s, n_data=N)
    for kind, curve in curves.items():
        drawn = estimators.gradient_samples(kind, part, n_draws=2000, seed=int(size))
        theory = estimators.gradient_variance(kind, part)
        curve.append([drawn.mu.var() / N**2, theory.mu[0] / N**2,
                      drawn.sigma.var() / N**2, theory.sigma[0] / N**2])
curves = {kind: np.array(curve) for kind, curve in curves.items()}

# %% slideshow={"slide_type": "subslide"}
looks = {"score": ("score function", ORANGE, ":", "x"), "shared": ("one shared W", RED, "-", "s"),
         "flipout": ("Flipout", GREEN, "--", "D"), "local": ("local", BLUE, "-", "o"),
         "per_example": ("a W for each row", plots.PURPLE, "-.", "^")}
fig, axes = plt.subplots(1, 2, sharey=True, layout="constrained")
for ax, column, letter in ((axes[0], 0, "μ"), (axes[1], 2, "σ")):
    for kind, (name, colour, line, mark) in looks.items():
        size = {"ms": 14, "mfc": "none"} if kind in ("flipout", "per_example") else {"ms": 7}
        ax.loglog(sizes, curves[kind][:, column + 1], line, color=colour)
        ax.loglog(sizes, curves[kind][:, column], mark, color=colour, label=name, mew=1.8, **size)
    ax.set_xticks(sizes, sizes)
    ax.minorticks_off()
    ax.set_title(f"Gradient for {letter}", loc="left", fontsize=13)
    ax.set(xlabel="batch size M", ylabel="variance / N²" if column == 0 else "")
legend = fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=5,
                    frameon=False, fontsize=11)


# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5.7 The KL term, and priors without a closed form
#
# Local draws change the likelihood cost only:
#
# $$F(\theta) = \mathrm{KL}[q(w)\,\|\,P(w)] \;-\; \sum_m \mathbb E_{\zeta}\big[\log P(y_m \mid f_m(\zeta))\big], \tag{5.13}$$
#
# where $f_m(\zeta)$ is what the network makes of row $m$ with the local draws ζ. With a Gaussian prior the KL is a closed form, and no weight is ever drawn. **With the scale mixture of chapter 3 there is none**, and there are no weights to estimate it from. So draw weights for the KL alone: one draw of each, which is cheap, and the estimate stays unbiased. `local_reparam.fit` does the one or the other, according to the prior. (Minibatches share the KL as in chapter 3.)

# %% slideshow={"slide_type": "fragment"}
# eq. 5.13
def one_row_costs(q_mu, q_sigma, draws):
    """Estimates of the likelihood cost of y = w·x with d weights: local, and from weights."""
    eps, z = draws
    target, noise = 0.4, 0.5
    f_local = X[0] @ q_mu + np.sqrt(X[0] ** 2 @ q_sigma**2) * z
    f_weights = X[0] @ (q_mu + q_sigma * eps).T
    return [densities.gaussian_nll(target, f, noise**2) for f in (f_local, f_weights)]


q_mu, q_sigma = MU[:, 0], SIGMA[:, 0]
noise = rng.standard_normal((100_000, 3)), rng.standard_normal(100_000)
a, b_cost = one_row_costs(q_mu, q_sigma, noise)
assert abs(a.mean() - b_cost.mean()) < 5 * np.hypot(a.std(), b_cost.std()) / np.sqrt(len(a))

# %% slideshow={"slide_type": "subslide"}
gaussian, mixture = densities.Gaussian(1.0), densities.ScaleMixture(1.5, 0.1, 0.5)
closed = densities.gaussian_kl(q_mu, q_sigma, 0.0, 1.0).sum()
for prior in (gaussian, mixture):
    drawn_w = q_mu + q_sigma * noise[0]  # weights, drawn for the KL only
    estimate = elbo.complexity_cost(noise[0], q_sigma, prior.log_prob(drawn_w)).numpy()
    print(f"{type(prior).__name__:12s} KL {estimate.mean():.3f} ± {estimate.std() / 316:.3f} nats")
    if prior is gaussian:
        assert abs(estimate.mean() - closed) < 5 * estimate.std() / np.sqrt(len(estimate))
print(f"Gaussian, in closed form: {closed:.3f}")

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5.8 A whole network
#
# Does the theory of one weight carry over to 481 weights in three layers? In the hidden layers each row's draws are fresh as well, so the argument is the same: each row is right alone, rows are independent. There is no formula for the variance; so measure it. The cost is that of the sinusoid, the posterior the one fitted above.

# %% slideshow={"slide_type": "fragment"}
theta = [tf.constant(v, tf.float32) for v in (fit.mean, fit.std)]


def scaled(x, squares):
    """Likelihood cost of the squared errors [n, 1], scaled to 128 points."""
    return 128 / x.shape[0] * tf.reduce_sum(squares) / 2


def shared_cost(x, y, k):
    """Of draw number k: one W for all rows."""
    w = theta[0] + theta[1] * tf.random.stateless_normal([481], [k, 0])
    return scaled(x, (y - network(w, x)) ** 2)


def local_cost(x, y, k):
    shapes = [(units, x.shape[0]) for units in (20, 20, 1)]
    zeta = [tf.random.stateless_normal(shape, [k, i]) for i, shape in enumerate(shapes)]
    return scaled(x, (y - local_network(*theta, x, zeta)) ** 2)


# %% slideshow={"slide_type": "subslide"}
@tf.function(autograph=False)
def network_gradients(cost, x, y, n_draws=400):
    def one(k):
        with tf.GradientTape() as tape:
            tape.watch(theta)
            value = cost(x, y, k)
        return tf.concat(tape.gradient(value, theta), 0)

    return tf.map_fn(one, tf.range(n_draws), fn_output_signature=tf.float32)


many = datasets.sinusoid(n=128, noise_std=1.0, seed=1)
order = np.random.default_rng(2).permutation(128)
xs, ys = (tf.constant(v[order], tf.float32) for v in (many.x, many.y))
found = {(kind, size): network_gradients(cost, xs[:size], ys[:size]).numpy()
         for kind, cost in (("shared", shared_cost), ("local", local_cost)) for size in (8, 128)}

# %% slideshow={"slide_type": "subslide"}
total = {key: g.var(axis=0).sum() for key, g in found.items()}
for kind in ("shared", "local"):
    print(f"{kind:7s} total variance of the gradient: {total[kind, 8]:.3g} with 8 points, "
          f"{total[kind, 128]:.3g} with 128")
print(f"gain with 128 points: {total['shared', 128] / total['local', 128]:.0f}")
difference = found["shared", 128].mean(axis=0) - found["local", 128].mean(axis=0)
error = np.sqrt((total["shared", 128] + total["local", 128]) / 400)
assert np.sqrt((difference**2).sum()) < 3 * error  # the same mean, up to Monte-Carlo error

# %% [markdown] slideshow={"slide_type": "subslide"}
# Less noise, at the same learning rate and in the same 1500 steps, means less jumping about the optimum, and a lower free energy. <!-- claim: local-draws-end-lower --> (All fits of this chapter's claims have 1500 steps.)
#
# Is a lower $F$ worth anything to a user? Under one prior, the $q$ with the lower $F$ has the smaller KL to the posterior. But that KL also counts copies of a network that predict the same: swap two hidden units, and you have other weights and the same function ([section 4.4](04_how_right_is_it.ipynb)). What a user gets is the density that the prediction gives to *new* points. Twenty worlds, each a data set and a start, 32 points, the mixture prior; beside them one network by maximum likelihood:

# %% slideshow={"slide_type": "fragment"}
verdicts = claims.show(
    "local-draws-end-lower", "a-lower-f-is-worth-little-among-the-data",
    "bbb-beats-mle-outside")


# %% [markdown] slideshow={"slide_type": "subslide"}
# **Outside the data** Bayes by Backprop is on average more than three nats a point ahead of one network, which announces its guess with the sd of the noise. <!-- claim: bbb-beats-mle-outside --> **Among the data** it scores on most data sets a little lower than one network ([section 4.10](04_how_right_is_it.ipynb)), <!-- claim: bbb-scores-lower-than-mle-among-the-data --> and the nats of $F$ that local draws gain are on average worth less than two fifths of a nat a point. <!-- claim: a-lower-f-is-worth-little-among-the-data --> So, under one prior, $F$ says how near $q$ is to the posterior, and not how well that posterior predicts. (Sections 1.6 and 6.4 choose between *priors* by the evidence, or by $F$ in its place: that asks how probable the seen data are, again not how new points score.) Chapter 4 takes that apart.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5.9 The quiet estimator: what need not be drawn
#
# Local draws average over whatever a pre-activation does not need. Go on with that: an average that is *known* need not be drawn at all. With two hidden layers, draw the pre-activations of the first one only. Given what comes out of it, those of the second are independent Gaussians $b_j\sim\mathcal N(\gamma_j, \delta_j)$ (section 5.4: two units, same row). What a ReLU makes of each, $h_j = \max(0, b_j)$, has known moments,
#
# $$\mathbb E[h_j] = \gamma_j\,\Phi + \sqrt{\delta_j}\,\phi, \qquad \mathbb E[h_j^2] = (\gamma_j^2+\delta_j)\,\Phi + \gamma_j\sqrt{\delta_j}\,\phi, \qquad \operatorname{Var}[h_j] = \mathbb E[h_j^2] - \mathbb E[h_j]^2,$$
#
# with density φ and distribution function Φ of the standard normal, both at $\gamma_j/\sqrt{\delta_j}$. (The first is (3.22); [section 7.5](07_probabilistic_backpropagation.ipynb) derives both.)
#
# The output is $f = w_0 + \sum_j w_j h_j$ with independent $w_j\sim\mathcal N(\mu_j,\sigma_j^2)$. For independent $w$ and $h$, $\operatorname{Var}[wh] = \mathbb E[w^2]\,\mathbb E[h^2] - \mu^2\,\mathbb E[h]^2$; and as $\mathbb E[w^2] = \sigma^2 + \mu^2$, that is $\sigma^2\,\mathbb E[h^2] + \mu^2\operatorname{Var}[h]$. So
#
# $$\mathbb E[f] = \mu_0 + \sum_j \mu_j\,\mathbb E[h_j], \quad \operatorname{Var}[f] = \sigma_0^2 + \sum_j \big[\sigma_j^2\,\mathbb E[h_j^2] + \mu_j^2\operatorname{Var}[h_j]\big], \quad \mathbb E(y-f)^2 = (y-\mathbb E[f])^2 + \operatorname{Var}[f]. \tag{5.14}$$
#
# That is Rao-Blackwell once more: the cost is replaced by its mean given the layers before. With one hidden layer no noise is left at all.

# %% slideshow={"slide_type": "fragment"}
# eq. 5.14
def quiet_cost(x, y, k):
    m, v = network.unflatten(theta[0]), network.unflatten(theta[1] ** 2)
    h = tf.transpose(x)
    zeta = tf.random.stateless_normal((20, x.shape[0]), [k, 0])
    h = tf.nn.relu(m[0] @ h + m[1] + tf.sqrt(v[0] @ h**2 + v[1]) * zeta)
    h_mean, h_var = pbp.relu_moments(m[2] @ h + m[3], v[2] @ h**2 + v[3])
    mean = m[4] @ h_mean + m[5]
    var = v[4] @ (h_var + h_mean**2) + m[4] ** 2 @ h_var + v[5]
    return scaled(x, (y - tf.transpose(mean)) ** 2 + tf.transpose(var))


# %% slideshow={"slide_type": "fragment"}
# eq. 5.14
for size in (8, 128):
    found["quiet", size] = network_gradients(quiet_cost, xs[:size], ys[:size]).numpy()
    total["quiet", size] = found["quiet", size].var(axis=0).sum()
    print(f"{size:3d} points, total variance: " + ", ".join(
        f"{kind} {total[kind, size]:.3g}" for kind in ("shared", "local", "quiet")))
difference = found["quiet", 128].mean(axis=0) - found["local", 128].mean(axis=0)
error = np.sqrt((total["quiet", 128] + total["local", 128]) / 400)
assert np.sqrt((difference**2).sum()) < 3 * error  # the same gradient in the mean

# %% [markdown] slideshow={"slide_type": "subslide"}
# The same mean, and less noise than local draws. So the steps can be longer, and after 1500 of them $F$ ends lower than after 1500 with local draws. <!-- claim: quiet-draws-end-lowest --> The KL need not be drawn either: a Gaussian prior's is a closed form, and for the mixture, which has none, the package integrates over each weight numerically. In the package it is `local_reparam.fit(x, y, **local_reparam.QUIET)`; the explorer of chapter 3 uses it, so that a slider shows the model more than the luck of the draw. <!-- claim: a-tick-shows-the-model --> Its price is generality: it needs ReLUs, a Gaussian likelihood, and one of these two priors.

# %% slideshow={"slide_type": "fragment"}
verdicts = claims.show("quiet-draws-end-lowest")


# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5.10 The same with TensorFlow Probability
#
# `tfp.layers` has all three: `DenseReparameterization` draws one $W$ a call, `DenseLocalReparameterization` and `DenseFlipout` are what their names say. They need Keras 2 (`tf_keras`), and keep biases deterministic unless told otherwise. Ask them the question of section 5.4: how do two rows correlate?

# %% slideshow={"slide_type": "fragment"}
def row_correlation(layer, n_draws=4000):
    """Correlation of the outputs of two rows over many calls, and their sd over √δ."""
    rows = tf.constant([[1.0, 0.5, -1.0], [0.8, 1.0, -0.5]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # TFP's layers call a deprecated Keras method
        layer(rows)
    calls = tf.function(
        lambda: tf.map_fn(lambda _: layer(rows)[:, 0], tf.zeros(n_draws)), autograph=False
    )
    drawn = calls().numpy()
    spread = layer.kernel_posterior.distribution.stddev().numpy()
    _, var = local_reparam.preactivation_moments(rows, np.zeros((3, 1)), spread)
    return np.corrcoef(drawn.T)[0, 1], drawn.std(axis=0) / np.sqrt(var[:, 0])


# %% slideshow={"slide_type": "subslide"}
tf.keras.utils.set_random_seed(0)
for name, shares in (("DenseReparameterization", True), ("DenseFlipout", False),
                     ("DenseLocalReparameterization", False)):
    correlation, ratio = row_correlation(getattr(tfp.layers, name)(1))
    print(f"{name:29s} rows correlate {correlation:+.2f}; sd / √δ = {ratio.round(2)}")
    assert (correlation > 0.7) if shares else (abs(correlation) < 0.1)
    assert np.allclose(ratio, 1, atol=0.08)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5.11 Play
#
# The explorer again: this view and the one at the top move together. Take your answers from "Predict first", move *one* control, and look.

# %% tags=["explorer"] slideshow={"slide_type": "subslide"}
explorer


# %% [markdown] slideshow={"slide_type": "subslide"}
# - **batch M.** (Question 1: with one shared W the variance hardly changes. Question 2: with local draws it falls as $1/M$.)
# - **weights' σ.** For μ, half the σ is a quarter of the variance. Show the score function too (under *more*): it divides by σ, and gets *louder* as the posterior gets sharper.
# - **inputs d**, under *more*. With one W and one input, the outputs of two rows correlate fully; with more inputs, less.
# - **for σ**, with Flipout. With one input Flipout lies near the line of the shared W, with four between the lines.
# - **draws** and **seed.** More draws bring the marks nearer to the lines; theory does not care.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Exercises
#
# Replace the `...` and run the cell; the check says what it sees. Worked solutions are in the collapsed cells.

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 5.1 Compute: what reaches a unit whose weights move together
# Give a mean-field $q$ one direction more: $w_{ij} = \mu_{ij} + \sigma_{ij}\,\varepsilon_{ij} + u_{ij}\,\eta_j$, where all ε and η are independent and standard normal, and the weights of a unit share their η. What reaches the unit is still Gaussian. Return the pair (γ, δ), mean and variance, for inputs `x` [n, in], and `mu`, `sigma` and `u` [in, out].
#
# <details><summary>Hint</summary>Sort the sum over the inputs by what is drawn: what multiplies each ε, and what multiplies η?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_moments(x, mu, sigma, u):
    return ...


exercises.check("5.1", my_moments)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_1(x, mu, sigma, u):
    return x @ mu, x**2 @ sigma**2 + (x @ u) ** 2


assert exercises.check("5.1", solution_1, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 5.2 Change: one local draw under multiplicative noise
# Variational dropout, for which Kingma, Salimans and Welling made the trick, multiplies: $w_{ij} = \theta_{ij}\,(1 + \sqrt{\alpha_{ij}}\,\varepsilon_{ij})$. Return one local draw of all pre-activations [n, out] for inputs `x` [n, in], `theta` and `alpha` [in, out], using the given noise `zeta` [n, out] with a plus. A θ may be negative.
#
# <details><summary>Hint</summary>Which μ and which variance does such a weight have?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_draw(x, theta, alpha, zeta):
    return ...


exercises.check("5.2", my_draw)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_2(x, theta, alpha, zeta):
    return x @ theta + np.sqrt(x**2 @ (alpha * theta**2)) * zeta


assert exercises.check("5.2", solution_2, record=False)

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 5.3 Explain: what is independent of what?
# Which are true? The inputs are given, the weights have independent Gaussians. Answer with a set of letters, such as `{"a", "b"}`.
#
# - (a) In one row, what reaches two different units is independent.
# - (b) With one shared $W$, what reaches one unit from two different rows is independent.
# - (c) With local draws, what reaches one unit from two different rows is independent.
# - (d) Local draws at 200 inputs are 200 values of one function drawn from $q$.
# - (e) The expected likelihood cost of a minibatch is the same with local draws and with one shared $W$.
#
# <details><summary>Hint</summary>Ask of each pair which weights the two have in common.</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
my_statements = ...  # such as {"a", "b"}

exercises.check("5.3", my_statements)

# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
# The letters of the statements that are true:
solution_3 = {"a", "c", "e"}

assert exercises.check("5.3", solution_3, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 5.4 Change: one W for each machine
# The $n$ rows of a minibatch go to several machines, and each machine draws one $W$ for the rows that it gets. Return the covariance matrix [n, n] of the outputs of all rows at *one* unit. `x` is [n, in], `sigma` [in], and `machine` [n] holds for each row the number of its machine.
#
# <details><summary>Hint</summary>Write b_m and b_n as sums over weights. Which products of two weights do not average to 0, and whose weights are they? With one machine, and with one for each row, you know the answer.</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_covariance(x, sigma, machine):
    return ...


exercises.check("5.4", my_covariance)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_4(x, sigma, machine):
    return (x * sigma**2) @ x.T * (machine[:, None] == machine)


assert exercises.check("5.4", solution_4, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 5.5 Extend: which rows came, too
# Now the minibatch is not given: its `size` rows are drawn at random from all `n_data` points, *without replacement*, as in an epoch. Return the variance of the estimate $\frac NM\sum_m g_m$ over both, the weights and the rows. Over the draws of the weights a point's gradient has a mean $\bar g_m$; the other three arguments are averages over all the data: `var` of the variances of the $g_m$, `cov` of the covariances of two different points, `spread` of $(\bar g_m - \bar g)^2$, where $\bar g$ is the mean of the $\bar g_m$.
#
# <details><summary>Hint</summary>A variance is the mean of the variances given the rows, plus the variance of the means given the rows. The first is (5.1). How large must the second be if the minibatch is *all* the data? Two different rows are not independent: what each $\bar g_m$ lies above $\bar g$, the others lie below it together.</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_variance(n_data, size, var, cov, spread):
    return ...


exercises.check("5.5", my_variance)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_5(n_data, size, var, cov, spread):
    pairs = size * (size - 1)
    weights = size * var + pairs * cov
    rows = size * spread - pairs * spread / (n_data - 1)  # two different rows: −spread/(N − 1)
    return (n_data / size) ** 2 * (weights + rows)


assert exercises.check("5.5", solution_5, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 5.6 Break: a gain that cannot overflow
# Return the gain (5.4) of a minibatch `x` [M], right also if the inputs are as large as $10^{200}$ or as small as $10^{-120}$, and if some of them are 0. (These are numbers for NumPy's float64; float32 ends at $10^{38}$.)
#
# <details><summary>Hint</summary>By what could you divide all inputs without changing the ratio?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_gain(x):
    return ...


exercises.check("5.6", my_gain)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_6(x):
    x = x / np.abs(x).max()  # the ratio does not depend on the scale
    return (x**2).sum() ** 2 / (x**4).sum()


assert exercises.check("5.6", solution_6, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 5.7 Extend: Flipout, backwards
# A Flipout layer (5.10) has given $b$, and backpropagation has come back with `g` [n, out], the slopes $\partial L/\partial b$ of a loss. Return $\partial L/\partial\sigma$ [in, out]. `x` are the inputs [n, in], `eps` [in, out] the noise of the weights, `r_out` [n, out] and `r_in` [n, in] its signs, $r'$ and $r$ in (5.10).
#
# <details><summary>Hint</summary>Write one $b_{mj}$ out as a sum over $i$. Where in it does $\sigma_{ij}$ stand, and in how many rows?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_flipout(x, eps, r_out, r_in, g):
    return ...


exercises.check("5.7", my_flipout)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_7(x, eps, r_out, r_in, g):
    return eps * ((x * r_in).T @ (g * r_out))  # ε is in all rows: what the signs cannot hide


assert exercises.check("5.7", solution_7, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 5.8 Experiment: more rows or more draws?
# One shared $w$ for a minibatch of M rows costs M gradients of a point. You may spend `budget` of them on a step: on M rows, drawn with replacement from all the data, and K shared draws of the weight, over which the gradient for μ is averaged, with M·K at most `budget`. The model is $y = wx$ with `x` and `y` `[n]`, $q = \mathcal N(\mu, \sigma^2)$. Return (M, K): the variance of the gradient, *now over the rows as well*, must be at most 1.25 times the least that the budget can buy. The check has three worlds with different σ.
#
# Draw the variance over M first, measured with a thousand steps for each M = 1, 2, 4, … 256.
#
# <details><summary>Hint</summary>Two noises: which rows come, and what they have in common. Each falls with one of the two numbers. You may measure the variance for each split, or write it down with (5.1).</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
# sizes, fig, ax = 2 ** np.arange(9), *plt.subplots()
# for sigma_k in (0.1, 0.3, 2.0):
#     ax.loglog(sizes, [... for size in sizes], "o-", label=f"σ = {sigma_k}")
# plots.panel(ax, "One budget, spent in nine ways", "rows M, with 256 / M draws", "variance")
def my_split(x, y, mu, sigma, noise_std, budget):
    return ...


exercises.check("5.8", my_split)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def measured_variance(rows, x, y, mu, sigma, noise_std, budget):
    rng = np.random.default_rng(0)
    chosen = rng.integers(0, len(x), (1000, rows))
    drawn = mu + sigma * rng.standard_normal((1000, budget // rows))
    slope, shift = (x[chosen] ** 2).mean(axis=1), (x[chosen] * y[chosen]).mean(axis=1)
    return ((slope * drawn.mean(axis=1) - shift) / noise_std**2).var()  # the gradient over N


def solution_8(x, y, mu, sigma, noise_std, budget):
    sizes = 2 ** np.arange(int(np.log2(budget)) + 1)
    found = [measured_variance(k, x, y, mu, sigma, noise_std, budget) for k in sizes]
    best = sizes[np.argmin(found)]
    return best, budget // best


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
sizes_8, (fig, ax) = 2 ** np.arange(9), plt.subplots()
for sigma_k, colour in ((0.1, BLUE), (0.3, GREEN), (2.0, RED)):
    world = (pool[:, 0], targets, mu, sigma_k, s, 256)
    found_8 = [measured_variance(k, *world) for k in sizes_8]
    ax.loglog(sizes_8, found_8, "o-", color=colour, label=f"σ = {sigma_k}")
plots.panel(ax, "One budget, spent in nine ways", "rows M, with 256 / M draws", "variance")
assert exercises.check("5.8", solution_8, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 5.9 Experiment: who drew these gradients?
# Several programs have estimated gradients of one model with one weight, at the batch sizes `sizes`: `mu_gradients` and `sigma_gradients` are `[program, size, draw]`. Each program has a σ of its own. Return for each the number of its method: 0 for one shared $W$, 1 for local draws, 2 for Flipout. The check has four worlds.
#
# Draw the variances over the batch size first, on logarithmic axes, for μ and for σ; `estimators.gradient_samples` makes programs of your own to try it on.
#
# <details><summary>Hint</summary>On logarithmic axes, what does another σ do to a curve, and what does it leave? Which two methods look alike in one of the two pictures?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
# fig, axes = plt.subplots(1, 2, layout="constrained")
# for ax, letter, gradients in zip(axes, "μσ", (..., ...)):
#     ax.loglog(sizes, ..., "o-")
#     plots.panel(ax, f"Gradient for {letter}", "batch size", "variance")
def my_programs(sizes, mu_gradients, sigma_gradients):
    return ...


exercises.check("5.9", my_programs)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_9(sizes, mu_gradients, sigma_gradients):
    methods = []
    for of_mu, of_sigma in zip(mu_gradients, sigma_gradients, strict=True):
        slopes = [np.polyfit(np.log(sizes), np.log(g.var(axis=1)), 1)[0] for g in (of_mu, of_sigma)]
        falls = [slope < -0.5 for slope in slopes]
        methods.append(1 if all(falls) else 2 if falls[0] else 0)
    return methods


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
sizes_9, by_kind = np.array([4, 16, 64, 256]), {}
for kind, sd in (("local", 1.0), ("shared", 0.3), ("flipout", 0.6)):
    parts = [estimators.minibatch([mu], [sd], pool[:k], targets[:k], s, n_data=N) for k in sizes_9]
    by_kind[kind] = [estimators.gradient_samples(kind, part, n_draws=400) for part in parts]
own = [np.array([[getattr(g, of)[:, 0] for g in runs] for runs in by_kind.values()])
       for of in ("mu", "sigma")]
fig, axes = plt.subplots(1, 2, layout="constrained")
for ax, letter, gradients in zip(axes, "μσ", own, strict=True):
    for kind, g, mark in zip(by_kind, gradients, "osD", strict=True):
        ax.loglog(sizes_9, g.var(axis=1), f"{mark}-", label=kind)
    plots.panel(ax, f"Gradient for {letter}", "batch size", "variance")
assert list(solution_9(sizes_9, *own)) == [1, 0, 2]
assert exercises.check("5.9", solution_9, record=False)

# %% slideshow={"slide_type": "fragment"}
exercises.progress(5)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Mistakes in circulation
#
# Each of these is printed in a blog, a paper or its code, some in the very sources of this course. Run them.

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Claim:** "if all parameters are independent Gaussians, the results of the matrix product are independent Gaussians too." **True** for the units of one row. Rows that share $W$ covary, see (5.8), and that covariance is the whole reason for the method. Two rows with equal inputs even have correlation 1:

# %% slideshow={"slide_type": "fragment"}
twins = np.array([[1.0, -0.5, 2.0], [1.0, -0.5, 2.0]])
both = {kind: estimators.output_samples(kind, q_mu, q_sigma, twins, n_draws=5000)
        for kind in ("shared", "local")}
for kind, draws in both.items():
    print(f"{kind:7s} two equal rows correlate {np.corrcoef(draws.T)[0, 1]:+.2f}")
assert np.corrcoef(both["shared"].T)[0, 1] > 0.999 and abs(np.corrcoef(both["local"].T)[0, 1]) < 0.1

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Claim:** "a Bayesian layer needs $M\times1000\times1000$ draws, so it cannot use one matrix product; local draws repair that." **True** only if you insist on a $W$ for each row. Bayes by Backprop shares one $W$: $10^6$ draws, one matrix product. Local draws need $M\cdot10^3$ draws and *two* products. The gain that matters is the variance. To reach it with shared draws, average several in each step. The ratio (5.4), here 49, says how many:

# %% slideshow={"slide_type": "fragment"}
k = round(gain(problem.x))  # draws of W for each step
averaged = estimators.gradient_samples("shared", problem, n_draws=k * 500).mu
averaged = averaged.reshape(500, k).mean(axis=1)
local = estimators.gradient_samples("local", problem, n_draws=500).mu
print(f"sd: {k} shared draws averaged {averaged.std():.0f}, one local draw {local.std():.0f}")
assert abs(averaged.std() / local.std() - 1) < 0.22  # 5 standard errors
assert counts["one shared W"] / counts["local"] == 10  # for 100 rows; for 1000 rows: 1

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Claim:** "$q(y_{mj}\mid x) = \mathcal N(\gamma_{mj}, \delta_{mj})$", and then code that multiplies the noise by δ. **True** if the second argument is a variance. The noise is multiplied by its root. Where $\delta<1$ the wrong code is too sure, above 1 too unsure:

# %% slideshow={"slide_type": "fragment"}
z = rng.standard_normal(50_000)
for variance in (0.25, 4.0):
    wrong, right = (variance * z).std(), (np.sqrt(variance) * z).std()
    print(f"δ = {variance}: sd with δζ {wrong:.2f}, with √δ ζ {right:.2f}, of xW {variance**0.5}")
    assert np.isclose(right, np.sqrt(variance), rtol=0.03)
    assert not np.isclose(wrong, right, rtol=0.3)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Claim:** (the code that goes with a paper on empirical Bayes) pre-activation = $x\mu + \varepsilon\cdot(x\sigma)$, one ε for each unit. **True** variance: $\sum_i x_i^2\sigma_i^2$. The code's is
#
# $$\Big(\sum_i x_i\sigma_i\Big)^2 \;\ne\; \sum_i x_i^2\sigma_i^2 , \tag{5.15}$$
#
# as if all weights of a unit shared one ε. With inputs of one sign it is too large by a factor of up to the number of inputs; with mixed signs it may vanish. Chapter 6 meets it again.

# %% slideshow={"slide_type": "fragment"}
# eq. 5.15
spread = np.full(100, 0.1)
for name, row in (("all ones", np.ones(100)), ("±1 in turn", np.resize([1.0, -1.0], 100))):
    e = rng.standard_normal((5_000, 100))
    true_var, code_var = (row * spread * e).sum(axis=1).var(), (row @ spread * e[:, 0]).var()
    assert np.isclose(true_var, row**2 @ spread**2, rtol=0.1)
    assert np.isclose(code_var, (row @ spread) ** 2, rtol=0.1, atol=1e-12)
    print(f"{name:10s}: variance {true_var:.2f}; by that code {code_var:.2f}")

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Claim:** "use local reparameterization, it works with every prior." **True** for the likelihood cost. A closed-form KL exists for few priors. Putting the Gaussian formula with the mixture's standard deviation in its place is a *different* prior, with another KL:

# %% slideshow={"slide_type": "fragment"}
as_if = densities.gaussian_kl(q_mu, q_sigma, 0.0, mixture.std).sum()
drawn_w = q_mu + q_sigma * noise[0]
estimate = elbo.complexity_cost(noise[0], q_sigma, mixture.log_prob(drawn_w)).numpy()
error = estimate.std() / np.sqrt(len(estimate))
print(f"KL to the mixture {estimate.mean():.3f} ± {error:.3f}; "
      f"to a Gaussian of equal sd {as_if:.3f}")
assert abs(estimate.mean() - as_if) > 20 * error

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Summary
#
# - A minibatch averages variances away, and never covariances. One shared draw of $W$ makes all points covary.
# - What reaches a unit is Gaussian: $\gamma = x\mu$, $\delta = x^2\sigma^2$. Draw it for each row: $b = \gamma+\sqrt\delta\,\zeta$.
# - That equals a fresh $W$ for each row. Units were independent before; now rows are too.
# - For μ of one weight the gain is $(\sum_m x_m^2)^2/\sum_m x_m^4$, at most $M$. For σ of many weights local draws are less noisy even than a fresh $W$ for each row. The cost: two matrix products instead of one.
# - Flipout reaches nearly the same for μ with one draw and random signs; for σ it keeps the size of the draw in common.
# - The KL needs no draws with a Gaussian prior. With a mixture it gets draws of its own, or a numerical integral over each weight.
# - What has a known mean need not be drawn: the KL, the last hidden layer and the output. The quiet estimator has the same $F$ with less noise.
# - Local draws are for training. Where one function is wanted, draw weights.

# %% [markdown] slideshow={"slide_type": "subslide"}
# ## References
#
# - Kingma, Salimans, Welling (2015). Variational dropout and the local reparameterization trick. [arXiv:1506.02557](https://arxiv.org/abs/1506.02557)
# - Wen, Vicol, Ba, Tran, Grosse (2018). Flipout: efficient pseudo-independent weight perturbations on mini-batches. [arXiv:1803.04386](https://arxiv.org/abs/1803.04386)
# - Blundell, Cornebise, Kavukcuoglu, Wierstra (2015). Weight uncertainty in neural networks. [arXiv:1505.05424](https://arxiv.org/abs/1505.05424)
# - Molchanov, Ashukha, Vetrov (2017). Variational dropout sparsifies deep neural networks. (local draws in large networks, with most weights pruned) [arXiv:1701.05369](https://arxiv.org/abs/1701.05369)
# - Williams (1992). Simple statistical gradient-following algorithms for connectionist reinforcement learning. [doi:10.1007/BF00992696](https://doi.org/10.1007/BF00992696)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Previous:** [4 · How right is it?](04_how_right_is_it.ipynb) · **Next:** [6 · Empirical Bayes](06_empirical_bayes.ipynb): let the data choose the prior's width.

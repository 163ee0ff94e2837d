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
# **Time** 54 minutes · **Minutes per section** 5.1: 2 · 5.2: 4 · 5.3: 3 · 5.4: 5 · 5.5: 2 · 5.6: 7 · 5.7: 2 · 5.8: 5 · 5.9: 6 · 5.10: 2 · 5.11: 5 · opening and end: 11
#
# **Prerequisites** The free energy and the reparameterization $w = \mu + \sigma\varepsilon$, from [chapter 3](03_bayes_by_backprop.ipynb). Notation: [chapter 0](00_start_here.ipynb#Notation).

# %% [markdown] slideshow={"slide_type": "subslide"}
# ## Predict first
#
# Write down your answers. Questions 1 and 2 are tested in section 5.11, question 3 in 5.5, question 4 in 5.2.
#
# 1. In Bayes by Backprop all points of a minibatch share one draw of the weights. The batch grows from 1 point to 256, and its cost is scaled to stand for all the data. What does the variance of the gradient do, over the draws of the weights, for the points that are in the batch?
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
# The likelihood cost of $N$ points is estimated from a minibatch of $M$, scaled by $N/M$. (Here $M$ is the *size* of a minibatch, as in Kingma et al.; in chapter 3 it was the number of minibatches.) Its gradient is $\frac NM\sum_{i=1}^{M} g_i$, where $g_i$ is the gradient of point $i$ at the drawn weights. The variance of a sum is the sum of *all* covariances: $M$ variances, and $M(M-1)$ pairs. With $\overline{\mathrm{Var}}$ the mean variance of the $g_i$ and $\overline{\mathrm{Cov}}$ the mean covariance of the pairs,
#
# $$\operatorname{Var}\Big[\frac NM\sum_{i=1}^{M} g_i\Big] = N^2\left(\frac{1}{M}\,\overline{\mathrm{Var}} + \frac{M-1}{M}\,\overline{\mathrm{Cov}}\right). \tag{5.1}$$
#
# The first term falls as $1/M$. The second one does not fall: it tends to the covariance. Where points covary, a larger batch soon stops helping. And they do covary, if they all see the same draw of the weights.
#
# All variances of this chapter are over the draws of the weights, for a *given* minibatch. Which points are in the minibatch adds a noise of its own. It falls as $1/M$ whichever way the weights are drawn.

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
# The model is $y = wx$ plus noise of standard deviation $s$, and $q(w) = \mathcal N(\mu, \sigma^2)$. For one weight both parts can be written down. With $c = \frac NM\frac1{s^2}$ the gradient for μ is $c\sum_i x_i(x_i w - y_i)$. If all points **share** $w = \mu + \sigma\varepsilon$, the random part is $c\,\sigma\varepsilon\sum_i x_i^2$:
#
# $$\operatorname{Var}_\text{shared} = c^2\sigma^2\Big(\sum_i x_i^2\Big)^2 . \tag{5.2}$$
#
# If each point has an $\varepsilon_i$ of its **own**, the squares add instead:
#
# $$\operatorname{Var}_\text{own} = c^2\sigma^2\sum_i x_i^4 . \tag{5.3}$$

# %% slideshow={"slide_type": "fragment"}
# eq. 5.2 and 5.3
c = N / M / s**2
shared_var, own_var = c**2 * sigma**2 * (x**2).sum() ** 2, c**2 * sigma**2 * (x**4).sum()

eps = rng.standard_normal((10_000, M))
shared = c * ((mu + sigma * eps[:, :1]) * x - y) @ x
own = c * ((mu + sigma * eps) * x - y) @ x
for draws, theory in ((shared, shared_var), (own, own_var)):
    assert np.isclose(draws.var(), theory, rtol=5 * np.sqrt(2 / len(draws)))
    truth = c * (mu * x - y) @ x  # both have the same mean: the gradient itself
    assert abs(draws.mean() - truth) < 5 * draws.std() / np.sqrt(len(draws))
print(f"sd of one gradient: shared {shared.std():.0f}, own {own.std():.0f}, mean {truth:.0f}")


# %% [markdown] slideshow={"slide_type": "subslide"}
# Their ratio is what a draw for each point gains:
#
# $$\frac{\operatorname{Var}_\text{shared}}{\operatorname{Var}_\text{own}} = \frac{\left(\sum_i x_i^2\right)^2}{\sum_i x_i^4} \;\le\; M , \tag{5.4}$$
#
# with equality only if all $|x_i|$ are equal (Cauchy-Schwarz). A batch with one large input gains little: that point decides the gradient alone. (Question 4: for the *noise of the weights* it helps fully, the ratio is $M$. The points need not differ, only their draws.)

# %% slideshow={"slide_type": "fragment"}
# eq. 5.4
def gain(x):
    return (x**2).sum() ** 2 / (x**4).sum()


assert np.isclose(shared_var / own_var, gain(x))
assert np.isclose(gain(np.full(100, 1.3)), 100)
assert gain(np.r_[np.ones(99), 20.0]) < 2
for batch in rng.standard_normal((100, 50)):
    assert gain(batch) <= 50
print(f"64 points of this data set: gain {gain(x):.1f}; 99 ordinary ones and one outlier: "
      f"{gain(np.r_[np.ones(99), 20.0]):.2f}")

# %% [markdown] slideshow={"slide_type": "subslide"}
# The package knows five estimators of this gradient, for any number of weights: `score` is the score function of chapter 2, `shared` one draw for all points, `per_example` a draw for each; `local` and `flipout` are the subjects of sections 5.3 and 5.6. `estimators.gradient_samples` draws them, `estimators.gradient_variance` has the closed form. They agree in the mean, and with what we have just derived:

# %% slideshow={"slide_type": "fragment"}
problem = estimators.minibatch([mu], [sigma], x[:, None], y, noise_std=s, n_data=N)
exact = problem.expected.mu
for kind in estimators.KINDS:
    draws = estimators.gradient_samples(kind, problem, n_draws=10_000).mu
    theory = estimators.gradient_variance(kind, problem).mu
    assert abs(draws.mean() - exact) < 5 * draws.std() / np.sqrt(len(draws))
    print(f"{kind:12s} sd of one gradient {draws.std():6.0f}, in theory {theory[0] ** 0.5:6.0f}")
assert np.isclose(estimators.gradient_variance("shared", problem).mu, shared_var)
assert np.isclose(estimators.gradient_variance("local", problem).mu, own_var)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5.3 What reaches a unit
#
# Giving each row its own weight *matrix* is expensive: a layer of 1000 inputs and 1000 units has a million weights, and it would need a million draws for every row. But nobody ever looks at those weights. The next layer sees only what reaches the units, $b_{mj} = \sum_i x_{mi} w_{ij}$, the **pre-activation** of unit $j$ in row $m$. Given the layer's inputs $x$, a sum of independent Gaussians is Gaussian. Its mean is
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
# γ and δ are differentiable in μ and σ, so the gradient reaches them: $\partial b/\partial\mu_{ij} = x_{mi}$ as ever, and $\partial b/\partial\sigma_{ij} = \zeta\,x_{mi}^2\sigma_{ij}/\sqrt\delta$. The noise $\zeta$ does not depend on θ. It is the same trick as in chapter 3, one floor higher.

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
# $$\operatorname{Cov}(b_{mj}, b_{nj}) = \sum_i x_{mi}\,x_{ni}\,\sigma_{ij}^2 . \tag{5.8}$$
#
# Local draws set this to 0 for $m \ne n$. So local reparameterization is **not** a cheaper way to compute the same thing: it equals a *fresh $W$ for every row*. It is right all the same, because the likelihood cost is a sum over rows, and the mean of a sum asks for each row's distribution only. What changes is the variance of the sum, and that is the gain.

# %% slideshow={"slide_type": "subslide"}
# eq. 5.8
theory = np.stack([estimators.row_covariance("shared", X, sd) for sd in SIGMA.T], axis=-1)
for name, draws in (("one shared W", b), ("local", b_local)):
    centred = draws - gamma
    measured = np.einsum("smj,snj->mnj", centred, centred) / len(draws)
    expected = theory if name != "local" else theory * np.eye(4)[..., None]
    assert np.allclose(measured, expected, atol=0.05)
    units = np.corrcoef(draws[:, 0].T)[0, 1]  # two units, the same row
    print(f"{name:12s}: covariance of rows 0 and 1 {measured[0, 1, 0]:+.2f}, "
          f"correlation of units 0 and 1 {units:+.2f}")
    assert abs(units) < 0.03

# %% [markdown] slideshow={"slide_type": "subslide"}
# **The price.** A draw of $W$ is a *function*: it may be evaluated anywhere, and it is continuous. Local draws at many inputs are not values of one function. For pictures of drawn functions, for Thompson sampling, for anything that needs one network at several inputs, draw weights.

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
assert steps[1] > 3 * steps[0]
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
# A layer with $I$ inputs and $J$ units, a batch of $M$ rows. Random numbers for one step:
#
# $$\underbrace{M\,I\,J}_{\text{a } W \text{ for each row}}, \qquad \underbrace{I\,J}_{\text{one shared } W}, \qquad \underbrace{M\,J}_{\text{local}} . \tag{5.9}$$
#
# And the multiplications: with a $W$ for each row, $M$ separate products of a vector and a matrix; shared, one matrix product; local, **two** of them, for γ and δ. Note what is *not* true: local draws are not much cheaper than one shared $W$, which is what Bayes by Backprop does. They are cheaper than a $W$ for each row, and at least as good for μ; for σ they are even better (section 5.6). (Question 3: $10^8$ random numbers. $10^5$ will do.)

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
assert ours["one shared W"] == len(fit.mean)  # what the package draws a step, biases with it
assert ours["local"] == 32 * sum(local_reparam.noise_widths("local", network))

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5.6 Flipout: one draw, many signs
#
# Local draws need a layer whose output is a sum of independent Gaussians. Convolutions share weights between positions, recurrent layers between time steps; there the pre-activations of one row covary as well, and local draws are only an approximation. **Flipout** (Wen et al. 2018) draws one change of the weights, $\Delta W = \sigma\odot\varepsilon$, and gives each row its own random signs, $r$ for the outputs and $s$ for the inputs:
#
# $$\Delta W^{(m)}_{ij} = s_{mi}\,\Delta W_{ij}\,r_{mj} \quad\Rightarrow\quad b_m = x_m\mu + \big[(x_m\odot s_m)\,\Delta W\big]\odot r_m . \tag{5.10}$$
#
# A Gaussian with its sign flipped is the same Gaussian, so each row sees a proper draw of $W$. Between rows the signs average the covariance away. One draw, two matrix products, any kind of layer with independent, symmetric noise. (The signs $s_{mi}$ are not the noise's $s$; the letters are the paper's.)

# %% slideshow={"slide_type": "subslide"}
# eq. 5.10, the slow way: a W for each row
changes = SIGMA * rng.standard_normal((50_000, 1, 3, 2))  # one draw for all four rows
r, s_in = (rng.choice([-1.0, 1.0], (50_000, 4, k)) for k in (2, 3))
own_w = MU + s_in[..., None] * changes * r[:, :, None]  # [draw, row, in, out]
b_flip = np.einsum("mi,kmij->kmj", X, own_w)
assert np.allclose(b_flip.var(axis=0), delta, rtol=0.1)
assert abs(np.corrcoef(b_flip[:, :2, 0].T)[0, 1]) < 0.03

# %% [markdown] slideshow={"slide_type": "subslide"}
# **What the signs cannot hide.** Rows no longer covary, but they still share the *size* $|\varepsilon|$. For the gradient in μ of a linear model that does not matter. For σ it does: $\varepsilon^2$ has no sign. For one weight, with $m_i = \mu x_i - y_i$,
#
# $$\operatorname{Var}_\text{Flipout}[\partial_\sigma] = c^2\Big[\sum_i x_i^2m_i^2 + 2\sigma^2\Big(\sum_i x_i^2\Big)^2\Big], \qquad \operatorname{Var}_\text{local}[\partial_\sigma] = c^2\Big[\sum_i x_i^2 m_i^2 + 2\sigma^2\sum_i x_i^4\Big]. \tag{5.11}$$
#
# The first has a floor that no batch size removes; one shared $W$ has it, too.

# %% slideshow={"slide_type": "fragment"}
# eq. 5.11
m = mu * x - y
floor = {"flipout": 2 * sigma**2 * (x**2).sum() ** 2, "local": 2 * sigma**2 * (x**4).sum()}
for kind, last in floor.items():
    theory = c**2 * ((x**2 * m**2).sum() + last)
    assert np.isclose(theory, estimators.gradient_variance(kind, problem).sigma)
    square = (estimators.gradient_samples(kind, problem, n_draws=10_000).sigma
              - problem.expected.sigma) ** 2
    assert abs(square.mean() - theory) < 5 * square.std() / np.sqrt(len(square))
    print(f"{kind:8s} sd of the gradient for σ: {theory**0.5:.0f}")


# %% [markdown] slideshow={"slide_type": "subslide"}
# **Many inputs.** With more weights a unit has more noise in common for all rows. Flipout's signs remove what the *other* weights contribute to this common noise. What the weight's own $|\varepsilon|$ contributes stays. If the inputs have one sign, as after a ReLU, rows covary strongly and Flipout gains much. If they have both, rows covary little, and the floor is nearly all there is.
#
# For σ, local draws beat even a fresh $W$ for each row. Given $b$, the mean of $\varepsilon_i$ is $x_i\sigma_i\zeta/\sqrt\delta$. Put it in the place of $\varepsilon_i$, and the gradient of section 5.3 comes out: what $b$ does not need is averaged over beforehand. An average is never noisier than what it averages (Rao-Blackwell).

# %% slideshow={"slide_type": "subslide"}
def sigma_variances(inputs):
    """Variance of the gradient for the first weight's σ, by kind, relative to local draws."""
    d = inputs.shape[1]
    layer = estimators.minibatch(np.zeros(d), np.full(d, 0.3), inputs, y=np.zeros(256))
    found = {k: estimators.gradient_variance(k, layer).sigma[0] for k in estimators.KINDS[1:]}
    return {k: float(v / found["local"]) for k, v in found.items()}


both_signs = np.random.default_rng(5).standard_normal((256, 50))
for name, inputs in (("1 input", np.abs(both_signs[:, :1])), ("50 inputs, all ≥ 0",
                     np.abs(both_signs)), ("50 inputs, both signs", both_signs)):
    ratio = sigma_variances(inputs)
    print(f"{name:22s}" + ", ".join(f"{k} {v:.1f}" for k, v in ratio.items()))
    assert ratio["per_example"] > 0.999  # never quieter than local draws
    assert (ratio["shared"] > 5 * ratio["flipout"]) == (name == "50 inputs, all ≥ 0")

# %% [markdown] slideshow={"slide_type": "subslide"}
# All of it in one picture: variance against the batch size, drawn (marks) and in theory (lines), for one weight. Where lines lie on each other, the hollow marks are the lower ones.

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
assert curves["shared"][-1, 1] > 0.4 * curves["shared"][2, 1]  # flat from 16 to 256 points
assert curves["local"][-1, 1] < 0.1 * curves["local"][2, 1]  # 16 times the points

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
# $$F(\theta) = \mathrm{KL}[q(w)\,\|\,P(w)] \;-\; \sum_i \mathbb E_{\zeta}\big[\log P(y_i \mid b_i(\zeta))\big]. \tag{5.12}$$
#
# With a Gaussian prior the KL is a closed form, and no weight is ever drawn. **With the scale mixture of chapter 3 there is none**, and there are no weights to estimate it from. So draw weights for the KL alone: one draw of each, which is cheap, and the estimate stays unbiased. `local_reparam.fit` does the one or the other, according to the prior. (Minibatches share the KL as in chapter 3.)

# %% slideshow={"slide_type": "fragment"}
# eq. 5.12
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
assert total["shared", 128] > 4 * total["local", 128]

# %% [markdown] slideshow={"slide_type": "subslide"}
# Less noise, at the same learning rate and in the same 1500 steps, means less jumping about the optimum, and a lower free energy. (All fits of this chapter's claims have 1500 steps.) <!-- claim: local-draws-end-lower --> Is a lower $F$ worth anything to a user? Under one prior, the $q$ with the lower $F$ has the smaller KL to the posterior, even if the two are of different families. That KL also counts copies that predict the same ([section 4.4](04_how_right_is_it.ipynb)). What a user gets is the density that the prediction gives to *new* points. Twenty worlds, each a data set and a start, 32 points, the mixture prior; beside them one network by maximum likelihood:

# %% slideshow={"slide_type": "fragment"}
found_here = claims.show(
    "local-draws-end-lower", "a-lower-f-is-worth-little-among-the-data",
    "bbb-beats-mle-outside")
assert not any(finding.falls for finding in found_here)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Outside the data** Bayes by Backprop is on average more than three nats a point ahead of one network, which announces its guess with the sd of the noise. <!-- claim: bbb-beats-mle-outside --> **Among the data** it scores, as [section 4.10](04_how_right_is_it.ipynb) shows, on most data sets a little lower than one network, <!-- claim: bbb-scores-lower-than-mle-among-the-data --> and the nats of $F$ that local draws gain are on average worth less than two fifths of a nat a point. <!-- claim: a-lower-f-is-worth-little-among-the-data --> A tenth of the KL, which is another objective, scores higher there than the whole. <!-- claim: a-tenth-of-the-kl-scores-higher-among-the-data --> (It tempers the likelihood alone; a *cold posterior* in the literature often tempers the prior, too.) So $F$ says how near $q$ is to the posterior, and not how well that posterior predicts: whether the prior is any good, it cannot say; chapter 4 takes that apart.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 5.9 The quiet estimator: what need not be drawn
#
# Local draws average over whatever a pre-activation does not need. Go on with that: an average that is *known* need not be drawn at all. $F$ has three parts, $F = -H(q) - \mathbb E_q[\log P(w)] + \mathbb E_q[\text{likelihood cost}]$. The entropy of Gaussians is known, $H(q) = \sum_k \ln\sigma_k + \text{const}$. Now the other two.
#
# **The prior.** Take the wide component out of the mixture; what remains is a softplus, $\operatorname{softplus}(t) = \ln(1+e^t)$:
#
# $$\log P(w) = \log\pi\mathcal N(w\mid0,\sigma_1^2) + \operatorname{softplus}(a - bw^2), \qquad a = \ln\frac{(1-\pi)\,\sigma_1}{\pi\,\sigma_2}, \quad b = \frac12\Big(\frac1{\sigma_2^2}-\frac1{\sigma_1^2}\Big). \tag{5.13}$$
#
# The first term is a parabola. The softplus has no mean in closed form, but it is very nearly a sum of a few bells, $\operatorname{softplus}(a-u)\approx\sum_j c_j e^{-p_ju}$ (four of them, $c_j$ by least squares), and that of a bell is known:
#
# $$\mathbb E_q\big[e^{-kw^2/2}\big] = \sqrt r\;e^{-k r\mu^2/2}, \qquad r = \frac1{1+k\sigma^2}, \qquad k = 2bp_j . \tag{5.14}$$

# %% slideshow={"slide_type": "subslide"}
# eq. 5.13 and 5.14
s1, s2 = mixture.sigma1, mixture.sigma2  # π = ½
a_mix, b_mix = np.log(s1 / s2), 0.5 * (s2**-2 - s1**-2)
w_axis = np.linspace(-6, 6, 48_001)
wide = np.log(0.5) - densities.gaussian_nll(w_axis, 0.0, s1**2)
assert np.allclose(mixture.log_prob(w_axis), wide + np.logaddexp(0, a_mix - b_mix * w_axis**2))

u, rates = np.linspace(0, 4, 300) ** 2, np.geomspace(1, 3, 4)
heights = np.linalg.lstsq(np.exp(-np.outer(u, rates)), np.logaddexp(0, a_mix - u), rcond=None)[0]


def mean_log_prior(m, sd):
    k = 2 * b_mix * rates
    r = 1 / (1 + k * sd**2)
    wide = np.log(0.5) - densities.gaussian_nll(m, 0.0, s1**2) - sd**2 / (2 * s1**2)
    return wide + heights @ (np.sqrt(r) * np.exp(-0.5 * k * r * m**2))


# %% slideshow={"slide_type": "fragment"}
for m, sd in ((0.0, 0.05), (0.2, 0.1), (0.5, 0.3), (1.5, 0.6)):
    q_w = np.exp(-densities.gaussian_nll(w_axis, m, sd**2))
    by_integral = np.trapezoid(q_w * mixture.log_prob(w_axis), w_axis)
    print(f"q = N({m}, {sd}²): E log P = {mean_log_prior(m, sd):.4f}, integral {by_integral:.4f}")
    assert abs(mean_log_prior(m, sd) - by_integral) < 0.005


# %% [markdown] slideshow={"slide_type": "subslide"}
# **The last two layers.** Draw pre-activations as before, but only up to the hidden layer *before* the last. Given what comes out of it, the pre-activations of the last hidden layer are independent Gaussians (section 5.4: different columns of $W$), and mean $e_j$ and variance $s_j$ of a *rectified* Gaussian are known ([section 7.5](07_probabilistic_backpropagation.ipynb) has the formulas). The output is a sum of rectified values times independent weights with means $m_j$ and variances $v_j$, and a bias (0). Products of independent things: $\operatorname{Var}[wb] = v\,\mathbb E[b^2] + m^2\operatorname{Var}[b]$. So
#
# $$\mathbb E[f] = m_0 + \sum_j m_je_j, \quad \operatorname{Var}[f] = v_0 + \sum_j \big[v_j(s_j+e_j^2) + m_j^2s_j\big], \quad \mathbb E(y-f)^2 = (y-\mathbb E f)^2 + \operatorname{Var}[f]. \tag{5.15}$$
#
# That is Rao-Blackwell once more: the cost is replaced by its mean given the layers before. Its expectation stays; its variance can only fall. With one hidden layer no noise is left at all.

# %% slideshow={"slide_type": "fragment"}
# eq. 5.15
def quiet_cost(x, y, k):
    m, v = network.unflatten(theta[0]), network.unflatten(theta[1] ** 2)
    h = tf.transpose(x)
    zeta = tf.random.stateless_normal((20, x.shape[0]), [k, 0])
    h = tf.nn.relu(m[0] @ h + m[1] + tf.sqrt(v[0] @ h**2 + v[1]) * zeta)
    e, s = pbp.relu_moments(m[2] @ h + m[3], v[2] @ h**2 + v[3])  # the last hidden layer
    mean = m[4] @ e + m[5]
    var = v[4] @ (s + e**2) + m[4] ** 2 @ s + v[5]
    return scaled(x, (y - tf.transpose(mean)) ** 2 + tf.transpose(var))


# %% slideshow={"slide_type": "fragment"}
# eq. 5.15
for size in (8, 128):
    found["quiet", size] = network_gradients(quiet_cost, xs[:size], ys[:size]).numpy()
    total["quiet", size] = found["quiet", size].var(axis=0).sum()
    print(f"{size:3d} points, total variance: " + ", ".join(
        f"{kind} {total[kind, size]:.3g}" for kind in ("shared", "local", "quiet")))
difference = found["quiet", 128].mean(axis=0) - found["local", 128].mean(axis=0)
error = np.sqrt((total["quiet", 128] + total["local", 128]) / 400)
assert np.sqrt((difference**2).sum()) < 3 * error  # the same gradient in the mean
assert total["quiet", 128] < 0.7 * total["local", 128]

# %% [markdown] slideshow={"slide_type": "subslide"}
# The same mean (but for the error of the bells, small above), and less noise than local draws. So the steps can be longer, and in as many of them it ends lower. <!-- claim: quiet-draws-end-lowest --> In the package it is `local_reparam.fit(x, y, **local_reparam.QUIET)`; the explorer of chapter 3 uses it for its ticks, so that a slider shows the model more than the luck of the draw. <!-- claim: a-tick-shows-the-model --> Its price is generality: it needs ReLUs, a Gaussian likelihood, and a prior whose logarithm is made of parabolas and bells.

# %% slideshow={"slide_type": "fragment"}
found_here = claims.show("quiet-draws-end-lowest")
assert not found_here[0].falls


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
# The explorer again. Move the sliders first and see whether your predictions hold; the cells below move each of them from Python and assert what must happen.

# %% tags=["explorer"] slideshow={"slide_type": "subslide"}
explorer

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Batch size M.** Question 1: it hardly changes. Question 2: it falls as $1/M$.

# %% slideshow={"slide_type": "fragment"}
explorer.preset("shared or local").set(size=4)
small = {kind: v[2] for kind, v in explorer.result.theory.items()}
explorer.set(size=256, n_draws=800)
large = {kind: v[-1] for kind, v in explorer.result.theory.items()}
print(f"from 4 to 256 points: shared / {small['shared'] / large['shared']:.1f}, "
      f"local / {small['local'] / large['local']:.0f}")
assert small["shared"] / large["shared"] < 4 and small["local"] / large["local"] > 30
measured = explorer.result.measured["local"][-1]
assert abs(measured / large["local"] - 1) < 5 * np.sqrt(2 / 800)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **The weights' σ.** The gradient for μ along a path gets its noise from σ: half the σ, a quarter of the variance. (For σ a part is left that does not shrink with σ, (5.11).) The score function divides by σ: it gets *louder* as the posterior gets sharper.

# %% slideshow={"slide_type": "fragment"}
explorer.preset("shared or local").set(score=True, sigma=0.4)
wide = explorer.result.theory
explorer.set(sigma=0.2)
narrow = explorer.result.theory
for kind in ("shared", "local"):
    assert np.allclose(wide[kind] / narrow[kind], 4)
assert narrow["score"][-1] > wide["score"][-1]
print(f"score function at M = 256: {wide['score'][-1]:.2g} at σ = 0.4, "
      f"{narrow['score'][-1]:.2g} at σ = 0.2")

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Inputs, and the gradient for σ.** With one W and one input, the outputs of two rows correlate fully; with more inputs, less. For σ Flipout lies near the line of the shared W if there is one weight, and between the lines if there are more.

# %% slideshow={"slide_type": "fragment"}
explorer.preset("Flipout and σ")
one = {kind: v[-1] for kind, v in explorer.result.theory.items()}
correlation_one = explorer.result.correlation["shared"]
explorer.set(n_inputs=4)
four = {kind: v[-1] for kind, v in explorer.result.theory.items()}
print("shared : Flipout, for σ at M = 256:", round(one["shared"] / one["flipout"], 2),
      "with 1 input,", round(four["shared"] / four["flipout"], 2), "with 4")
assert one["shared"] / one["flipout"] < 1.5 < four["shared"] / four["flipout"]
assert explorer.result.correlation["shared"] < correlation_one
assert abs(explorer.result.correlation["local"]) < 0.4

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Draws, seed, estimators.** More draws bring the marks nearer to the lines; theory does not care. Another seed is another data set. An estimator that is switched off is not computed. One shared W, local and score function stand behind *more*, with inputs, draws and seed.

# %% slideshow={"slide_type": "fragment"}
explorer.preset("all five")
assert set(explorer.result.theory) == set(estimators.KINDS)
theory = explorer.result.theory["local"]
explorer.set(n_draws=50)
assert np.array_equal(explorer.result.theory["local"], theory)
explorer.set(seed=5)
assert not np.allclose(explorer.result.theory["local"], theory)
explorer.set(score=False, per_example=False, flipout=False, shared=False)
assert set(explorer.result.theory) == {"local"}
explorer.set(parameter="σ", local=False, shared=True)
assert set(explorer.result.theory) == {"shared"}
picture = explorer.preset("shared or local").png()
assert explorer.preset("shared or local").png() == picture


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
# Now the minibatch is not given: its `size` rows are drawn at random from all `n_data` points, *without replacement*, as in an epoch. Return the variance of the estimate $\frac NM\sum_i g_i$ over both, the weights and the rows. Over the draws of the weights a point's gradient has a mean $\bar g_i$; the other three arguments are averages over all the data: `var` of the variances of the $g_i$, `cov` of the covariances of two different points, `spread` of $(\bar g_i - \bar g)^2$, where $\bar g$ is the mean of the $\bar g_i$.
#
# <details><summary>Hint</summary>A variance is the mean of the variances given the rows, plus the variance of the means given the rows. The first is (5.1). How large must the second be if the minibatch is *all* the data? Two different rows are not independent: what each $\bar g_i$ lies above $\bar g$, the others lie below it together.</details>

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
# A Flipout layer (5.10) has given $b$, and backpropagation has come back with `g` [n, out], the slopes $\partial L/\partial b$ of a loss. Return $\partial L/\partial\sigma$ [in, out]. `x` are the inputs [n, in], `eps` [in, out] the noise of the weights, `r` [n, out] and `s` [n, in] the signs.
#
# <details><summary>Hint</summary>Write one $b_{mj}$ out as a sum over $i$. Where in it does $\sigma_{ij}$ stand, and in how many rows?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_flipout(x, eps, r, s, g):
    return ...


exercises.check("5.7", my_flipout)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_7(x, eps, r, s, g):
    return eps * ((x * s).T @ (g * r))  # ε is in all rows: what the signs cannot hide


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
# **Claim:** "a Bayesian layer needs $M\times1000\times1000$ draws, so it cannot use one matrix product; local draws repair that." **True** only if you insist on a $W$ for each row. Bayes by Backprop shares one $W$: $10^6$ draws, one matrix product. Local draws need $M\cdot10^3$ draws and *two* products. The gain that matters is the variance. To reach it with shared draws, as many of them as (5.4) says must be averaged in each step:

# %% slideshow={"slide_type": "fragment"}
k = round(gain(problem.x))  # draws of W for each step
averaged = estimators.gradient_samples("shared", problem, n_draws=k * 500).mu
averaged = averaged.reshape(500, k).mean(axis=1)
local = estimators.gradient_samples("local", problem, n_draws=500).mu
print(f"sd: {k} shared draws averaged {averaged.std():.0f}, one local draw {local.std():.0f}")
assert abs(averaged.std() / local.std() - 1) < 0.22  # 5 standard errors
assert counts["one shared W"] / counts["local"] == 10  # for 100 rows; for 1000 rows: 1

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Claim:** "$q(y_{mj}\mid X) = \mathcal N(\gamma_{mj}, \delta_{mj})$", and then code that multiplies the noise by δ. **True** if the second argument is a variance. The noise is multiplied by its root. Where $\delta<1$ the wrong code is too sure, above 1 too unsure:

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
# $$\Big(\sum_i x_i\sigma_i\Big)^2 \;\ne\; \sum_i x_i^2\sigma_i^2 , \tag{5.16}$$
#
# as if all weights of a unit shared one ε. With inputs of one sign it is up to $I$ times too large; with mixed signs it may vanish. Chapter 6 meets it again.

# %% slideshow={"slide_type": "fragment"}
# eq. 5.16
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
# - For μ of one weight the gain is $(\sum x^2)^2/\sum x^4$, at most $M$. For σ of many weights local draws are less noisy even than a fresh $W$ for each row. The cost: two matrix products instead of one.
# - Flipout reaches nearly the same for μ with one draw and random signs; for σ it keeps the size of the draw in common.
# - The KL needs no draws with a Gaussian prior, and draws of its own with a mixture.
# - What has a known mean need not be drawn: entropy, prior and the last two layers. The quiet estimator is, nearly, the same $F$ with less noise.
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

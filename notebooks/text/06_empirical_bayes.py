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
# # 6 · Empirical Bayes
#
# *Let the data choose the prior, and watch most of the network switch itself off.*
#
# **Run the cell below** (Shift+Enter), then choose *per weight* under *prior*. Until then every weight has the prior $\mathcal N(0, \sigma_p^2)$, with a $\sigma_p$ set by hand; now each weight learns its own. A weight whose mean μ is then less than half of its sd σ is *switched off*: its sign is open. A learnt prior can be so narrow that it holds such a weight at 0. How many weights are left in use?

# %% tags=["explorer"] slideshow={"slide_type": "fragment"}
from bdl_teach.widgets import EmpiricalBayesExplorer

explorer = EmpiricalBayesExplorer()
explorer

# %% [markdown] slideshow={"slide_type": "subslide"}
# ## What you will be able to do
#
# - tell a plug-in prediction from a posterior predictive, and say when they differ;
# - derive the best prior variance, and what is left of the KL term once it is used;
# - train with other parameters than μ and σ (here called ρ and γ), and say what they save you from;
# - say which evidence the new objective bounds, and which one it does not;
# - predict which weights are switched off, and how many useless ones are not;
# - judge a claim such as "it does not overfit" against a fair baseline.
#
# **Time** 58 minutes · **Minutes per section** 6.1: 2 · 6.2: 3 · 6.3: 1 · 6.4: 4 · 6.5: 5 · 6.6: 5 · 6.7: 6 · 6.8: 9 · 6.9: 9 · 6.10: 3 · 6.11: 1 · opening and end: 10
#
# **Prerequisites** [Chapter 3](03_bayes_by_backprop.ipynb): free energy, reparameterization. Local reparameterization is used too; a line explains it there. Notation: [chapter 0](00_start_here.ipynb#Notation).

# %% [markdown] slideshow={"slide_type": "subslide"}
# ## Predict first
#
# Write down your answers. They are tested in the sections below, and given in 6.11.
#
# 1. The prior is learnt, one σ_p for each weight. A weight collapses: σ → 0, and μ → 0 faster still. What does it cost in nats?
# 2. A hidden layer grows from 16 to 60 units. How many weights are in use then: four times as many, or about as many as before?
# 3. With a learnt prior, the bound can exceed the log evidence of the model with σ_p = 1. Is that a mistake?
# 4. A weight has nothing to do with the data. Is it always switched off?

# %% slideshow={"slide_type": "skip"}
import matplotlib.pyplot as plt
import numpy as np
from scipy import optimize, special, stats

from bdl_teach import DatasetUnavailable, claims, datasets, densities, exercises, metrics, plots
from bdl_teach.backend import tf, tfd
from bdl_teach.methods import bbb, empirical_bayes, exact, local_reparam, point
from bdl_teach.plots import BLUE, GREEN, ORANGE, RED, panel

plots.lecture_style()

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6.1 Plug in, or average
#
# Training a network by maximum likelihood gives one weight vector, and predictions **plug it in**:
#
# $$p(y\mid x, D) \approx p(y\mid x, W_{\mathrm{ML}}), \qquad W_{\mathrm{ML}} = \arg\max_W p(D\mid W). \tag{6.1}$$
#
# That is fair when the data leave little doubt about the weights. Otherwise many weight vectors explain the data, and which of them comes out is a matter of luck. The **posterior predictive** averages over all of them, in practice over $S$ draws:
#
# $$p(y\mid x, D) = \int p(y\mid x, W)\,p(W\mid D)\,\mathrm dW \approx \frac1S\sum_{j=1}^{S} p(y\mid x, W_j), \qquad W_j \sim p(W\mid D). \tag{6.2}$$
#
# It is the *probabilities* that are averaged, not the weights. For a classifier that matters. Take the smallest one, $p(y=1\mid x,w) = 1/(1+e^{-wx})$, and six patients.

# %% slideshow={"slide_type": "subslide"}
# eq. 6.1 and 6.2
x_six, y_six = np.array([-2.0, -1.0, -0.5, 0.5, 1.0, 2.0]), np.array([0, 0, 1, 0, 1, 1])
w_grid = np.linspace(-10, 20, 6001)
log_lik = stats.bernoulli.logpmf(y_six, special.expit(np.outer(w_grid, x_six))).sum(axis=1)
posterior = np.exp(log_lik) * stats.norm.pdf(w_grid, 0, 3)  # times the prior N(0, 3²)
posterior /= np.trapezoid(posterior, w_grid)

x_new, draws = 4.0, np.random.default_rng(0).choice(w_grid, 4000, p=posterior / posterior.sum())
averaged = np.trapezoid(special.expit(w_grid * x_new) * posterior, w_grid)
plug_in = special.expit(x_new * w_grid[np.argmax(log_lik)])  # w_ML
sampled = special.expit(draws * x_new)
assert abs(sampled.mean() - averaged) < 4 * sampled.std() / np.sqrt(4000)
print(f"P(y = 1 | x = 4): plug-in {plug_in:.4f}, averaged {averaged:.4f}")
assert averaged < plug_in

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6.2 The bound
#
# As in chapter 3, $p(W\mid D)$ is out of reach, and $q(W\mid\theta)$ takes its place. As in the source, this chapter writes $p$ for $P$, ln for the logarithm, which is natural everywhere in the course, and the objective as the bound, $\mathcal L = -F$, to be made *large*:
#
# $$\ln p(D) - \mathrm{KL}[q\,\|\,p(W\mid D)] = \mathcal L = \mathbb E_q[\ln p(D\mid W)] - \mathrm{KL}[q\,\|\,p(W)] . \tag{6.3}$$
#
# For $N$ data points and $S$ draws,
#
# $$\mathcal L \approx \frac1S\sum_{j=1}^{S}\sum_{i=1}^{N}\ln p(y_i\mid x_i,W_{ij}) - \mathrm{KL}[q\,\|\,p(W)] . \tag{6.4}$$
#
# Look at the index: $W_{ij}$ may be a *new* draw for each data point. That leaves the expectation as it is, and as a rule makes the estimate less noisy: the errors of the points no longer move together (chapter 5). Our laboratory is one weight, $y = wx + $ noise, three points.

# %% slideshow={"slide_type": "subslide"}
# eq. 6.3
x, y, s_noise = np.array([0.5, -1.2, 2.0]), np.array([0.4, -1.0, 1.1]), 0.5


def expected_ll(mu, sigma):
    """E_q[ln p(D | w)] in closed form."""
    squares = ((y - np.multiply.outer(mu, x)) ** 2).sum(axis=-1)
    at_mean = -squares / (2 * s_noise**2) - len(y) / 2 * np.log(2 * np.pi * s_noise**2)
    return at_mean - np.square(sigma) * (x @ x) / (2 * s_noise**2)


known = exact.linear_regression(x[:, None], y, prior_std=1.0, noise_std=s_noise)
m, sd = known.mean[0], np.sqrt(known.cov[0, 0])
for mu, sigma in ((0.3, 0.5), (m, sd)):
    bound = expected_ll(mu, sigma) - densities.gaussian_kl(mu, sigma, 0.0, 1.0)
    distance = densities.gaussian_kl(mu, sigma, m, sd)
    assert np.isclose(known.log_evidence - distance, bound)
print(f"ln p(D | σ_p = 1) = {known.log_evidence:.3f} nats")

# %% slideshow={"slide_type": "subslide"}
# eq. 6.4
mu, sigma, rng = 0.3, 0.5, np.random.default_rng(1)
for name, shape in (("one draw for all points", (20_000, 1)), ("a draw a point", (20_000, 3))):
    w = mu + sigma * rng.standard_normal(shape)  # [S, 1] or [S, N]
    ll = -densities.gaussian_nll(y, w * x, s_noise**2).sum(axis=1)
    assert abs(ll.mean() - expected_ll(mu, sigma)) < 4 * ll.std() / np.sqrt(len(ll))
    print(f"{name:24s} mean {ll.mean():.2f} (exact {expected_ll(mu, sigma):.2f}), "
          f"variance of one estimate {ll.var():.1f}")


# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6.3 The KL of two Gaussians
#
# Both are diagonal: $q(W) = \prod_k\mathcal N(w_k\mid\mu_k,\sigma_k^2)$, and the prior says that weights are near zero, $p(W) = \prod_k\mathcal N(w_k\mid 0,\sigma_{p,k}^2)$. Then the KL needs no sampling:
#
# $$\mathrm{KL}[q\,\|\,p] = \frac12\sum_{k=1}^{K}\left(\frac{\sigma_k^2}{\sigma_{p,k}^2} + \frac{\mu_k^2}{\sigma_{p,k}^2} - \ln\frac{\sigma_k^2}{\sigma_{p,k}^2} - 1\right). \tag{6.5}$$

# %% slideshow={"slide_type": "fragment"}
# eq. 6.5
def kl_gaussian(mu, sigma, sigma_p):
    ratio = (sigma**2 + mu**2) / sigma_p**2
    return 0.5 * np.sum(ratio - np.log(sigma**2 / sigma_p**2) - 1)


mus, sigmas = np.array([0.3, -1.2, 0.0]), np.array([0.5, 0.2, 2.0])
assert np.isclose(kl_gaussian(mus, sigmas, 1.5), densities.gaussian_kl(mus, sigmas, 0, 1.5).sum())
twin = tfd.kl_divergence(tfd.Normal(mus, sigmas), tfd.Normal(np.float64(0.0), 1.5))
assert np.isclose(kl_gaussian(mus, sigmas, 1.5), twin.numpy().sum())
w = np.linspace(-4, 4, 8001)
q, p = stats.norm(0.3, 0.5), stats.norm(0, 1.5)
by_quadrature = np.trapezoid(q.pdf(w) * (q.logpdf(w) - p.logpdf(w)), w)
assert np.isclose(kl_gaussian(mus[:1], sigmas[:1], 1.5), by_quadrature)


# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6.4 Let the data choose the prior
#
# So far $\sigma_p$ had to be chosen before training, and a bad choice can spoil the fit (the presets "too narrow" and "too wide" above). **Empirical Bayes** takes it from the data: choose the $\sigma_p$ that makes $\mathcal L$ largest. With the precision $\lambda_k = 1/\sigma_{p,k}^2$,
#
# $$\mathrm{KL}[q\,\|\,p] = \frac12\sum_k\left(\lambda_k\sigma_k^2 + \lambda_k\mu_k^2 - \ln\sigma_k^2 - \ln\lambda_k - 1\right). \tag{6.6}$$
#
# The expected log likelihood does not contain the prior, so the derivative is that of the KL alone:
#
# $$\frac{\partial\mathcal L}{\partial\lambda_k} = -\frac12\left(\sigma_k^2 + \mu_k^2 - \frac1{\lambda_k}\right). \tag{6.7}$$
#
# It is positive for small $\lambda_k$, negative for large, and zero at exactly one place, which is therefore the maximum:
#
# $$\sigma_{p,k}^2 = \mu_k^2 + \sigma_k^2 . \tag{6.8}$$

# %% slideshow={"slide_type": "subslide"}
# eq. 6.6 and 6.7
def bound_of(precision, mu=0.3, sigma=0.5):
    kl = 0.5 * (precision * (sigma**2 + mu**2) - np.log(sigma**2) - np.log(precision) - 1)
    return expected_ll(mu, sigma) - kl


for precision in (0.2, 1.0, 7.0):
    kl = kl_gaussian(np.array([0.3]), np.array([0.5]), precision**-0.5)
    assert np.isclose(bound_of(precision), expected_ll(0.3, 0.5) - kl)
    up, down = bound_of(precision + 1e-5), bound_of(precision - 1e-5)
    slope = -0.5 * (0.5**2 + 0.3**2 - 1 / precision)
    assert np.isclose((up - down) / 2e-5, slope, atol=1e-6)

# %% slideshow={"slide_type": "fragment"}
# eq. 6.8
found = optimize.minimize_scalar(lambda a: -bound_of(np.exp(a)), bounds=(-5, 5))
best = empirical_bayes.optimal_prior_std(0.3, 0.5)
print(f"numeric minimum σ_p = {np.exp(-found.x / 2):.5f}, √(μ² + σ²) = {best:.5f}")
assert np.isclose(np.exp(-found.x / 2), np.hypot(0.3, 0.5), rtol=1e-4)
assert np.isclose(best, np.hypot(0.3, 0.5), rtol=1e-12)


# %% [markdown] slideshow={"slide_type": "subslide"}
# Read (6.8) aloud: the best prior variance is the second moment of the weight under $q$. Put it back into (6.5). The first two terms add up to 1 and cancel the last; what is left is
#
# $$\mathrm{KL}[q\,\|\,p] = \frac12\sum_k\ln\left(1 + \frac{\mu_k^2}{\sigma_k^2}\right). \tag{6.9}$$
#
# The prior has disappeared as an object: no σ_p to choose, none to store. If $n$ weights *share* a prior (a layer, or the whole network), its variance is the average of theirs, and the quadratic terms cancel only in the sum:
#
# $$\sigma_p^2 = \frac1n\sum_{k=1}^n(\mu_k^2+\sigma_k^2), \qquad \mathrm{KL} = \sum_{k=1}^n\ln\frac{\sigma_p}{\sigma_k} . \tag{6.10}$$

# %% slideshow={"slide_type": "fragment"}
# eq. 6.9: (6.5) at the best prior; you write the short form in exercise 6.1
def kl_best(mu, sigma):
    return kl_gaussian(mu, sigma, np.hypot(mu, sigma))


assert np.isclose(kl_best(mus, sigmas), empirical_bayes.kl(mus / sigmas))
for factor in (0.5, 0.9, 1.1, 2.0):  # the numeric neighbourhood: all larger
    assert kl_gaussian(mus, sigmas, factor * np.hypot(mus, sigmas)) > kl_best(mus, sigmas)

# %% slideshow={"slide_type": "subslide"}
# eq. 6.10
one_group = np.zeros(3, dtype=int)
shared = empirical_bayes.optimal_prior_std(mus, sigmas, one_group)[0]
found = optimize.minimize_scalar(lambda t: kl_gaussian(mus, sigmas, np.exp(t)), bounds=(-3, 3))
assert np.isclose(np.exp(found.x), shared, rtol=1e-4)
assert np.isclose(np.log(shared / sigmas).sum(), kl_gaussian(mus, sigmas, shared))
assert np.isclose(np.log(shared / sigmas).sum(), empirical_bayes.tied_kl(mus, sigmas, one_group))
print(f"KL with a prior each {kl_best(mus, sigmas):.3f}, with one for the three "
      f"{np.log(shared / sigmas).sum():.3f}: sharing costs")
assert kl_best(mus, sigmas) < np.log(shared / sigmas).sum()


# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6.5 A change of variables
#
# (6.9) has a trap: a weight that nobody needs goes to $\mu\to0$ *and* $\sigma\to0$, and $\mu^2/\sigma^2$ becomes 0/0. (Under a fixed prior its σ would stay as wide as that prior; a learnt one follows it down.) And σ must stay positive. Both are cured by new parameters ρ and γ:
#
# $$\sigma = \ln(1+e^{\rho}) = \operatorname{softplus}(\rho), \qquad \mu = \gamma\odot\sigma . \tag{6.11}$$
#
# γ is the signal-to-noise ratio. A collapsed weight has γ = 0 and a small σ, and nothing is divided. The KL no longer contains ρ:
#
# $$\mathrm{KL} = \frac12\sum_k\ln(1+\gamma_k^2) . \tag{6.12}$$
#
# The loss is $-\mathcal L$ per data point. The sum over the points becomes a mean, so the KL is divided by $N$ too:
#
# $$\mathrm{loss}(\rho,\gamma) = -\frac1{SN}\sum_{j=1}^S\sum_{i=1}^N\ln p(y_i\mid x_i,W_{ij}) + \frac{\mathrm{KL}}N, \qquad W = \sigma\odot(\gamma + \varepsilon). \tag{6.13}$$

# %% slideshow={"slide_type": "subslide"}
# eq. 6.11 and 6.12
def weights_of(rho, gamma):
    sigma = np.logaddexp(0.0, rho)
    return gamma * sigma, sigma


rho_try, gamma_try = np.array([-1.0, 0.5, -600.0]), np.array([2.0, -0.3, 0.0])
mu_try, sigma_try = weights_of(rho_try, gamma_try)
assert np.allclose(mu_try[:2] / sigma_try[:2], gamma_try[:2])
assert np.isclose(empirical_bayes.kl(gamma_try[:2]), kl_best(mu_try[:2], sigma_try[:2]))
assert np.isfinite(empirical_bayes.kl(gamma_try))  # the third has collapsed: 0 nats
with np.errstate(invalid="ignore", divide="ignore"):
    print("0/0 in (6.9):", kl_best(0.0 * mu_try, 0.0 * sigma_try), "; (6.12):",
          empirical_bayes.kl(0.0 * gamma_try))


# %% [markdown] slideshow={"slide_type": "subslide"}
# **The algorithm**, in nine steps. Choose a step size η and a start ρ, γ. Repeat:
#
# 1. σ ← softplus(ρ)
# 2. μ ← γ ⊙ σ
# 3. draw ε ~ N(0, I)
# 4. W ← ε ⊙ σ + μ
# 5. nll ← −(1/N) Σ ln p(y | x, W), a mean over the data or a minibatch
# 6. kl ← ½ Σ ln(1 + γ²)
# 7. loss ← nll + kl/N
# 8. ρ ← ρ − η ∂loss/∂ρ
# 9. γ ← γ − η ∂loss/∂γ
#
# Here they are for the one weight. Derivatives are taken by finite differences, so that nothing is hidden. You derive them by hand in exercises 6.4 and 6.5.

# %% slideshow={"slide_type": "subslide"}
# eq. 6.13
def loss(rho, gamma, eps, n_points=3):
    mu, sigma = weights_of(rho, gamma)  # steps 1 and 2
    w = eps * sigma + mu  # step 4
    squares = ((y - np.multiply.outer(w, x)) ** 2).mean(axis=-1)
    nll = squares / (2 * s_noise**2) + 0.5 * np.log(2 * np.pi * s_noise**2)  # step 5
    return nll + 0.5 * np.log1p(gamma**2) / n_points  # steps 6 and 7


eps = np.random.default_rng(2).standard_normal(200_000)
draws = loss(-1.0, 2.0, eps)
mu, sigma = weights_of(-1.0, 2.0)
minus_bound = kl_best(mu, sigma) - expected_ll(mu, sigma)
assert abs(draws.mean() - minus_bound / 3) < 4 * draws.std() / np.sqrt(eps.size)


# %% slideshow={"slide_type": "subslide"}
def nine_steps(n_steps=6000, n_points=3, seed=3):
    rng, rho, gamma, h = np.random.default_rng(seed), 0.0, 0.5, 1e-5
    for t in range(n_steps):
        eps = rng.standard_normal(8)  # step 3, S = 8
        d = [loss(rho + h, gamma, eps, n_points) - loss(rho - h, gamma, eps, n_points),
             loss(rho, gamma + h, eps, n_points) - loss(rho, gamma - h, eps, n_points)]
        eta = 0.3 / (1 + t / 500)
        rho -= eta * d[0].mean() / (2 * h)  # step 8
        gamma -= eta * d[1].mean() / (2 * h)  # step 9
    return weights_of(rho, gamma)


# %% slideshow={"slide_type": "fragment"}
surface = optimize.minimize(
    lambda t: kl_best(*weights_of(*t)) - expected_ll(*weights_of(*t)), [0.0, 0.5], tol=1e-10
)
mu_star, sigma_star = weights_of(*surface.x)
mu_found, sigma_found = nine_steps()
print(f"nine steps: μ = {mu_found:.3f}, σ = {sigma_found:.3f}")
print(f"numeric minimum: μ = {mu_star:.3f}, σ = {sigma_star:.3f}; bound {-surface.fun:.4f} nats")
assert abs(mu_found - mu_star) < 0.05 and abs(sigma_found / sigma_star - 1) < 0.25

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6.6 Which evidence is it?
#
# For a fixed prior, $\mathcal L \le \ln p(D)$. But now the prior moves with $q$. What we maximise is $\max_\lambda$ of the bound, and for every $q$
#
# $$\mathcal L_{\mathrm{EB}}(q) = \max_\lambda\,\mathcal L(q,\lambda) \;\le\; \max_\lambda\,\ln p(D\mid\lambda) . \tag{6.14}$$
#
# The right-hand side is the **type-II evidence**: maximum likelihood, one floor up (also called evidence maximisation). It is *not* $\ln p(D\mid\lambda=1)$, and the bound may well exceed that.
#
# For our one weight the evidence is known. All that the data say of $w$ is its least-squares estimate $\hat w = \sum x_iy_i/\sum x_i^2$ and the standard error $\hat\sigma = s/\sqrt{\sum x_i^2}$ of that ($s$ is the sd of the noise):
#
# $$p(D\mid w) = p(D\mid w=0)\;\exp\left(\frac{\hat w\,w}{\hat\sigma^2} - \frac{w^2}{2\hat\sigma^2}\right) .$$
#
# Times the prior $\sqrt{\lambda/2\pi}\;e^{-\lambda w^2/2}$ this is a Gaussian in $w$ again: the posterior, with mean $\kappa\hat w$ and variance $\kappa\hat\sigma^2$. Here $\kappa = 1/(1+\lambda\hat\sigma^2)$ is the **share of the estimate that the prior leaves**: near 0 for a narrow prior, near 1 for a wide one. With $z = \hat w/\hat\sigma$, which counts how many standard errors the estimate is from 0, the exponent is $\kappa z^2/2$ at its top. So the integral over $w$ is $\sqrt{\lambda\,\kappa\hat\sigma^2}\;e^{\kappa z^2/2}$ times $p(D\mid w=0)$, and by the definition of κ, $\lambda\hat\sigma^2\kappa = 1-\kappa$. The integral is the evidence:
#
# $$\ln p(D\mid\lambda) = \ln p(D\mid w=0) + \tfrac12\big[\ln(1-\kappa) + \kappa\,z^2\big] . \tag{6.15}$$
#
# In the bracket, the first term is the bill for a wide prior, the second what the weight brings in. The derivative by κ is half of $z^2 - 1/(1-\kappa)$. If $z^2 > 1$ it vanishes at $\kappa = 1 - 1/z^2$. If not, it is negative everywhere: no weight at all is best. With $\sigma_p^2 = 1/\lambda = \hat\sigma^2\kappa/(1-\kappa)$,
#
# $$\kappa^\star = \max\Big(1 - \frac1{z^2},\,0\Big), \qquad \sigma_p^2 = \max\big(\hat w^2 - \hat\sigma^2,\;0\big). \tag{6.16}$$
#
# The best prior variance is the squared estimate, less the part of it that is noise.

# %% slideshow={"slide_type": "subslide"}
# eq. 6.15
w_hat, w_err = x @ y / (x @ x), s_noise / np.sqrt(x @ x)
z = w_hat / w_err


def gain(prior_std, z):
    """(6.15) above the evidence without the weight; prior_std is σ_p."""
    kappa = 1 / (1 + (w_err / prior_std) ** 2)
    return 0.5 * (np.log1p(-kappa) + kappa * z**2)


at_zero = -densities.gaussian_nll(y, 0.0, s_noise**2).sum()  # ln p(D | w = 0)
for prior_std in (0.3, 1.0, 3.0):
    twin = exact.linear_regression(x[:, None], y, prior_std=prior_std, noise_std=s_noise)
    assert np.isclose(at_zero + gain(prior_std, z), twin.log_evidence)

# %% slideshow={"slide_type": "fragment"}
# eq. 6.14 and 6.16
star = np.sqrt(w_hat**2 - w_err**2)
prior_stds = np.logspace(-2, 1.5, 4001)
assert np.isclose(prior_stds[np.argmax(gain(prior_stds, z))], star, rtol=5e-3)
assert np.isclose(-surface.fun, at_zero + gain(star, z))  # the bound touches it
assert np.isclose(np.hypot(mu_star, sigma_star), star, rtol=1e-4)
some_q = [(mu, sigma) for mu in np.linspace(-1, 1.5, 11) for sigma in (0.05, 0.2, 1.0)]
assert all(expected_ll(*each) - kl_best(*each) <= -surface.fun for each in some_q)
print(f"largest bound {-surface.fun:.3f} = largest evidence; with σ_p = 1 the evidence is "
      f"{known.log_evidence:.3f}")

# %% slideshow={"slide_type": "subslide"}
fig, ax = plt.subplots()
ax.semilogx(prior_stds, at_zero + gain(prior_stds, z), color=BLUE, label="ln p(D | σ_p), exact")
ax.axhline(-surface.fun, ls="--", color=RED, label="largest empirical-Bayes bound")
ax.plot(star, at_zero + gain(star, z), "*", ms=18, color=GREEN, label="learnt σ_p")
ax.plot(1.0, known.log_evidence, "o", ms=9, color=ORANGE, label="σ_p = 1")
ax.set_ylim(-8, -2)
panel(ax, "The bound touches the best prior's evidence, not that of any prior",
      "prior σ_p", "nats", loc="lower right")

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6.7 How a weight is switched off
#
# What does (6.12) do to a weight? Two properties explain most of it.
#
# **It is scale-free.** Multiply μ and σ by any number: γ, and so the cost, stay the same. Nothing pulls a weight towards 0 as such; only being *unsure relative to its size* is cheap.
#
# **Its slope is**
#
# $$\frac{\partial\,\mathrm{KL}}{\partial\gamma} = \frac{\gamma}{1+\gamma^2}, \tag{6.17}$$
#
# zero at γ = 0, largest at γ = 1, and falling to zero again: strong weights (large |γ|) are left alone, where weight decay would pull the harder the larger they are. Weak ones slide down to γ = 0, unless the likelihood holds them. Once there, μ = 0, the weight is pure noise, and only the likelihood is left to act on σ. Noise hurts it, so σ → 0: the weight has *collapsed*, the strictest way to be switched off. Gradient descent does not bring it back. As $\mu = \gamma\sigma$, a step of γ moves the weight by σ times as much only: the likelihood's slope in γ goes to 0 with σ (exercise 6.4). The dashed curve below is the KL under a *fixed* prior, for a weight with $\sigma = \sigma_p/2$: it is $\mu^2/2\sigma_p^2 = \gamma^2/8$, up to a constant.

# %% slideshow={"slide_type": "subslide"}
# eq. 6.17
gammas = np.linspace(-6, 6, 601)
kl_curve = 0.5 * np.log1p(gammas**2)
assert np.allclose(np.gradient(kl_curve, gammas)[1:-1], (gammas / (1 + gammas**2))[1:-1], atol=1e-3)
assert np.isclose(gammas[np.argmax(gammas / (1 + gammas**2))], 1, atol=0.03)

fig, ax = plt.subplots()
ax.plot(gammas, kl_curve, color=BLUE, label="learnt prior: ½ ln(1 + γ²)")
ax.plot(gammas, gammas / (1 + gammas**2), ":", color=BLUE, label="its slope: lets go of large γ")
ax.plot(gammas, 0.5 * (gammas / 2) ** 2, "--", color=ORANGE, label="fixed prior, σ = σ_p/2")
ax.set_ylim(-0.6, 3)
panel(ax, "A learnt prior lets go of strong weights", "γ = μ/σ", "nats", loc="upper center")

# %% [markdown] slideshow={"slide_type": "subslide"}
# When exactly does a weight collapse? By (6.16) our one weight has the posterior $\mathcal N(\kappa\hat w, \kappa\hat\sigma^2)$, so that
#
# $$\gamma^2 = \frac{\mu^2}{\sigma^2} = \kappa^\star z^2 = \max\big(z^2 - 1,\; 0\big). \tag{6.18}$$
#
# A weight survives when its estimate is more than *one* standard error away from zero. At that point σ, μ and γ collapse together:

# %% slideshow={"slide_type": "subslide"}
fig, (left, right) = plt.subplots(1, 2, layout="constrained")
for z_try, style in ((0.7, ":"), (1.0, "--"), (1.5, "-."), (2.5, "-")):
    gains = gain(prior_stds, z_try)
    left.semilogx(prior_stds / w_err, gains, style, color=BLUE, label=f"z = {z_try}")
    if z_try > 1:
        best = np.argmax(gains)
        left.plot(prior_stds[best] / w_err, gains[best], "*", ms=14, color=GREEN)
left.set(ylim=(-1, 2.2), xlim=(0.1, 30))
panel(left, "Only z > 1 has a best σ_p (star)", "σ_p, in standard errors", "evidence gained, nats")
z_axis = np.linspace(0, 3, 301)
kappas = np.maximum(1 - 1 / np.maximum(z_axis, 1e-3) ** 2, 0)
right.plot(z_axis, np.sqrt(kappas) * z_axis, color=BLUE, label="γ = μ/σ")
right.plot(z_axis, np.sqrt(kappas), "--", color=RED, label="σ, in standard errors")
panel(right, "γ and σ collapse at z = 1", "z, standard errors from 0", "")

# %% slideshow={"slide_type": "fragment"}
# eq. 6.18
for z_try in (0.7, 2.0, 6.0):  # other data, the same x: minimise over ρ and γ
    def minus(t, z_try=z_try):
        mu, sigma = weights_of(*t)
        return 0.5 * (mu**2 + sigma**2) / w_err**2 - z_try * mu / w_err + 0.5 * np.log1p(t[1] ** 2)

    end = optimize.minimize(minus, [-1.0, 0.3], method="Nelder-Mead", options={"maxiter": 4000})
    assert abs(end.x[1] - np.sqrt(max(z_try**2 - 1, 0))) < 0.02
    print(f"z = {z_try}: γ = {abs(end.x[1]):.3f}, σ = {weights_of(*end.x)[1]:.1e}")

# %% [markdown] slideshow={"slide_type": "subslide"}
# One standard error is a low bar: a weight that has nothing to do with the data passes it with probability
#
# $$P(z^2 > 1) = P(\chi^2_1 > 1) \approx 0.317 . \tag{6.19}$$
#
# **A third of the useless weights survive** in this model: their γ does not go to 0. (By the bar of this chapter's start, |γ| ≥ ½, it is a quarter: $z^2 > 1.25$.) Half of those have |γ| < 1, by (6.18) with $P(1 < z^2 < 2) \approx 0.16$; each of them costs less than $\frac12\ln 2 = 0.35$ nats. So "the prior switches off what is not needed" is a tendency, not a guarantee: a prior for each weight is as many hyperparameters as weights, and these are fitted by maximum likelihood. (In a network there is one more way out: when the output of a unit is switched off, all the weights that lead to it lose their last reason to be there.)

# %% slideshow={"slide_type": "subslide"}
# eq. 6.19
noise_only = s_noise * np.random.default_rng(4).standard_normal((20_000, 3))  # y without any w
survives = (noise_only @ x / (x @ x) / w_err) ** 2 > 1
chance = stats.chi2(1).sf(1.0)
print(f"useless weights that survive: {survives.mean():.3f}, in theory {chance:.3f}")
assert abs(survives.mean() - chance) < 4 * np.sqrt(chance * (1 - chance) / 20_000)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6.8 A network that switches weights off
#
# The sinusoid of chapter 3, with the package: `empirical_bayes.fit` is the nine steps in a compiled loop, but it steps in ρ and μ instead of ρ and γ; we shall see why. `tie` says who shares a prior: nobody (`"weight"`), the weights of a layer, or all.
#
# The draws $W_{ij}$ of (6.4), one for each data point, are made by **local reparameterization** (chapter 5). What a unit gets from a data point $x$, its *pre-activation* $\sum_k x_kw_k$, is a sum of independent Gaussians, hence $\mathcal N\big(\sum_k x_k\mu_k,\ \sum_k x_k^2\sigma_k^2\big)$: that one number is drawn instead of all the weights. (`QUIET` averages over what is known in closed form, the end of chapter 5.) All fits of this section have 1500 steps. "Switched off" is counted as at the start of the chapter: $|\gamma| < \tfrac12$.

# %% slideshow={"slide_type": "subslide"}
data = datasets.sinusoid(n=32, noise_std=1.0, seed=0)
x_grid = np.linspace(-1, 1, 121)[:, None]
options = {"noise_std": 1.0, "hidden_units": (20,)}
fits = {tie: empirical_bayes.fit(data.x, data.y, tie=tie, **empirical_bayes.QUIET, **options)
        for tie in empirical_bayes.TIES}
for tie, fit in fits.items():
    print(f"{tie:7s} free energy {fit.free_energy:6.1f} nats, "
          f"switched off {fit.pruning().fraction:.0%}")

# %% slideshow={"slide_type": "subslide"}
fig, axes = plt.subplots(1, 2, layout="constrained")
plots.draw_predictive(axes[0], x_grid, fits["weight"].predict(x_grid))
plots.draw_truth(axes[0], x_grid, data.truth(x_grid))
plots.draw_data(axes[0], data.x, data.y)
axes[0].set_ylim(-25, 36)
panel(axes[0], "A prior for each weight", "x", "y", loc="upper left", ncols=2)
looks = zip(fits.items(), ((BLUE, "-"), (RED, "--"), (GREEN, ":")), strict=True)
for (tie, fit), (colour, style) in looks:
    axes[1].semilogy(np.sort(fit.prior_std)[::-1], style, color=colour, label=f"tie = {tie!r}")
each = fits["weight"]
by_width = np.argsort(-each.prior_std)
off = np.flatnonzero(each.pruning().pruned[by_width])
axes[1].semilogy(off, each.prior_std[by_width[off]], "o", color=BLUE, ms=5, label="switched off")
axes[1].set_ylim(1e-4, 100)
panel(axes[1], "Learnt σ_p of each weight, sorted", "weight", "", loc="lower left")


# %% [markdown] slideshow={"slide_type": "subslide"}
# The dots are the weights that are switched off under a prior each. In this fit they are of two kinds. Some have collapsed: a narrow σ_p holds them at 0 (the steep end of the curve). Nearly all others lead into a hidden unit whose way out has collapsed: what they are does not matter, so their σ_p may be large, even 10, and their sign is open all the same. Under a *shared* prior no σ_p can collapse alone: there a weight that is off stays wide, and the data have no use for it.
#
# With a prior each, more than half of the weights are off, <!-- claim: a-prior-each-switches-off-most-weights --> far more than with one prior for all. <!-- claim: a-prior-each-switches-off-more-than-one-for-all -->
#
# Is the learnt σ_p of one prior for all the right one? Try the slow ways: set it by hand, refit, and compare free energies; or iterate (6.10): fit, set σ_p to the best one, fit again. (The second is what the button **σ ← best** of the explorer does.)

# %% slideshow={"slide_type": "fragment"}
def by_hand(prior_std):
    fixed = densities.Gaussian(float(prior_std))
    return local_reparam.fit(data.x, data.y, prior=fixed, **local_reparam.QUIET, **options)


sweep = np.logspace(-1, 1.5, 11)
profile = [by_hand(v).free_energy for v in sweep]
sigma_p, road = 0.3, [0.3]
for _ in range(6):
    fit = by_hand(sigma_p)
    sigma_p = empirical_bayes.optimal_prior_std(fit.mean, fit.std, 0 * fit.mean.astype(int))[0]
    road.append(sigma_p)
learnt = fits["all"].prior_std[0]
print("iterated:", " → ".join(f"{v:.2f}" for v in road), f"; learnt along the way: {learnt:.2f}")

# %% slideshow={"slide_type": "subslide"}
fig, ax = plt.subplots()
ax.semilogx(sweep, profile, ".-", color=BLUE, label="refitted with σ_p set by hand")
ax.axvline(learnt, color=GREEN, ls="--", label="learnt, one for all")
level = fits["all"].free_energy
ax.axhline(level, color=GREEN, ls=":", label="its free energy, where it was learnt")
ax.set(xlim=(0.008, 50), ylim=(0.8 * min(profile), 3 * min(profile)))
panel(ax, "σ_p by hand, and learnt", "prior σ_p", "free energy / nats", loc="upper left")
again = by_hand(learnt).free_energy - np.min(profile)
print(f"free energy above the sweep's lowest: {again:.0f} nats with the learnt σ_p set by hand; "
      f"{level - np.min(profile):.0f} where it was learnt")

# %% [markdown] slideshow={"slide_type": "subslide"}
# The learnt prior is in the right place: set by hand, it does as well as the best of the sweep, to within ten nats, <!-- claim: learnt-prior-is-as-good-as-a-sweep-s --> and the fit that learnt it ends on average within fifteen nats of where the sweep does. <!-- claim: learnt-prior-arrives-where-the-sweep-does -->
#
# **The same bound, other steps.** Why does the package not step in γ, as the nine steps do? A weight that the data speak about has a large γ. When its σ shrinks, as it must, μ = γσ shrinks with it, though the data want μ where it is. With one prior for all weights and local draws, 1500 steps of γ and ρ end on average more than 30 nats above 1500 steps of μ and ρ, from the same start at the same rate. <!-- claim: steps-of-gamma-stop-far-above --> The new variables are good for *writing* the KL and poor for training.
#
# They have a second weak spot: in steps of γ a weight that is switched off before it was of use does not come back (section 6.7). With a prior for each weight, a start from weak weights, γ around 1, ends more than 30 nats above a start from strong ones; <!-- claim: a-weak-start-gives-up --> in steps of μ a weak and a strong start end on average within fifteen nats of each other. <!-- claim: in-steps-of-mu-no-start-gives-up -->
#
# **Does it beat the point estimate?** That is one network by maximum likelihood, with the same width and the true noise. One run could say anything. So take twenty *worlds*, each a data set and a start of its own, give all the ways the same ones, and score them on new points: among the data, and outside.

# %% slideshow={"slide_type": "fragment"}
found = claims.show(
    "steps-of-gamma-stop-far-above", "a-weak-start-gives-up", "in-steps-of-mu-no-start-gives-up",
    "one-prior-for-all-is-level-among-the-data", "learnt-priors-win-outside",
    "what-is-pruned-cannot-be-unsure")

# %% [markdown] slideshow={"slide_type": "subslide"}
# (A row in % counts worlds. "One prior for all is level": that was so in all twenty, and more than half of them were asked for.)
#
# **Among the data: no.** One network that is told the noise is hard to beat on 32 points. One prior for all is level with it, to a quarter of a nat a point, in most worlds. <!-- claim: one-prior-for-all-is-level-among-the-data --> A prior for *each* weight is level with that, again to a quarter of a nat in most worlds. <!-- claim: a-prior-each-is-level-with-one-for-all-among-the-data -->
#
# **Outside: yes, by far.** <!-- claim: learnt-priors-win-outside --> The point estimate knows no doubt. But look at the prior for each weight: what it holds at 0 cannot be unsure either, and in more than four of five worlds it scores lower than one prior for all. <!-- claim: what-is-pruned-cannot-be-unsure -->

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6.9 Width 1 to 60 on patients
#
# The source of this method tested it on the Alzheimer's Disease Dataset: 2149 (synthetic) patients, 32 features, a diagnosis; one hidden ReLU layer of 1 to 60 units; 80 % for training. The score is the area under the ROC curve, AUC: the probability that a patient with the diagnosis gets a higher score than one without. The claim: *the Bayesian network does not overfit, however wide it is.*
#
# We run three models on the first split: one network by maximum likelihood ("classic"), the same with **weight decay** (the fair baseline), and empirical Bayes in steps of γ, as in the source. The λ of the weight decay, the precision of a fixed prior, is chosen at width 16: rows are drawn from the training rows, with replacement, and fitted; those that were never drawn give the score. (In a checkout `reproduce eb-alzheimers` has the source's network, too, which differs in details.)

# %% slideshow={"slide_type": "skip"}
try:
    table, rows = datasets.alzheimers(), datasets.alzheimers().splits()
    features, labels = table.x, table.y
except DatasetUnavailable:
    from sklearn.datasets import load_breast_cancer

    features, labels = load_breast_cancer(return_X_y=True)
    rows = datasets.splits(len(labels), 5, train_share=0.8)
    print("No Alzheimer's table here: scikit-learn's breast-cancer table takes its place.")


def split(number):
    """Standardised training and test rows: x, y, x_test, y_test."""
    train, test = rows[number]
    scaled = (features - features[train].mean(axis=0)) / features[train].std(axis=0)
    return scaled[train], labels[train], scaled[test], labels[test]


# %% slideshow={"slide_type": "skip"}
def probability(fit, x, draws=20):
    """P(y = 1), averaged as in (6.2); with draws=0, or one network, plugged in as in (6.1)."""
    w = fit.weights[None] if isinstance(fit, point.Fit) else fit.mean[None]
    if draws and not isinstance(fit, point.Fit):
        w = w + fit.std * np.random.default_rng(0).standard_normal((draws, w.size))
    inputs, each = tf.constant(x, tf.float32), tf.constant(w, tf.float32)[:, None]
    logits = [fit.network(w_t, inputs).numpy().ravel() for w_t in each]  # [S, m]
    return special.expit(np.array(logits, np.float64)).mean(axis=0)


def auc(fit, x, y):
    return metrics.auroc(y, probability(fit, x))


# %% slideshow={"slide_type": "skip"}
def of_width(x, width):
    """What all networks below have in common; one program serves the widths up to 16."""
    room = bbb.Capacity(len(x), (max(width, 16),), 1)
    return {"likelihood": "bernoulli", "steps": 800, "hidden_units": (width,), "capacity": room}


def bayes(x, y, width, **changes):
    plan = {**empirical_bayes.SOURCE, **of_width(x, width), "learning_rate": 0.03, **changes}
    return empirical_bayes.fit(x, y, **plan)


def classic(x, y, width, decay=0.0):
    return point.fit(x, y, weight_decay=decay, **of_width(x, width))


# %% slideshow={"slide_type": "fragment"}
x_train, y_train, x_test, y_test = split(0)
bag = np.random.default_rng(0).integers(len(x_train), size=len(x_train))  # with replacement
out = np.setdiff1d(np.arange(len(x_train)), bag)  # a third of the rows is in no bag
scores = {}
for decay in (1.0, 3.0, 10.0, 30.0, 100.0):
    fit = classic(x_train[bag], y_train[bag], 16, decay)
    scores[decay] = auc(fit, x_train[out], y_train[out])
decay = max(scores, key=scores.get)
print("validation AUC by λ:", {k: round(v, 3) for k, v in scores.items()}, "→ λ =", decay)

# %% slideshow={"slide_type": "subslide"}
widths, results, reports = (1, 2, 4, 8, 16, 60), {}, []
for width in widths:
    fits = {"classic": classic(x_train, y_train, width),
            "weight decay": classic(x_train, y_train, width, decay),
            "empirical Bayes": bayes(x_train, y_train, width)}
    for name, fit in fits.items():
        pair = auc(fit, x_train, y_train), auc(fit, x_test, y_test)
        results.setdefault(name, []).append(pair)
    reports.append(fits["empirical Bayes"].pruning())
for name, pairs in results.items():
    both = zip(widths, pairs, strict=True)
    print(f"{name:16s}", "  ".join(f"{w}: {a:.3f}/{b:.3f}" for w, (a, b) in both))

# %% slideshow={"slide_type": "subslide"}
fig, ax = plt.subplots()
looks = {"classic": (ORANGE, "s"), "weight decay": (GREEN, "^"), "empirical Bayes": (BLUE, "o")}
for name, (colour, marker) in looks.items():
    train_auc, test_auc = np.transpose(results[name])
    ax.semilogx(widths, train_auc, "--", color=colour, marker=marker, mfc="white")
    ax.semilogx(widths, test_auc, "-", color=colour, marker=marker, label=name)
ax.set_xticks(widths, widths)
panel(ax, "Dashed: training rows; solid: test rows", "hidden width", "AUC", loc="lower left")
gap = {name: pairs[-1][0] - pairs[-1][1] for name, pairs in results.items()}
print("train − test at width 60:", {k: round(v, 3) for k, v in gap.items()})

# %% [markdown] slideshow={"slide_type": "subslide"}
# What the learnt prior did to the networks:

# %% slideshow={"slide_type": "fragment"}
for width, report in zip(widths, reports, strict=True):
    used = round((1 - report.fraction) * len(report.pruned))
    print(f"width {width:2d}: {used} of {len(report.pruned)} weights in use; switched off in "
          f"layer 1: {report.by_layer[0]:.0%}, in layer 2: {report.by_layer[1]:.0%}")

# %% [markdown] slideshow={"slide_type": "subslide"}
# Plug in, or average (section 6.1)? The AUC asks for nothing but the order of the patients. The log likelihood asks for the probabilities themselves:

# %% slideshow={"slide_type": "fragment"}
for name, fit in fits.items():
    for how, draws in (("averaged", 20), ("plugged in", 0)):
        if draws and isinstance(fit, point.Fit):
            continue  # there is nothing to average
        p = probability(fit, x_test, draws)
        ll = np.log(np.where(y_test.ravel() == 1, p, 1 - p).clip(1e-7)).mean()
        print(f"{name:16s} {how:11s} test AUC {metrics.auroc(y_test, p):.3f}, "
              f"log likelihood {ll:6.3f} nats a patient")

# %% [markdown] slideshow={"slide_type": "subslide"}
# Averaging may change the order of the patients, and with it the AUC: it is the *probabilities* that are averaged, after the bend of the logistic function. Here it changes little; with 16 units, over many splits, the log likelihood by less than 0.02 nats a patient: <!-- claim: few-weights-are-left-to-average --> few uncertain weights are left to be averaged over. Compare the classic network's figure with that of a coin, $\ln 2 = 0.69$ nats a patient.
#
# All this was one split. Over twenty:

# %% slideshow={"slide_type": "fragment"}
found = claims.show(
    "empirical-bayes-beats-the-classic-network", "weight-decay-closes-most-of-it",
    "empirical-bayes-is-not-behind-a-tuned-decay", "sixty-units-rank-as-sixteen-do",
    "sixty-units-use-few-more-weights", "sixty-units-do-not-overfit")


# %% [markdown] slideshow={"slide_type": "subslide"}
# So the source's claim stands on this table. With 60 units the training AUC is less than 0.05 above the test AUC. <!-- claim: sixty-units-do-not-overfit --> Sixty units rank new patients equally well as 16, <!-- claim: sixty-units-rank-as-sixteen-do --> and keep less than one and a half times as many weights in use. <!-- claim: sixty-units-use-few-more-weights --> With 60 units the classic network is worse by more than 0.05 in AUC. <!-- claim: empirical-bayes-beats-the-classic-network --> But that is a straw man: weight decay, tuned by a validation set at width 16, gains, on average, more than half of the same distance. <!-- claim: weight-decay-closes-most-of-it --> The honest statement is: **not behind a tuned weight decay, with no validation set.** <!-- claim: empirical-bayes-is-not-behind-a-tuned-decay --> (It is not free of choices: start, step size and number of steps were chosen, too. Why the classic network tests better with 60 units, 0.857, than with 16, 0.811, one split cannot say.)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6.10 May the training score choose?
#
# The source goes on: over the widths the test AUC correlates with the training AUC ($r = 0.97$), so hyperparameters can be chosen by the training score, and no validation set is needed. Pearson's $r$ between paired scores $a_i$, $b_i$ is
#
# $$r = \frac{\sum_i (a_i-\bar a)(b_i-\bar b)}{\sqrt{\sum_i(a_i-\bar a)^2\,\sum_i(b_i-\bar b)^2}} . \tag{6.20}$$
#
# The pairs are widths. Among them are networks with one or two units, bad at both scores, which alone can make $r$ high. Here that matters little: without them $r$ falls from 0.99 to 0.94 (below). Even so, **the fair question** is put to networks that are all reasonable, on *one* split: does the one with the better training score test better? The picture has one network of each width from 4 on; each world of the table has twelve, of three widths, two step sizes and two starts. Beside them: an ordinary network, fitted with five weight decays.
#
# Nor may the *split* vary. Take a scorer that was never trained, and correlate its training AUC with its test AUC over many splits. A training part that happens to get the easier patients leaves the harder ones for the test. So the two AUCs move against each other: $r$ is near −1, though nothing was fitted. <!-- claim: splits-make-a-fixed-scorer-correlate -->

# %% slideshow={"slide_type": "fragment"}
# eq. 6.20
def pearson(a, b):
    a, b = a - np.mean(a), b - np.mean(b)
    return (a @ b) / np.sqrt((a @ a) * (b @ b))


a, b = np.transpose(results["empirical Bayes"])
assert np.isclose(pearson(a, b), stats.pearsonr(a, b)[0])
print(f"r over six widths {pearson(a, b):.2f}, over those from 4 on {pearson(a[2:], b[2:]):.2f}")

# %% slideshow={"slide_type": "fragment"}
decays = (0.0, 3.0, 10.0, 30.0, 100.0)
by_decay = [classic(x_train, y_train, 16, value) for value in decays]
c, d = np.transpose([(auc(f, x_train, y_train), auc(f, x_test, y_test)) for f in by_decay])
found = claims.show(
    "training-auc-follows-the-test-on-one-split",
    "training-auc-can-choose-a-pruned-network", "training-auc-cannot-choose-a-decay")

# %% slideshow={"slide_type": "subslide"}
fig, ax = plt.subplots()
ax.plot(a[2:], b[2:], "o", color=BLUE, ms=9, label="empirical Bayes, widths 4 to 60")
ax.plot(c, d, "s-", color=ORANGE, ms=8, label="one network, weight decay 100 … 0")
panel(ax, "One split: the training score with and against the test", "training AUC", "test AUC",
      loc="lower left")

# %% [markdown] slideshow={"slide_type": "subslide"}
# Among networks with learnt priors, the two do rise together, <!-- claim: training-auc-follows-the-test-on-one-split --> and choosing by the training AUC gives away less than 0.015. <!-- claim: training-auc-can-choose-a-pruned-network --> So the source has a point, for *its* networks on *this* table. It is no law: a weight decay chosen by the training AUC gives away more than 0.03. <!-- claim: training-auc-cannot-choose-a-decay --> The less decay, the better a network fits its training rows, noise and all: a score on the rows that were fitted must not choose how closely they are fitted.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 6.11 Play
#
# Try each preset, then test your predictions. In the right panel choose *each weight*: the orange points are $\sqrt{\mu^2+\sigma^2}$, what each weight would choose for itself; the black line is the prior in use. When they coincide, the prior is learnt for each weight.

# %% tags=["explorer"] slideshow={"slide_type": "subslide"}
explorer


# %% [markdown] slideshow={"slide_type": "subslide"}
# **Answers.** 1: nothing. μ/σ → 0, and ½ ln(1 + 0) = 0, however small σ is. 2: less than one and a half times as many, not four times (section 6.9). <!-- claim: sixty-units-use-few-more-weights --> 3: no; the bound is one on the type-II evidence (6.14). 4: no; in the one-weight model a third of the useless weights survive (6.19).

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Exercises
#
# Replace the `...` and run the cell. The check says "right", or which mistake it recognises. Below each exercise a worked solution is folded away.

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 6.1 Compute: the KL at the best prior
# Return (6.9), in nats, for arrays `mu` and `sigma` with one entry a weight.
#
# <details><summary>Hint</summary>The KL of independent weights is a sum. What happens to (6.5) when the first two terms add up to 1?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_kl(mu, sigma):
    return ...


exercises.check("6.1", my_kl)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_1(mu, sigma):
    return np.log(np.hypot(mu, sigma) / sigma).sum()  # the same, with the root inside


assert exercises.check("6.1", solution_1, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 6.2 Compute: one prior for a whole layer
# The weights of a layer share a prior. Return the *standard deviation* σ_p that is best for all of them, see (6.10).
#
# <details><summary>Hint</summary>Which is averaged over the layer, the standard deviation or its square?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_shared_prior(mu, sigma):
    return ...


exercises.check("6.2", my_shared_prior)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_2(mu, sigma):
    return np.sqrt(np.mean(mu**2 + sigma**2))


assert exercises.check("6.2", solution_2, record=False)

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 6.3 Explain: true or false
# Which of these are true? Give the letters, such as `{"a", "b"}`.
#
# - **a** The bound with a learnt prior never exceeds $\ln p(D\mid\sigma_p = 1)$.
# - **b** Multiplying μ and σ of a weight by 10 leaves its share of (6.9) as it is.
# - **c** At γ = 0 the KL term pushes the weight neither way.
# - **d** The larger |γ|, the harder the KL term pulls the weight back.
# - **e** For the same $q$, a prior for each weight never costs more nats than one for the layer.
# - **f** That training and test AUC correlate over the widths shows that the training AUC can choose between two networks of the same width.
#
# <details><summary>Hint</summary>For (b), see how (6.12) depends on the scale; for (d), draw (6.17); for (e), ask for each of the two what is chosen, and among which priors.</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
my_letters = ...  # such as {"a", "b"}

exercises.check("6.3", my_letters)

# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
# What is wrong with those that are not true:
# a: (6.14) has another right-hand side. d: γ/(1 + γ²) falls from |γ| = 1 on. f: section 6.10.
assert exercises.check("6.3", {"b", "c", "e"}, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 6.4 Compute: Δγ
# The loss is $-\mathcal L = \mathrm{nll} + \mathrm{KL}$ for one draw, $w = \sigma(\gamma+\varepsilon)$. Return its derivative in γ. `dnll_dw` is $\partial\,\mathrm{nll}/\partial w$. Here and in 6.5 all arguments are numbers, or all are arrays with one entry a weight.
#
# <details><summary>Hint</summary>γ reaches the likelihood through w alone. How far does w move when γ moves by one?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_delta_gamma(gamma, rho, eps, dnll_dw):
    return ...


exercises.check("6.4", my_delta_gamma)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_4(gamma, rho, eps, dnll_dw):
    sigma = np.log1p(np.exp(rho))
    return dnll_dw * sigma + gamma / (1 + gamma**2)


assert exercises.check("6.4", solution_4, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 6.5 Change: Δρ when the mean moves along
# The same loss: return its derivative in ρ. In Bayes by Backprop μ stays where it is when ρ moves. Here it does not.
#
# <details><summary>Hint</summary>Write w as a function of ρ with γ and ε held still. Does the KL contain ρ?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_delta_rho(gamma, rho, eps, dnll_dw):
    return ...


exercises.check("6.5", my_delta_rho)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_5(gamma, rho, eps, dnll_dw):
    return dnll_dw * (gamma + eps) / (1 + np.exp(-rho))


assert exercises.check("6.5", solution_5, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 6.6 Compute: is this weight worth keeping?
# How much is the weight of $y = wx +$ noise worth, with the best prior that it can have? Return its log evidence under the prior of (6.16) less the log evidence without it, $\ln p(D\mid w=0)$, in nats; 0 if it is to be pruned. `x` and `y` are vectors.
#
# <details><summary>Hint</summary>Put (6.16) into (6.15): only z is left. Where κ is 0, what is left of (6.15)?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_worth(x, y, noise_std):
    return ...


exercises.check("6.6", my_worth)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_6(x, y, noise_std):
    ratio = (x @ y) ** 2 / (x @ x) / noise_std**2  # z²
    return 0.5 * (ratio - 1 - np.log(ratio)) if ratio > 1 else 0.0


assert exercises.check("6.6", solution_6, record=False)
x_6, y_6 = np.array([0.5, -1.2, 2.0]), np.array([0.4, -1.0, 1.1])  # our weight, at noise 0.5
tried_6 = [exact.linear_regression(x_6[:, None], y_6, prior_std, 0.5).log_evidence
           for prior_std in np.geomspace(0.1, 10, 500)]
gained = max(tried_6) + densities.gaussian_nll(y_6, 0.0, 0.5**2).sum()  # less that at w = 0
print(f"our weight is worth {gained:.2f} nats")
assert np.isclose(solution_6(x_6, y_6, 0.5), gained, atol=1e-3)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 6.7 Break: a KL for every γ
# Return ½ ln(1 + γ²) for each entry of `gamma`, right also for γ = ±10³⁰⁰ (in float64; float32 ends at 10³⁸).
#
# <details><summary>Hint</summary>γ² overflows long before its logarithm is large. Take the ½ into the logarithm: what is then inside, and in which triangle is it a side?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_stable_kl(gamma):
    return ...


exercises.check("6.7", my_stable_kl)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_7(gamma):
    return np.log(np.hypot(1.0, gamma))


assert exercises.check("6.7", solution_7, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 6.8 Extend: how often is a unit on?
# A ReLU lets a pre-activation through where it is above 0. The weights of a layer are independent Gaussians, given by γ and σ of (6.11), `gamma` and `sigma` `[in, out]`. Return for each input of `x` `[n, in]` and each unit the probability that its pre-activation is above 0, over draws of the weights: `[n, out]`. Draw nothing; one case has weights with σ = 10⁻⁶. (`stats.norm.cdf` is Φ.)
#
# <details><summary>Hint</summary>Section 6.8 has the Gaussian of a pre-activation. How many of its standard deviations does 0 lie below its mean?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_share_on(x, gamma, sigma):
    return ...


exercises.check("6.8", my_share_on)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_8(x, gamma, sigma):
    mean, std = x @ (gamma * sigma), np.sqrt(x**2 @ sigma**2)
    return stats.norm.cdf(mean / std)


assert exercises.check("6.8", solution_8, record=False)
rng_8 = np.random.default_rng(6)
x_8, gamma_8, sigma_8 = rng_8.normal(size=(3, 4)), rng_8.normal(size=(4, 2)), rng_8.random((4, 2))
drawn_8 = x_8 @ (sigma_8 * (gamma_8 + rng_8.normal(size=(20_000, 4, 2))))
assert np.allclose(solution_8(x_8, gamma_8, sigma_8), (drawn_8 > 0).mean(axis=0), atol=0.02)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 6.9 Extend: is one of them ill?
# `logits` `[S, m]` holds the outputs of $S$ drawn networks for $m$ patients. Given the weights, each falls ill independently of the others. Return the probability, under (6.2), that *at least one* of the $m$ is ill: one number.
#
# <details><summary>Hint</summary>What does one drawn network say to the question? And what does (6.2) do with the answers of all?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_at_least_one(logits):
    return ...


exercises.check("6.9", my_at_least_one)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_9(logits):
    nobody = np.prod(1 / (1 + np.exp(logits)), axis=1)  # by network: the patients share its weights
    return 1 - np.mean(nobody)


assert exercises.check("6.9", solution_9, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 6.10 Experiment: a prior for each weight that pays
# Linear regression, 30 points, 20 features, of which a few matter; nobody says which. `x` is `[k, 30, 20]` and `y` `[k, 30]`: k data sets with noise of sd `noise_std`. Return σ_p, a standard deviation and not its square, for each weight of each, `[k, 20]`; 0 switches a weight off. New points must score at least 0.1 nats higher, in the mean over six data sets, than with the best single σ_p for all weights of a data set. Here the posterior is exact (`exact.linear_regression` takes one σ_p for all; multiply each feature by its own σ_p first, and give it 1).
#
# Draw the log evidence first, over the number of your improvements of σ_p.
#
# <details><summary>Hint</summary>(6.8) says what is best for a given posterior. With another prior, the posterior is another one.</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
# fig, ax = plt.subplots()
# ax.plot(range(50), [... for _ in range(50)], label="log evidence of my σ_p")
# panel(ax, "Prior, posterior, prior, …", "improvements", "ln p(D | σ_p)")
def my_priors(x, y, noise_std):
    return ...


exercises.check("6.10", my_priors)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def improved(x, y, noise_std, std):
    """One step: the posterior of x·std with σ_p = 1, and (6.8) in the units of the weights."""
    known = exact.linear_regression(x * std, y, prior_std=1.0, noise_std=noise_std)
    return std * np.sqrt(known.mean**2 + np.diag(known.cov)), known.log_evidence


def solution_10(x, y, noise_std, times=100):
    found = []
    for x_k, y_k in zip(x, y, strict=True):
        std = np.ones(x_k.shape[1])
        for _ in range(times):
            std, _ = improved(x_k, y_k, noise_std, std)
        found.append(std)
    return np.array(found)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
rng_10, (fig, ax) = np.random.default_rng(8), plt.subplots()
for colour, style in ((BLUE, "-"), (RED, "--"), (GREEN, ":")):
    x_k = rng_10.standard_normal((30, 20))
    y_k = x_k[:, :3] @ np.array([1.0, -1.0, 1.0]) + rng_10.standard_normal(30)
    std_k, road_k = np.ones(20), []
    for _ in range(50):
        std_k, evidence_k = improved(x_k, y_k, 1.0, std_k)
        road_k.append(evidence_k)
    ax.plot(road_k, style, color=colour, label=f"σ_p below 0.1: {np.sum(std_k < 0.1)} of 20")
panel(ax, "Prior, posterior, prior, …", "improvements", "ln p(D | σ_p)")
assert exercises.check("6.10", solution_10, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 6.11 Experiment: which weights are worth keeping?
# 200 points, 40 features in units of every size, noise of sd `noise_std`; ten weights are there, thirty are not. Return for each weight of the linear model whether you keep it. In each of four data sets you may miss at most two of the ten, and keep at most four of the thirty.
#
# Make data of your own, where you know which weights are useful, and draw the share that is kept of either kind over the height of your bar.
#
# <details><summary>Hint</summary>Which measure of a weight does not change when its feature is measured in other units? A bar at one standard error is (6.18); (6.19) says what that lets pass.</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
# fig, ax = plt.subplots()
# bars = np.linspace(0, 7, 50)
# ax.plot(bars, ..., color=BLUE, label="useful weights kept")
# ax.plot(bars, ..., color=RED, label="useless weights kept")
# panel(ax, "How high a bar?", "height of the bar", "share kept")
def my_choice(x, y, noise_std):
    return ...


exercises.check("6.11", my_choice)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def in_standard_errors(x, y, noise_std):
    cov = np.linalg.inv(x.T @ x) * noise_std**2
    return np.abs(cov @ x.T @ y / noise_std**2) / np.sqrt(np.diag(cov))


def solution_11(x, y, noise_std):
    return in_standard_errors(x, y, noise_std) > 2.5


assert exercises.check("6.11", solution_11, record=False)

# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
rng_11, heights, bars = np.random.default_rng(9), [], np.linspace(0, 7, 50)
for _ in range(20):  # twenty worlds
    x_k, useful_k = rng_11.standard_normal((200, 40)), np.arange(40) < 10
    y_k = 0.2 * x_k[:, useful_k].sum(axis=1) + 0.5 * rng_11.standard_normal(200)
    heights.append(in_standard_errors(x_k, y_k, 0.5))
heights = np.array(heights)
fig, ax = plt.subplots()
for part, colour, name in ((useful_k, BLUE, "useful"), (~useful_k, RED, "useless")):
    kept_k = [(heights[:, part] > bar).mean() for bar in bars]
    ax.plot(bars, kept_k, color=colour, label=f"{name} weights kept")
ax.axvline(1.0, color="0.6", ls=":", label="what survives (6.18)")
panel(ax, "How high a bar?", "height of the bar in standard errors", "share kept")

# %% slideshow={"slide_type": "fragment"}
exercises.progress(6)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Mistakes in circulation
#
# Each of these is in print, or in published code. Do not believe us either: run them.

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Claim (code):** the noise of a pre-activation is `eps * (x @ sigma)`. **True:** that is *one* ε for all the inputs of a unit, so that all its weights move together. Independent weights add their variances, $\sqrt{x^2\sigma^2}$. With entries of both signs the first can even be zero where the second is large:

# %% slideshow={"slide_type": "fragment"}
rng = np.random.default_rng(5)
x_row, sigma_row = rng.standard_normal(30), np.full(30, 0.5)
w_draws = sigma_row * rng.standard_normal((20_000, 30))
true_sd, wrong_sd = np.sqrt(x_row**2 @ sigma_row**2), abs(x_row @ sigma_row)
print(f"sd of x·w over draws {np.std(w_draws @ x_row):.3f}; √(x²σ²) = {true_sd:.3f}, "
      f"|x·σ| = {wrong_sd:.3f}")
assert np.isclose(np.std(w_draws @ x_row), true_sd, rtol=0.02)
assert abs(wrong_sd / true_sd - 1) > 0.2

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Claim:** "the ELBO is a lower bound of the log evidence." **True** for a fixed prior. Once the prior is chosen by maximising it, it bounds the *largest* log evidence over all priors, and may exceed the one of σ_p = 1, as in section 6.6. Comparing it with the ELBO of a fixed-prior model is comparing two different bounds:

# %% slideshow={"slide_type": "fragment"}
for prior_std in (0.2, 1.0, 5.0):
    fixed = exact.linear_regression(x[:, None], y, prior_std=prior_std, noise_std=s_noise)
    print(f"ln p(D | σ_p = {prior_std}) = {fixed.log_evidence:.3f}; "
          f"empirical-Bayes bound {-surface.fun:.3f}")
    assert -surface.fun > fixed.log_evidence

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Claim:** "the KL term shrinks weights." **True** for a fixed prior. Here it shrinks only γ, and for strong weights hardly: the type-II fit is nearly least squares, where ridge regression with σ_p = 1 is not.

# %% slideshow={"slide_type": "fragment"}
x_far, y_far = np.array([1.0, 2.0]), np.array([20.0, 41.0])
w_far, e_far = x_far @ y_far / (x_far @ x_far), s_noise / np.sqrt(x_far @ x_far)
for name, kappa in (("σ_p = 1", 1 / (1 + e_far**2)), ("learnt σ_p", 1 - (e_far / w_far) ** 2)):
    print(f"{name:11s} mean weight {kappa * w_far:.3f}, least squares {w_far:.3f}")

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Claim:** "loss = nll + kl", with a *mean* nll. **True** with kl/N, as in step 7. Without it the KL counts $N$ times too much, as if each point were worth $1/N$ of one. That divides $z$ by $\sqrt N$: a weight survives only beyond $\sqrt N$ standard errors, not one. One that the data clearly ask for loses half of its γ here:

# %% slideshow={"slide_type": "fragment"}
right, wrong = nine_steps(), nine_steps(n_points=1)
print(f"kl/N: μ = {right[0]:.3f}, γ = {right[0] / right[1]:.2f};  "
      f"kl: μ = {wrong[0]:.3f}, γ = {wrong[0] / wrong[1]:.2f}")
assert abs(wrong[0] / wrong[1]) < abs(right[0] / right[1]) - 0.5

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Claim,** of the step from (6.8) to (6.9): "this step is in no book or article that I found." **True:** Kharitonov, Molchanov and Vetrov (2018) have the same bound. They write it as *variational dropout* does, with σ as a multiple of μ: $w\sim\mathcal N(\mu, \tilde\alpha\mu^2)$ and $\mathrm{KL} = \frac12\ln(1 + 1/\tilde\alpha)$. The idea of learning the width of the prior from the evidence is older: MacKay (1992b) for neural networks, Tipping (2001) for one width a weight; (6.16) is from his later work with Faul.

# %% slideshow={"slide_type": "fragment"}
alpha_tilde = sigmas[:2] ** 2 / mus[:2] ** 2  # the noise-to-signal ratio of variational dropout
assert np.isclose(0.5 * np.log1p(1 / alpha_tilde).sum(), kl_best(mus[:2], sigmas[:2]))
print(f"both: {kl_best(mus[:2], sigmas[:2]):.4f} nats")

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Claim:** "Bayes beats the classic network." **Ask:** which classic one? Without any regulariser it is a straw man. The table of section 6.9 has the fair one beside it:

# %% slideshow={"slide_type": "fragment"}
for name, pairs in results.items():
    print(f"{name:16s} test AUC at width 60: {pairs[-1][1]:.3f}")
assert results["weight decay"][-1][1] > results["classic"][-1][1] - 0.01

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Summary
#
# - Plug-in predictions trust one network; the posterior predictive averages probabilities.
# - For Gaussians the best prior variance is $\mu^2+\sigma^2$, averaged over the weights that share it; then $\mathrm{KL} = \frac12\sum\ln(1+\mu^2/\sigma^2)$.
# - With σ = softplus(ρ), μ = γσ it is $\frac12\sum\ln(1+\gamma^2)$: no 0/0, no σ_p.
# - The bound is one on the type-II evidence $\max_\lambda\ln p(D\mid\lambda)$; it may exceed $\ln p(D\mid\lambda=1)$.
# - The KL is scale-free: weak weights are switched off, strong ones left alone. Of useless ones some survive (a third, in the one-weight model), and in steps of γ a useful one can be switched off too early.
# - γ is for writing the KL; to walk in, μ is better: with one prior for all, the same free energy ends tens of nats lower. <!-- claim: steps-of-gamma-stop-far-above -->
# - On the patients, 60 units rank as 16 do, <!-- claim: sixty-units-rank-as-sixteen-do --> and empirical Bayes is not behind a tuned weight decay. <!-- claim: empirical-bayes-is-not-behind-a-tuned-decay -->
# - Over splits, training and test AUC move against each other even if nothing was fitted. <!-- claim: splits-make-a-fixed-scorer-correlate --> Ask on one split what a training score can choose: one of several networks with learnt priors here, <!-- claim: training-auc-can-choose-a-pruned-network --> and no weight decay. <!-- claim: training-auc-cannot-choose-a-decay -->

# %% [markdown] slideshow={"slide_type": "subslide"}
# ## References
#
# - Kharitonov, Molchanov, Vetrov (2018). Variational dropout via empirical Bayes. [arXiv:1811.00596](https://arxiv.org/abs/1811.00596)
# - MacKay (1992a). Bayesian interpolation. [doi:10.1162/neco.1992.4.3.415](https://doi.org/10.1162/neco.1992.4.3.415)
# - MacKay (1992b). A practical Bayesian framework for backpropagation networks. [doi:10.1162/neco.1992.4.3.448](https://doi.org/10.1162/neco.1992.4.3.448)
# - Tipping (2001). Sparse Bayesian learning and the relevance vector machine. [doi:10.1162/15324430152748236](https://doi.org/10.1162/15324430152748236)
# - Blundell, Cornebise, Kavukcuoglu, Wierstra (2015). Weight uncertainty in neural networks. [arXiv:1505.05424](https://arxiv.org/abs/1505.05424)
# - Kingma, Salimans, Welling (2015). Variational dropout and the local reparameterization trick. [arXiv:1506.02557](https://arxiv.org/abs/1506.02557)
# - Molchanov, Ashukha, Vetrov (2017). Variational dropout sparsifies deep neural networks. [arXiv:1701.05369](https://arxiv.org/abs/1701.05369)
#
# Faul and Tipping's paper is "Analysis of sparse Bayesian learning" (NIPS 2002). The derivation and the experiment are those of D. K. Basov's paper on empirical Bayesian neural networks (in Russian). The data are R. El Kharoua's "Alzheimer's Disease Dataset" (Kaggle, 2024), a synthetic table, CC BY 4.0.

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Previous:** [5 · Local reparameterization](05_local_reparameterization.ipynb) · **Next:** [7 · Probabilistic backpropagation](07_probabilistic_backpropagation.ipynb): no gradient descent at all.

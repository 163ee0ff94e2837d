# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown] slideshow={"slide_type": "slide"}
# # 4 · How right is it?
#
# *The answer of chapter 3 beside the truth, and what of the gap is whose.*
#
# **Time** 10 minutes · **Section times** 4.1: 5 · play: 5
#
# **What you will be able to do**
#
# - name the three parts of the gap between an answer and the truth;
# - compute two of them where the truth is known.
#
# **Prerequisites** The free energy, from [chapter 3](03_bayes_by_backprop.ipynb); exact linear regression, from [chapter 1](01_from_mle_to_bayes.ipynb). Notation: [chapter 0](00_start_here.ipynb#Notation).

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Predict first
#
# Write down your answers. Section 4.1 tests the first.
#
# 1. Two inputs are nearly the same, so that the data speak of the sum of two weights only. Each weight gets a Gaussian of its own, and is trained to the very end. What is left of the KL to the posterior?
# 2. With a narrow prior the curve misses the peaks of the data; with a small KL weight its band shrinks. In which of the two cases would NUTS, with the same prior and noise, do as the curve does?

# %% slideshow={"slide_type": "subslide"}
from bdl_teach.widgets import SinusoidExplorer

explorer = SinusoidExplorer()
explorer

# %% slideshow={"slide_type": "skip"}
import numpy as np

from bdl_teach.backend import tfp
from bdl_teach.methods import exact

tfd = tfp.distributions

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 4.1 Three parts of a gap
#
# An answer can differ from what you hoped for because the *optimiser* stopped early, because the *family* has no member that is the posterior, or because the *prior* let the posterior know no better. With $q^*$ for the best member of the family, chapter 3's $\mathrm{KL}[q\|P(w\mid D)] = F + \log P(D)$ splits into the first two:
#
# $$\mathrm{KL}[q\,\|\,P(w\mid D)] = \underbrace{F(q) - F(q^*)}_{\text{optimisation}} + \underbrace{\mathrm{KL}[q^*\,\|\,P(w\mid D)]}_{\text{family}} . \tag{4.1}$$
#
# The third part is in neither: exact inference has it too.

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
# ## 4.2 Play
#
# For a network the posterior is not known in closed form. NUTS draws from it: press *compare with NUTS* under the sliders, wait half a minute, and compare the bands.

# %% slideshow={"slide_type": "fragment"}
explorer.preset("narrow prior")
explorer

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Exercises
#
# The exercises of this chapter are being written.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Mistakes in circulation
#
# **Claim:** "the band is wrong, so the family is too small." **True:** (4.1) has another part, and its cause is the optimiser; the prior may be to blame for the rest. Measure all three before you name one.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Summary
#
# - Gap to the truth = optimisation + family + prior.
# - The first two add up to $\mathrm{KL}[q\|P(w\mid D)]$, the third is in the posterior itself.

# %% [markdown] slideshow={"slide_type": "subslide"}
# ## References
#
# - Blundell, Cornebise, Kavukcuoglu, Wierstra (2015). Weight uncertainty in neural networks. [arXiv:1505.05424](https://arxiv.org/abs/1505.05424)
# - Foong, Burt, Li, Turner (2020). On the expressiveness of approximate inference in Bayesian neural networks. [arXiv:1909.00719](https://arxiv.org/abs/1909.00719)
# - Osband, Aslanides, Cassirer (2018). Randomized prior functions for deep reinforcement learning. [arXiv:1806.03335](https://arxiv.org/abs/1806.03335)
# - Wenzel et al. (2020). How good is the Bayes posterior in deep neural networks really? [arXiv:2002.02405](https://arxiv.org/abs/2002.02405)
# - Izmailov, Vikram, Hoffman, Wilson (2021). What are Bayesian neural network posteriors really like? [arXiv:2104.14421](https://arxiv.org/abs/2104.14421)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Previous:** [3 · Bayes by Backprop](03_bayes_by_backprop.ipynb) · **Next:** [5 · Local reparameterization](05_local_reparameterization.ipynb): the same objective, with a gradient whose noise falls as the batch grows.

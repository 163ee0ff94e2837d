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
# # 2 · Reparameterization and the variational autoencoder
#
# *How to send a gradient through a random number, and the first thing that it made possible.*
#
# **Run the cell below** (Shift+Enter), then point anywhere on the map. A network has learnt to write each picture of a digit as *two* numbers, its place on the map, without ever seeing a label; beside the map is the picture that it makes of the place that you point at. What lies between two digits?

# %% tags=["explorer"] slideshow={"slide_type": "fragment"}
from bdl_teach.widgets import VAEExplorer

explorer = VAEExplorer()
explorer

# %% [markdown] slideshow={"slide_type": "subslide"}
# ## What you will be able to do
#
# - say what an autoencoder cannot do, and what a variational autoencoder (VAE) changes;
# - derive the evidence lower bound (ELBO) for a latent variable, and compute both of its terms;
# - write $z = \mu + \sigma\odot\varepsilon$ and say why the gradient passes, and when it would not;
# - compare the score-function and the pathwise gradient by their variances, in a formula and by experiment;
# - train a VAE, read its latent map, generate from its prior, and choose β;
# - recognise a collapsed posterior, and three published recipes that produce wrong pictures.
#
# **Time** 56 minutes · **Minutes per section** 2.1: 5 · 2.2: 5 · 2.3: 5 · 2.4: 7 · 2.5: 5 · 2.6: 5 · 2.7: 5 · 2.8: 2 · 2.9: 3 · 2.10: 2 · opening and end: 12
#
# **Prerequisites** Python, NumPy, the chain rule, what a neural network is. The KL divergence is introduced here; [chapter 1](01_from_mle_to_bayes.ipynb) has more on it. Notation: [chapter 0](00_start_here.ipynb#Notation).

# %% [markdown] slideshow={"slide_type": "subslide"}
# ## Predict first
#
# Write down your answers. Section 2.5 tests question 3, section 2.7 question 4, section 2.10 the other two.
#
# The encoder makes a code as $z = \mu + \sigma\odot\varepsilon$: a mean plus a spread times standard normal noise. The loss is an error of the picture plus β times the KL, a term that grows as the codes leave a standard normal distribution.
#
# 1. Cut the KL term away and encode without noise. Where will the codes lie on the map?
# 2. β grows from 1 to 4. What will the decoded picture look like, wherever you point?
# 3. Two estimators have the same mean, the gradient of a cost. One uses the *values* of the cost, the other its *slope*. You add the constant 10 to the cost. Which of them gets noisier?
# 4. You want new digits. Which $z$ do you decode: $\sigma\odot\varepsilon$ with the encoder's σ, or ε itself?

# %% slideshow={"slide_type": "skip"}
import matplotlib.pyplot as plt
import numpy as np
from scipy.special import logsumexp
from scipy.stats import entropy, norm
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from bdl_teach import DatasetUnavailable, datasets, densities, exercises, plots
from bdl_teach.backend import tf, tfd, tfp
from bdl_teach.methods import vae
from bdl_teach.methods.vae import kl_from_prior
from bdl_teach.plots import BLUE, GREY, ORANGE, RED, panel

plots.lecture_style()


# %% slideshow={"slide_type": "skip"}
def show_images(title, rows, names, side):
    """Title that says what to see, one row of pictures for each name."""
    size = (9.5, 0.9 * len(rows) + 0.4)
    fig, axes = plt.subplots(len(rows), 1, figsize=size, layout="constrained")
    fig.suptitle(title, fontsize=13)
    for ax, pictures, name in zip(np.atleast_1d(axes), rows, names, strict=True):
        ax.imshow(np.hstack([p.reshape(side, side) for p in pictures]), cmap="gray_r", vmin=0)
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
        ax.set_ylabel(name, rotation=0, ha="right", va="center", fontsize=11)


# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2.1 An autoencoder: two networks and a bottleneck
#
# An **autoencoder** squeezes $x$ through a short code $z$. A first network, the encoder, makes the code; a second one, the decoder, makes an approximation of $x$ from it,
#
# $$z = \mathrm{encoder}_\phi(x), \qquad \hat x = \mathrm{decoder}_\theta(z). \tag{2.1}$$
#
# In this chapter **φ** is all that is trained in the encoder, and **θ** all that is trained in the decoder. Both are trained together, so that $\hat x$ is close to $x$. Nothing else is asked for. The data are the 1797 digits that come with scikit-learn, 64 grey values in $[0, 1]$ each; 1500 to train on, 297 held out. The code has *two* numbers, so that we can look at it.

# %% slideshow={"slide_type": "fragment"}
digits = datasets.digits()
pixels, labels = digits.images.reshape(-1, 64), digits.labels
train, test = pixels[:1500], pixels[1500:]
plain = vae.fit_autoencoder(train)
code, spread = plain.encode(test)
print(f"{len(train)} digits to train on; codes of shape {code.shape}, without noise: σ = "
      f"{spread.max():.0f}")


# %% slideshow={"slide_type": "subslide"}
# eq. 2.1
def network(w, sizes, h):
    """A ReLU network, its weight matrices and biases one after the other in w."""
    for i, (n_in, n_out) in enumerate(zip(sizes[:-1], sizes[1:], strict=True)):
        matrix, bias, w = np.split(w, [n_in * n_out, (n_in + 1) * n_out])
        h = np.maximum(h, 0) if i else h  # ReLU between the layers
        h = h @ matrix.reshape(n_out, n_in).T + bias
    return h


phi, theta = plain.encoder_weights, plain.decoder_weights
z_test = network(phi, (64, 128, 64, 4), test)[:, :2]  # the other two: section 2.2
logits = network(theta, (2, 64, 128, 64), z_test)
assert np.allclose(z_test, code, atol=1e-5)
assert np.allclose(1 / (1 + np.exp(-logits)), plain.decode(code), atol=1e-5)

# %% slideshow={"slide_type": "subslide"}
rebuilt = plain.decode(code)
error = np.square(test - rebuilt).sum(axis=1).mean()
mean_error = np.square(test - train.mean(axis=0)).sum(axis=1).mean()
show_images("Held-out digits, rebuilt from two numbers each",
            [test[:12], rebuilt[:12]], ["x", "rebuilt"], 8)
print(f"squared error of a held-out digit: {error:.2f}; of the mean picture: {mean_error:.2f}")

# %% [markdown] slideshow={"slide_type": "subslide"}
# The decoder turns any two numbers into a picture. Can we *generate* with it: take a random $z$, leave the encoder out? Nothing in training said where codes should lie. They lie where they like; a random $z$ meets what happens to live there.

# %% slideshow={"slide_type": "fragment"}
codes = plain.encode(train)[0]
fig, ax = plt.subplots(figsize=(6.5, 5))
for digit in range(10):
    ax.scatter(*codes[labels[:1500] == digit].T, marker=f"${digit}$", s=42)
ring = np.exp(1j * np.linspace(0, 2 * np.pi, 100))
ax.plot(2 * ring.real, 2 * ring.imag, "--", color=GREY, label="where z ~ N(0, I) falls (2 sd)")
panel(ax, "Codes of a plain autoencoder: wherever they like", "z₁", "z₂")
print(f"mean of the codes {codes.mean(axis=0).round(1)}, sd {codes.std(axis=0).round(1)}")

# %% slideshow={"slide_type": "subslide"}
judge = LogisticRegression(max_iter=1000).fit(train, labels[:1500])  # it knows digits


def digits_made(images):
    """Effective number of digits that the judge sees: k equally frequent ones count as k."""
    return np.exp(entropy(np.bincount(judge.predict(images), minlength=10)))


show_images("The autoencoder decodes random z: a few digits, again and again",
            [plain.sample(12), plain.sample(12, seed=1)], ["z random", "z random"], 8)
print(f"the judge says {judge.score(test, labels[1500:]):.0%} of the held-out digits right, and "
      f"finds an effective number of {digits_made(plain.sample(500)):.1f} digits in 500 generated")


# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2.2 From a point to a distribution
#
# A VAE lets the encoder say *how sure it is*. Its output is a Gaussian over codes, $q_\phi(z\mid x) = \mathcal N(\mu, \operatorname{diag}\sigma^2)$ with μ and σ computed from $x$; the decoder is given a draw from it. And the codes are told where to live: near a **prior** $p(z) = \mathcal N(0, I)$, a distribution that we can draw from without any encoder.
#
# "Near" is measured by the **Kullback-Leibler divergence** $\mathrm{KL}[q\,\|\,p] = \mathbb E_q[\log q - \log p]$, which is never negative, and 0 only for $q = p$. A loss that asks for both is
#
# $$\mathrm{loss}(x) = \mathbb E_{q_\phi}\,\lVert x - \hat x\rVert^2 + \mathrm{KL}\big[q_\phi(z\mid x)\,\|\,p(z)\big] . \tag{2.2}$$

# %% slideshow={"slide_type": "skip"}
def chain(ax, boxes, title):
    """Boxes from left to right, with arrows from edge to edge."""
    drawn = []
    for i, text in enumerate(boxes):
        fill = "#DCEBF7" if text.startswith(("encoder", "decoder")) else "white"
        style = {"boxstyle": "round,pad=0.4", "fc": fill, "ec": GREY}
        drawn.append(ax.text(i, 0, text, ha="center", va="center", fontsize=14, bbox=style))
        if i and boxes[i - 1]:
            tail, head = (box.get_bbox_patch() for box in drawn[-2:])
            ends = {"patchA": tail, "patchB": head}
            ax.annotate("", (i, 0), (i - 1, 0), arrowprops={"arrowstyle": "->", "lw": 2, **ends})
    ax.set(xlim=(-0.6, 4.6), ylim=(-0.6, 0.9))
    ax.set_title(title, loc="left", fontsize=12)
    ax.axis("off")


# %% slideshow={"slide_type": "subslide"}
fig, axes = plt.subplots(2, 2, figsize=(13, 2.8), layout="constrained")
chain(axes[0, 0], ["x", "encoder", "z", "decoder", r"$\hat x$"], "Autoencoder: train")
chain(axes[0, 1], ["", "", "any z?", "decoder", r"$\hat x$"], "Autoencoder: generate")
chain(axes[1, 0], ["x", "encoder", "z ~ q(z|x)", "decoder", r"$\hat x$"], "VAE: train")
chain(axes[1, 1], ["", "", "z ~ N(0, I)", "decoder", r"$\hat x$"], "VAE: generate from the prior")
for ax in axes[:, 1]:
    ax.set_xlim(1.4, 4.6)

# %% [markdown] slideshow={"slide_type": "subslide"}
# To see what (2.2) does, take a VAE so small that everything about it is known: one number $x$, one number $z$, the prior $p(z) = \mathcal N(0, 1)$, and a linear decoder with two parameters, $p_\theta(x\mid z) = \mathcal N(\theta_1 z + \theta_0,\, s^2)$. We look at one $x$ only, so φ is μ and σ themselves. Here $\hat x = \theta_1 z + \theta_0$, and the expectation in (2.2) is $(x - \theta_1\mu - \theta_0)^2 + \theta_1^2\sigma^2$. The first part wants the right mean; the second wants σ = 0. The KL wants σ = 1.

# %% slideshow={"slide_type": "fragment"}
# eq. 2.2
theta_0, theta_1, x = 0.2, 1.5, 1.0
z = np.linspace(-12, 12, 24001)  # values of z


def squared_loss(mu, sigma):
    squares = (x - theta_1 * mu - theta_0) ** 2 + theta_1**2 * sigma**2
    return squares + densities.gaussian_kl(mu, sigma, 0.0, 1.0)


mu, sigma = 0.4, 0.6
q = norm(mu, sigma).pdf(z)
integrand = q * ((x - theta_1 * z - theta_0) ** 2 + norm(mu, sigma).logpdf(z) - norm.logpdf(z))
assert np.isclose(squared_loss(mu, sigma), np.trapezoid(integrand, z))

# %% [markdown] slideshow={"slide_type": "subslide"}
# For a Gaussian $q$ with independent coordinates and a standard normal prior, the KL is a formula,
#
# $$\mathrm{KL}[q\,\|\,p] = \tfrac12\sum_{j}\left(\mu_j^2 + \sigma_j^2 - 1 - 2\log\sigma_j\right), \tag{2.3}$$
#
# and where there is no formula, $S$ draws $z_k \sim q$ do: an expectation is a **mean**,
#
# $$\mathrm{KL}[q\,\|\,p] \approx \frac1S\sum_{k=1}^S \big(\log q(z_k\mid x) - \log p(z_k)\big). \tag{2.4}$$

# %% slideshow={"slide_type": "fragment"}
# eq. 2.3
means, stds = np.array([[0.4, -1.0], [0.0, 0.0]]), np.array([[0.6, 0.2], [1.0, 1.0]])
by_tfp = tfd.kl_divergence(tfd.MultivariateNormalDiag(means, stds),
                           tfd.MultivariateNormalDiag(np.zeros((2, 2)), np.ones((2, 2))))
kls = kl_from_prior(means, stds)  # (2.3), summed over the last axis; exercise 2.1 is yours
assert np.allclose(kls, by_tfp) and kls[1] == 0
print("KL of the two codes:", kls.round(3))

# %% slideshow={"slide_type": "fragment"}
# eq. 2.4
draws = means[0] + stds[0] * np.random.default_rng(0).standard_normal((20_000, 2))
terms = (norm(means[0], stds[0]).logpdf(draws) - norm.logpdf(draws)).sum(axis=1)
error = terms.std() / np.sqrt(len(terms))
print(f"sampled KL {terms.mean():.3f} ± {error:.3f}, formula {kls[0]:.3f}")
assert abs(terms.mean() - kls[0]) < 5 * error

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2.3 Where the loss comes from
#
# Loss (2.2) looks like a recipe: an error plus a regulariser. It is more. Read the decoder as a *probability model of the data*: nature draws $z$ from the prior and $x$ from $p_\theta(x\mid z)$. How probable is an $x$? The **evidence** $p_\theta(x) = \int p_\theta(x\mid z)\,p(z)\,\mathrm dz$ would say, and maximum likelihood would train the decoder with it. But for a network nobody can do that integral.
#
# So take any $q_\phi(z\mid x)$. As $\log p_\theta(x)$ contains no $z$, it is its own expectation over $q_\phi$. Write it by Bayes' rule, and multiply and divide by $q_\phi$ under the logarithm:
#
# $$\log p_\theta(x) = \mathbb E_{q_\phi}\bigg[\log\Big(\frac{p_\theta(x\mid z)\,p(z)}{p_\theta(z\mid x)}\cdot\frac{q_\phi(z\mid x)}{q_\phi(z\mid x)}\Big)\bigg] = \underbrace{\mathbb E_{q_\phi}\Big[\log\frac{p_\theta(x\mid z)\,p(z)}{q_\phi(z\mid x)}\Big]}_{\text{ELBO}} + \underbrace{\mathrm{KL}\big[q_\phi(z\mid x)\,\|\,p_\theta(z\mid x)\big]}_{\ge 0} . \tag{2.5}$$

# %% slideshow={"slide_type": "subslide"}
# eq. 2.5
s = 0.5
log_px = norm(theta_0, np.hypot(theta_1, s)).logpdf(x)  # exact: x = θ₁ z + θ₀ + noise is Gaussian
joint = norm(theta_1 * z + theta_0, s).logpdf(x) + norm.logpdf(z)  # log p(x | z) p(z)
post_sd = s / np.hypot(theta_1, s)  # posterior of z: one weight of a linear model, (1.9)
post_mu = theta_1 * (x - theta_0) / (theta_1**2 + s**2)
assert np.isclose(np.trapezoid(np.exp(joint), z), np.exp(log_px))

for mu_k, sigma_k in ((0.4, 0.6), (0.0, 1.0), (post_mu, post_sd)):
    q_k = norm(mu_k, sigma_k)
    bound = np.trapezoid(q_k.pdf(z) * (joint - q_k.logpdf(z)), z)
    distance = densities.gaussian_kl(mu_k, sigma_k, post_mu, post_sd)
    print(f"ELBO {bound:.3f} + KL {distance:.3f} = {bound + distance:.4f}; log p(x) = {log_px:.4f}")
    assert np.isclose(bound + distance, log_px)


# %% [markdown] slideshow={"slide_type": "subslide"}
# The first term is a lower bound of the evidence, tight when $q_\phi$ is the true posterior of the code: the **evidence lower bound**. A change of φ that raises it makes the second term smaller: the encoder becomes a better guess of the posterior. A change of θ that raises it may do two things, since (2.5) is a sum: make the data more probable, or only make the KL smaller, by bending the model until its posterior is nearer to $q_\phi$. Split the logarithm, and two familiar terms appear:
#
# $$\mathrm{ELBO}(x) = \underbrace{\mathbb E_{q_\phi}[\log p_\theta(x\mid z)]}_{\text{reconstruction}} - \underbrace{\mathrm{KL}\big[q_\phi(z\mid x)\,\|\,p(z)\big]}_{\text{price of the code}} \;\le\; \log p_\theta(x) . \tag{2.6}$$

# %% slideshow={"slide_type": "fragment"}
# eq. 2.6
def elbo(mu, sigma, s=0.5):
    """Closed form for the linear decoder."""
    squares = (x - theta_1 * mu - theta_0) ** 2 + theta_1**2 * sigma**2
    reconstruction = -squares / (2 * s**2) - 0.5 * np.log(2 * np.pi * s**2)
    return reconstruction - densities.gaussian_kl(mu, sigma, 0.0, 1.0)


assert np.isclose(elbo(0.4, 0.6), np.trapezoid(q * (joint - norm(mu, sigma).logpdf(z)), z))
mus, sigmas = np.linspace(-1.0, 1.6, 105)[None], np.linspace(0.03, 1.4, 100)[:, None]
surface = elbo(mus, sigmas)
assert (surface <= log_px).all() and np.isclose(elbo(post_mu, post_sd), log_px)

# %% slideshow={"slide_type": "subslide"}
fig, ax = plt.subplots()
lines = ax.contour(mus[0], sigmas[:, 0], log_px - surface, [0.1, 0.3, 1, 2, 4, 8], colors=GREY)
ax.clabel(lines, fmt="%g nats")
ax.plot(post_mu, post_sd, "*", ms=18, color=RED, label="true posterior of the code: 0 nats")
ax.plot(0, 1, "o", ms=10, color=BLUE, label="the prior: a code that says nothing")
ax.set_ylim(0, 1.75)  # room for the legend
panel(ax, "log p(x) − ELBO: how far q is from the posterior", "μ", "σ", loc="upper left")

# %% [markdown] slideshow={"slide_type": "subslide"}
# **When is the recipe (2.2) the ELBO?** With a Gaussian decoder of standard deviation $s$ in each of $d$ pixels,
#
# $$-\mathrm{ELBO} = \frac{1}{2s^2}\,\mathbb E_{q_\phi}\lVert x-\hat x\rVert^2 + \mathrm{KL}[q_\phi\,\|\,p] + \frac d2\log 2\pi s^2 .$$
#
# So squared error plus KL is −ELBO up to a constant for *one* noise level, $2s^2 = 1$. Any other weight of the squared error is a statement about $s$, whether you meant it or not.

# %% slideshow={"slide_type": "fragment"}
places = [(0.1, 0.4), (0.5, 0.2), (-1.0, 2.0), (0.0, 1.0)]
for s_k in (0.5, np.sqrt(0.5), 1.0):
    differences = [-elbo(m, sd, s_k) - squared_loss(m, sd) for m, sd in places]
    print(f"s² = {s_k**2:.2f}: −ELBO minus loss (2.2), for four q: {np.round(differences, 3)}")


# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2.4 A gradient through a random number
#
# Training needs the gradient of the loss by θ and by φ, and the two are not alike. The KL has a formula, (2.3), and no draw in it; the trouble is the reconstruction. Write $f(z)$ for what a draw costs, here $-\log p_\theta(x\mid z)$. **θ stands inside the expectation**, in what is averaged. Which $z$ are drawn does not depend on it, so the derivative goes inside: draw $z$, backpropagate through the decoder as ever, average. **φ stands in the expectation's subscript**: it decides which $z$ are drawn.
#
# $$\frac{\partial}{\partial\theta}\,\mathbb E_{q_\phi}[f(z)] = \mathbb E_{q_\phi}\Big[\frac{\partial f(z)}{\partial\theta}\Big], \qquad \frac{\partial}{\partial\phi}\,\mathbb E_{q_\phi}[f(z)] = \int f(z)\,\frac{\partial q_\phi(z\mid x)}{\partial\phi}\,\mathrm dz \;\ne\; \mathbb E_{q_\phi}\Big[\frac{\partial f(z)}{\partial\phi}\Big] = 0 . \tag{2.7}$$
#
# The last one is 0, because for a given $z$ no φ is left in $f(z)$. So the recipe that is right for the decoder tells the encoder nothing. In the small model, with θ₁ for the decoder and μ for the encoder:

# %% slideshow={"slide_type": "fragment"}
# eq. 2.7
def expected_cost(theta_1, mu):
    """Mean of −log p(x | z) over q, in closed form, up to a constant."""
    return ((x - theta_1 * mu - theta_0) ** 2 + theta_1**2 * sigma**2) / (2 * s**2)


h, drawn = 1e-5, np.random.default_rng(1).normal(mu, sigma, 200_000)  # just numbers
by_theta = (expected_cost(theta_1 + h, mu) - expected_cost(theta_1 - h, mu)) / (2 * h)
by_mu = (expected_cost(theta_1, mu + h) - expected_cost(theta_1, mu - h)) / (2 * h)
inside = drawn * (theta_1 * drawn + theta_0 - x) / s**2  # ∂f/∂θ₁ at each draw
error = inside.std() / np.sqrt(drawn.size)
print(f"by θ₁: slope of the mean cost {by_theta:.2f}, mean of the slopes {inside.mean():.2f}")
print(f"by μ:  slope of the mean cost {by_mu:.2f}, mean of the slopes 0, as f(z) has no μ in it")
assert abs(inside.mean() - by_theta) < 5 * error and abs(by_mu) > 0.1

# %% [markdown] slideshow={"slide_type": "subslide"}
# A program meets the same wall. If a random generator is asked for "a number from $\mathcal N(\mu,\sigma^2)$" and returns 0.7, then 0.7 is a constant, and nothing tells the optimiser what it would have been for another μ. Compare two gradients of the cost $(z - 1)^2$ by μ: of a number $z$ that is drawn, and of the same number built from noise.

# %% slideshow={"slide_type": "fragment"}
mu_tf, sigma_tf = tf.Variable(0.4), tf.Variable(0.6)
with tf.GradientTape(persistent=True) as tape:
    drawn = float(np.random.default_rng(1).normal(mu_tf.numpy(), sigma_tf.numpy()))
    cost_blocked = tf.square(tf.constant(drawn) - 1.0)
    noise = float(np.random.default_rng(1).normal())
    cost_open = tf.square(mu_tf + sigma_tf * noise - 1.0)
assert np.isclose(cost_blocked, cost_open)  # the same number
print("gradient by μ through the draw:  ", tape.gradient(cost_blocked, mu_tf))
print("gradient by μ through μ + σ ε:   ", tape.gradient(cost_open, mu_tf).numpy())


# %% slideshow={"slide_type": "skip"}
def draw_graph(ax, boxes, title, stop=0):
    """A chain of boxes; below it the gradient runs back, as far as box number ``stop``."""
    chain(ax, boxes, title)
    for i in range(stop + 1, len(boxes)):
        ax.annotate("", (i - 0.85, -0.45), (i - 0.15, -0.45),
                    arrowprops={"arrowstyle": "->", "lw": 2.5, "color": BLUE})
    if stop:
        ax.text(stop, -0.45, "×", color=RED, fontsize=26, weight="bold", ha="center", va="center")
    else:
        ax.annotate("ε", (2, 0.28), (2, 0.8), ha="center", fontsize=14,
                    arrowprops={"arrowstyle": "->", "lw": 2})
    ax.set(xlim=(-0.5, 5.5), ylim=(-0.7, 1.0))


# %% slideshow={"slide_type": "subslide"}
fig, axes = plt.subplots(2, 1, figsize=(11, 3.6), layout="constrained")
draw_graph(axes[0], ["φ", "μ, σ", "generator", "z", "decoder θ", "cost"],
           "The generator makes z: the gradient (blue) ends there, and φ learns nothing", stop=2)
draw_graph(axes[1], ["φ", "μ, σ", "μ + σ ⊙ ε", "z", "decoder θ", "cost"],
           "The generator makes ε, which knows nothing of φ: the gradient reaches φ")

# %% [markdown] slideshow={"slide_type": "subslide"}
# The way out: let the generator make noise that knows nothing of the parameters, and *build* the draw from it,
#
# $$z = \mu + \sigma\odot\varepsilon, \qquad \varepsilon\sim\mathcal N(0, I) . \tag{2.8}$$
#
# $z$ has the same distribution as before, and is now a differentiable function of μ and σ with $\partial z/\partial\mu = 1$ and $\partial z/\partial\sigma = \varepsilon$. Nothing about the randomness has changed; it has only been moved out of the way. This is the **reparameterization trick**.

# %% slideshow={"slide_type": "fragment"}
# eq. 2.8
eps = np.random.default_rng(2).standard_normal(200_000)
z_draws = mu + sigma * eps
assert abs(z_draws.mean() - mu) < 5 * sigma / np.sqrt(eps.size)
assert np.isclose(z_draws.std(), sigma, rtol=0.01)
h = 1e-6  # the same ε, a slightly different σ: that is what ∂z/∂σ means
assert np.allclose((mu + (sigma + h) * eps - z_draws) / h, eps, atol=1e-4)

# %% [markdown] slideshow={"slide_type": "subslide"}
# It is not about Gaussians. It needs three things. The noise does not depend on φ, so that the expectation is over ε. $z = g(\varepsilon, \phi)$ is differentiable in φ. And $f$ is continuous and piecewise differentiable, as a ReLU is. (A step is not: its slope is 0 nearly everywhere, though its expectation moves with φ.) φ then stands inside, as θ does, and the derivative may go inside as well:
#
# $$\frac{\partial}{\partial\phi}\,\mathbb E_{q_\phi}[f(z)] = \frac{\partial}{\partial\phi}\,\mathbb E_\varepsilon\big[f\big(g(\varepsilon,\phi)\big)\big] = \mathbb E_\varepsilon\Big[f'\big(g(\varepsilon,\phi)\big)\,\frac{\partial g}{\partial\phi}(\varepsilon,\phi)\Big]. \tag{2.9}$$
#
# For example an exponential with mean φ is $-\phi\log u$ with uniform $u$. A coin toss has no such $g$: its outcome jumps.

# %% slideshow={"slide_type": "fragment"}
# eq. 2.9
u = (np.arange(1_000_000) + 0.5) / 1_000_000  # uniform noise, evenly spread
phi = 0.7
path = 2 * (-phi * np.log(u)) * -np.log(u)  # f(z) = z², so f′(z) ∂g/∂φ
assert np.isclose(path.mean(), 4 * phi, rtol=1e-3)  # E z² = 2φ², its derivative is 4φ

for family in (tfd.Normal(0.0, 1.0), tfd.Exponential(1.0), tfd.Gumbel(0.0, 1.0),
               tfd.Bernoulli(probs=0.3), tfd.Poisson(1.0)):
    free = family.reparameterization_type == tfd.FULLY_REPARAMETERIZED
    print(f"{family.name:12} {'a gradient passes through its draws' if free else 'no'}")


# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2.5 Two gradients, one mean
#
# There is another way, which needs no $g$ at all. Start from the integral in (2.7), and write $\partial q = q\,\partial\log q$:
#
# $$\frac{\partial}{\partial\phi}\,\mathbb E_{q_\phi}[f(z)] = \mathbb E_{q_\phi}\Big[f(z)\,\frac{\partial}{\partial\phi}\log q_\phi(z)\Big]. \tag{2.10}$$
#
# The derivative of $\log q_\phi$ is called the *score*, and this the **score-function** estimator (REINFORCE in reinforcement learning). It needs only *values* of $f$: $f$ may be a simulator or a game. The **pathwise** estimator (2.9) needs the *slope* of $f$. Compare the two on a bowl with an offset, $f(z) = \tfrac c2(z-1)^2 + b$, with $q = \mathcal N(\mu,\sigma^2)$, for the gradient by μ:

# %% slideshow={"slide_type": "fragment"}
# eq. 2.10
def two_gradients(mu, sigma, eps, c=1.0, offset=0.0):
    """Draws of the gradient by μ: score function, pathwise."""
    z = mu + sigma * eps
    f, slope = 0.5 * c * (z - 1) ** 2 + offset, c * (z - 1)
    return f * (z - mu) / sigma**2, slope


score, path = two_gradients(0.0, 1.0, eps)
for name, estimate in (("score function", score), ("pathwise", path)):
    error = estimate.std() / np.sqrt(eps.size)
    print(f"{name:15} mean {estimate.mean():6.3f} ± {error:.3f}   variance {estimate.var():.2f}")
    assert abs(estimate.mean() - (0.0 - 1.0)) < 5 * error  # exact: c (μ − 1)


# %% [markdown] slideshow={"slide_type": "subslide"}
# The same mean, not the same noise. Put $z = \mu+\sigma\varepsilon$ into the bowl: $f(z) = f(\mu) + f'(\mu)\,\sigma\varepsilon + \tfrac c2\sigma^2\varepsilon^2$. The slope is $f'(\mu) + c\,\sigma\varepsilon$: that is one pathwise draw. The score by μ is $(z-\mu)/\sigma^2 = \varepsilon/\sigma$, so that one draw of the score function is $f(\mu)\,\varepsilon/\sigma + f'(\mu)\,\varepsilon^2 + \tfrac c2\sigma\varepsilon^3$. Both have the mean $f'(\mu)$. Their variances follow from the second, fourth and sixth moment of ε, which are 1, 3 and 15 (the odd ones are 0):
#
# $$\operatorname{Var}_{\text{path}} = c^2\sigma^2, \qquad \operatorname{Var}_{\text{score}} = \frac{f(\mu)^2}{\sigma^2} + 3\,c\,f(\mu) + 2\,f'(\mu)^2 + \tfrac{15}{4}\,c^2\sigma^2 . \tag{2.11}$$
#
# As σ → 0, when the encoder becomes sure, the pathwise noise vanishes, and the other *explodes* as $f(\mu)^2/\sigma^2$ (unless the cost at μ happens to be 0). And a large offset $b$, which changes no gradient, is a part of $f(\mu)$, so that it is paid for with its square. (Question 3: the score function.)

# %% slideshow={"slide_type": "fragment"}
# eq. 2.11
def variances(mu, sigma, c=1.0, b=0.0):
    f, slope = c / 2 * (mu - 1.0) ** 2 + b, c * (mu - 1.0)  # at μ
    score = f**2 / sigma**2 + 3 * c * f + 2 * slope**2 + 15 / 4 * c**2 * sigma**2
    return score, c**2 * sigma**2


for at, sd, c, b in ((0.0, 1.0, 1, 0), (0.0, 0.1, 1, 0), (0.5, 2.0, 3, 0), (0.0, 1.0, 1, 10)):
    theory, drawn = variances(at, sd, c, b), two_gradients(at, sd, eps, c, b)
    print(f"μ = {at}, σ = {sd}, c = {c}, b = {b:2}: variance of score function {theory[0]:6.2f}, "
          f"pathwise {theory[1]:5.2f}, ratio {theory[0] / theory[1]:.0f}")
    assert np.allclose([g.var() for g in drawn], theory, rtol=0.06)

# %% slideshow={"slide_type": "subslide"}
sd_axis = np.geomspace(0.03, 3, 100)
fig, ax = plt.subplots()
for offset, style in ((0.0, "-"), (10.0, "--")):
    ax.loglog(sd_axis, variances(0.0, sd_axis, b=offset)[0], style, color=ORANGE,
              label=f"score function, offset {offset:.0f}")
ax.loglog(sd_axis, variances(0.0, sd_axis)[1], color=BLUE, label="pathwise, any offset")
panel(ax, "Noise of one draw of the gradient by μ, at μ = 0", "σ", "variance")

# %% [markdown] slideshow={"slide_type": "subslide"}
# **A baseline** repairs the offset. The score has mean 0, for $\mathbb E_{q_\phi}[\partial\log q_\phi] = \int\partial q_\phi\,\mathrm dz = \partial\!\int q_\phi\,\mathrm dz = \partial\,1 = 0$, so any constant may be subtracted from $f$. A good one is near the mean cost, $\bar f$:
#
# $$\mathbb E_{q_\phi}\Big[\big(f(z) - \bar f\big)\,\frac{\partial}{\partial\phi}\log q_\phi(z)\Big] = \frac{\partial}{\partial\phi}\,\mathbb E_{q_\phi}[f(z)] . \tag{2.12}$$
#
# Without $g$, as for a coin toss, this is how one lives. Where there is a $g$ and a slope, take the path, as a rule. The exception to know: a cost with many steep ripples has enormous slopes that cancel only on average (preset *ripples* of the gradient lab, section 2.10).

# %% slideshow={"slide_type": "fragment"}
# eq. 2.12
f = 0.5 * (eps - 1) ** 2 + 10.0  # μ = 0, σ = 1, offset 10: the score is ε
for name, baseline in (("no baseline", 0.0), ("baseline E f", 11.0)):
    estimate = (f - baseline) * eps
    assert abs(estimate.mean() + 1.0) < 5 * estimate.std() / np.sqrt(eps.size)
    print(f"{name}: mean {estimate.mean():.2f}, variance {estimate.var():.1f}")

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2.6 A VAE from scratch
#
# Everything is there. The encoder outputs μ and ρ for each coordinate, with σ = softplus(ρ) = log(1 + e^ρ) > 0. The decoder outputs for each pixel the **logit** $\ell_j$ of a Bernoulli, whose probability is $1/(1+e^{-\ell_j})$. Then
#
# $$\log p_\theta(x\mid z) = \sum_j \big(x_j \ell_j - \log(1 + e^{\ell_j})\big),$$
#
# minus the cross-entropy. It is meant for pixels that are 0 or 1. Ours are grey. A pixel of 0.7 gets 0.7 times the log probability of a 1 plus 0.3 times that of a 0: the mean of both, if it is 1 with probability 0.7. So for a grey picture the formula is the mean of $\log p_\theta$ over random black-and-white pictures made of it, and our ELBO bounds the mean $\log p_\theta(x)$ of *those*. For (2.6) holds with any $q$: for each black-and-white picture, too, with the $q$ that the encoder makes of the grey one. The loss is
#
# $$\mathrm{loss}_\beta(x) = -\frac1S\sum_{k=1}^S\log p_\theta(x\mid \mu+\sigma\odot\varepsilon_k) + \beta\,\mathrm{KL}\big[q_\phi(z\mid x)\,\|\,p(z)\big], \tag{2.13}$$
#
# averaged over a minibatch; β = 1 is −ELBO. One draw a step ($S = 1$) is enough for minibatches of a hundred, say Kingma and Welling (2014).

# %% slideshow={"slide_type": "fragment"}
model = vae.fit(train)  # the package: 2000 steps of Adam in one compiled loop
noise = np.random.default_rng(3).standard_normal(code.shape)


def encode(h):
    return tf.constant(network(model.encoder_weights, (64, 128, 64, 4), h.numpy()))


def decode(h):
    return tf.constant(network(model.decoder_weights, (2, 64, 128, 64), h.numpy()))


# %% slideshow={"slide_type": "subslide"}
# eq. 2.13
def beta_loss(encode, decode, x, eps, beta=1.0):
    """Mean over the batch; encode gives μ and ρ side by side, decode gives logits."""
    mean, rho = tf.split(encode(x), 2, axis=1)
    std = tf.nn.softplus(rho)
    logits = decode(mean + std * eps)
    log_likelihood = tf.reduce_sum(x * logits - tf.nn.softplus(logits), axis=1)
    prior = tfd.MultivariateNormalDiag(tf.zeros_like(mean), tf.ones_like(std))
    kl = tfd.kl_divergence(tfd.MultivariateNormalDiag(mean, std), prior)
    return tf.reduce_mean(beta * kl - log_likelihood)


likelihood, kl = model.elbo_draws(test, noise[None])
parts = likelihood.mean(), kl_from_prior(*model.encode(test)).mean()
for beta in (0.0, 1.0, 4.0):
    ours = beta_loss(encode, decode, tf.constant(np.float64(test)), tf.constant(noise), beta)
    assert np.isclose(ours, beta * parts[1] - parts[0], rtol=1e-5)

# %% [markdown] slideshow={"slide_type": "subslide"}
# That is the package's loss, with the package's weights. Now train it ourselves: two Keras networks, Adam, one line that draws ε. One loss, one tape, and it reaches θ and φ alike.

# %% slideshow={"slide_type": "fragment"}
import tf_keras

tf_keras.utils.set_random_seed(0)


def mlp(*sizes):
    hidden = [tf_keras.layers.Dense(n, "relu") for n in sizes[:-1]]
    return tf_keras.Sequential([*hidden, tf_keras.layers.Dense(sizes[-1])])


encoder, decoder, adam = mlp(128, 64, 4), mlp(64, 128, 64), tf_keras.optimizers.Adam(0.004)
batches = tf.data.Dataset.from_tensor_slices(train).shuffle(1500, seed=0).repeat().batch(100)
encoder(train[:1]), decoder(np.zeros((1, 2), np.float32))
phi, theta = encoder.trainable_variables, decoder.trainable_variables


# %% slideshow={"slide_type": "subslide"}
@tf.function
def step(batch):
    with tf.GradientTape() as tape:
        loss = beta_loss(encoder, decoder, batch, tf.random.normal([len(batch), 2]))
    slopes = tape.gradient(loss, [*phi, *theta])
    adam.apply_gradients(zip(slopes, [*phi, *theta], strict=True))
    return loss


losses = [float(step(batch)) for batch in batches.take(600)]
print(f"loss: {np.mean(losses[:20]):.1f} at the start, {np.mean(losses[-20:]):.1f} after 600; "
      f"the package's ends at {-model.history['elbo'][-10:].mean():.1f}")

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2.7 What it has learnt
#
# The map of all codes. No label was used; yet a nearest-neighbour rule on the two numbers alone tells more than three in four of the held-out digits. <!-- claim: two-numbers-tell-most-digits -->

# %% slideshow={"slide_type": "subslide"}
mean, std = model.encode(pixels)
fig, ax = plt.subplots(figsize=(6.5, 5))
for digit in range(10):
    ax.scatter(*mean[labels == digit].T, marker=f"${digit}$", s=42)
ax.plot(2 * ring.real, 2 * ring.imag, "--", color=GREY, label="prior, 2 sd")
panel(ax, "Codes of the VAE: they fill the prior", "z₁", "z₂", loc="upper right")
neighbours = KNeighborsClassifier(10).fit(mean[:1500], labels[:1500])
right = neighbours.score(mean[1500:], labels[1500:])
print(f"class from the two numbers: {right:.0%} right (chance 10 %)")

# %% [markdown] slideshow={"slide_type": "subslide"}
# A single code is not spread like the prior. On average its σ is below a half: the nats of the KL are the price of that precision, and of the distance from the origin. <!-- claim: one-code-is-narrow --> It is *all codes together* that fill the prior, roughly: <!-- claim: codes-together-fill-the-prior -->
#
# $$\bar q(z) = \frac1n\sum_{i=1}^n q_\phi(z\mid x_i) \approx p(z) \quad\Rightarrow\quad \text{generate with } z\sim\mathcal N(0, I), \text{ then } x\sim p_\theta(x\mid z) . \tag{2.14}$$
#
# How roughly? Write $\log\frac{q_\phi}{p} = \log\frac{q_\phi}{\bar q} + \log\frac{\bar q}{p}$ in each KL, and average over the data. The average KL of a code splits in two: what a code says about *its* digit, and how far all codes together are from the prior,
#
# $$\frac1n\sum_{i=1}^n \mathrm{KL}\big[q_\phi(z\mid x_i)\,\|\,p\big] = \underbrace{\frac1n\sum_{i=1}^n \mathrm{KL}\big[q_\phi(z\mid x_i)\,\|\,\bar q\big]}_{\text{said about the digit}} + \underbrace{\mathrm{KL}\big[\bar q\,\|\,p\big]}_{\text{misfit of (2.14)}} . \tag{2.15}$$

# %% slideshow={"slide_type": "fragment"}
# eq. 2.14 and 2.15
together = np.sqrt(mean.var(axis=0) + np.square(std).mean(axis=0))
print(f"sd of one code: {std.mean():.2f} on average; of all codes together: {together.round(2)}")

some = slice(None, None, 3)  # 599 codes, and a draw of each
z_each = (mean + std * np.random.default_rng(9).standard_normal(mean.shape))[some]
log_each = norm(mean[some], std[some]).logpdf(z_each[:, None]).sum(axis=-1)  # draw i, code j
log_all = logsumexp(log_each, axis=1) - np.log(len(z_each))
said = np.mean(np.diag(log_each) - log_all)
misfit = np.mean(log_all - norm.logpdf(z_each).sum(axis=1))
whole = kl_from_prior(mean[some], std[some]).mean()
print(f"KL of a code {whole:.2f} nats ≈ {said:.2f} about its digit + {misfit:.2f} misfit "
      f"(by draws)")
assert abs(said + misfit - whole) < 0.1 and misfit < 0.25 * whole

# %% [markdown] slideshow={"slide_type": "subslide"}
# So draw $z$ from the prior: it makes more different digits than the autoencoder did. <!-- claim: vae-makes-more-digits --> The spread of *one* code, the encoder's σ, is no place to draw from: with $z = \sigma\odot\varepsilon$ all draws fall near the origin, and the pictures near whatever lives there. (Question 4: decode ε itself. The pictures show the mean of $p_\theta(x\mid z)$, as is the custom, not a draw of each pixel.)

# %% slideshow={"slide_type": "subslide"}
noise = np.random.default_rng(7).standard_normal((500, 2))
narrow = std[np.random.default_rng(8).integers(0, len(std), 500)] * noise
made = {"z = ε": model.decode(noise), "z = σ ⊙ ε": model.decode(narrow),
        "autoencoder": plain.sample(500, seed=7)}
show_images("Random z, decoded: the VAE's prior makes more different digits",
            [images[:12] for images in made.values()], list(made), 8)
print("different digits in 500:", ", ".join(f"{digits_made(v):.1f} from {k}"
                                            for k, v in made.items()))
assert digits_made(made["z = ε"]) > digits_made(made["z = σ ⊙ ε"]) + 0.5

# %% [markdown] slideshow={"slide_type": "subslide"}
# **β** sets the price of the code. Below 1 the code may say more, and the reconstruction is better. <!-- claim: a-cheap-code-rebuilds-better --> Above 1 the code says less, until it says nothing. <!-- claim: a-dear-code-says-nothing --> In both cases the ELBO, which the model was to maximise, is lower than at β = 1. <!-- claim: beta-one-has-the-best-bound --> A code that says nothing costs nothing: an encoder that outputs the prior for every image has a KL of 0, and its decoder paints the mean digit. That is **posterior collapse**. Only β = 1 optimises the ELBO.

# %% slideshow={"slide_type": "fragment"}
scores = {beta: vae.fit(train, beta=beta).elbo(test, 20) for beta in (0.1, 1.0, 2.0, 10.0)}
print("   β   reconstruction   KL     ELBO   (nats a held-out digit)")
for beta, score in scores.items():
    print(f"{beta:5} {score.reconstruction.mean():12.2f} {score.kl.mean():8.2f} "
          f"{score.elbo.mean():8.2f}")
kls = [score.kl.mean() for score in scores.values()]
assert kls == sorted(kls, reverse=True) and kls[-1] < 0.05
assert max(scores, key=lambda beta: scores[beta].elbo.mean()) == 1.0

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2.8 Clothes
#
# The same function on 28 × 28 pictures: Fashion-MNIST, of which the course uses 900 in one file (if this machine has neither the data nor a network, the digits stand in, and the cell says so). Two numbers for 784 pixels are few. They carry kind, outline and shade; straps, prints and folds are lost, and a bag may come back as a jacket. About half of the *generated* pictures are smears: their $z$ fell into a hole between two kinds, where no code was.

# %% slideshow={"slide_type": "subslide"}
try:
    pictures = datasets.fashion_sprite()
except DatasetUnavailable:
    pictures = digits
    print("Fashion-MNIST is not here and cannot be fetched: scikit-learn's digits stand in.")
side = pictures.images.shape[1]
mix = np.random.default_rng(5).permutation(len(pictures.images))
flat = pictures.images.reshape(len(mix), -1)[mix]
clothes = vae.fit(flat[:800], steps=1000, batch_size=50)
rest = flat[800:812]
show_images("Held-out pictures, rebuilt; and new ones, from random z",
            [rest, clothes.decode(clothes.encode(rest)[0]), clothes.sample(12)],
            ["held out", "rebuilt", "generated"], side)

# %% slideshow={"slide_type": "subslide"}
held_out = flat[800:]
rebuilt = np.square(held_out - clothes.decode(clothes.encode(held_out)[0])).sum(axis=1).mean()
by_mean = np.square(held_out - flat[:800].mean(axis=0)).sum(axis=1).mean()
score = clothes.elbo(held_out, 10)
print(f"{pictures.name}: ELBO {score.elbo.mean():.0f} nats a picture, KL {score.kl.mean():.1f}; "
      f"squared error {rebuilt:.1f}, of the mean picture {by_mean:.1f}")

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2.9 The same in TFP
#
# In TensorFlow Probability layers return *distributions*. `IndependentNormal` turns the encoder's output into $q(z\mid x)$, and where a tensor is needed it draws one, reparameterized. `KLDivergenceRegularizer` adds a KL to the loss: estimated from one draw unless you say `use_exact_kl=True`. With the versions of this course (`TFP 0.25`, `tf_keras 2.21`) Keras collects that KL *twice*, which is β = 2 without a word; `weight=0.5` repairs it, and the cell after the next measures it. The loss is −log of the density that the decoder returns. It needs Keras 2, which is the package `tf_keras`.

# %% slideshow={"slide_type": "fragment"}
tf_keras.utils.set_random_seed(1)
p_z = tfd.Independent(tfd.Normal(tf.zeros(2), 1.0), 1)
price = tfp.layers.KLDivergenceRegularizer(p_z, use_exact_kl=True, weight=0.5)
q_layer = tfp.layers.IndependentNormal(2, activity_regularizer=price)
tfp_encoder = tf_keras.Sequential([mlp(128, 64, tfp.layers.IndependentNormal.params_size(2)),
                                   q_layer])
tfp_decoder = tf_keras.Sequential([mlp(64, 128, 64), tfp.layers.IndependentBernoulli(64)])
image = tf_keras.Input([64])
tfp_vae = tf_keras.Model(image, tfp_decoder(tfp_encoder(image)))
tfp_vae.compile(tf_keras.optimizers.Adam(0.004), loss=lambda x, p_x: -p_x.log_prob(x))
history = tfp_vae.fit(train, train, batch_size=100, epochs=40, verbose=0).history["loss"]
print(f"loss: {history[0]:.1f} after one epoch, {history[-1]:.1f} after 40 (600 steps)")

# %% [markdown] slideshow={"slide_type": "subslide"}
# Always measure what a library adds to your loss. Here: the KL averaged over the batch, as in (2.13), once. (Do not compare it with the KLs of section 2.7: those models have had 2000 steps, this one 600.) `KLDivergenceAddLoss`, the other way that TFP offers, adds the *sum* over the batch. A KL over *weights*, as in chapter 3, is not averaged either: it must be scaled by hand. And `p_x.log_prob` of an `IndependentBernoulli` for grey pixels is minus the cross-entropy again.

# %% slideshow={"slide_type": "fragment"}
q_z = tfp_encoder(test)
p_x = tfp_decoder(q_z.mean())
exact = tfd.kl_divergence(tfd.MultivariateNormalDiag(q_z.mean(), q_z.stddev()),
                          tfd.MultivariateNormalDiag(tf.zeros([297, 2]), tf.ones([297, 2])))
assert np.allclose(exact, kl_from_prior(q_z.mean().numpy(), q_z.stddev().numpy()), rtol=1e-3)
added = sum(float(term) for term in tfp_encoder.losses)  # what the last call added
print(f"KL in the loss {added:.3f}, exact KL {exact.numpy().mean():.3f}")
assert np.isclose(added, exact.numpy().mean(), rtol=1e-3)
elbo_tfp = (p_x.log_prob(test).numpy() - exact.numpy()).mean()
print(f"at the codes' means: log p(x|z) − KL = {elbo_tfp:.1f} nats a held-out digit")

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 2.10 Play
#
# The explorer again: this view and the one at the top move together. Take your answers from "Predict first", move *one* slider, and look. z₁ and z₂ decode at once; β, seed and model train again in about two seconds, and you see the map form.

# %% tags=["explorer"] slideshow={"slide_type": "subslide"}
explorer

# %% [markdown] slideshow={"slide_type": "subslide"}
# - **z₁ and z₂** only decode: the model stays, and the picture changes smoothly with the place. Go from one cluster to its neighbour. Then choose the preset *off the map*: far outside, where no code was ever seen, the decoder answers all the same.
# - **β.** Move it from 1 to 4. (Question 2: the code has collapsed. All digits are at the origin, and the decoded picture is the mean digit, wherever you point. <!-- claim: a-dear-code-says-nothing -->)
# - **model.** Choose the plain autoencoder. (Question 1: without noise and KL the codes lie farther out than draws from the prior. <!-- claim: plain-codes-lie-farther-out -->)
# - **seed**, under *more*. Another seed gives another map, mirrored, its axes swapped, with other neighbours: the prior is round, so that a mirrored or swapped map costs nothing. The ELBO differs by less than a nat. <!-- claim: starts-agree-in-elbo --> The coordinates mean nothing by themselves.

# %% [markdown] slideshow={"slide_type": "subslide"}
# **The gradient lab.** Two estimators of the derivative of $\mathbb E[f(z)]$ by μ or σ, 250 estimates of each. Move *sd σ* towards 0: one cloud shrinks, the other grows. Move *offset b* to 10 (question 3 again), then *draws S* to 100. The preset *ripples* is the exception of section 2.5.

# %% tags=["explorer"] slideshow={"slide_type": "subslide"}
from bdl_teach.widgets import GradientLab

lab = GradientLab()
lab


# %% [markdown] slideshow={"slide_type": "slide"}
# ## Exercises
#
# Each cell ends with a check. It says whether your answer is right, and if not, which mistake it looks like. Solutions are in the collapsed cells, a hint before each. 2.9 and 2.10 are experiments: you draw and measure, and the check measures what you bring.

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 2.1 Compute: the KL to the prior
# Given `mean` and `std` of shape `[n, k]`, return $\mathrm{KL}[\mathcal N(\mu, \operatorname{diag}\sigma^2)\,\|\,\mathcal N(0, I)]$ of each example, shape `[n]`.
#
# <details><summary>Hint</summary>(2.3) is a sum: over which of the two axes? And is it σ or log σ that is given?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_kl(mean, std):
    return ...


exercises.check("2.1", my_kl)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_1(mean, std):
    return 0.5 * (mean**2 + std**2 - 1 - 2 * np.log(std)).sum(axis=-1)


assert exercises.check("2.1", solution_1, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 2.2 Compute: z from noise
# The encoder gave `mean` and `rho`, with σ = softplus(ρ) = log(1 + e^ρ), and a generator gave `eps`. Return $z$.
#
# <details><summary>Hint</summary>Where would the gradient have to pass? Which of the three knows nothing of μ and ρ?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_draw(mean, rho, eps):
    return ...


exercises.check("2.2", my_draw)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_2(mean, rho, eps):
    return mean + np.logaddexp(0, rho) * eps


assert exercises.check("2.2", solution_2, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 2.3 Change: the score-function gradient by σ
# `f` holds the costs at the draws `z` from $\mathcal N(\mu, \sigma^2)$, both of length $S$. The cell after (2.10) differentiates by μ. Return the score-function estimate of the gradient of the expected cost by *σ*: one number.
#
# <details><summary>Hint</summary>Write log N(z | μ, σ²) down, all of it, and differentiate by σ. Two of its terms contain σ.</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_score_gradient(f, z, mu, sigma):
    return ...


exercises.check("2.3", my_score_gradient)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_3(f, z, mu, sigma):
    return np.mean(f * ((z - mu) ** 2 / sigma**3 - 1 / sigma))


assert exercises.check("2.3", solution_3, record=False)

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 2.4 Explain: true or false
# Put the letters of the true statements in a set.
#
# - **a** A plain autoencoder's codes are spread like N(0, I), if it is trained long enough.
# - **b** In $z = \mu+\sigma\odot\varepsilon$ the random generator knows neither μ nor σ.
# - **c** A VAE's encoder outputs a σ near 1 for every image, since the prior's is 1.
# - **d** Two encoders that reach the same ELBO for an image, with the same decoder, are equally far from the true posterior of its code, in $\mathrm{KL}[q\,\|\,p(z\mid x)]$.
# - **e** A KL of 0 for every image means that the encoder has learnt the data perfectly.
# - **f** Adding a constant to the cost leaves the pathwise estimates as they are.
#
# <details><summary>Hint</summary>For (c), look at the map of codes and the print below it; for (e), at the last row of the table of β.</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
my_letters = ...  # such as {"a", "b"}
exercises.check("2.4", my_letters)

# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
# One reason for each letter.
# a: nothing asked for it. b: ε ~ N(0, I). c: σ is the spread of one code, far below 1; all codes
# together fill the prior. d: in (2.5) log p(x) is the decoder's, so that ELBO and KL add up to the
# same number. e: the code says nothing, it has collapsed. f: the slope of a constant is 0.
assert exercises.check("2.4", {"b", "d", "f"}, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 2.5 Change: nats that are free
# β makes every nat of the code dearer or cheaper. Kingma et al. (2016) make the first ones free instead: a coordinate of the code that says less than λ nats, on average over the minibatch, costs λ, and only above that it costs what it says; so no coordinate gains by falling silent. Write that loss and return it: one number, averaged over the minibatch, to be minimised. `log_likelihood` `[S, n]` holds $\log p(x\mid z_k)$ of $S$ draws for each of $n$ images, `kl` `[n, k]` the KL of each image's code by coordinate, `free` is λ.
#
# <details><summary>Hint</summary>Three things are done to the KLs: they are averaged, compared with λ, added. Read in the first sentence what is averaged when the comparison is made, and what is not added yet.</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_loss(log_likelihood, kl, free):
    return ...


exercises.check("2.5", my_loss)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_5(log_likelihood, kl, free):
    return np.maximum(kl.mean(axis=0), free).sum() - np.mean(log_likelihood)


assert exercises.check("2.5", solution_5, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 2.6 Break: a density for grey values
# With grey values the cross-entropy is no log density (section 2.6): with a logit $a$, and over $x$ from 0 to 1, $e^{xa}/(1+e^a)$ does not integrate to 1. Divide $e^{xa}$ by what it *does* integrate to, and you have the continuous Bernoulli (Loaiza-Ganem and Cunningham 2019). Return its log density of each picture, shape `[n]`, from pixels `x` in $[0, 1]$ and logits `logits`, both `[n, d]`. A logit may be 1000, −1000 or 0. Do not clip.
#
# <details><summary>Hint</summary>The integral is done with a pencil. Then ask which part of it is large for a ≫ 0, and which for a ≪ 0: that part leaves the logarithm first. What is the limit at 0?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_log_density(x, logits):
    return ...


exercises.check("2.6", my_log_density)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_6(x, logits):
    size = np.maximum(np.abs(logits), 1e-12)  # the integral is (e^a − 1)/a
    log_integral = np.maximum(logits, 0) + np.log(-np.expm1(-size) / size)
    return (x * logits - log_integral).sum(axis=-1)


assert exercises.check("2.6", solution_6, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 2.7 Extend: a baseline for the score function
# `f` and `score` hold cost and score of $S\ge 2$ draws. Use as the baseline (2.12) of each draw the mean cost of the *other* draws, and return the mean over the draws of the cost less its baseline, times the score: one number. (Why not the mean of all? Then the baseline knows the draw, and the estimate is biased.)
#
# <details><summary>Hint</summary>Can you have all S baselines from one number that knows every draw?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_baseline_gradient(f, score):
    return ...


exercises.check("2.7", my_baseline_gradient)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_7(f, score):
    others = (f.sum() - f) / (len(f) - 1)
    return np.mean((f - others) * score)


assert exercises.check("2.7", solution_7, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 2.8 Extend: a tighter bound
# By Jensen's inequality, the logarithm of a *mean* of weights $w_k = p(x\mid z_k)\,p(z_k)/q(z_k\mid x)$ is a better bound on $\log p(x)$ than the mean of their logarithms, which is the ELBO (2.6): $\log\frac1S\sum_k w_k$. Given `log_w` of length $S$, return it; the logarithms may be near −1000 and below, and far apart.
#
# <details><summary>Hint</summary>Which function adds in the logarithm? And what is the logarithm of 1/S?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_bound(log_w):
    return ...


exercises.check("2.8", my_bound)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_8(log_w):
    return logsumexp(log_w) - np.log(len(log_w))


assert exercises.check("2.8", solution_8, record=False)

# %% [markdown] slideshow={"slide_type": "subslide"}
# What that buys for our model: with more draws the bound rises towards $\log p(x)$.

# %% slideshow={"slide_type": "fragment"}
many_eps = np.random.default_rng(6).standard_normal((50, len(test), 2))
terms = model.elbo_draws(test, many_eps)
log_w = terms[0] - terms[1]  # [draws, images]
bounds = {n: np.mean(logsumexp(log_w[:n], axis=0) - np.log(n)) for n in (1, 5, 50)}
print(f"ELBO {log_w.mean():.2f};", ", ".join(f"S = {n}: {v:.2f}" for n, v in bounds.items()))
assert log_w.mean() < bounds[5] < bounds[50]

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 2.9 Experiment: where the score function is quieter
# The cost is $f(z) = \tfrac c2(z-1)^2 + a\cos 10z$: the bowl of (2.11) with a ripple. At $a = 0$ the score function is the noisier of the two; with large ripples, and a σ well above a tenth, it is the quieter. For given `mu`, `sigma` and `curvature` $c$, return the amplitude $a$ at which the two estimates of the gradient by μ have the same variance, to a fifth. Draw first: both variances over $a$, on logarithmic axes, from the same draws. Which of the two curves does the ripple lift, and why?
#
# <details><summary>Hint</summary>One line of `two_gradients` must change for the ripple: a cost and its slope. `eps` holds draws enough. Then look for the first amplitude at which the curves have crossed.</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
amplitudes = np.geomspace(0.003, 10, 60)
curves = {}  # "score function" and "pathwise": the variance at each of amplitudes
fig, ax = plt.subplots(figsize=(6, 2.8))
for name, variance in curves.items():
    ax.loglog(amplitudes, variance, label=name)
ax.set_title("Your graph: which gradient does a ripple trouble?", loc="left", fontsize=13)
axis_labels = ax.set(xlabel="amplitude a", ylabel="variance of one draw")


def my_ripple(mu, sigma, curvature):
    return ...


exercises.check("2.9", my_ripple)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def both_variances(mu, sigma, c, a):
    z = mu + sigma * eps[:50_000]
    f = c / 2 * (z - 1) ** 2 + a * np.cos(10 * z)
    slope = c * (z - 1) - 10 * a * np.sin(10 * z)
    return np.var(f * (z - mu) / sigma**2), np.var(slope)


def solution_9(mu, sigma, curvature):
    axis = np.geomspace(0.003, 10, 120)
    found = np.array([both_variances(mu, sigma, curvature, a) for a in axis])
    return axis[np.argmax(found[:, 0] < found[:, 1])]  # the first one


assert exercises.check("2.9", solution_9, record=False)

# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
fig, ax = plt.subplots()
pairs = np.array([both_variances(0.0, 1.0, 1.0, a) for a in amplitudes])
ax.loglog(amplitudes, pairs[:, 0], color=ORANGE, label="score function")
ax.loglog(amplitudes, pairs[:, 1], "--", color=BLUE, label="pathwise")
ax.axvline(solution_9(0.0, 1.0, 1.0), color=GREY, lw=1, label="alike")
panel(ax, "The ripple's slopes lift the pathwise curve first", "amplitude a", "variance")

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 2.10 Experiment: two nats a code
# What β must a code cost, to say two nats of its digit? `shuffles` are the digits in two orders, an array `[2, 1797, 64]`; in each the first 1500 are for training. Train with `vae.fit(train, beta=beta, steps=500)`, and return one β at which the KL of *held-out* digits, `kl_from_prior(*fit.encode(rest)).mean()`, is 2.0 nats on average. The check draws a straight line through the KL of eight other orders at three β (a single fit after 500 steps jumps), and allows 0.15 nats. Draw first: the KL over β, one line for each order. How far apart are the lines, and what would you have concluded from one?
#
# <details><summary>Hint</summary>Section 2.7 has β = 1 and β = 2. Take five values between them, and read β off between two of them (`np.interp` wants its second argument to rise).</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
betas = np.array([0.8, 1.0, 1.2, 1.4, 1.7, 2.0])
curves = {}  # of each order: the KL of held-out digits at each of betas
fig, ax = plt.subplots(figsize=(6, 2.8))
for name, nats in curves.items():
    ax.plot(betas, nats, "o-", label=name)
ax.set_title("Your graph: what does a code say at this price?", loc="left", fontsize=13)
axis_labels = ax.set(xlabel="β", ylabel="KL, nats")


def my_beta(shuffles):
    return ...


exercises.check("2.10", my_beta)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def spent(shuffle, beta):
    fit = vae.fit(shuffle[:1500], beta=beta, steps=500)
    return kl_from_prior(*fit.encode(shuffle[1500:])).mean()


def solution_10(shuffles):
    nats = np.mean([[spent(shuffle, beta) for beta in betas] for shuffle in shuffles], axis=0)
    return np.interp(-2.0, -nats, betas)


assert exercises.check("2.10", solution_10, record=False)

# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
fig, ax = plt.subplots()
for k, style in enumerate(("o-", "s--", "^:")):
    shuffle = np.random.default_rng(k).permutation(np.concatenate([train, test]))
    ax.plot(betas, [spent(shuffle, beta) for beta in betas], style, label=f"order {k}")
ax.axhline(2.0, color=GREY, lw=1)
panel(ax, "The dearer the code, the less it says", "β", "KL, nats")


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 2.11 Extend: what one encoder for all costs
# One encoder serves all pictures; for a single picture another μ and σ may do better. Given `log_likelihood(z)`, which returns $\log p(x\mid z)$ of one picture for codes `z` `[S, 2]` as an array `[S]`, and the encoder's `mean` and `std` `[2]`, return the pair (μ, σ) of the code whose ELBO (2.6) is the largest, to 0.05 nats. What is gained is the *amortization gap* ([Cremer, Li, Duvenaud 2018](https://arxiv.org/abs/1801.03558)).
#
# <details><summary>Hint</summary>Four numbers are few: `scipy.optimize.minimize` finds them, if the draws of ε stay the same and σ cannot fall below 0. Begin at the encoder's.</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_refined(log_likelihood, mean, std):
    return ...


exercises.check("2.11", my_refined)

# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
from scipy.optimize import minimize

eps_11 = np.random.default_rng(11).standard_normal((300, 2))


def elbo_of(log_likelihood, mean, std):  # (2.6), from draws that stay the same
    return np.mean(log_likelihood(mean + std * eps_11)) - kl_from_prior(mean, std)


def solution_11(log_likelihood, mean, std):
    start = np.append(mean, np.log(std))  # σ = e^… stays above 0
    best = minimize(lambda p: -elbo_of(log_likelihood, p[:2], np.exp(p[2:])), start).x
    return best[:2], np.exp(best[2:])


assert exercises.check("2.11", solution_11, record=False)

# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
gaps = []  # of four held-out digits under the VAE of 2.6
for digit, *code_of_x in zip(test[:4], *model.encode(test[:4]), strict=True):

    def log_p(z, x=digit):
        logits = network(model.decoder_weights, (2, 64, 128, 64), z)
        return np.sum(x * logits - np.logaddexp(0, logits), axis=-1)

    gaps.append(elbo_of(log_p, *solution_11(log_p, *code_of_x)) - elbo_of(log_p, *code_of_x))
print("the amortization gap of four digits, in nats:", np.round(gaps, 2))
assert min(gaps) > -1e-6

# %% slideshow={"slide_type": "fragment"}
exercises.progress(2)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Mistakes in circulation
#
# Each of these is printed in a book, a blog or a tutorial on this subject, some in the very sources of this course. Run them.

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Claim:** "to generate, draw $z = \sigma\odot\varepsilon$." **True:** the prior is $\mathcal N(0, I)$, so $z = \varepsilon$. The pictures of section 2.7 show what the other one does.

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Claim:** "the VAE loss is squared error + KL." **True** only for a decoder variance of ½ (section 2.3). In Keras the squared error is moreover the *mean* over the pixels, which divides the reconstruction by 64 here and leaves the KL as it is: that is β = 64. Our loss has the cross-entropy in the place of the squared error, and its code has collapsed at β = 4 already. <!-- claim: a-dear-code-says-nothing --> The cell below takes the mean of the cross-entropy over the pixels, which is β = 64: the code collapses, too. Where a VAE "needs KL annealing", a β that grows from 0 to 1 during training, look for this first.

# %% slideshow={"slide_type": "fragment"}
fits = {name: vae.fit(train, beta=beta) for name, beta in (("sum", 1.0), ("mean", 64.0))}
for name, fit in fits.items():
    kl = fit.elbo(test, 5).kl.mean()
    print(f"{name} over the pixels: KL {kl:.3f} nats, sd of codes {fit.encode(test)[0].std():.3f}")
assert kl < 0.05 and fits["sum"].elbo(test, 5).kl.mean() > 1.5

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Claim:** $\mathrm{KL} \approx \sum_k \log q(z_k\mid x) - \log p(z_k)$. **True:** the sum needs its $1/S$ (2.4). Without it, ten draws make the KL ten times as expensive: β = 10.

# %% slideshow={"slide_type": "fragment"}
each = model.elbo_draws(test, many_eps[:10])[1]  # [10 draws, images]
exact = kl_from_prior(*model.encode(test)).mean()
print(f"KL {exact:.2f}; mean over 10 draws {each.mean():.2f}; sum {each.sum(axis=0).mean():.1f}")
assert np.isclose(each.mean(), exact, atol=5 * each.std() / np.sqrt(each.size))
assert each.sum(axis=0).mean() > 8 * exact

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Claim:** "in Fashion-MNIST the T-shirt is class 1." **True:** classes count from 0, and the T-shirt is 0; 1 is the trouser. An off-by-one in the names of classes does not raise an error. It only makes every conclusion about a class wrong.

# %% slideshow={"slide_type": "fragment"}
from bdl_teach.datasets.images import FASHION

print({number: name for number, name in enumerate(FASHION[:3])})
assert FASHION.index("T-shirt/top") == 0 and FASHION.index("Trouser") == 1
if pictures.name == "fashion-sprite":
    first = [pictures.images[pictures.labels == k][:6].reshape(6, -1) for k in (0, 1)]
    show_images("Class 0 are T-shirts and tops, class 1 trousers",
                first, ["class 0", "class 1"], side)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Claim:** "sampling is not differentiable, therefore VAEs approximate the gradient." **True:** the pathwise gradient is an *unbiased* estimate of the exact gradient of the expectation (2.9). What is not differentiable is the road through the generator, not the expectation.

# %% slideshow={"slide_type": "fragment"}
h = 1e-4
numeric = (elbo(mu + h, sigma) - elbo(mu - h, sigma)) / (2 * h)
z_path = mu + sigma * eps
by_path = -(theta_1 * z_path + theta_0 - x) * theta_1 / s**2  # of log p(x|z), along the path
by_path -= mu  # of −KL
error = by_path.std() / np.sqrt(eps.size)
print(f"∂ELBO/∂μ: exact {numeric:.4f}, mean of pathwise draws {by_path.mean():.4f} ± {error:.4f}")
assert abs(by_path.mean() - numeric) < 5 * error

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Smaller ones.** "$z \approx \mathcal N(\mu, \sigma)$": $z$ is not approximately a distribution, it is *drawn* from one: $z\sim$. And mind whether the second argument is σ or σ²: NumPy, SciPy and TFP take the standard deviation. "The KL makes the latent space continuous": every decoder here is continuous, the autoencoder's too; what the KL adds is that the prior's region is *inhabited*.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Summary
#
# - An autoencoder learns codes, but not where codes live. A VAE pays KL to keep them near a prior from which one can draw.
# - $\log p_\theta(x) = \mathrm{ELBO} + \mathrm{KL}[q_\phi(z\mid x)\|p_\theta(z\mid x)]$; ELBO = reconstruction − KL to the prior. Squared error + KL is −ELBO only for a decoder variance of ½.
# - $z = \mu + \sigma\odot\varepsilon$ moves the randomness out of the gradient's way; any differentiable $g(\varepsilon,\phi)$ does. The decoder's gradient never needed it: θ stands inside the expectation.
# - Score function and pathwise gradient have one mean. The pathwise one sees slopes: usually far less noise, and none from a constant. The score function needs values only, and a baseline.
# - β < 1: the code says more than the prior likes; β > 1: less, until it collapses.
# - Generate with $z\sim\mathcal N(0, I)$, never with the encoder's σ.

# %% [markdown] slideshow={"slide_type": "subslide"}
# ## References
#
# - Kingma, Welling (2014). Auto-encoding variational Bayes. [arXiv:1312.6114](https://arxiv.org/abs/1312.6114)
# - Rezende, Mohamed, Wierstra (2014). Stochastic backpropagation and approximate inference in deep generative models. [arXiv:1401.4082](https://arxiv.org/abs/1401.4082)
# - Williams (1992). Simple statistical gradient-following algorithms for connectionist reinforcement learning. [doi:10.1007/BF00992696](https://doi.org/10.1007/BF00992696)
# - Mohamed, Rosca, Figurnov, Mnih (2020). Monte Carlo gradient estimation in machine learning. [arXiv:1906.10652](https://arxiv.org/abs/1906.10652)
# - Burgess et al. (2018). Understanding disentangling in β-VAE. [arXiv:1804.03599](https://arxiv.org/abs/1804.03599)
# - Burda, Grosse, Salakhutdinov (2016). Importance weighted autoencoders. [arXiv:1509.00519](https://arxiv.org/abs/1509.00519)
# - Kingma, Salimans, Jozefowicz, Chen, Sutskever, Welling (2016). Improving variational inference with inverse autoregressive flow (free nats). [arXiv:1606.04934](https://arxiv.org/abs/1606.04934)
# - Loaiza-Ganem, Cunningham (2019). The continuous Bernoulli: fixing a pervasive error in variational autoencoders. [arXiv:1907.06845](https://arxiv.org/abs/1907.06845)
# - Lucas, Tucker, Grosse, Norouzi (2019). Don't blame the ELBO! A linear VAE perspective on posterior collapse. [arXiv:1911.02469](https://arxiv.org/abs/1911.02469)
# - Xiao, Rasul, Vollgraf (2017). Fashion-MNIST. [arXiv:1708.07747](https://arxiv.org/abs/1708.07747)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Previous:** [1 · From maximum likelihood to Bayes](01_from_mle_to_bayes.ipynb) · **Next:** [3 · Bayes by Backprop](03_bayes_by_backprop.ipynb): the same trick for the *weights* of a network.

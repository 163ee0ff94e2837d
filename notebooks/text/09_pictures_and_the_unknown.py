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
# # 9 · Pictures and the unknown
#
# *A classifier that knows when it does not know: measured, with controls.*
#
# **Run the cell below** (Shift+Enter), then choose *BBB*. Three kinds of network have learnt eight of the ten digits: one ordinary network, an ensemble of five, and Bayes by Backprop. In the left panel, right of the orange line, are four digits that none of them has ever seen: what do they say of those?

# %% tags=["explorer"] slideshow={"slide_type": "fragment"}
from bdl_teach.widgets import PicturesExplorer

explorer = PicturesExplorer()
explorer

# %% [markdown] slideshow={"slide_type": "subslide"}
# ## What you will be able to do
#
# - train a Bayesian network for pictures, and the two controls that any sentence about it needs;
# - split a classifier's uncertainty into what all networks share and what they disagree about;
# - score it: accuracy, log loss, Brier score, AUROC of strange pictures, calibration error, each on pictures on which nothing was chosen;
# - mend its confidence with one number, a temperature, and say what that cannot mend;
# - let it be silent, and say what that buys;
# - read a table of three kinds of network over many worlds, and say no more than it says.
#
# **Time** 41 minutes · **Minutes per section** 9.1: 3 · 9.2: 3 · 9.3: 3 · 9.4: 3 · 9.5: 3 · 9.6: 2 · 9.7: 3 · 9.8: 4 · 9.9: 1 · 9.10: 2 · 9.11: 4 · 9.12: 1 · opening and end: 9
#
# **Prerequisites** The free energy and the posterior predictive, from [chapter 3](03_bayes_by_backprop.ipynb). Notation: [chapter 0](00_start_here.ipynb#Notation).

# %% [markdown] slideshow={"slide_type": "subslide"}
# ## Predict first
#
# Write down your answers. Questions 1 and 2 are answered in section 9.11, question 3 in 9.5, question 4 in 9.8, question 5 in 9.12.
#
# 1. Bayes by Backprop and one ordinary network, the same layers, the same number of steps: which one is right more often on new pictures?
# 2. And beside an ensemble of five ordinary networks: which one notices strange pictures better?
# 3. A network has learnt ten kinds of clothes. It is shown handwritten digits. How many of them does it call clothes with a probability above 0.9?
# 4. All logarithms of its class probabilities are divided by 2.5. How many answers change?
# 5. A classifier answers only the four fifths of the pictures of which it is surest. Which share of its errors goes with the last fifth?

# %% slideshow={"slide_type": "skip"}
explorer.wait()  # for its first picture, before the next cells need the processor too

import warnings

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import log_softmax, logsumexp, softmax

from bdl_teach import DatasetUnavailable, calibration, claims, datasets, exercises, metrics, plots
from bdl_teach.backend import tf, tfd, tfp
from bdl_teach.methods import image_classifier
from bdl_teach.plots import BLUE, ORANGE, RED, panel

plots.lecture_style()


# %% [markdown] slideshow={"slide_type": "slide"}
# ## 9.1 Labels, and who chose what
#
# The network has one output $f_c$ for each class $c$, a *logit*; the class probabilities are their softmax. The likelihood cost of one picture with label $y$ is then the cross-entropy
#
# $$-\log P(y\mid x, w) = \log\sum_c e^{f_c(x,w)} - f_y(x,w) . \tag{9.1}$$
#
# In this form it is finite for all logits; the logarithm of a softmax that is rounded to 0 is not. Nothing else of chapter 3 changes: put it into the free energy in the place of the squared error.

# %% slideshow={"slide_type": "fragment"}
# eq. 9.1
def cross_entropy(logits, labels):  # [n, classes], [n]
    return logsumexp(logits, axis=-1) - logits[np.arange(len(labels)), labels]


logits, labels = np.array([[2.0, -1.0, 0.5], [0.0, 2000.0, -3.0]]), np.array([0, 2])
twin = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
assert np.allclose(cross_entropy(logits, labels), twin)
assert softmax(logits[1])[2] == 0  # whose logarithm is −∞

# %% [markdown] slideshow={"slide_type": "subslide"}
# **The data.** 900 pictures of clothes (Fashion-MNIST), 28 × 28 pixels in [0, 1], parted by lot: 500 train, 150 choose a temperature (section 9.8), 250 test. Handwritten digits (MNIST) are the strangers. *On the test pictures nothing is chosen.* The recipe of the networks was not chosen on them either, but on 600 of scikit-learn's small digits, by the log loss of pictures left out; it is taken to the clothes as it is. (The twenty worlds of small digits, from section 9.8 on, use *other* digits than those 600.) A score on pictures that were used to choose something is too good.

# %% slideshow={"slide_type": "fragment"}
try:
    clothes, digits = datasets.fashion_sprite(), datasets.mnist_test()
    pictures, classes, names = clothes.images, clothes.labels, clothes.class_names
    strange = digits.images[:250]
    print("known: 900 pictures of clothes; strange: 250 handwritten digits")
except DatasetUnavailable:
    digits = datasets.digits()
    ours, names = digits.labels < 8, digits.class_names[:8]
    pictures, classes = digits.images[ours][:900], digits.labels[ours][:900]
    strange = digits.images[~ours][:250]
    print("Fashion-MNIST and MNIST are not here: run `python3 -m bdl_teach data`. In their place,"
          "\nknown: the small digits 0 to 7; strange: 8 and 9. Figures will differ, and the recipe"
          "\nwas chosen on some of these pictures.")
train, choose, test = np.split(np.random.default_rng(0).permutation(900), [500, 650])
N_CLASSES = len(names)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 9.2 A Bayesian network, and its two controls
#
# A convolution with 16 windows of 3 × 3 pixels, max-pooling, one dense layer, of TFP's `*Reparameterization` layers. What has a σ (`untransformed_scale`, our ρ), and what has not?

# %% slideshow={"slide_type": "fragment"}
layers = {"kernel_divergence_fn": lambda q, p, _: tfd.kl_divergence(q, p) / 500}
listing = tf.keras.Sequential([
    tfp.layers.Convolution2DReparameterization(
        16, 3, padding="SAME", activation=tf.nn.relu, **layers),
    tf.keras.layers.MaxPooling2D(2, padding="SAME"), tf.keras.layers.Flatten(),
    tfp.layers.DenseReparameterization(N_CLASSES, **layers),  # logits
])
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    listing.build((None, *pictures.shape[1:], 1))
kinds = [v.name.split("/")[-1].split(":")[0] for v in listing.trainable_variables]
print("\n".join(kinds))

# %% [markdown] slideshow={"slide_type": "subslide"}
# **The biases have no σ.** TFP's `*Reparameterization` layers treat them as ordinary parameters unless they get a `bias_posterior_fn`.
#
# `image_classifier.fit` trains these layers. **The KL weight is not Bayes' rule.** With a KL weight of 1, thousands of weights outweigh a few hundred labels. The recipe takes 0.03, because the log loss asked for it: loosely, a *cold* posterior ([section 4.8](04_how_right_is_it.ipynb)). Keep that in mind when the result is called Bayesian.
#
# Two **controls** have the same layers and the same number of steps for each network: an **ordinary network** (every σ at 0 and no KL: maximum likelihood), and an **ensemble** of five of them, which differ in their start and in the order of the pictures (Lakshminarayanan et al. 2017). Without the first, nobody can say what the posterior adds. Without the second, nobody can say whether any five networks would have done. (Neither has a tuned weight decay: part of what Bayes by Backprop gains on the ordinary network may be what any regulariser gains.)

# %% slideshow={"slide_type": "fragment"}
common = {"filters": 16, "kernel_size": 3, "epochs": 30, "learning_rate": 0.01,
          "n_classes": N_CLASSES}
seen = pictures[train], classes[train]
bayesian = image_classifier.fit(*seen, kl_weight=0.03, prior_std=0.5, initial_rho=-4.0, **common)
ensemble = image_classifier.ensemble(*seen, members=5, **common)
ordinary = ensemble.members[0]
print(f"{bayesian.mean.size:,} weights with a σ, {len(train)} labels")


# %% [markdown] slideshow={"slide_type": "slide"}
# ## 9.3 What they say together
#
# Several networks are averaged as *probabilities*: the posterior predictive of chapter 3, or the mean of an ensemble,
#
# $$\bar p_c(x) = \frac1S\sum_{k=1}^{S} p_{kc}(x), \qquad \log\bar p_c = \operatorname{logsumexp}_k \log p_{kc} - \log S , \tag{9.2}$$
#
# where $p_{kc}$ is what network $k$ gives to class $c$. (Averaging logits is something else: a geometric mean.)

# %% slideshow={"slide_type": "fragment"}
# eq. 9.2
def together(logs):  # [S, n, classes] -> [n, classes]
    return logsumexp(logs, axis=0) - np.log(len(logs))


groups = {"choose": pictures[choose], "test": pictures[test], "strange": strange}
NETWORKS = {"ordinary": (ordinary, 1), "ensemble": (ensemble, 1), "BBB": (bayesian, 30)}
logs = {(kind, part): network.log_predict(images, n_samples=draws)
        for kind, (network, draws) in NETWORKS.items() for part, images in groups.items()}
print({kind: len(logs[kind, "test"]) for kind in NETWORKS}, "networks each")
assert np.allclose(np.exp(together(logs["BBB", "test"])).sum(axis=1), 1)
assert np.allclose(np.exp(together(logs["BBB", "test"])), np.exp(logs["BBB", "test"]).mean(axis=0))


# %% [markdown] slideshow={"slide_type": "subslide"}
# **Seven networks, one picture.** Each draw of the weights is a network with an opinion. Below each picture: how much seven of them disagree (mutual information, section 9.4), and what they say. Known pictures: the least, a middle and the most disputed. Then three strangers.

# %% slideshow={"slide_type": "fragment"}
def opinions(p):
    votes = np.bincount(p.argmax(axis=-1), minlength=N_CLASSES)
    said = [f"{votes[c]} × {names[c]}" for c in np.argsort(-votes, kind="stable") if votes[c]]
    disagreement = metrics.mutual_information(p[:, None])[0]
    return "\n".join([f"{disagreement:.2f} nats", *said[:3]] + ["…"] * (len(said) > 3))


p_known, p_strange = (np.exp(logs["BBB", part]) for part in ("test", "strange"))
ranking = np.argsort(metrics.mutual_information(p_known))[[0, len(test) // 2, -1]]
shown = [(pictures[test][i], p_known[:7, i], names[classes[test][i]]) for i in ranking]
shown += [(strange[i], p_strange[:7, i], "strange") for i in range(3)]

# %% slideshow={"slide_type": "subslide"}
fig, axes = plt.subplots(1, 6, figsize=(12.5, 3.6), layout="constrained")
for ax, (picture, p, title) in zip(axes, shown, strict=True):
    ax.imshow(picture, cmap="gray_r", vmin=0, vmax=1)
    ax.set_title(title, fontsize=13, color=RED if title == "strange" else "black")
    ax.set_xlabel(opinions(p), fontsize=11)
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)


# %% [markdown] slideshow={"slide_type": "slide"}
# ## 9.4 Two kinds of uncertainty, for classes
#
# The **predictive entropy** says how unsure the mean of the networks' probabilities is:
#
# $$H[\bar p] = -\sum_c \bar p_c \log \bar p_c . \tag{9.3}$$
#
# It is high for two reasons: each network is unsure itself (this shirt might be a coat: aleatoric), or the networks are sure of different things (epistemic). Subtract the mean entropy of the single networks, and the second reason is left: the **mutual information** of label and weights,
#
# $$I[y; w \mid x, D] = H[\bar p] - \frac1S\sum_{k=1}^{S} H[p_k] \;\ge\; 0 . \tag{9.4}$$
#
# It is never negative: entropy is concave, so the entropy of a mean is at least the mean of the entropies (Jensen). As in chapter 3, where variances took the place of entropies, total minus aleatoric is epistemic. Of *one* network it is 0, whatever it is shown. The split has critics (Wimmer et al. 2023; Bickford Smith et al. 2025), who doubt that the two kinds must add up. Here the information is a score, which section 9.5 puts to a test. The second cell below prints a third score beside them, which is often used: the *variance* of $p_{kc}$ over the networks $k$, averaged over the classes $c$.

# %% slideshow={"slide_type": "fragment"}
# eq. 9.3 and 9.4
def entropy(p):
    return tfd.Categorical(probs=p).entropy().numpy()  # 0 log 0 = 0


def information(p):  # [S, n, classes] -> [n]
    return entropy(p.mean(axis=0)) - entropy(p).mean(axis=0)


assert np.allclose(entropy(p_known.mean(axis=0)), metrics.predictive_entropy(p_known), atol=1e-6)
assert np.allclose(information(p_strange), metrics.mutual_information(p_strange), atol=1e-6)
assert information(p_known).min() > -1e-6 and np.isclose(entropy(np.full(10, 0.1)), np.log(10))
assert abs(information(np.exp(logs["ordinary", "strange"]))).max() < 1e-6

# %% slideshow={"slide_type": "subslide"}
sure_of_two = np.eye(10)[[0, 1] * 15][:, None]  # 30 networks, half say 0 and half say 1
unsure, certain = np.full((30, 1, 10), 0.1), np.eye(10)[[3] * 30][:, None]
for name, p in (("sure of two", sure_of_two), ("all unsure", unsure), ("all certain", certain)):
    print(f"{name:12s} entropy {entropy(p.mean(axis=0))[0]:.2f}, information "
          f"{abs(information(p)[0]):.2f}, variance {metrics.variance_score(p)[0]:.3f}")
assert np.isclose(information(sure_of_two)[0], np.log(2)) and abs(information(unsure)[0]) < 1e-9


# %% [markdown] slideshow={"slide_type": "slide"}
# ## 9.5 Strange or known? AUROC
#
# Take one strange and one known picture at random. The probability that the strange one scores higher is the AUROC (area under the ROC curve), ties counting half:
#
# $$\mathrm{AUROC} = P(s_{\text{strange}} > s_{\text{known}}) + \tfrac12\, P(s_{\text{strange}} = s_{\text{known}}) . \tag{9.5}$$
#
# 0.5 is guessing, 1 is perfect, and no threshold has to be chosen.

# %% slideshow={"slide_type": "fragment"}
# eq. 9.5
def auroc(s_known, s_strange):
    gap = s_strange[:, None] - s_known
    return np.mean(gap > 0) + np.mean(gap == 0) / 2


scores = {"entropy": metrics.predictive_entropy, "information": metrics.mutual_information}
is_strange = np.repeat([0, 1], [len(test), len(strange)])
for kind in NETWORKS:
    p = [np.exp(logs[kind, part]) for part in ("test", "strange")]
    both = np.concatenate([metrics.predictive_entropy(each) for each in p])
    found = {name: auroc(*map(score, p)) for name, score in scores.items()}
    assert np.isclose(found["entropy"], metrics.auroc(is_strange, both))
    certain = np.mean(p[1].mean(axis=0).max(axis=1) > 0.9)
    print(f"{kind:9s}", *(f"{n} {v:.3f}," for n, v in found.items()),
          f"{certain:.0%} of the strangers with a probability above 0.9")


# %% [markdown] slideshow={"slide_type": "subslide"}
# **Two more controls.** The softmax forgets how large the logits were. One network has a score that does not, its **energy** $-\log\sum_c e^{f_c}$ (Liu et al., 2020): high where *all* logits are low. And thirty networks against five is no fair match: give Bayes by Backprop as many draws as the ensemble has members.

# %% slideshow={"slide_type": "fragment"}
def energy(images):  # of one network
    return -logsumexp(ordinary.logits(images, 1)[0], axis=-1)


same = log_softmax(ordinary.logits(strange, 1), axis=-1)
assert np.allclose(same, logs["ordinary", "strange"], atol=1e-5)
print(f"ordinary  energy {auroc(energy(pictures[test]), energy(strange)):.3f}")
for draws in (5, 30):
    p = [np.exp(logs["BBB", part][:draws]) for part in ("test", "strange")]
    print(f"BBB       information of {draws} draws {auroc(*map(information, p)):.3f}")


# %% [markdown] slideshow={"slide_type": "subslide"}
# That was one split and one start; section 9.11 has many. Over twenty of them, an ordinary network gives more than two fifths of the handwritten digits a class of clothes with a probability above 0.9 (question 3). <!-- claim: one-network-is-certain-of-strangers --> On clothes, both the ensemble's information <!-- claim: ensemble-notices-strangers --> and that of Bayes by Backprop <!-- claim: bbb-notices-strangers --> notice strangers better than one network's entropy. But the entropy is that network's weaker score: its energy notices more as well. <!-- claim: energy-notices-strangers --> For Bayes by Backprop information is the better of its two scores. <!-- claim: information-is-the-better-score -->

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 9.6 Three scores of known pictures
#
# **Accuracy** asks whether the largest probability is the label's. It does not ask how large. The **log loss**, $-\frac1n\sum_i\log\bar p_{y_i}(x_i)$, is the test log-likelihood with its sign turned: unbounded for who is certain and wrong. The **Brier score** is a squared distance, at most 2:
#
# $$\mathrm{BS} = \frac1n\sum_i\sum_c\big(\bar p_c(x_i) - \mathbb 1[c = y_i]\big)^2 . \tag{9.6}$$
#
# Log loss and Brier score are *strictly proper*: on average, whoever says what he does not believe gets a worse score. Accuracy does not punish that.

# %% slideshow={"slide_type": "fragment"}
# eq. 9.6
def brier(p, labels):
    return np.mean(((p - np.eye(p.shape[1])[labels]) ** 2).sum(axis=1))


labels = classes[test]
mean_logs = {kind: together(logs[kind, "test"]) for kind in NETWORKS}
for kind, log_p in mean_logs.items():
    p = np.exp(log_p)
    assert np.isclose(brier(p, labels), metrics.brier_score(p, labels))
    loss = -metrics.class_log_likelihood(log_p[None], labels)
    assert np.isclose(loss, cross_entropy(log_p, labels).mean())
    print(f"{kind:9s} accuracy {np.mean(p.argmax(axis=1) == labels):.1%}, log loss {loss:.3f} "
          f"nats, Brier {brier(p, labels):.3f}")
    assert np.mean(p.argmax(axis=1) == labels) > 0.6

# %% slideshow={"slide_type": "subslide"}
truth = np.array([0.7, 0.3])  # the classes' true probabilities
said = np.linspace(0.01, 0.99, 99)  # what is said of the first
log_loss = -truth[0] * np.log(said) - truth[1] * np.log(1 - said)
squared = 2 * (truth[0] * (1 - said) ** 2 + truth[1] * said**2)
for score in (log_loss, squared):
    assert np.isclose(said[np.argmin(score)], 0.7)  # proper: lowest at the true 0.7
print("accuracy: 0.7 for whoever says 0.51, and for whoever says 0.99")


# %% [markdown] slideshow={"slide_type": "slide"}
# ## 9.7 Reliability, and the calibration error
#
# Of all answers with a confidence (largest probability) of about four fifths, are four fifths right? Sort the answers into bins $B_b$ of confidence and compare, in each, the share that is right with the mean confidence. The weighted mean distance is the **expected calibration error**
#
# $$\mathrm{ECE} = \sum_b \frac{|B_b|}{n}\,\big|\operatorname{acc}(B_b) - \operatorname{conf}(B_b)\big| . \tag{9.7}$$

# %% slideshow={"slide_type": "fragment"}
# eq. 9.7
def calibration_error(p, labels, n_bins=10):
    sure, right = p.max(axis=1), p.argmax(axis=1) == labels
    place = np.ceil(sure * n_bins)  # number of the bin, 1 to n_bins
    parts = [place == b for b in range(1, n_bins + 1)]
    return sum(abs(right[b].sum() - sure[b].sum()) for b in parts) / len(labels)


for kind, log_p in mean_logs.items():
    p = np.exp(log_p)
    bins = calibration.reliability(p, labels)
    assert np.isclose(bins.error, calibration_error(p, labels))
    excess = p.max(axis=1).mean() - np.mean(p.argmax(axis=1) == labels)
    print(f"{kind:9s} ECE {bins.error:.3f}; confidence minus accuracy {excess:+.3f}")

# %% [markdown] slideshow={"slide_type": "subslide"}
# One network's confidence about new clothes is off by more than 0.08 on average. <!-- claim: an-ordinary-network-is-too-sure-of-clothes --> And its confidence minus its accuracy is positive: it is too sure.
#
# **What it does not say.** A classifier that always says the classes' frequencies is perfectly calibrated, and knows nothing. And the number depends on the bins, and on how many pictures there are: of few, even a perfect one has an error above 0. How much of the figure above is that? The last line takes the same network's confidences in the same pictures, and draws labels for which they are perfect.

# %% slideshow={"slide_type": "fragment"}
rng = np.random.default_rng(3)
ignorant = np.tile([0.6, 0.4], (100_000, 1))
said = rng.dirichlet(np.ones(3), 100_000)
perfect = (rng.random((100_000, 1)) > said.cumsum(axis=1)).sum(axis=1).clip(max=2)
own, few = np.exp(mean_logs["ordinary"]), []
for _ in range(200):
    drawn = (rng.random((len(own), 1)) > own.cumsum(axis=1)).sum(axis=1).clip(max=N_CLASSES - 1)
    few.append(calibration.reliability(own, drawn).error)
for name, value in (
    ("says the frequencies", calibration.reliability(ignorant, rng.random(100_000) > 0.6).error),
    ("perfect, 100,000 pictures", calibration.reliability(said, perfect).error),
    (f"perfect, {len(own)} pictures, on average", np.mean(few))):
    print(f"{name:34s} ECE {value:.3f}")
assert value > 0.01


# %% [markdown] slideshow={"slide_type": "slide"}
# ## 9.8 One number: the temperature
#
# Divide all logarithms by a **temperature** $T$ and normalise again. (In section 4.8 $T$ divided the log posterior of the *weights*; this one only changes what a finished network says.)
#
# $$p_c^{(T)} \propto p_c^{1/T} . \tag{9.8}$$
#
# $T > 1$ takes confidence away, $T < 1$ adds some. The largest stays the largest: *not one answer changes*, no matter what $T$ is (question 4). Choose $T$ where the log loss is lowest, on pictures that did not train the network: one number, 150 pictures are enough to say roughly where.

# %% slideshow={"slide_type": "fragment"}
# eq. 9.8
def tempered(log_p, temperature):
    return log_softmax(log_p / temperature, axis=-1)


for kind, raw in mean_logs.items():
    T = calibration.best_temperature(together(logs[kind, "choose"]), classes[choose])
    after = tempered(raw, T)
    assert np.allclose(after, calibration.tempered(raw, T))
    assert (after.argmax(axis=1) == raw.argmax(axis=1)).all()  # every answer as before
    losses = [cross_entropy(each, labels).mean() for each in (raw, after)]
    errors = [calibration_error(np.exp(each), labels) for each in (raw, after)]
    print(f"{kind:9s} T = {T:.2f}: log loss {losses[0]:.3f} → {losses[1]:.3f}, "
          f"ECE {errors[0]:.3f} → {errors[1]:.3f}")

# %% slideshow={"slide_type": "subslide"}
temperatures = np.geomspace(0.3, 10, 60)
colours = {"ordinary": ORANGE, "ensemble": BLUE, "BBB": RED}
fig, axes = plt.subplots(1, 2, layout="constrained")
for kind, raw in mean_logs.items():
    found = [tempered(raw, T) for T in temperatures]
    axes[0].semilogx(temperatures, [cross_entropy(each, labels).mean() for each in found],
                     color=colours[kind], label=kind)
    axes[1].semilogx(temperatures, [calibration_error(np.exp(each), labels) for each in found],
                     color=colours[kind], label=kind)
for ax, name in zip(axes, ("log loss, nats a picture", "calibration error"), strict=True):
    ax.axvline(1, color="grey", lw=1)
    ax.set(xlabel="temperature T", ylabel=name, ylim=(0, None))
axes[0].set_title("Lowest above T = 1: too sure", loc="left", fontsize=13)
legend = axes[1].legend(frameon=False, fontsize=11)

# %% [markdown] slideshow={"slide_type": "subslide"}
# On clothes the temperature lowers one network's log loss by more than a tenth of a nat, <!-- claim: temperature-lowers-the-log-loss-of-clothes --> its calibration error to less than seven tenths, <!-- claim: temperature-mends-the-calibration-of-clothes --> and one network with its temperature then has a lower log loss than *five* without. <!-- claim: one-tempered-network-rivals-a-raw-ensemble --> So compare an ensemble with a tempered network, or temper both.
#
# **What it cannot mend.** It was chosen on known pictures. Five networks' information still notices strangers better than the entropy of one with its temperature. <!-- claim: temperature-does-not-make-one-network-notice-like-five --> (The energy of 9.5 needs no temperature.) And on the small digits, where few answers are wrong, the temperature mostly lowers the log loss by less than 0.01 nats, if at all. <!-- claim: temperature-does-not-help-on-digits -->

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 9.9 Weights that carry nothing
#
# As in [section 3.12](03_bayes_by_backprop.ipynb), sort the weights by what their posterior knows of their sign,
#
# $$\mathrm{SNR}_j = |\mu_j|\,/\,\sigma_j , \tag{9.9}$$
#
# and set the lowest to 0. Over twenty worlds of digits half of them can go, and the accuracy changes by less than a fiftieth; <!-- claim: half-the-weights-of-pictures-can-go --> nine tenths cannot. <!-- claim: nine-tenths-of-the-weights-of-pictures-cannot-go --> (The network of chapter 3 could spare nine tenths of its weights. <!-- claim: nine-tenths-can-go -->) This chapter's one network, on clothes:

# %% slideshow={"slide_type": "fragment"}
# eq. 9.9
ratio = np.abs(bayesian.mean) / bayesian.std
assert np.allclose(ratio, bayesian.signal_to_noise)
for fraction in (0.0, 0.5, 0.9):
    p = bayesian.pruned(fraction).predict(pictures[test], n_samples=30).mean(axis=0)
    right = np.mean(p.argmax(axis=1) == classes[test])
    print(f"without {fraction:.0%} of the weights: accuracy {right:.1%}")


# %% [markdown] slideshow={"slide_type": "slide"}
# ## 9.10 To be silent
#
# A classifier may leave pictures to a human. Answer the share $\kappa$ of the pictures of which it is surest, the set $A_\kappa$. The **risk** is the share of wrong answers among those,
#
# $$R(\kappa) = \frac{1}{|A_\kappa|}\sum_{i\in A_\kappa}\mathbb 1\big[\arg\max_c \bar p_c(x_i) \ne y_i\big] , \tag{9.10}$$
#
# and as a function of the coverage κ it is the **risk-coverage curve**. At κ = 1 it is the error rate. A temperature of one network leaves the order of its confidences nearly as it is (two close ones may change places, as each is normalised by what its *other* classes get): what helps here is *ranking*, not calibration.

# %% slideshow={"slide_type": "fragment"}
# eq. 9.10
def risk(p, labels):
    order = np.argsort(-p.max(axis=1), kind="stable")  # the surest first
    wrong = p[order].argmax(axis=1) != labels[order]
    return np.cumsum(wrong) / np.arange(1, len(labels) + 1)


fig, ax = plt.subplots()
for kind, log_p in mean_logs.items():
    coverage, curve = metrics.risk_coverage(np.exp(log_p), labels)
    ties = len(np.unique(np.exp(log_p).max(axis=1))) < len(labels)
    assert ties or np.allclose(curve, risk(np.exp(log_p), labels))
    assert np.isclose(curve[-1], risk(np.exp(log_p), labels)[-1])
    ax.plot(coverage, curve, color=colours[kind], label=kind)
panel(ax, "Fewer answers, fewer of them wrong", "coverage κ", "risk R(κ)", loc="upper left")

# %% [markdown] slideshow={"slide_type": "subslide"}
# The left end is rough, for few pictures are answered there: one wrong answer among the first 25 is a risk of one in 25 at once, and each right one after it lowers the curve a little. Pictures of equal confidence are drawn together, each with their mean risk.
#
# Among the four fifths of new clothes of which a network is surest, it errs less than seven tenths as often as among all; <!-- claim: the-surest-clothes-are-right-more-often --> among the surest four fifths of digits, less than a third as often. <!-- claim: the-surest-digits-are-right -->

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 9.11 Three kinds of network, many worlds
#
# All figures so far are of one split and one start. A *world* has a split of its own, starts of its own, and (of the small digits) two classes of its own that are strange. Twenty worlds of clothes and twenty of digits are stored; each dot below is the difference of two scores in the *same* world, each bar their mean ± 2 standard errors. To the right of 0, the first of the two is better.

# %% slideshow={"slide_type": "fragment"}
measured = {"known: clothes; strange: MNIST": claims.measured("three-kinds-on-clothes"),
            "known: digits; strange: two classes": claims.measured("three-kinds-on-digits")}
PAIRS = {"BBB's information − one network's entropy": ("BBB information", "ordinary entropy"),
         "ensemble's information − one's entropy": ("ensemble information", "ordinary entropy"),
         "BBB's information − one's energy": ("BBB information", "ordinary energy"),
         "ensemble's information − one's energy": ("ensemble information", "ordinary energy"),
         "BBB's information − the ensemble's": ("BBB information", "ensemble information"),
         "accuracy: BBB − one network": ("BBB accuracy", "ordinary accuracy"),
         "accuracy: BBB − ensemble": ("BBB accuracy", "ensemble accuracy")}
fig, axes = plt.subplots(1, 2, figsize=(12, 4.4), sharey=True, layout="constrained")
for ax, (title, worlds) in zip(axes, measured.items(), strict=True):
    rows = {name: [world[a] - world[b] for world in worlds.values()]
            for name, (a, b) in PAIRS.items()}
    plots.draw_forest(ax, rows)
    words = ax.set(title=title, xlabel="difference of AUROC or accuracy")

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Question 1: which is right more often, BBB or one network?** On digits they are right equally often, to within a fiftieth. <!-- claim: bbb-classifies-digits-no-better --> On clothes that was not tested: no limit was set beforehand. (In the picture BBB's mean is left of 0: it was right less often.) Beside the *ensemble*, on clothes, BBB is at most 0.005 more accurate. (In the picture it is less accurate.) <!-- claim: bbb-classifies-clothes-no-better -->
#
# The log loss, which question 1 did not ask for: on digits BBB's is at most 0.005 nats lower than the ensemble's, <!-- claim: bbb-log-loss-on-digits-is-no-lower --> and the ensemble's at most 0.01 nats higher than one network's. (Both are limits that were set beforehand, not the measured differences.) <!-- claim: ensemble-log-loss-on-digits-is-no-higher -->
#
# **Question 2: which notices strange pictures better, BBB or the ensemble?** Where digits are known: the ensemble. <!-- claim: ensemble-notices-more-strange-digits-than-bbb --> Where clothes are known: with thirty draws BBB is at most 0.05 of AUROC behind. <!-- claim: bbb-notices-strangers-no-worse-than-an-ensemble --> (In the picture it is even ahead. But "ahead" was not the limit that was set beforehand, so the text does not claim it.) Draws count: there, five draws of BBB notice fewer strangers than thirty, <!-- claim: thirty-draws-notice-more-strangers-than-five --> and are at most 0.1 ahead of the five networks (on the split of 9.5 they are behind). <!-- claim: five-draws-notice-no-more-strangers-than-five-members -->
#
# **And beside one network?** That depends on which of its scores is used.
#
# - Its *entropy*. Where clothes are known, BBB and the ensemble both notice more strangers. <!-- claim: bbb-notices-strangers, ensemble-notices-strangers --> Where digits are known, the ensemble does; <!-- claim: ensemble-notices-strange-digits --> BBB gains less than 0.04, if anything. <!-- claim: bbb-notices-strange-digits-no-better -->
# - Its *energy*. Where clothes are known, it notices more strangers than the entropy. <!-- claim: energy-notices-strangers --> BBB and the ensemble are at most 0.05 behind it. <!-- claim: bbb-notices-strangers-no-worse-than-an-energy, ensemble-notices-strangers-no-worse-than-an-energy --> (In the picture BBB is ahead, and the ensemble's bar lies across 0.) Where digits are known, no limit was set: in the picture BBB's bar lies across 0, and the ensemble is ahead.
#
# So is BBB better in the end? Than one network by its entropy, where clothes are known: yes. Than five networks: where digits are known, no; where clothes are known, it is at most 0.05 behind. Whoever shows one row or one panel alone shows an opinion.

# %% slideshow={"slide_type": "fragment"}
found = claims.show("bbb-notices-strangers", "bbb-notices-strange-digits-no-better",
                    "bbb-notices-strangers-no-worse-than-an-ensemble",
                    "ensemble-notices-more-strange-digits-than-bbb",
                    "bbb-classifies-clothes-no-better", "bbb-classifies-digits-no-better")

# %% [markdown] slideshow={"slide_type": "slide"}
# ## 9.12 Play
#
# The explorer again. The networks have been trained once, on digits; the controls only look at them. Do the *missions*, above the picture.

# %% tags=["explorer"] slideshow={"slide_type": "subslide"}
explorer


# %% [markdown] slideshow={"slide_type": "subslide"}
# - **temperature**: which figures of the known pictures move, and which cannot?
# - **networks**: an ordinary network has no mutual information to show, the others have. **pictures** takes others of those left out of training: which figures change with it, and by how much?
# - **answered** (question 5): take it down to 80 %, and read what goes with the last fifth. On the digits more than two thirds of all errors do, on average. <!-- claim: the-surest-digits-are-right -->

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Exercises
#
# Replace each `...` and run the cell; the check says what it sees. Worked solutions are in the collapsed cells. 9.7 and 9.8 are experiments: you measure and draw, and the check measures what you bring, in three worlds.

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 9.1 Compute: the Brier score
# Return (9.6) from class probabilities `p` `[n, classes]` and `labels` `[n]`: one number. Try it without a matrix of zeros and ones.
#
# <details><summary>Hint</summary>Multiply the square out: which term needs the label?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_brier(p, labels):
    return ...


exercises.check("9.1", my_brier)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_1(p, labels):
    return np.mean((p**2).sum(axis=1) - 2 * p[np.arange(len(p)), labels] + 1)


assert exercises.check("9.1", solution_1, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 9.2 Change: the mean of networks, in logarithms
# `logs` `[S, n, classes]` are logarithms of class probabilities, some below −1000. Return those of their mean, `[n, classes]`. Write the logsumexp yourself.
#
# <details><summary>Hint</summary>Subtract the largest over the networks first, and put it back at the end. What does the mean's 1/S become?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_together(logs):
    return ...


exercises.check("9.2", my_together)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_2(logs):
    top = logs.max(axis=0)
    return top + np.log(np.exp(logs - top).mean(axis=0))


assert exercises.check("9.2", solution_2, record=False)

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 9.3 Explain: true or false
# Which are true, whatever the networks and the pictures? Answer with a set of letters, such as `{"b", "d"}`.
#
# - (a) The log loss of the mean of five networks is at most the mean of their five log losses.
# - (b) The mean of two networks whose calibration error is 0 has a calibration error of 0.
# - (c) A temperature that each of several networks is given *before* they are averaged changes no answer of their mean.
# - (d) Of five networks no picture has a mutual information above log 5, however many classes there are.
# - (e) Of two classes, a temperature leaves the AUROC of one network's entropy as it was; of three, it may change it.
#
# <details><summary>Hint</summary>Look for something that makes it false: two or three networks, two classes, two pictures are enough, and a pencil. Where you find nothing, say why.</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
my_statements = ...  # such as {"a", "b"}

exercises.check("9.3", my_statements)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def sharp(p):
    return p**20 / np.sum(p**20, axis=1, keepdims=True)  # (9.8) at T = 1/20


assert exercises.check("9.3", {"a", "d", "e"}, record=False)
pair = np.eye(2), np.full((2, 2), 0.5)  # right, and half right: the labels are 0 and 1
wrong_by = [calibration_error(p, np.arange(2)) for p in (*pair, sum(pair) / 2)]
assert np.allclose(wrong_by, (0, 0, 0.25))
votes = np.array([[0.4, 0.6], [0.4, 0.6], [1.0, 0.0]])  # of three networks
assert votes.mean(axis=0).argmax() != sharp(votes).mean(axis=0).argmax()
known, new = np.array([[0.6, 0.2, 0.2]]), np.array([[0.5, 0.5, 0.0]])
assert entropy(new) < entropy(known) and entropy(sharp(new)) > entropy(sharp(known))


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 9.4 Change: bins of equal count
# Bins of equal width may hold nearly all pictures in one. Sort the pictures by their confidence instead, from the least sure upwards, cut them into `n_bins` bins of equal count (where that does not come out even, the first bins hold one more, as `np.array_split` cuts), and return (9.7) for these bins.
#
# <details><summary>Hint</summary>Two things are known of each picture, and they must stay together. What does a bin add to the sum, if |B_b| cancels?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_calibration_error(p, labels, n_bins):
    return ...


exercises.check("9.4", my_calibration_error)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_4(p, labels, n_bins):
    gap = (p.argmax(axis=1) == labels) - p.max(axis=1)
    bins = np.array_split(gap[np.argsort(p.max(axis=1))], n_bins)
    return sum(abs(each.sum()) for each in bins) / len(p)


assert exercises.check("9.4", solution_4, record=False)
for kind, log_p in mean_logs.items():
    both = [error(np.exp(log_p), labels, 10) for error in (calibration_error, solution_4)]
    print(f"{kind:9s} bins of equal width {both[0]:.3f}, of equal count {both[1]:.3f}")


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 9.5 Extend: how much may be answered
# A risk of at most `limit` is wanted. Return the largest coverage κ at which the risk (9.10) is not above it, for these pictures: a share of the n pictures, and 0 if not even the surest may be answered. All confidences differ.
#
# <details><summary>Hint</summary>Draw the curve for a few pictures. How often can it cross the limit? And what if it is never below?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_coverage(p, labels, limit):
    return ...


exercises.check("9.5", my_coverage)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_5(p, labels, limit):
    below = np.flatnonzero(risk(p, labels) <= limit)
    return (below[-1] + 1) / len(p) if below.size else 0.0


assert exercises.check("9.5", solution_5, record=False)


# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 9.6 Diagnose: too sure, or bad luck?
# A classifier's mean confidence is above its accuracy. Is it too sure, or were these pictures hard by chance? Suppose that it is calibrated: each answer is right with the probability that it announces, independently of the others. How many standard deviations of that chance lies the mean confidence above the accuracy? Return that number: positive for too sure, negative for too humble.
#
# <details><summary>Hint</summary>If it is calibrated, each answer is a coin. What is the variance of one that comes up with probability c? And of the sum over coins that differ?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
def my_deviation(p, labels):
    return ...


exercises.check("9.6", my_deviation)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_6(p, labels):
    sure, right = p.max(axis=1), p.argmax(axis=1) == labels
    return np.sum(sure - right) / np.sqrt(np.sum(sure * (1 - sure)))


assert exercises.check("9.6", solution_6, record=False)
chance = [solution_6(said[i:i + 100], perfect[i:i + 100]) for i in range(0, 20_000, 100)]
print(f"a perfect classifier: {np.mean(chance):+.2f} on average, sd {np.std(chance):.2f};",
      *(f"{kind} {solution_6(np.exp(log_p), labels):+.1f}" for kind, log_p in mean_logs.items()))
assert abs(np.mean(chance)) < 0.3 and abs(np.std(chance) - 1) < 0.2

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 9.7 Experiment: temper, then average
# Section 9.8 tempered what several networks say *together*. Turn it round: temper each of them by (9.8), with one T for all, and average *then*, by (9.2). `log_p` `[5, 300, 6]` is what five networks say of pictures that trained none of them, `labels` are theirs. Return T. The check has three such ensembles, and measures the log loss of the average on 3000 *other* pictures: it must be within 0.02 nats of the lowest that a temperature reaches there in this order. Draw first: the log loss over T in either order, and that of one network alone. Do they want the same T? Which order reaches lower?
#
# <details><summary>Hint</summary>Three helpers, of sections 9.1, 9.3 and 9.8, do all the work. What does an average of forecasts that disagree do to their confidence, before any temperature?</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
grid = np.geomspace(0.2, 6, 40)
curves = {}  # "temper, then average", "average, then temper", ...: the log loss at each of grid
fig, ax = plt.subplots(figsize=(6, 2.8))
for name, values in curves.items():
    ax.plot(grid, values, label=name)
ax.set_title("Your graph: which temperature?", loc="left", fontsize=13)
words = ax.set(xlabel="T", ylabel="log loss, nats a picture")


def my_temperature(log_p, labels):
    return ...


exercises.check("9.7", my_temperature)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def losses_7(log_p, labels, values):
    """Of each T: tempered and averaged, averaged and tempered, one network alone."""
    orders = (lambda T: together(tempered(log_p, T)), lambda T: tempered(together(log_p), T),
              lambda T: tempered(log_p[0], T))
    return [[cross_entropy(said(T), labels).mean() for T in values] for said in orders]


def solution_7(log_p, labels):
    values = np.geomspace(0.1, 10, 200)
    return values[np.argmin(losses_7(log_p, labels, values)[0])]


assert exercises.check("9.7", solution_7, record=False)

# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
fig, ax = plt.subplots()
looks = (("temper, then average", "-", BLUE), ("average, then temper", "--", ORANGE),
         ("one network", ":", RED))
found = losses_7(logs["ensemble", "choose"], classes[choose], grid)
for (name, style, colour), loss in zip(looks, found, strict=True):
    ax.plot(grid, loss, style, color=colour, label=name)
    ax.plot(grid[np.argmin(loss)], min(loss), "o", color=colour)
    print(f"{name:20} lowest at T = {grid[np.argmin(loss)]:.2f}: {min(loss):.3f} nats")
ax.set_ylim(0, 3)
panel(ax, "The five of 9.3 in either order, and one alone", "T", "log loss, nats a picture")

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### 9.8 Experiment: know when to be silent
# Five networks have learnt eight digits. `log_p` `[5, 200, 8]` is what they say of known pictures, with `labels`; `log_new` `[5, 400, 8]` of 300 known and 100 strange ones, mixed. Return an array of 400 truth values: which of the new pictures to answer. In each of three worlds at least half of the known ones must be answered, at most 3 % of these wrongly, and at most a quarter of the strange ones. Draw first: the share answered of each sort over your limit, for two scores.
#
# <details><summary>Hint</summary>Choose a score of doubt, and the limit as a quantile of that score on the known pictures.</details>

# %% slideshow={"slide_type": "fragment"} tags=["exercise"]
quantiles = np.linspace(0.05, 1, 20)
curves = {}  # of each score: the share of wrong answers, say, at each of quantiles
fig, ax = plt.subplots(figsize=(6, 2.8))
for name, values in curves.items():
    ax.plot(quantiles, values, label=name)
ax.set_title("Your graph: what does silence buy?", loc="left", fontsize=13)
words = ax.set(xlabel="share of known pictures answered", ylabel="share")


def my_answers(log_p, labels, log_new):
    return ...


exercises.check("9.8", my_answers)


# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
def solution_8(log_p, labels, log_new):
    known, new = (entropy(np.exp(each).mean(axis=0)) for each in (log_p, log_new))
    return new <= np.quantile(known, 0.65)


assert exercises.check("9.8", solution_8, record=False)

# %% slideshow={"slide_type": "skip"} tags=["solution"] jupyter={"source_hidden": true}
fig, ax = plt.subplots()
for name, score in scores.items():
    doubt = [score(np.exp(logs["BBB", part])) for part in ("test", "strange")]
    limits = np.quantile(doubt[0], quantiles)
    ax.plot(quantiles, [np.mean(doubt[1] <= limit) for limit in limits], label=name)
panel(ax, "Strangers answered, by two scores", "share of known answered", "share of strangers")

# %% slideshow={"slide_type": "subslide"}
exercises.progress(9)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Mistakes in circulation
#
# Each of these is printed in a book, a blog or a tutorial on this subject, some in the very sources of this course. Do not believe us either: run them.

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Claim:** the variance of the softmax outputs over a few draws *is* the uncertainty. **True:** it is one part of it. Draws that all shrug, and draws that are all certain of one class, have the same variance, none: see the cell after (9.4).
#
# **Claim:** "the Bayesian network notices strangers", shown beside nothing. **True:** beside one ordinary network, judged by its better score, and beside an ensemble, less of that is left, and how much depends on the strangers: section 9.11.
#
# **Claim:** temperature scaling improves the accuracy. **True:** it changes no answer, (9.8).
#
# **Claim:** choose the temperature on the training data, there is so much of it. **True:** on what it was trained on, a network is nearly always right; the lowest log loss is then at a *small* T, and the confidence that was too high gets higher.

# %% slideshow={"slide_type": "fragment"}
on_train = ordinary.log_predict(*seen[:1], n_samples=1)[0]
cold = calibration.best_temperature(on_train, seen[1])
held_out = calibration.best_temperature(logs["ordinary", "choose"][0], classes[choose])
for name, T in (("training", cold), ("held-out", held_out)):
    after = tempered(mean_logs["ordinary"], T)
    print(f"T = {T:.2f} chosen on {name} pictures: test log loss "
          f"{cross_entropy(after, labels).mean():.2f} nats")
assert cold < held_out

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Claim:** pixels may go in as they are stored, from 0 to 255, and the score of the first test picture comes out as 0.0000002: "how sure it is!" **True:** logits that are many times too large saturate the softmax. Every network is certain of *something*, and the score says nothing. The same networks, their logits times 255: <!-- from: the source -->

# %% slideshow={"slide_type": "fragment"}
log_known = logs["BBB", "test"]
saturated = 255 * log_known - logsumexp(255 * log_known, axis=-1, keepdims=True)
silent = [np.mean(metrics.variance_score(np.exp(log_p[:7])) < 1e-6)
          for log_p in (log_known, saturated)]
print("variance below 10⁻⁶ on {:.0%} of the pictures, with larger logits on {:.0%}".format(*silent))
assert silent[1] > silent[0]

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Summary
#
# - A classifier of pictures changes the likelihood, not the method: cross-entropy in the place of the squared error.
# - Every sentence about a Bayesian network needs two controls: one ordinary network, judged by its logits and not by its entropy alone, and an ensemble; five networks against thirty draws, as here, needs a look at five draws, too.
# - Predictive entropy counts both kinds of uncertainty, mutual information only what the networks disagree about; one network has none.
# - Log loss and Brier score are strictly proper, accuracy is not; a calibration error of 0 proves no knowledge.
# - One number, the temperature, mends the confidence on pictures like those that chose it. It changes no answer, and it does not know strangers.
# - To be silent buys fewer errors: read the risk-coverage curve.
# - Three parts of the data: one trains, one chooses, one measures.

# %% [markdown] slideshow={"slide_type": "subslide"}
# ## References
#
# - Blundell, Cornebise, Kavukcuoglu, Wierstra (2015). Weight uncertainty in neural networks. [arXiv:1505.05424](https://arxiv.org/abs/1505.05424)
# - Lakshminarayanan, Pritzel, Blundell (2017). Simple and scalable predictive uncertainty estimation using deep ensembles. [arXiv:1612.01474](https://arxiv.org/abs/1612.01474)
# - Guo, Pleiss, Sun, Weinberger (2017). On calibration of modern neural networks (temperature, ECE). [arXiv:1706.04599](https://arxiv.org/abs/1706.04599)
# - Geifman, El-Yaniv (2017). Selective classification for deep neural networks (risk and coverage). [arXiv:1705.08500](https://arxiv.org/abs/1705.08500)
# - Liu, Wang, Owens, Li (2020). Energy-based out-of-distribution detection. [arXiv:2010.03759](https://arxiv.org/abs/2010.03759)
# - Hendrycks, Gimpel (2017). A baseline for detecting misclassified and out-of-distribution examples in neural networks. [arXiv:1610.02136](https://arxiv.org/abs/1610.02136)
# - Ovadia et al. (2019). Can you trust your model's uncertainty? Evaluating predictive uncertainty under dataset shift. [arXiv:1906.02530](https://arxiv.org/abs/1906.02530)
# - Houlsby, Huszár, Ghahramani, Lengyel (2011). Bayesian active learning for classification and preference learning (the mutual information). [arXiv:1112.5745](https://arxiv.org/abs/1112.5745)
# - Wimmer, Sale, Hofman, Bischl, Hüllermeier (2023). Quantifying aleatoric and epistemic uncertainty in machine learning: are conditional entropy and mutual information appropriate measures? [arXiv:2209.03302](https://arxiv.org/abs/2209.03302)
# - Bickford Smith, Kossen, Trollope, van der Wilk, Foster, Rainforth (2025). Rethinking aleatoric and epistemic uncertainty. [arXiv:2412.20892](https://arxiv.org/abs/2412.20892)
# - Xiao, Rasul, Vollgraf (2017). Fashion-MNIST: a novel image dataset for benchmarking machine learning algorithms. [arXiv:1708.07747](https://arxiv.org/abs/1708.07747)

# %% [markdown] slideshow={"slide_type": "subslide"}
# **Previous:** [8 · Ensembles, Laplace and sampling](08_ensembles_laplace_and_sampling.ipynb) · **Next:** [10 · Comparison and decisions](10_comparison_and_decisions.ipynb): all methods on one problem, and their distance to NUTS as a number.

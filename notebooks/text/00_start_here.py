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
# # 0 · Start here
#
# **Time** 20 minutes
#
# **What you will be able to do**
#
# - say whether your machine is ready for the course;
# - find the chapter that you need;
# - read the notation, in English, Chinese and Russian, and in each of the sources;
# - use the sliders, the predictions and the exercises the way they are meant.
#
# **Prerequisites** Python, NumPy, the chain rule, and having trained a neural network once.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Is this machine ready?
#
# The cell below looks at everything that the course needs. It prints only what you must know: if something is missing, the line says what to do. The full report, with versions and speeds, is `python3 -m bdl_teach doctor` in a terminal.

# %% slideshow={"slide_type": "subslide"}
from bdl_teach import doctor

findings = {name: doctor.examine(name, needed, look) for name, needed, look in doctor.LOOKS}
missing = [found for found in findings.values() if found.needed and not found.ok]
for found in missing:
    print(found)
print("Something needed is missing." if missing else "Ready: everything that is needed is here.")

# %% [markdown] slideshow={"slide_type": "fragment"}
# One refit of the network that the next chapters are about: 32 points, 481 weights, 1500 steps of Adam. The next cell times it: below 0.4 s, a slider can do it while you move it.

# %% slideshow={"slide_type": "fragment"}
refit_ms = findings["refit"].number
fast = refit_ms is not None and refit_ms < 400
print("Sliders will feel live here." if fast else "Sliders will lag here; results are the same.")

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Map
#
# The course follows one question: *how can a neural network know what it does not know?*
#
# | chapter | question |
# |---|---|
# | 0 Start here | is everything in place? |
# | [1 From maximum likelihood to Bayes](01_from_mle_to_bayes.ipynb) | what is a posterior, and why is it hard? |
# | [2 Reparameterization and the VAE](02_reparameterization_and_vae.ipynb) | how does a gradient pass through a random number? |
# | [3 Bayes by Backprop](03_bayes_by_backprop.ipynb) | how is a distribution over weights trained? |
# | [4 How right is it?](04_how_right_is_it.ipynb) | whose fault is it, when the answer is wrong? |
# | [5 Local reparameterization](05_local_reparameterization.ipynb) | how can the gradient be made quieter? |
# | [6 Empirical Bayes](06_empirical_bayes.ipynb) | can the prior be learnt? |
# | [7 Probabilistic backpropagation](07_probabilistic_backpropagation.ipynb) | can it be done without sampling? |
# | [8 Ensembles, Laplace and sampling](08_ensembles_laplace_and_sampling.ipynb) | why not just one of those? |
# | [9 Pictures and the unknown](09_pictures_and_the_unknown.ipynb) | what does a classifier say of what it has never seen? |
# | [10 Comparison and decisions](10_comparison_and_decisions.ipynb) | which method, when, and how wrong is it? |
# | [11 How loud is the noise?](11_how_loud_is_the_noise.ipynb) | what do methods say of the noise, if nobody tells them? |
#
# Chapter 3 is the heart, and needs none of the others: it derives what it uses. The chapters after it lean on it. Lecturers find a plan for 50 minutes of each chapter in [TEACHING.md](TEACHING.md).

# %% [markdown] slideshow={"slide_type": "subslide"}
# ## Which source is taught where
#
# The course carries everything of five documents, and corrects what is wrong in them. **Book** is the Chinese book chapter on Bayes by Backprop and probabilistic backpropagation, by section; **blog** the Chinese blog post on Bayes by Backprop; **article** the English one on the sinusoid; **appendix** the English course notes; **paper** the Russian one on empirical Bayes; **the field** is what is expected beyond them.
#
# | source | chapters |
# |---|---|
# | book 5.2 | [0](00_start_here.ipynb) |
# | book 5.3 | [2](02_reparameterization_and_vae.ipynb) |
# | book 5.4 | [3](03_bayes_by_backprop.ipynb) |
# | book 5.5 | [9](09_pictures_and_the_unknown.ipynb) |
# | book 5.6 | [7](07_probabilistic_backpropagation.ipynb) |
# | book 5.7 | [7](07_probabilistic_backpropagation.ipynb) |
# | book 5.8 | [7](07_probabilistic_backpropagation.ipynb), [10](10_comparison_and_decisions.ipynb) |
# | blog | [1](01_from_mle_to_bayes.ipynb), [2](02_reparameterization_and_vae.ipynb), [3](03_bayes_by_backprop.ipynb), [5](05_local_reparameterization.ipynb) |
# | article | [3](03_bayes_by_backprop.ipynb) |
# | appendix | [1](01_from_mle_to_bayes.ipynb), [3](03_bayes_by_backprop.ipynb), [10](10_comparison_and_decisions.ipynb) |
# | paper | [6](06_empirical_bayes.ipynb) |
# | the field | [3](03_bayes_by_backprop.ipynb), [4](04_how_right_is_it.ipynb), [8](08_ensembles_laplace_and_sampling.ipynb), [9](09_pictures_and_the_unknown.ipynb), [10](10_comparison_and_decisions.ipynb), [11](11_how_loud_is_the_noise.ipynb) |
#
# In a checkout, the file `notebooks/inventory.toml` goes down to single sections.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## How to use a chapter
#
# Every chapter opens on something to try: run its first cell, and move what its first lines say. Then come the same parts, in the same order.
#
# 1. **Predict first.** Write down what you expect. Each explorer asks as well, and unlocks its answer once you have chosen and moved the slider. It takes a minute, and it is the difference between looking and learning.
# 2. **Derive.** Each numbered equation stands beside a cell that computes it and *asserts* it. You need not take an equation on trust: change a number and run the cell again; if it were wrong there, the cell would fail.
# 3. **Build it, then compare.** A short version from scratch, then the package, then TensorFlow Probability, on the same problem.
# 4. **Play.** In an *explorer* each movement of a slider trains the model again. Click a slider and use the arrow keys for single steps. The menu *start from* holds presets, named after what they show; *undo* goes back, *more* opens the rest of the controls. The points are yours, too: drag one, click to add one, Shift-click to take one away; with the keyboard, Page Down chooses a point and arrows move it; *my data* takes a table of two columns. *pin A* keeps a state to compare with, *replay* goes through the training. A picture that does not move is a still: click its cell and press Shift+Enter.
# 5. **Exercises.** Replace the `...`, run the cell. The check tells you *which* mistake it sees and where to read. Solutions are in the collapsed cells below each exercise. What you have solved is kept when the kernel ends: `exercises.progress()` shows it, `exercises.reset()` forgets it.
# 6. **Mistakes in circulation.** Claims that you will meet elsewhere, run.
#
# **One run and many.** A cell shows one run; what the text says beyond it was measured in *worlds*, each with data and starts of its own, mostly twenty. `claims.show` prints what was found: the sentence, the mean effect ± its standard error and its unit, the limit that was set beforehand, and in how many worlds it was met. A sentence *holds* if the mean is inside the limit by two standard errors and enough of the worlds agree. It *does not hold* if the mean is outside by as much, or too few worlds agree. In between it is *open*: neither shown nor refuted, and the text says *undecided*.
#
# **For lecturers:** every cell has a slide type. `python3 -m bdl_teach deck 3` makes a deck of chapter 3, one file that needs no network, with the notes of [TEACHING.md](TEACHING.md) as speaker notes.

# %% [markdown] slideshow={"slide_type": "subslide"}
# Try a check. It needs an exercise; here is a tiny one, made as those of the chapters are made: of a right answer, of numbers to try yours on, and of the mistakes that it knows. It asks for an amount of information in *bits*, given in the *nats* of this course. One toss of a fair coin tells 1 bit, or log 2 nats.

# %% slideshow={"slide_type": "fragment"}
import numpy as np

from bdl_teach.exercises import Exercise, Mistake, Session

tiny = Exercise(
    "0.1", "Compute: nats in bits", "Notation", reference=lambda nats: nats / np.log(2),
    cases=((3.0,), (0.25,)),
    mistakes=(
        Mistake("upside down", "1 bit is 0.69 nats: which of the two numbers is the larger?",
                (lambda nats: nats * np.log(2),)),
        Mistake("another base", "nats belong to the natural logarithm.",
                (lambda nats: nats / np.log(10),)),
    ),
)
check = Session({"0.1": tiny}).check  # in the chapters: exercises.check


# %% [markdown] slideshow={"slide_type": "subslide"}
# An answer is, nearly always, a function. This one is right:

# %% slideshow={"slide_type": "fragment"}
def bits(nats):
    return nats / np.log(2)


check("0.1", bits)


# %% [markdown] slideshow={"slide_type": "subslide"}
# And this one has a mistake that is easily made. The check names it:

# %% slideshow={"slide_type": "fragment"}
def bits(nats):
    return nats * np.log(2)


check("0.1", bits)

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Notation
#
# In a chapter a letter has one meaning (where it must have two, its row names both). The letters of the first tables keep theirs in all chapters; the last table has those of single chapters. The last column says what the sources write where they differ: **book** (Chinese, chapter on Bayes by Backprop and probabilistic backpropagation), **blog** (Chinese, on Bayes by Backprop), **article** (English, on the sinusoid), **appendix** (English, course notes), **paper** (Russian, on empirical Bayes).
#
# | letter | English | 中文 | русский | in the sources |
# |---|---|---|---|---|
# | $D$, $n$, $N$ | data, number of points | 数据集 | выборка, датасет; число объектов | blog, article 𝒟; paper $L$ for the number |
# | $x$, $y$ | input, target | 输入、目标 | признаки, целевая переменная | |
# | $d$ | number of features, or of inputs | 特征数 | число признаков | |
# | $f$ | output of the network, $f(w, x)$; in general, the function of a draw whose mean is asked for | 网络输出 | выход сети | book ŷ |
# | $w$ | weights | 权重 | веса | book also θ; paper $\mathbf W$ |
# | $\varepsilon$ | noise, standard normal | 噪声、随机扰动 | шум, стандартный нормальный | book, blog ϵ |
# | $\mu$ | mean of a weight or a code, under $q$ | 均值 | среднее, математическое ожидание | book, for PBP, $m$; so chapter 7 |
# | $\sigma$ | standard deviation (sd); $\sigma_p$ is the prior's | 标准差 | стандартное отклонение | book, for PBP, $v$ = variance; so chapter 7 |
# | $\rho$ | unconstrained parameter, σ = softplus(ρ) | 无约束参数 | параметр без ограничений | appendix uses σ directly |
# | $\theta$ | what is trained: in chapter 2 the decoder, from chapter 3 on the μ and ρ of $q$ | 模型参数、变分参数 | обучаемые параметры | book also for weights |
# | $s$ | sd of the noise on $y$ (`noise_std`) | 观测噪声标准差 | стандартное отклонение шума | article σ, `noise` |
# | $e$, $I$ | 2.718…; the identity matrix | | | |
# | $i$, $j$, $k$, $t$ | counters: of points or inputs, of units or coordinates, of draws, of steps | 下标 | индексы | |

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### Distributions
#
# | letter | English | 中文 | русский | in the sources |
# |---|---|---|---|---|
# | $P$, $p$ | a density or probability, as follows | 概率（密度） | плотность, вероятность | |
# | $P(w)$ | prior | 先验分布 | априорное распределение | appendix ℙr |
# | $P(D\mid w)$ | likelihood | 似然 | правдоподобие | |
# | $P(w\mid D)$ | posterior | 后验分布 | апостериорное распределение | |
# | $P(D)$ | evidence, marginal likelihood | 证据、边缘似然 | обоснованность, маргинальная вероятность датасета | |
# | $q$ | variational posterior, $q(w\mid\theta)$ | 变分后验、近似分布 | вариационное распределение | book also $Q$ |
# | $\Sigma$ | covariance matrix of the weights' posterior | 协方差矩阵 | ковариационная матрица | |
# | $\mathcal N(\mu, \sigma^2)$ | normal distribution, Gaussian | 正态分布、高斯分布 | нормальное распределение | book 𝒩(μ, σ), with the standard deviation |
# | $\mathbb E_q[\cdot]$ | expectation: the mean over draws from $q$ | 期望 | математическое ожидание | |
# | $\mathrm{KL}[q\,\Vert\,p]$ | Kullback-Leibler divergence, in nats | KL 散度 | дивергенция Кульбака-Лейблера | blog, appendix $D_{\mathrm{KL}}$ |

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### Training
#
# | letter | English | 中文 | русский | in the sources |
# |---|---|---|---|---|
# | $F$ | free energy = −ELBO, minimised | 自由能 | свободная энергия | book ℒ, called ELBO; appendix $L$ |
# | ELBO | evidence lower bound = −F, maximised | 证据下界 | нижняя оценка обоснованности | article, paper ℒ |
# | $S$ | number of draws | 蒙特卡罗采样数 | число сэмплов | book, article $N$; blog $n$; paper $S$ in training, $T$ in prediction |
# | $\eta$ | learning rate | 学习率 | скорость обучения | appendix, paper α |
#
# ### Letters of single chapters
#
# | chapter | letters of its own |
# |---|---|
# | 1 | $\phi$, $\Phi$ features of one input, of all inputs, a row each (特征; признаки) · $m$ mean of the posterior · $b$ scale of a Laplace prior · $\nu$ eigenvalues of ΦᵀΦ · $\lambda$ penalty of ridge regression · $g$ grid points for a weight |
# | 2 | $\phi$ what is trained in the encoder · $z$ code, latent variable (隐变量; латентная переменная) · $\ell$ logit of a pixel · $c$, $b$ curvature and offset of a cost · $g$ makes a draw out of noise · $u$ uniform noise · $\beta$ factor on the KL (KL 项的系数; множитель при KL) |
# | 3 | $b$ scale of a Laplace prior · $g$ makes a draw out of noise · $\pi$ weight of the prior's wide part; with an index, share of the KL that a minibatch carries · $M$, $B$ number of minibatches, their size (小批数、批大小; число и размер мини-батчей) · $\Delta$ gradient of one draw · $\phi$, $\Phi$ density and distribution function of the standard normal |
# | 4 | $\Lambda$ inverse of Σ, the precision matrix · $u$ direction in the space of weights · $m$ mean of one copy · $H$, $K$ hidden units of a layer, copies of the posterior · $\lambda$ KL weight · $T$ temperature · $a$, $b$ scores of two methods |
# | 5 | $M$ size of the minibatch · $m$ counts its rows · $g$ gradient of one point · $W$, $\Delta$ weight matrix of a layer, its change · $b$, $\gamma$, $\delta$, $\zeta$ pre-activation, its mean, variance and noise (预激活; преактивация) · $r$ Flipout's signs · $h$ output of a hidden unit · $\phi$, $\Phi$ as in chapter 3 |
# | 6 | $W$, $K$ all weights of a network, their number · $\gamma$ mean over sd of a weight · $\lambda$ precision of the prior · $\kappa$ share of the estimate that the prior leaves · $z$ standard errors from 0 · $\chi$ of the chi-squared distribution · $a$, $b$ paired scores · $r$ their correlation · $\alpha$ variance over squared mean |
# | 7 | $m$, $v$ mean and *variance* of a weight · $Z$ normaliser · $L$ likelihood of one point · $z$, $W$, $V$ inputs of a layer, its weights, number of its inputs · $a$, $b$ pre-activation, output of a ReLU · $\zeta$ mean over sd of a pre-activation · $h$ a function of ζ · $u$ with a hat: a factor's share of mean times precision · $\phi$, $\Phi$ as in chapter 3 · $r$ residual · $\tau$ precision of the noise · $\alpha$, $\beta$, $\Gamma$ of its Gamma distribution · $\ell$ difference of two log Z · $\lambda$ precision of the prior · $E$ epochs |
# | 8 | $U$ potential · $J$, $g$ derivatives of all outputs, of one, by the weights · $\Lambda$ precision matrix · $X$ inputs, a row each · $a$ prior mean of an ensemble's member · $r$, $z$ dropout rate, mask · $h$, $v$, $c$ hidden units, output weights, output bias · $H$ number of hidden units; with brackets, entropy · $B$ size of a minibatch · $\xi$ noise of a step · $\ell$ its length · $T$ temperature · $L$, $K$ low-rank columns, their number · $m$ mean of the posterior · $C$ covariance of outputs · $u$, $\vartheta$ covariance and angle of pre-activations · $\pi$ 3.14… |
# | 9 | $c$ class · $T$ temperature · $H$ entropy · $\kappa$, $A$, $R$ share of pictures that are answered, their set, their risk · $B$ bin of confidence |
# | 10 | $m$ mean of a prediction · $J$ places in a region · $a$, $b$ two methods; in the bandit, an action, and precision times mean · $c$ level of an interval · $u$, $z$ a target's place in its prediction, as a probability, in sds · $\Phi$ as in chapter 3 · $K$ worlds · $W$ number of weights · $B$ size of a minibatch · $O$ order of the cost · $E$ epochs · $\alpha$ as in chapter 7 · $\Lambda$ precision matrix · $r$, $R$ reward, regret |
# | 11 | $u$ logarithm of the noise's sd, which this chapter alone writes σ (s is the scale of its prior) · $z$ standard normal · $r$ residual · $T$ how alike neighbours' residuals are |
#
# ### Words
#
# | English | 中文 | русский |
# |---|---|---|
# | epistemic uncertainty | 认知不确定性 | эпистемическая неопределённость |
# | aleatoric uncertainty | 偶然不确定性 | алеаторная неопределённость |
# | reparameterization trick | 重参数化技巧 | трюк репараметризации |
# | empirical Bayes | 经验贝叶斯 | эмпирический Байес |
# | Monte Carlo | 蒙特卡罗方法 | метод Монте-Карло |
#
# Logarithms are natural, so that information is in **nats**. $\mathcal N(\mu, \sigma^2)$ has the *variance* as its second argument; functions of the package take *standard deviations* and say so in the name (`_std`). KL is summed over all weights and belongs to the whole data set.

# %% [markdown] slideshow={"slide_type": "slide"}
# ## Links
#
# - Next: [chapter 1, from maximum likelihood to Bayes](01_from_mle_to_bayes.ipynb)
# - In a terminal, in the folder of the course: `python3 -m bdl_teach doctor` (what works here, and how fast), `python3 -m bdl_teach test` (check everything)
# - [JupyterLab's documentation](https://jupyterlab.readthedocs.io) · [ipywidgets](https://ipywidgets.readthedocs.io) · [TensorFlow Probability](https://www.tensorflow.org/probability)

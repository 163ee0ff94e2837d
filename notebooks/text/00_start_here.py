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
# **Time** 15 minutes
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
# **One run and many.** A cell shows one run; what the text says beyond it was measured in *worlds*, each with data and starts of its own, mostly twenty. `claims.show` prints what was found: the sentence, the mean effect ± its standard error, the limit that was set beforehand, and in how many worlds it was met. A sentence *holds* if the mean is inside the limit by two standard errors and enough of the worlds agree. It *does not hold* if the mean is outside by as much, or too few worlds agree. In between it is *open*: neither shown nor refuted.
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
# As far as possible a symbol has one meaning; where chapters differ, the row says so. The last column says what the sources write where they differ: **book** (Chinese, chapter on Bayes by Backprop and probabilistic backpropagation), **blog** (Chinese, on Bayes by Backprop), **article** (English, on the sinusoid), **appendix** (English, course notes), **paper** (Russian, on empirical Bayes).
#
# | symbol | English | 中文 | русский | in the sources |
# |---|---|---|---|---|
# | $D$, $n$ or $N$ | data, number of points | 数据集 | выборка, датасет; число объектов | blog, article 𝒟; paper $L$ for the number |
# | $x$, $y$ | input, target | 输入、目标 | признаки, целевая переменная | |
# | $\phi(x)$, $\Phi$ | features of one input; of all, one row each (chapter 1) | 特征、特征矩阵 | признаки, матрица признаков | |
# | $\hat y$, $f(w, x)$ | output of the network | 网络输出、预测值 | выход сети, предсказание | book ŷ |
# | $z$, $\hat x$ | code, or latent variable; reconstruction of $x$ (chapter 2) | 隐变量（编码）、重构 | латентная переменная, реконструкция | book z also for the output of a layer |
# | $w$ | weights | 权重 | веса | book also θ; paper $\mathbf W$ |
# | $\varepsilon$ | noise, standard normal | 噪声、随机扰动 | шум, стандартный нормальный | book, blog ϵ |
# | $\mu$ | mean | 均值 | среднее, математическое ожидание | book, for PBP, $m$; so chapter 7 |
# | $\sigma$, $\sigma^2$ | standard deviation, variance | 标准差、方差 | стандартное отклонение, дисперсия | book, for PBP, $v$ = variance; so chapter 7 |
# | $\mathcal N(\mu, \sigma^2)$ | normal distribution, Gaussian | 正态分布、高斯分布 | нормальное распределение | book 𝒩(μ, σ), with the standard deviation |
# | $\mathbb E_q[\cdot]$ | expectation: the mean over draws from $q$ | 期望 | математическое ожидание | |
# | $\rho$ | unconstrained parameter, σ = softplus(ρ) | 无约束参数 | параметр без ограничений | appendix uses σ directly |
# | $\theta$ | parameters of $q$: μ and ρ | 变分参数 | вариационные параметры | book also for weights |
# | $s$, `noise_std` | sd of the noise on $y$ | 观测噪声标准差 | стандартное отклонение шума | article σ, `noise`; chapter 5: $s_{mi}$ are Flipout's signs; chapter 6, from (6.15) on: $s$ is the precision that the data give |

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### Distributions
#
# | symbol | English | 中文 | русский | in the sources |
# |---|---|---|---|---|
# | $P(w)$ | prior | 先验分布 | априорное распределение | appendix ℙr |
# | $P(D\mid w)$ | likelihood | 似然 | правдоподобие | |
# | $P(w\mid D)$ | posterior | 后验分布 | апостериорное распределение | |
# | $P(D)$ | evidence, marginal likelihood | 证据、边缘似然 | обоснованность, маргинальная вероятность датасета | |
# | $q(w\mid\theta)$ | variational posterior | 变分后验、近似分布 | вариационное распределение | book also $Q$ |
# | $\mathrm{KL}[q\,\Vert\,p]$ | Kullback-Leibler divergence, in nats | KL 散度 | дивергенция Кульбака-Лейблера | blog, appendix $D_{\mathrm{KL}}$ |

# %% [markdown] slideshow={"slide_type": "subslide"}
# ### Training
#
# | symbol | English | 中文 | русский | in the sources |
# |---|---|---|---|---|
# | $F$ | free energy = −ELBO, minimised | 自由能 | свободная энергия | book ℒ, called ELBO; appendix $L$ |
# | ELBO | evidence lower bound = −F, maximised | 证据下界 | нижняя оценка обоснованности | article, paper ℒ |
# | $\beta$ | factor on the KL of a VAE (chapter 2) | KL 项的系数 | множитель при KL | |
# | $\sigma_1, \sigma_2, \pi$ | scale-mixture prior | 混合尺度先验 | смесь гауссиан, априорная | |
# | $M$, $B$, $\pi_i$ | minibatches, their size, their share of the KL; in chapter 5, $M$ is the size | 小批数、批大小、权重 | число и размер мини-батчей, доли | paper: $M$ is the number of weights |
# | $S$ | Monte-Carlo draws, in prediction also $T$ | 蒙特卡罗采样数 | число сэмплов | book, article $N$; blog $n$; paper $S$ in training, $T$ in prediction |
# | $\Delta\mu, \Delta\rho$ | gradients of one draw | 梯度 | градиенты | appendix $\nabla_\mu f$, $\nabla_\sigma f$ |
# | $\gamma, \delta$ | mean and variance of a pre-activation (chapter 5) | 预激活的均值、方差 | среднее и дисперсия преактивации | blog; paper and chapter 6: $\gamma = \mu/\sigma$; chapter 7: γ is the noise's precision |
# | $\alpha$ | learning rate | 学习率 | скорость обучения | paper, and chapter 6: $\alpha_k = 1/\sigma_{p,k}^2$, the prior's precision; book, for PBP, and chapter 7: $\alpha, \beta$ of the noise's Gamma |
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

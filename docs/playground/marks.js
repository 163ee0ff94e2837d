const PLAYGROUND_MARKS = [
{"name": "data", "label": "data", "color": "#000000", "linestyle": "None", "marker": "+", "markeredgewidth": 1.6},
{"name": "mean", "label": "mean", "color": "#D55E00", "linestyle": "-", "linewidth": 2.2},
{"name": "epistemic", "label": "±2 sd epistemic", "color": "#0072B2", "alpha": 0.4},
{"name": "total", "label": "±2 sd total", "color": "#56B4E9", "alpha": 0.4},
{"name": "drawn", "label": "drawn networks", "color": "#0072B2", "alpha": 0.6, "linestyle": "-", "linewidth": 0.6},
{"name": "prior", "label": "functions of the prior", "color": "#7F7F7F", "linestyle": "-", "linewidth": 0.9},
{"name": "posterior_mean", "label": "true posterior", "color": "#009E73", "linestyle": "--", "linewidth": 2.0},
{"name": "posterior_band", "label": "true posterior ±2 sd", "color": "#009E73", "linestyle": "-.", "linewidth": 1.2},
{"name": "truth", "label": "true function", "color": "#000000", "linestyle": ":", "linewidth": 1.6},
{"name": "free_energy", "label": "F", "color": "#000000", "linestyle": "-", "linewidth": 1.8},
{"name": "complexity_cost", "label": "complexity", "color": "#CC79A7", "linestyle": "--", "linewidth": 1.8},
{"name": "likelihood_cost", "label": "likelihood", "color": "#D55E00", "linestyle": ":", "linewidth": 1.8}
];

"""Bayes by Backprop on the noisy sinusoid, refitted at each tick."""

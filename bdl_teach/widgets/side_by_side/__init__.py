"""Methods that a learner chooses, side by side on the problem with a gap, beside the truth."""

"""Mean field beside the truth: what of the gap is the optimiser's, the family's, the prior's."""

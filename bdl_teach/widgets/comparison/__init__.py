"""All methods on one data set, beside NUTS."""

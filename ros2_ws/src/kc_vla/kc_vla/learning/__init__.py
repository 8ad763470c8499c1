"""Networks, their training, export and evaluation: the only place that imports torch."""

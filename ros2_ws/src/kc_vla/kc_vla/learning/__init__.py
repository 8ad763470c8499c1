"""Networks, their training, export and evaluation. The only package that imports torch."""

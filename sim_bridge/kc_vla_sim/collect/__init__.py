"""`kc-vla collect`: records episodes of the experts, each in a manner of its own, as data sets to learn from."""

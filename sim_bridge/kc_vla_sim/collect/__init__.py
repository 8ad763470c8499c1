"""`kc-vla collect`: records varied episodes of the experts as data sets for training."""

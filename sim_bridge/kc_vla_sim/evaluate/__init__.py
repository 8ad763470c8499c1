"""Learned policies in the closed loop: `kc-vla eval policy`."""

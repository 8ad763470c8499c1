"""`kc-vla eval policy`: evaluates learned policies in the closed loop."""

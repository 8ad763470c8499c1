"""Videos of simulated episodes: both views, the phase of the expert, keyframes, and moments of decision."""

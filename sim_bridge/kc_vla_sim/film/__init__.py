"""Videos of episodes: both views, the phase of the expert, keyframes as they become known, moments of decision."""

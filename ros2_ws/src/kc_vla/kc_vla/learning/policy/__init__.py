"""A policy that acts on what it remembers: chunks of actions by rectified flow, conditioned on the kept keyframes."""

"""What the robot remembers beside its keyframes: what it has just seen and used, and where things are."""

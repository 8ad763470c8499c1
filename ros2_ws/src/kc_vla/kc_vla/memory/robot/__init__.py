"""What a robot remembers: both memories as one object, with one vocabulary for planner, nodes and evaluations."""

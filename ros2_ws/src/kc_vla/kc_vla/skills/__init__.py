"""Skills of the planner on an arm: from perceived objects to set-points."""

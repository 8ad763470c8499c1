"""The planner's skills carried out by the arm: what is perceived in, set-points out."""

"""The planner's skills in a kitchen, in one process: perceived things in, set-points for the simulated arm out."""

"""Probes of state aliasing: how well a classifier predicts the right choice at a task's moments of decision.

One that sees the present frame, and one that sees the time as well, must do no better than chance; the same one with
the images of the oracle keyframes must know. `gather` plays the episodes, `features` and `inputs` turn what
was seen into vectors, `classifier` learns from them, `verdict` measures it and says what that shows.
"""

"""What a controller says last of its arm; who launched it says it once more, at the very end."""

PARKED = "the arm is parked and has no power"
NO_POWER = "the arm has no power"
"""Of one that never got power; the reason may follow."""

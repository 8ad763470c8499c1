"""What a controller says last of its arm; who launched it says it once more, at the very end."""

PARKED = "the arm is parked and has no power"
NO_POWER = "the arm has no power"
"""Of one that never got power; the reason may follow."""

TOLD_TO_LET_GO = "the arm is parked, and its driver was told to take its power"
"""Of an arm whose driver does not tell whether it has."""

LEFT = "the arm stands where it is, and its own driver holds it"
"""Of an arm whose power others see to."""

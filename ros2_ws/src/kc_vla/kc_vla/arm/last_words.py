"""What a controller says last of its arm; who launched it says it once more, at the very end."""

PARKED = "the arm is parked and has no power"
NO_POWER = "the arm has no power"
"""The end of an arm that was never enabled; the reason may follow."""

TOLD_TO_LET_GO = "the arm is parked, and its driver was told to take its power"
"""The end of an arm whose driver does not report whether its motors are enabled."""

LEFT = "the arm stands where it is, and its own driver holds it"
"""The end of an arm that its own driver enables and disables."""

KEPT = "The arm keeps its power"
"""The end of an arm that is not parked, behind the reason; where it is follows."""

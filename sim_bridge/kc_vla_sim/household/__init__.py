"""A symbolic household: rooms, things, skills, a detector, and checks of goals."""

"""A symbolic household: rooms, things, what can be done with them, what is seen, and goals that are checked."""

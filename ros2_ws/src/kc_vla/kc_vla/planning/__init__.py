"""Instructions into skills, and skills into deeds, with what the memories know."""

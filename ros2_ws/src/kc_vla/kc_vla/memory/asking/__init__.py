"""Questions to the memory of a robot: what a question asks for, and an answer with what it rests on."""

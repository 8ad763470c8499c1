"""Images with the objects in them, rendered by a simulator: what a detector is trained and measured on."""

"""What models can be run on; apart from what runs them, which takes long to import."""

DEVICES = ("auto", "cpu", "cuda")

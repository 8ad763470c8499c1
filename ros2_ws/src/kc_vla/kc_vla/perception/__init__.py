"""Objects in camera images: what detectors find, where it is in 3-D, and which object it is over many views."""

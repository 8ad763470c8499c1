"""What a robot knows of its surroundings for long: 3-D scene graphs, built from detections, kept in one file."""

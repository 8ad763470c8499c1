"""The `ros2` command of the stand-in."""

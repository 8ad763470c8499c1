"""The verbs of `ros2`, one module each, with `main(arguments) -> exit code`."""

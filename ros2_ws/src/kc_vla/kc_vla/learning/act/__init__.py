"""LeRobot's ACT policies: their files, the network rebuilt, and its export to ONNX."""

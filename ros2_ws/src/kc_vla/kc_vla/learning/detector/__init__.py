"""The detector of objects: training on rendered images, export to ONNX, evaluation."""

"""Files to networks: ONNX and .nnet."""

"""From a trained model and its actors to a bundle on disk: ONNX graphs, quantisation, parity, writer."""

"""The panel Predict: a diagram that gives nothing away."""

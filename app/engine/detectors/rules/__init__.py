"""One small class for each thing that tells of a failed run."""

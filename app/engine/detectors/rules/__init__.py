"""The rules: one small class for each sign of a failed run."""

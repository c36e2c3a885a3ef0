"""Asks a model what it makes of a run: did each action do what it was for, was the goal met."""

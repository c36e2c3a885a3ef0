"""Model judge of a run: did each action do what it was for, was the goal met."""

"""The scout: a policy without a model.  It reads the intent and the page by rule, and stops where it knows no rule."""

"""Takeover: a person operates the page of a run; their input becomes steps, a summary, a tip draft, a graph path."""

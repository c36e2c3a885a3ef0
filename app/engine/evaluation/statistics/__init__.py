"""Statistics of outcomes that come in clusters: tasks of one template succeed and fail together.

Only numpy and the standard library; scipy serves the tests as an oracle.
"""

"""Other people's pickles, read as data.

A pickle is a program: opening it as usual runs whatever its author wrote. ``reader`` has a process of its own read it
(``worker``), which gives up everything it does not need first (``confinement``); in it every name of the pickle becomes
an inert class that records what it was given (``recorded``), so that nothing is imported or called even there. That
process imports these modules and the standard library alone.
"""

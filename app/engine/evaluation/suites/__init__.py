"""Suites of tasks read from files: one module a format, found by content."""

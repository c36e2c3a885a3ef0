"""Migrations of the website."""

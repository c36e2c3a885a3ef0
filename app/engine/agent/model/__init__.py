"""Talks to a language model behind an OpenAI-compatible endpoint, within a budget; records it, and replays it."""

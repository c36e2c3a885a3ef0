"""The engine's use cases, a module for each part of the work; ``app.engine.engine`` puts them together."""

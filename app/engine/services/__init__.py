"""The engine's use cases, one module for each; ``app.engine.engine`` puts them together."""

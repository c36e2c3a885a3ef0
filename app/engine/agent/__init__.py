"""The embedded agent: loop, roles, memory, navigator, policies, language model."""

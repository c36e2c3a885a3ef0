"""Client of a language model behind an OpenAI-compatible endpoint: budget, retries, recording."""

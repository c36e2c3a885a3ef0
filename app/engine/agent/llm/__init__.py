"""The agent with a language model: operator, planner, summarizer, selector and orchestrator over any ``Model``."""

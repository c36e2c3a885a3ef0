"""The llm policy: operator, planner, summarizer, selector and orchestrator over any ``Model``."""

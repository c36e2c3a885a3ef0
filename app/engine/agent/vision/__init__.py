"""Vision: marks from a screenshot, enriched by the page's elements, and resolved when an action points at one."""

"""Vision behind the endpoint: marks from a picture, enriched by the page, and what they stand for when pointed at."""

"""A person's hands on the page of a run: what they do becomes steps, an account, a tip draft, a path on the map."""

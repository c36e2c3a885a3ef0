"""Real applications the scout is measured on: installed from packages, filled from a fixed seed, reset at will."""

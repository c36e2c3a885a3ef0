"""Real applications the scout is measured on: installed from their packages, filled from a fixed seed, reset at will."""

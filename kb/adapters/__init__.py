"""Adapters that give the tips of a frozen file to agents made elsewhere; each needs that agent's package, late."""

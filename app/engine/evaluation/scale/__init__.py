"""Engines that run episodes: on this machine, or on a cluster."""

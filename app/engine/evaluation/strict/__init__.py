"""The dialect ``strict``: WebArena-Verified, run as a process of its own in an environment of its own."""

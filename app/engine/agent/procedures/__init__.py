"""Tips' steps on real pages: which control a step means, with which values, and how far each tip has been followed."""

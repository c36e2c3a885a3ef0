"""The process of one of the doctor's probes in a bundle, which has no ``python -c``: ``NAME [ARGUMENT]``."""

from __future__ import annotations

import sys

from app.engine.services.doctor_probes import PROBES

if __name__ == "__main__":
    _, _name, *_arguments = sys.argv
    sys.argv = ["-c", *_arguments]
    exec(PROBES[_name], {"__name__": "__main__"})  # constants of ours

"""Tips as files that other programs and people read and write.

A format is a module with ``parse(text, site)`` and, where it can be written, ``serialise(tips)``.  Exporting,
importing that and exporting again gives the same bytes; for that an export holds what a tip says and where it comes
from, not its id, its standing or the file it came from: those are made anew by whoever imports it.
"""

from kb.exchange.registry import FORMATS, import_file, parse_file, read, write

__all__ = ["FORMATS", "import_file", "parse_file", "read", "write"]

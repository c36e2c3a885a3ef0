"""Import and export of tips in file formats of other programs and people.

A format is a module with ``parse(text, site)`` and, if it can be written, ``serialise(tips)``.  Exporting, importing
that and exporting again gives the same bytes; so an export holds a tip's content and origin, not its id, its status
or the file it came from: the importer sets those.
"""

from kb.exchange.registry import FORMATS, format_of, import_file, parse_file, read, write

__all__ = ["FORMATS", "format_of", "import_file", "parse_file", "read", "write"]

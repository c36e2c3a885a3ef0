"""Serve the archive on 127.0.0.1; the only argument is the port."""

from __future__ import annotations

import os
import sys

from django.core.wsgi import get_wsgi_application
from waitress import serve

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "archive.settings")

if __name__ == "__main__":
    serve(get_wsgi_application(), host="127.0.0.1", port=int(sys.argv[1]), threads=4)

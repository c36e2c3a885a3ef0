"""Serve a tracker at the root of an address: ``python serve.py HOME PORT``, run by the Python of the site."""

from __future__ import annotations

import sys

from roundup.cgi.wsgi_handler import RequestDispatcher
from waitress import serve

if __name__ == "__main__":
    serve(RequestDispatcher(sys.argv[1]), host="127.0.0.1", port=int(sys.argv[2]), threads=4)

"""The website as a WSGI application; run as a program it listens on 127.0.0.1 at the given port."""

import os
import sys

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "heritage.settings")
application = get_wsgi_application()

if __name__ == "__main__":
    from waitress import serve

    serve(application, host="127.0.0.1", port=int(sys.argv[1]), threads=6)

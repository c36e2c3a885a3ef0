"""The application with its static files, which a web server in front would else give out."""

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from whitenoise import WhiteNoise

application = WhiteNoise(get_wsgi_application(), root=settings.STATIC_ROOT, prefix="static/", max_age=86400)

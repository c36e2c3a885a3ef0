"""Settings of the server: pretix's own, with mail thrown away and sessions that do not run out between two runs."""

from pretix.settings import *  # noqa: F403

EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
PRETIX_SESSION_TIMEOUT_RELATIVE = 3600 * 24 * 60
PRETIX_SESSION_TIMEOUT_ABSOLUTE = 3600 * 24 * 60

"""Settings of the mail archive; ``ARCHIVE_LIVE`` is the folder of its state, ``ARCHIVE_STATIC`` that of its files."""

from __future__ import annotations

import os
from pathlib import Path

LIVE = Path(os.environ["ARCHIVE_LIVE"])
SECRET_KEY = "kestrel-valley-archive-of-a-measuring-site"
DEBUG = False
ALLOWED_HOSTS = ["127.0.0.1"]
SITE_ID = 1
ROOT_URLCONF = "archive.urls"
INSTALLED_APPS = [
    "archive.apps.ArchiveConfig",
    "hyperkitty",
    "django_mailman3",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.sites",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "rest_framework",
    "django_gravatar",
    "compressor",
    "haystack",
    "django_extensions",
    "django_q",
    "allauth",
    "allauth.account",
    "allauth.socialaccount",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.i18n",
                "django.template.context_processors.media",
                "django.template.context_processors.static",
                "django.template.context_processors.tz",
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "django_mailman3.context_processors.common",
                "hyperkitty.context_processors.common",
            ],
        },
    },
]
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": LIVE / "archive.db",
        "OPTIONS": {"timeout": 20},
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
CACHES = {"default": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}}
"""No cache, so that a restored database shows at once."""
LANGUAGE_CODE = "en-us"
TIME_ZONE = "UTC"
USE_I18N = True
USE_TZ = True

STATIC_URL = "/static/"
STATIC_ROOT = Path(os.environ["ARCHIVE_STATIC"])
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "compressor.finders.CompressorFinder",
]
COMPRESS_ENABLED = True
COMPRESS_OFFLINE = True
COMPRESS_PRECOMPILERS = [("text/x-scss", "django_libsass.SassCompiler")]

AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "hk_root"
LOGOUT_URL = "account_logout"
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "username*", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_RATE_LIMITS = False
ACCOUNT_DEFAULT_HTTP_PROTOCOL = "http"
MESSAGE_TAGS = {40: "danger"}

EMAIL_BACKEND = "archive.delivery.ListDelivery"
DEFAULT_FROM_EMAIL = "postmaster@lists.kestrelvalley.example"
MAILMAN_REST_API_URL = "http://127.0.0.1:9"
MAILMAN_REST_API_USER = "none"
MAILMAN_REST_API_PASS = "none"
MAILMAN_ARCHIVER_KEY = "none"
MAILMAN_ARCHIVER_FROM: tuple[str, ...] = ()

HAYSTACK_CONNECTIONS = {
    "default": {"ENGINE": "haystack.backends.whoosh_backend.WhooshEngine", "PATH": str(LIVE / "index")}
}
HAYSTACK_SIGNAL_PROCESSOR = (
    "haystack.signals.BaseSignalProcessor"
    if os.environ.get("ARCHIVE_SEEDING")
    else "haystack.signals.RealtimeSignalProcessor"
)
Q_CLUSTER = {"name": "archive", "orm": "default", "sync": True, "save_limit": -1, "timeout": 30, "retry": 60}
FILTER_VHOST = False
HYPERKITTY_ENABLE_GRAVATAR = False
HYPERKITTY_BATCH_MODE = bool(os.environ.get("ARCHIVE_SEEDING"))
HYPERKITTY_TASK_LOCK_TIMEOUT = 10
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"console": {"class": "logging.StreamHandler"}},
    "root": {"handlers": ["console"], "level": "WARNING"},
}

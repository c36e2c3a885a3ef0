"""Keys of model endpoints: from the environment, else from the system's keyring, one for each server.

A key is kept for a server (scheme, host and port of an address) and is sent to no other. The entry without a server, as
earlier versions kept it, is the key of the address in the settings.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Literal
from urllib.parse import urlsplit

from app import settings
from app.errors import StoreError
from app.settings import KEY_VARIABLE

KEY_REMEDY = f"export {KEY_VARIABLE}=... before you start Sitelore"
OLDER_ENTRY = "model endpoint"
"""Name of the keyring's entry in earlier versions."""

KeyPlace = Literal["environment", "keyring", "none", "no keyring"]
"""Where a key comes from; "no keyring": nowhere, and none can be kept."""


def server_of(url: str) -> str:
    """Return scheme, host and port of an address, without a user's name; "" is OpenAI's."""
    parts = urlsplit(url.strip() or "https://api.openai.com/v1")
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}".lower()


def model_key(environ: Mapping[str, str] | None = None, url: str | None = None) -> str:
    """Return the key for an address (default: the settings'): the environment's, else the keyring's; "" for none."""
    environ = os.environ if environ is None else environ
    return environ.get(KEY_VARIABLE) or kept_key(url)


def kept_key(url: str | None = None) -> str:
    """Return the key that the keyring has for an address (default: the settings'); "" for none. May block."""
    import keyring.errors

    with suppress(keyring.errors.KeyringError):
        return _kept(url)
    return ""


def key_place(url: str) -> KeyPlace:
    """Return where the key for an address comes from. May block."""
    import keyring.errors

    if os.environ.get(KEY_VARIABLE):
        return "environment"
    try:
        return "keyring" if _kept(url) else "none"
    except keyring.errors.KeyringError:
        return "no keyring"


def keep_model_key(key: str, url: str | None = None) -> None:
    """Keep the key for an address (default: the settings') in place of an earlier one; "" removes it. May block.

    Raises:
        StoreError: there is no keyring, or it refuses; the key is never part of the message.
    """
    import keyring
    import keyring.errors

    saved = settings.load().model_url
    server = server_of(saved if url is None else url)
    try:
        if key:
            keyring.set_password(settings.APP, _entry(server), key)
        else:
            _remove(_entry(server))
        if server == server_of(saved):
            _remove(OLDER_ENTRY)
    except keyring.errors.NoKeyringError:
        if key:
            raise StoreError(f"there is no keyring here to keep the key in; {KEY_REMEDY}") from None
    except keyring.errors.KeyringError as error:
        raise StoreError(
            f"the keyring refused ({type(error).__name__}); unlock it, or {KEY_REMEDY}"
        ) from None


def bind_older_key(url: str) -> None:
    """Give an earlier version's key to the server of an address, before the settings take another. May block.

    Raises:
        StoreError: the keyring refuses.
    """
    import keyring
    import keyring.errors

    with suppress(keyring.errors.KeyringError):
        if key := keyring.get_password(settings.APP, OLDER_ENTRY):
            keep_model_key(keyring.get_password(settings.APP, _entry(server_of(url))) or key, url)


def _kept(url: str | None) -> str:
    import keyring

    saved = settings.load().model_url
    server = server_of(saved if url is None else url)
    key = keyring.get_password(settings.APP, _entry(server)) or ""
    if not key and server == server_of(saved):
        key = keyring.get_password(settings.APP, OLDER_ENTRY) or ""
    return key


def _entry(server: str) -> str:
    return f"{OLDER_ENTRY} {server}"


def _remove(entry: str) -> None:
    import keyring

    if keyring.get_password(settings.APP, entry) is not None:
        keyring.delete_password(settings.APP, entry)

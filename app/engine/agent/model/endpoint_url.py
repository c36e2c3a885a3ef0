"""Address of an endpoint: its query, its headers, and the classic form of Azure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from app.errors import UsageError

DEFAULT_URL = "https://api.openai.com/v1"
_DEPLOYMENT = re.compile(r"(.*/openai)/deployments/([^/]+)(?:/.*)?\Z")
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+\Z")
_SHORTEST_SECRET = 4
"""Characters of a header's value that is kept out of messages; a shorter one is part of other words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where and how requests are sent.

    Classic Azure has the deployment (its name for a model) in the path, an ``api-version`` in the query and the key in
    a header of its own; it is recognised by the first two. Its newer ``/openai/v1`` is like any other.

    Attributes:
        url: address without query; of Azure up to ``/openai``.
        query: sent with every request.  headers: extra ones, with the key filled in.
        deployment: of an Azure address that names one.
    """

    url: str
    key: str = field(default="", repr=False)
    query: Mapping[str, str] = field(default_factory=dict[str, str])
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    azure: bool = False
    deployment: str = ""

    def path(self, model: str, *, responses: bool) -> str:
        """Return the path of a request for a model, after ``url``."""
        if responses:
            return "/responses"
        if self.azure:
            return f"/deployments/{self.deployment or model}/chat/completions"
        return "/chat/completions"

    def model(self, model: str) -> str:
        """Return the model to name in a request; an Azure address may name the deployment alone."""
        return model or self.deployment

    @property
    def secrets(self) -> tuple[str, ...]:
        """Texts that no message may contain, longest first: the key, and the values of headers."""
        values = {self.key, *self.headers.values()}
        return tuple(sorted((one for one in values if len(one) >= _SHORTEST_SECRET), key=len, reverse=True))


def endpoint_of(url: str, key: str = "", *, headers: str = "", api_version: str = "") -> Endpoint:
    """Read an address and its options.

    Args:
        headers: ``Name: value`` per line, or separated by ``;``; ``{key}`` in a value stands for the key.
        api_version: of classic Azure; one in the address takes precedence.

    Raises:
        UsageError: a header can't be read; the message does not show its value.
    """
    parts = urlsplit(url or DEFAULT_URL)
    query = dict(parse_qsl(parts.query))
    path = parts.path.rstrip("/")
    found = _DEPLOYMENT.match(path)
    if api_version and not path.endswith("/v1"):
        query.setdefault("api-version", api_version)
    azure = found is not None or "api-version" in query
    if found is not None:
        path = found[1]
    elif azure and not path.endswith("/openai"):
        path = f"{path}/openai"
    return Endpoint(
        url=urlunsplit((parts.scheme, parts.netloc, path, "", "")),
        key=key,
        query=query,
        headers=parse_headers(headers, key),
        azure=azure,
        deployment=found[2] if found is not None else "",
    )


def parse_headers(text: str, key: str = "") -> dict[str, str]:
    """Return extra headers by name.

    Raises:
        UsageError: a line is no header.
    """
    headers: dict[str, str] = {}
    for number, line in enumerate((part for part in re.split(r"[\n;]", text) if part.strip()), 1):
        name, colon, value = line.partition(":")
        value = value.strip()
        if not colon or not _HEADER_NAME.match(name.strip()) or not (value.isascii() and value.isprintable()):
            raise UsageError(
                f"header {number} of the model endpoint can't be read",
                remedy="write SITELORE_MODEL_HEADERS as 'Name: value', separated by ';'",
            )
        headers[name.strip()] = value.replace("{key}", key)
    return headers


def display_url(url: str) -> str:
    """Return an address without user and query, for display."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/")

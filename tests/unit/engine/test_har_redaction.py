"""Requests are stored without cookies, authorisation, bodies and secrets: one row a clause."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.engine.core.evaluation.har_redaction import redact_har
from app.engine.core.redaction import MARK


def _entry(url: str = "http://h/a", **more: Any) -> dict[str, Any]:
    request: dict[str, Any] = {"method": "GET", "url": url, "headers": [], **more.pop("request", {})}
    response: dict[str, Any] = {"status": 200, "headers": [], **more.pop("response", {})}
    return {"request": request, "response": response, **more}


def _archive(*entries: Any) -> dict[str, Any]:
    return {"log": {"version": "1.2", "entries": list(entries)}}


def _clean(*entries: Any) -> list[dict[str, Any]]:
    archive, why = redact_har(_archive(*entries), lambda text: text.replace("hush-hush", MARK))
    assert why == ""
    assert archive is not None
    return archive["log"]["entries"]


SECRET = "s3cr3t-value-1234567890"
ROWS = {
    "cookie of the request": {"request": {"headers": [{"name": "Cookie", "value": SECRET}]}},
    "list of cookies of the request": {"request": {"cookies": [{"name": "sid", "value": SECRET}]}},
    "cookie of the answer": {"response": {"headers": [{"name": "set-cookie", "value": f"sid={SECRET}"}]}},
    "list of cookies of the answer": {"response": {"cookies": [{"name": "sid", "value": SECRET}]}},
    "authorisation": {"request": {"headers": [{"name": "Authorization", "value": f"Bearer {SECRET}"}]}},
    "authorisation of a proxy": {"request": {"headers": [{"name": "proxy-authorization", "value": SECRET}]}},
    "key in a header": {"request": {"headers": [{"name": "X-Api-Key", "value": SECRET}]}},
    "token against forgery": {"request": {"headers": [{"name": "X-CSRF-Token", "value": SECRET}]}},
    "body that was sent": {"request": {"postData": {"mimeType": "text/plain", "text": SECRET}}},
    "fields that were sent": {"request": {"postData": {"params": [{"name": "a", "value": SECRET}]}}},
    "content of the answer": {"response": {"content": {"size": 3, "mimeType": "text/html", "text": SECRET}}},
    "token in the address": {"request": {"url": f"http://h/a?token={SECRET}"}},
    "token in the query": {
        "request": {"url": "http://h/a", "queryString": [{"name": "token", "value": SECRET}]}
    },
    "password in the address": {"request": {"url": f"http://emma:{SECRET}@h/a"}},
    "name alone in the address": {"request": {"url": f"http://{SECRET}@h/a"}},
    "token in the page before": {
        "request": {"headers": [{"name": "Referer", "value": f"http://h/?sid={SECRET}"}]}
    },
    "password in a redirect": {"response": {"redirectURL": f"http://emma:{SECRET}@h/b"}},
    "secret of the run in an address": {"request": {"url": "http://h/?q=hush-hush"}},
    "secret of the run in a header": {
        "request": {"headers": [{"name": "Referer", "value": "http://h/hush-hush"}]}
    },
    "what no field of the standard names": {
        "_securityDetails": {"subject": SECRET},
        "serverIPAddress": SECRET,
    },
    "comment": {"comment": SECRET},
}


@pytest.mark.parametrize("more", ROWS.values(), ids=ROWS.keys())
def test_no_secret_is_kept(more: dict[str, Any]) -> None:
    kept = json.dumps(_clean(_entry(**more)))
    assert SECRET not in kept
    assert "hush-hush" not in kept


def test_what_evaluators_look_at_is_kept() -> None:
    (entry,) = _clean(
        _entry(
            "http://h/f/books?sort=new&page=2",
            request={"method": "POST", "headers": [{"name": "Referer", "value": "http://h/f"}]},
            response={
                "status": 302,
                "redirectURL": "http://h/f/books/7",
                "content": {"size": 5, "mimeType": "text/html"},
                "headers": [{"name": "Content-Type", "value": "text/html"}],
            },
        )
    )
    request, response = entry["request"], entry["response"]
    assert (request["method"], request["url"]) == ("POST", "http://h/f/books?sort=new&page=2")
    assert request["queryString"] == [{"name": "sort", "value": "new"}, {"name": "page", "value": "2"}]
    assert request["headers"] == [{"name": "Referer", "value": "http://h/f"}]
    assert (response["status"], response["redirectURL"]) == (302, "http://h/f/books/7")
    assert response["content"] == {"size": 5, "mimeType": "text/html"}
    assert response["headers"] == [{"name": "Content-Type", "value": "text/html"}]


@pytest.mark.parametrize(
    "entry", [None, 7, "x", {}, {"request": 1}, {"request": {"url": 7}}, {"request": {"url": None}}]
)
def test_what_is_no_request_is_left_out(entry: Any) -> None:
    assert _clean(entry) == []


@pytest.mark.parametrize(
    "response",
    [None, 7, {"status": "x"}, {"headers": 7}, {"headers": [7, {"name": 7, "value": []}]}, {"content": "x"}],
)
def test_an_answer_of_another_form_is_kept_without_what_is_odd(response: Any) -> None:
    (entry,) = _clean({"request": {"url": "http://h/a", "method": "GET"}, "response": response})
    assert entry["response"]["headers"] == []
    assert isinstance(entry["response"]["status"], int)


@pytest.mark.parametrize("archive", [{}, {"log": []}, {"log": {}}, {"log": {"entries": {}}}])
def test_what_is_no_archive_is_told(archive: dict[str, Any]) -> None:
    assert redact_har(archive) == (None, "the recorded requests are no HTTP archive")


def test_too_long_an_archive_is_kept_without_files_that_nobody_looks_at() -> None:
    files = [_entry(f"http://h/{'x' * 200}{number}.png?v=1") for number in range(20)]
    archive, why = redact_har(_archive(_entry(), *files), limit=4_000)
    assert archive is not None
    assert [entry["request"]["url"] for entry in archive["log"]["entries"]] == ["http://h/a"]
    assert "there were too many" in why


def test_an_archive_that_is_still_too_long_is_left_out_as_a_whole() -> None:
    pages = [_entry(f"http://h/{'x' * 200}{number}") for number in range(20)]
    archive, why = redact_har(_archive(*pages), limit=4_000)
    assert archive is None
    assert "more than" in why

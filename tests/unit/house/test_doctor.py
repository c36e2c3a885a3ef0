"""The doctor's findings: true, with a remedy, and without the key."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.engine import doctor
from app.engine.browser import find


class Endpoint(http.server.BaseHTTPRequestHandler):
    """Lists two models to whoever has the key."""

    def do_GET(self) -> None:
        allowed = self.headers["Authorization"] == "Bearer right-key"
        self.send_response(200 if allowed else 401)
        self.end_headers()
        self.wfile.write(json.dumps({"data": [{"id": "a"}, {"id": "b"}]}).encode())

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def endpoint() -> Iterator[str]:
    server = http.server.HTTPServer(("127.0.0.1", 0), Endpoint)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://ana:secret@127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


def plain(address: str) -> str:
    return address.replace("ana:secret@", "")


def test_an_endpoint_that_answers_is_reported_without_its_key(endpoint: str) -> None:
    check = doctor.endpoint_check(plain(endpoint), {"OPENAI_API_KEY": "right-key"})

    assert check.ok
    assert "2 models" in check.found
    assert "right-key" not in repr(check)


def test_a_model_that_the_endpoint_does_not_have_is_told_with_those_it_has(endpoint: str) -> None:
    environ = {"OPENAI_API_KEY": "right-key"}
    assert doctor.endpoint_check(plain(endpoint), environ, ("b", "")).ok

    check = doctor.endpoint_check(plain(endpoint), environ, ("b", "c"))

    assert not check.ok
    assert "model c" in check.found
    assert "a, b" in check.remedy


def test_a_wrong_key_is_told_with_what_to_check(endpoint: str) -> None:
    check = doctor.endpoint_check(plain(endpoint), {"OPENAI_API_KEY": "wrong-key"})

    assert (check.ok, check.needed) == (False, False)
    assert "401" in check.found
    assert "OPENAI_API_KEY" in check.remedy
    assert "wrong-key" not in repr(check)


@pytest.mark.parametrize(
    "address", ["http://ana:secret@127.0.0.1:9/v1?key=hidden", "ftp://ana:secret@host/", "nonsense"]
)
def test_an_endpoint_out_of_reach_is_no_failure_and_shows_no_password(address: str) -> None:
    check = doctor.endpoint_check(address, {"OPENAI_API_KEY": "k"})

    assert not check.ok
    assert check.remedy
    assert "secret" not in repr(check)
    assert "hidden" not in repr(check)


def test_without_an_endpoint_the_workbench_does_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor.settings, "model_key", lambda _: "")

    assert not doctor.endpoint_check("", {}).needed


def test_a_workspace_that_is_not_there_yet_is_fine_and_is_not_made(tmp_path: Path) -> None:
    check = doctor.workspace_check(tmp_path / "new" / "workspace")

    assert check.ok
    assert "GB free" in check.found
    assert list(tmp_path.iterdir()) == []


def test_a_workspace_on_a_full_disk_gets_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "LITTLE_DISK", 10**18)

    check = doctor.workspace_check(tmp_path)

    assert not check.ok
    assert f"mv '{tmp_path}'" in check.remedy


def test_an_exported_encoder_counts_only_when_whole(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "model.onnx").write_bytes(b"x" * 10)
    assert "ready without torch" not in doctor.encoder_check("", tmp_path).found

    (copy / "copy.json").write_text("{}", "utf-8")
    assert "ready without torch" in doctor.encoder_check("", tmp_path).found


def test_a_model_folder_that_is_gone_is_named(tmp_path: Path) -> None:
    check = doctor.encoder_check(str(tmp_path / "gone"), tmp_path)

    assert not check.ok
    assert "gone is no folder" in check.found


async def test_the_whole_examination_names_a_remedy_for_everything_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "browser_check", _no_browser)
    environ = {"PATH": "", "SITELORE_THEME": "pink"}

    checks = await doctor.examine(tmp_path, environ)

    found = {check.name: check for check in checks}
    assert {"Python", "Qt", "SQLite", "workspace", "browser", "encoder", "model endpoint", "keyring"} <= set(
        found
    )
    assert [check.name for check in checks if not check.ok and not check.remedy] == []
    assert found["settings"].remedy == "unset SITELORE_THEME"
    assert found["SQLite"].ok


async def _no_browser(setting: str) -> doctor.Check:
    return doctor.Check(name="browser", ok=False, found="none", remedy=find.install_command())

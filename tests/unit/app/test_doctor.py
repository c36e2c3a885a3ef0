"""The doctor's findings are true, have a remedy, and never contain the key."""

from __future__ import annotations

import http.server
import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.engine.browser.launch import launcher, sandbox
from app.engine.services import doctor, doctor_probes


class Endpoint(http.server.BaseHTTPRequestHandler):
    """Lists two models to requests with the key."""

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
    monkeypatch.setattr(doctor, "model_key", lambda *_: "")

    assert not doctor.endpoint_check("", {}).needed


def test_a_workspace_that_is_not_there_yet_is_fine_and_is_not_made(tmp_path: Path) -> None:
    check = doctor.workspace_check(tmp_path / "new" / "workspace")

    assert check.ok
    assert "GB free" in check.found
    assert list(tmp_path.iterdir()) == []


def test_a_workspace_on_a_full_disk_gets_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "MIN_FREE_DISK", 10**18)

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
    assert "gone is not a folder" in check.found


def test_a_picture_encoder_needs_a_model_and_its_packages(tmp_path: Path, monkeypatch) -> None:
    gone = doctor.picture_encoder_check(str(tmp_path / "gone"))
    assert not gone.ok
    assert "is not a sentence-transformers folder" in gone.found

    (tmp_path / "modules.json").write_text("[]", "utf-8")
    monkeypatch.setattr(doctor, "_has", lambda name: name != "torch")
    lacking = doctor.picture_encoder_check(str(tmp_path))
    assert "not installed: torch" in lacking.found
    assert lacking.remedy

    monkeypatch.setattr(doctor, "_has", lambda name: True)
    assert doctor.picture_encoder_check(str(tmp_path)).ok


async def test_the_whole_examination_names_a_remedy_for_everything_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "browser_checks", _no_browser)
    environ = {"PATH": "", "SITELORE_THEME": "pink"}

    checks = await doctor.examine(tmp_path, environ)

    found = {check.name: check for check in checks}
    assert {"Python", "Qt", "SQLite", "workspace", "browser", "encoder", "model endpoint", "keyring"} <= set(
        found
    )
    assert [check.name for check in checks if not check.ok and not check.remedy] == []
    assert found["settings"].remedy == "unset SITELORE_THEME"
    assert found["SQLite"].ok


async def _no_browser(setting: str, proof: object) -> list[doctor.Check]:
    return [doctor.Check(name="browser", ok=False, found="none", remedy=launcher.install_command())]


class Probe:
    """Answers in place of the child process, one after the other, then repeats the last."""

    def __init__(self, *answers: dict[str, object] | None) -> None:
        self.answers = list(answers)

    async def __call__(self, code: str, *_: str, **__: object) -> tuple[int, str, str]:
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if answer is None:
            raise doctor_probes.ProbeTimeout("no answer within 30 s")
        return 0, json.dumps(answer), ""


WORKS: dict[str, object] = {"version": "156.0", "candidate": "/bin/chromium", "unsandboxed": ""}
PROOF = launcher.StartedBrowser(version="156.0", candidate="/bin/chromium")


@pytest.mark.parametrize("slow", [None, {"error": "Timeout 20000ms exceeded", "slow": True}])
async def test_a_browser_that_is_slow_is_not_answering_yet_and_not_missing(
    monkeypatch: pytest.MonkeyPatch, slow: dict[str, object] | None
) -> None:
    monkeypatch.setattr(doctor, "run_probe", Probe(slow))

    (check,) = await doctor.browser_checks("")

    assert (check.ok, check.slow) == (False, True)
    assert "not answering yet" in check.found
    assert "install" not in check.remedy


async def test_a_browser_that_is_missing_is_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "run_probe", Probe({"error": "no browser could be started", "slow": False}))

    (check,) = await doctor.browser_checks("")

    assert (check.ok, check.slow) == (False, False)
    assert check.remedy == launcher.install_command()


@pytest.mark.parametrize("answer", [None, {"error": "no browser could be started", "slow": False}])
async def test_a_browser_that_this_process_has_opened_is_proof(
    monkeypatch: pytest.MonkeyPatch, answer: dict[str, object] | None
) -> None:
    monkeypatch.setattr(doctor, "run_probe", Probe(answer))

    browser, sandboxed = await doctor.browser_checks("/bin/chromium", lambda: PROOF)

    assert browser.ok
    assert "156.0" in browser.found
    assert sandboxed.ok


async def test_a_browser_that_was_opened_proves_nothing_of_another_that_is_chosen_by_now(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(doctor, "run_probe", Probe(None))

    assert [check.ok for check in await doctor.browser_checks("/bin/other", lambda: PROOF)] == [False]


async def test_the_sandbox_has_a_row_of_its_own_with_how_to_mend_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "run_probe", Probe(WORKS, {**WORKS, "unsandboxed": sandbox.ROOT}))
    assert [check.ok for check in await doctor.browser_checks("")] == [True, True]

    browser, sandboxed = await doctor.browser_checks("")

    assert browser.ok
    assert (sandboxed.name, sandboxed.ok) == ("sandbox", False)
    assert sandbox.ROOT in sandboxed.found
    assert sandboxed.remedy == "start Sitelore as an ordinary user"


async def test_a_browser_that_may_not_run_without_its_sandbox_is_not_told_to_be_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    refused: dict[str, object] = {"error": "the browser can't have its sandbox", "unsandboxed": sandbox.ROOT}
    monkeypatch.setattr(doctor, "run_probe", Probe(refused))

    browser, sandboxed = await doctor.browser_checks("")

    assert not browser.ok
    assert "install" not in browser.remedy
    assert not sandboxed.ok


async def test_a_child_that_hangs_is_ended_and_called_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_probes, "PROBE_TIMEOUT", 0.2)
    silent = [sys.executable, "-c", "import time; time.sleep(60)"]
    monkeypatch.setattr(doctor_probes, "child_command", lambda *_: silent)
    with pytest.raises(doctor_probes.ProbeTimeout, match="no answer"):
        await doctor_probes.run_probe("sqlite")


@pytest.mark.parametrize("check", ["Qt", "SQLite"])
async def test_nothing_that_is_slow_is_told_to_be_installed_again(
    monkeypatch: pytest.MonkeyPatch, check: str
) -> None:
    monkeypatch.setattr(doctor, "run_probe", Probe(None))

    found = await (doctor.qt_check({}) if check == "Qt" else doctor.sqlite_check())

    assert found.slow
    assert "install" not in found.remedy


@pytest.mark.parametrize(
    ("libc", "is_old"),
    [
        (("glibc", "2.31"), True),
        (("glibc", "2.28"), True),
        (("glibc", "2.33.1"), True),
        (("glibc", "2.34"), False),
        (("glibc", "2.36"), False),
        (("glibc", "3.0"), False),
        (("musl", "1.2"), False),
        (("glibc", "odd"), False),
        (("", ""), False),
    ],
)
def test_a_system_that_is_too_old_for_qt_is_named(libc: tuple[str, str], is_old: bool):
    check = doctor.libc_check(libc)
    assert (check is not None) is is_old
    if check is not None:
        assert check.found == f"glibc {libc[1]}; Qt needs 2.34 or newer"
        assert "Debian 12" in check.remedy

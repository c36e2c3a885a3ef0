"""A browser runs in its sandbox; one that can't is reported, or refused where the settings forbid it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from playwright.async_api import Error, Playwright, TimeoutError

from app.cli.common import SandboxNotice
from app.engine.browser.launch import launcher, sandbox
from app.engine.browser.launch.launcher import NoBrowser, StartedBrowser, launch
from app.engine.browser.launch.sandbox import NO_NAMESPACES, ROOT, NoSandbox
from app.engine.core.events import BrowserStarted

AS_ROOT = (
    "BrowserType.launch: Target page, context or browser has been closed\nBrowser logs:\nChromium sandboxing failed!\n"
    "[pid=1][err] ERROR:zygote_host_impl_linux.cc: Running as root without --no-sandbox is not supported."
    " See https://crbug.com/638180."
)
NO_USER_NAMESPACES = "BrowserType.launch: closed\n[pid=1][err] FATAL: No usable sandbox! Update your kernel"
NAMESPACE_REFUSED = (
    "BrowserType.launch: closed\n[err] Failed to move to new namespace: Operation not permitted"
)
OTHER = "BrowserType.launch: closed\n[err] error while loading shared libraries: libnss3.so"


class Launcher:
    """Chromium as Playwright starts it: with a sandbox it fails with ``refused``, without one with ``broken``."""

    def __init__(self, refused: str = "", broken: str = "") -> None:
        self.refused, self.broken = refused, broken
        self.asked: list[bool] = []

    async def launch(self, *, chromium_sandbox: bool, **_: Any) -> SimpleNamespace:
        self.asked.append(chromium_sandbox)
        if chromium_sandbox and self.refused:
            raise Error(self.refused)
        if self.broken:
            raise Error(self.broken)
        return SimpleNamespace(version="156.0")

    async def start(self) -> StartedBrowser:
        """Start it through the program; returns what listeners get."""
        told: list[StartedBrowser] = []
        unlisten = launcher.on_browser_start(told.append)
        try:
            await launch(cast(Playwright, SimpleNamespace(chromium=self)), "/somewhere/chromium")
        finally:
            unlisten()
        assert len(told) == 1
        return told[0]


@pytest.fixture(autouse=True)
def ordinary_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate an ordinary user, as the suite may run as root; restores what was learnt of this machine's
    browsers.
    """
    monkeypatch.setattr(sandbox, "is_root", lambda: False)
    monkeypatch.setattr(sandbox, "_known", {})
    monkeypatch.delenv(sandbox.VARIABLE, raising=False)


async def test_a_browser_is_started_in_its_sandbox() -> None:
    launcher = Launcher()

    assert (await launcher.start()).unsandboxed == ""
    assert launcher.asked == [True]


@pytest.mark.parametrize(
    ("error", "why"),
    [(AS_ROOT, ROOT), (NO_USER_NAMESPACES, NO_NAMESPACES), (NAMESPACE_REFUSED, NO_NAMESPACES)],
)
async def test_where_the_system_refuses_the_sandbox_the_browser_starts_without_and_says_why(
    error: str, why: str
) -> None:
    launcher = Launcher(refused=error)

    assert (await launcher.start()).unsandboxed == why
    assert launcher.asked == [True, False]


async def test_the_refusal_is_remembered_and_costs_one_start_only() -> None:
    launcher = Launcher(refused=NO_USER_NAMESPACES)
    await launcher.start()
    launcher.asked.clear()

    assert (await launcher.start()).unsandboxed == NO_NAMESPACES
    assert launcher.asked == [False]


async def test_root_is_known_to_get_none_without_a_try(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "is_root", lambda: True)
    launcher = Launcher()

    assert (await launcher.start()).unsandboxed == ROOT
    assert launcher.asked == [False]


async def test_a_browser_that_fails_for_another_reason_is_not_tried_without_its_sandbox() -> None:
    launcher = Launcher(refused=OTHER)

    with pytest.raises(NoBrowser, match="closed"):
        await launcher.start()
    assert launcher.asked == [True]


@pytest.mark.parametrize("root", [True, False])
async def test_a_setting_forbids_to_go_without(monkeypatch: pytest.MonkeyPatch, root: bool) -> None:
    monkeypatch.setenv(sandbox.VARIABLE, "required")
    monkeypatch.setattr(sandbox, "is_root", lambda: root)
    launcher = Launcher(refused=NO_USER_NAMESPACES)

    with pytest.raises(NoSandbox, match="SITELORE_SANDBOX=required forbids"):
        await launcher.start()
    assert False not in launcher.asked


async def test_the_setting_changes_nothing_where_there_is_a_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(sandbox.VARIABLE, "Required")

    assert (await Launcher().start()).unsandboxed == ""


async def test_a_start_that_failed_without_it_too_teaches_nothing() -> None:
    launcher = Launcher(refused=NO_USER_NAMESPACES, broken=OTHER)
    with pytest.raises(NoBrowser):
        await launcher.start()
    launcher.refused = launcher.broken = ""

    assert (await launcher.start()).unsandboxed == ""


async def test_a_browser_that_is_slow_is_not_said_to_be_missing() -> None:
    class Late(Launcher):
        async def launch(self, *, chromium_sandbox: bool, **_: Any) -> SimpleNamespace:
            raise TimeoutError("BrowserType.launch: Timeout 20000ms exceeded.")

    with pytest.raises(NoBrowser) as late:
        await Late().start()
    assert late.value.slow
    with pytest.raises(NoBrowser) as broken:
        await Launcher(refused=OTHER).start()
    assert not broken.value.slow


def test_the_sentence_has_the_reason_the_danger_and_what_to_do() -> None:
    assert sandbox.no_sandbox_warning("") == ""
    words = sandbox.no_sandbox_warning(ROOT)
    assert "without its sandbox (Chromium does not allow it for root)" in words
    assert "start Sitelore as an ordinary user" in words


@pytest.mark.parametrize(
    ("name", "value", "remedy"),
    [
        ("apparmor_restrict_unprivileged_userns", "1\n", "apparmor_restrict_unprivileged_userns=0"),
        ("unprivileged_userns_clone", "0\n", "unprivileged_userns_clone=1"),
        ("unprivileged_userns_clone", "1\n", "in a container"),
        ("nothing", "", "in a container"),
    ],
)
def test_the_remedy_is_that_of_the_switch_the_system_has_off(
    tmp_path: Path, name: str, value: str, remedy: str
) -> None:
    (tmp_path / name).write_text(value, "ascii")

    assert remedy in sandbox.remedy(NO_NAMESPACES, tmp_path)


def test_the_command_line_says_once_that_a_browser_has_no_sandbox(capsys: pytest.CaptureFixture[str]) -> None:
    warner = SandboxNotice()
    warner(BrowserStarted(found="Chromium 156.0"))
    assert capsys.readouterr().err == ""

    for _ in range(3):
        warner(
            BrowserStarted(found="Chromium 156.0", unsandboxed=ROOT, warning=sandbox.no_sandbox_warning(ROOT))
        )

    assert capsys.readouterr().err.count("without its sandbox") == 1

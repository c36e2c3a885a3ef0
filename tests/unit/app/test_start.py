"""The program's start, and its messages where it can't."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from app.cli import main
from app.engine.services import doctor


@pytest.fixture(autouse=True)
def no_log_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.log.setup", lambda *_, **__: None)


@pytest.fixture
def window(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record what would be opened; Qt is not loaded."""
    opened: list[str] = []
    fake = ModuleType("app.main")
    fake.run_workbench = lambda *_, **__: opened.append("window") or 0  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "app.main", fake)
    for name in ("WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DISPLAY", ":99")
    return opened


def test_a_missing_library_is_named_with_its_packages_before_qt_is_loaded(
    window: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "missing_libraries", lambda _: ["libxcb-icccm.so.4"])

    assert main([]) == 1

    assert window == []
    said = capsys.readouterr().err
    assert "libxcb-icccm.so.4" in said
    assert "libxcb-icccm4" in said
    assert "apt-get install" in said
    assert "Traceback" not in said


def test_the_window_opens_where_nothing_is_missing(
    window: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "missing_libraries", lambda _: [])

    assert main([]) == 0
    assert window == ["window"]


@pytest.mark.parametrize(
    ("environ", "needed"),
    [
        ({"DISPLAY": ":0"}, True),
        ({"QT_QPA_PLATFORM": "xcb"}, True),
        ({"DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0"}, False),
        ({"DISPLAY": ":0", "QT_QPA_PLATFORM": "offscreen"}, False),
        ({}, False),
    ],
)
def test_the_libraries_of_x11_are_asked_for_where_the_window_is_one_of_its(
    environ: dict[str, str], needed: bool
) -> None:
    assert doctor.needs_xcb(environ) is needed


def test_the_doctor_prints_its_remedies_whole(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    remedy = doctor._apt(f"{doctor.QT_PACKAGES} {doctor.WINDOW_PACKAGES}")

    async def examine(_: object) -> list[doctor.Check]:
        return [
            doctor.Check(name="Qt", ok=False, found="shared libraries are missing: libxcb.so", remedy=remedy),
            doctor.Check(name="browser", ok=False, slow=True, found="not answering yet", remedy="ask again"),
        ]

    monkeypatch.setattr(doctor, "examine", examine)
    assert main(["doctor"]) == 1

    lines = capsys.readouterr().out.splitlines()
    assert f"Qt: {remedy}" in lines
    assert [line.split()[0] for line in lines if " browser " in line] == ["slow"]


@pytest.mark.parametrize(
    ("line", "command"),
    [
        (["tip", "add", "--nonsense"], "sitelore tip add"),
        (["kb", "frobnicate"], "sitelore kb"),
        (["explore"], "sitelore explore"),
        (["frobnicate"], "sitelore"),
    ],
)
def test_wrong_usage_names_the_help_of_the_very_command(
    line: list[str], command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(line) == 2
    assert f"(see '{command} --help')" in capsys.readouterr().err


def test_the_demo_site_takes_another_port_where_one_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = min(taken.getsockname()[1], 65533)
        assert main(["demo", "--serve", "--port", str(port)]) == 1
    said = capsys.readouterr().err
    assert f"port {port}" in said
    assert "--port" in said

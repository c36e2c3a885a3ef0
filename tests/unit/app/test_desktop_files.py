"""The desktop entry, types of files, man page and completion: written once, removed without a trace, complete."""

from __future__ import annotations

import configparser
import re
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from typer.main import get_command

from app.assets import resource
from app.cli import desktop, desktop_files
from app.cli.command_tree import CommandNode, command_tree
from app.cli.completion import completion_script
from app.cli.man_page import man_page
from app.cli.root import app
from app.errors import SiteloreError

PROGRAM = Path("/opt/a place/bin/sitelore")


@pytest.fixture(scope="module")
def nodes() -> list[CommandNode]:
    return command_tree(get_command(app))


@pytest.mark.parametrize(
    ("word", "written"),
    [
        ("/usr/bin/sitelore", "/usr/bin/sitelore"),
        ("/a place/sitelore", '"/a place/sitelore"'),
        ("/100%/sitelore", "/100%%/sitelore"),
        ("/$HOME/sitelore", '"/\\\\$HOME/sitelore"'),
        ('/say "x"/sitelore', '"/say \\\\"x\\\\"/sitelore"'),
        ("/a\\b/sitelore", '"/a\\\\\\\\b/sitelore"'),
        ("/tick`/sitelore", '"/tick\\\\`/sitelore"'),
    ],
)
def test_a_path_is_quoted_as_the_specification_of_entries_says(word: str, written: str):
    assert desktop_files.exec_word(word) == written


def test_an_entry_keeps_the_rules_of_its_specification():
    parser = configparser.RawConfigParser(strict=True)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(desktop_files.desktop_entry(PROGRAM))
    entry = dict(parser["Desktop Entry"])
    assert entry["Exec"] == '"/opt/a place/bin/sitelore" open %F'
    assert entry["TryExec"] == str(PROGRAM)
    assert entry["Type"] == "Application"
    assert entry["StartupWMClass"] == "sitelore"
    for name in ("Categories", "Keywords", "MimeType", "Actions"):
        assert entry[name].endswith(";")
    actions = [one for one in entry["Actions"].split(";") if one]
    assert [f"Desktop Action {one}" for one in actions] == parser.sections()[1:]
    for action in actions:
        assert parser[f"Desktop Action {action}"]["Exec"] == f'"{PROGRAM}" open --show {action}'
    assert (Path("icons") / f"{entry['Icon']}.svg").name == resource("icons", "sitelore.svg").name


def test_the_types_of_files_are_those_of_the_entry_and_found_by_their_content():
    root = ElementTree.parse(resource("desktop", "sitelore-mime.xml")).getroot()
    space = {"m": "http://www.freedesktop.org/standards/shared-mime-info"}
    types = {one.attrib["type"]: one for one in root.findall("m:mime-type", space)}
    listed = re.search(r"(?m)^MimeType=(.*)$", desktop_files.desktop_entry(PROGRAM))
    assert listed is not None
    assert {*types, "inode/directory"} == set(listed[1].strip(";").split(";"))
    marks = {one.attrib["value"] for one in types["application/x-akb"].iter(f"{{{space['m']}}}match")}
    from kb.migrations import APPLICATION_ID, FROZEN_ID

    wanted = {number.to_bytes(4, "big").decode("ascii") for number in (APPLICATION_ID, FROZEN_ID)}
    assert marks == {"SQLite format 3", *wanted}
    about = ElementTree.parse(resource("desktop", "org.sitelore.Sitelore.metainfo.xml")).getroot()
    assert about.findtext("launchable") == "sitelore.desktop"
    assert about.findtext("project_license") == "Apache-2.0"


def test_installing_twice_writes_once_and_removing_leaves_nothing(nodes: list[CommandNode], tmp_path: Path):
    first = desktop_files.install(tmp_path, PROGRAM, "1.2.3", nodes)
    assert {path.relative_to(tmp_path).parts[0] for path in first} == {
        "applications", "bash-completion", "fish", "icons", "man", "metainfo", "mime", "zsh",
    }  # fmt: skip
    assert desktop_files.install(tmp_path, PROGRAM, "1.2.3", nodes) == []
    moved = desktop_files.install(tmp_path, Path("/elsewhere/sitelore"), "1.2.3", nodes)
    assert [path.name for path in moved] == ["sitelore.desktop"]
    assert sorted(desktop_files.remove(tmp_path)) == sorted(first)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    assert desktop_files.remove(tmp_path) == []


def test_pictures_have_the_size_that_their_folder_says(nodes: list[CommandNode], tmp_path: Path):
    from PIL import Image

    desktop_files.install(tmp_path, PROGRAM, "1", nodes)
    pictures = list(tmp_path.glob("icons/hicolor/*/apps/*.png"))
    assert len(pictures) == 8
    for path in pictures:
        with Image.open(path) as picture:
            assert f"{picture.width}x{picture.height}" == path.parts[-3]


def test_only_an_absolute_data_home_counts(tmp_path: Path):
    environ = {"HOME": str(tmp_path)}
    own = tmp_path / ".local" / "share"
    assert desktop_files.data_home(environ) == own
    assert desktop_files.data_home({**environ, "XDG_DATA_HOME": "some/where"}) == own
    assert desktop_files.data_home({**environ, "XDG_DATA_HOME": "/data"}) == Path("/data")


def test_folders_are_left_to_the_file_manager(
    nodes: list[CommandNode], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    desktop_files.install(tmp_path, PROGRAM, "1", nodes)
    answers = iter(["org.gnome.Nautilus.desktop\n", "sitelore.desktop\n"])
    monkeypatch.setattr(desktop_files.shutil, "which", lambda name: name if name == "xdg-mime" else None)
    monkeypatch.setattr(desktop_files, "_run", lambda _command: (True, next(answers)))
    entry = tmp_path / desktop_files.ENTRY
    assert not desktop_files.give_folders_back(tmp_path)
    assert desktop_files.FOLDERS in entry.read_text("utf-8")
    assert desktop_files.give_folders_back(tmp_path)
    assert desktop_files.FOLDERS not in entry.read_text("utf-8")
    assert desktop_files.install(tmp_path, PROGRAM, "1", nodes) == []


def test_other_systems_are_told_that_nothing_is_done(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(desktop, "_program", lambda: PROGRAM)
    for system in ("win32", "darwin"):
        monkeypatch.setattr(desktop.sys, "platform", system)
        with pytest.raises(SiteloreError, match="nothing is put into"):
            desktop.install_desktop(None)  # type: ignore[arg-type]


@pytest.mark.skipif(not shutil.which("desktop-file-validate"), reason="desktop-file-utils is not installed")
def test_the_desktops_own_checker_accepts_the_entry(nodes: list[CommandNode], tmp_path: Path):
    desktop_files.install(tmp_path, PROGRAM, "1", nodes)
    done = subprocess.run(
        ["desktop-file-validate", str(tmp_path / desktop_files.ENTRY)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "")


def test_every_command_and_every_option_is_in_the_manual_page(nodes: list[CommandNode]):
    page = man_page(nodes, "1.2.3").replace("\\-", "-")
    assert len(nodes) > 100
    for node in nodes[1:]:
        words = " ".join(node.words)
        assert f'.SS "{words}"' in page or f"\\fBsitelore {words}\\fR" in page
        for option in node.options:
            if not option.is_argument:
                assert all(f"\\fB{name}\\fR" in page for name in option.names if name != "--help")
    assert not [
        line for line in page.splitlines() if re.match(r"\.(?!TH|SH|SS|TP|PP|IP|RS|RE|B |IR|br|nh)", line)
    ]


@pytest.mark.skipif(not shutil.which("mandoc"), reason="mandoc is not installed")
def test_the_manual_page_is_good_roff(nodes: list[CommandNode]):
    page = man_page(nodes, "1.2.3")
    done = subprocess.run(
        ["mandoc", "-T", "lint", "-W", "error"], input=page, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")


CALLS = {
    "bash": "source {file}; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}}-1)); _sitelore;"
    ' printf "%s\\n" "${{COMPREPLY[@]}}"',
    "zsh": "compdef() {{ : }}; _files() {{ : }}; compadd() {{ shift; print -l -- $@ }}; source {file};"
    " words=({words}); CURRENT=$#words; _sitelore",
    "fish": "source {file}; complete -C 'sitelore {line}'",
}


@pytest.mark.parametrize("shell", CALLS)
@pytest.mark.parametrize(
    ("line", "some"),
    [
        ("", {"kb", "runs", "open"}),
        ("kb ", {"freeze", "verify"}),
        ("live batch ", {"resume"}),
        ("kb freeze --", {"--help"}),
        ("open --show ", {"live", "review"}),
        ("completion ", {"zsh"}),
    ],
)
def test_shells_complete_commands_options_and_values(
    nodes: list[CommandNode], tmp_path: Path, shell: str, line: str, some: set[str]
):
    if not shutil.which(shell):
        pytest.skip("the shell is not installed")
    file = tmp_path / "script"
    file.write_text(completion_script(shell, nodes, "1"), "utf-8")
    words = " ".join(repr(word) for word in ["sitelore", *line.split(" ")])
    began = time.perf_counter()
    done = subprocess.run(
        [shell, *(["-f"] if shell == "zsh" else []), "-c", CALLS[shell].format(file=file, words=words, line=line)],
        capture_output=True, text=True, check=False, env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
    )  # fmt: skip
    assert done.stderr == ""
    assert some <= {one.partition("\t")[0] for one in done.stdout.splitlines()}
    assert "python" not in file.read_text("utf-8").lower().replace("python packaging", "")
    assert time.perf_counter() - began < 5


def test_the_installation_names_its_own_way_to_add_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from app import installation

    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert installation.install_command("sitelore[mcp]").endswith("-m pip install 'sitelore[mcp]'")
    (tmp_path / "pipx_metadata.json").touch()
    assert installation.install_command("keyring", "onnx") == "pipx inject sitelore keyring onnx"
    (tmp_path / "uv-receipt.toml").touch()
    assert (
        installation.install_command("keyring", "onnx")
        == "uv tool install sitelore --with keyring --with onnx"
    )
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert installation.child_command("app.engine.host", "x")[1:] == ["--run-module", "app.engine.host", "x"]
    assert installation.own_command("--workspace", "w")[1:] == ["--workspace", "w"]
    with pytest.raises(SystemExit, match="own processes"):
        installation.run_child(["os"])

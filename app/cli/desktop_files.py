"""The files that put the program into a freedesktop desktop: entry, icons, types of files, man page, completion."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from app.assets import resource
from app.cli.command_tree import CommandNode
from app.cli.completion import completion_script
from app.cli.man_page import man_page

ENTRY = "applications/sitelore.desktop"
FOLDERS = "inode/directory;"
"""The type of folders in the entry's list: offered under "Open with", never as what a double click does."""
_COMPLETIONS = {
    "bash": "bash-completion/completions/sitelore",
    "zsh": "zsh/site-functions/_sitelore",
    "fish": "fish/vendor_completions.d/sitelore.fish",
}
_SECONDS = 20
_RESERVED = re.compile(r"[\s\"'\\><~|&;$*?#()`]")


def data_home(environ: Mapping[str, str]) -> Path:
    """Return the user's data folder; a relative ``XDG_DATA_HOME`` is ignored, as its specification says."""
    chosen = Path(environ.get("XDG_DATA_HOME") or "")
    return chosen if chosen.is_absolute() else Path(environ.get("HOME") or Path.home()) / ".local" / "share"


def install(home: Path, program: Path, version: str, nodes: Sequence[CommandNode]) -> list[Path]:
    """Write all files below ``home``; return those that are new or have changed."""
    return [
        path
        for name, content in _files(program, version, nodes)
        if _write(path := home.joinpath(name), content)
    ]


def remove(home: Path) -> list[Path]:
    """Delete the files that ``install`` writes; return those that were there."""
    found = [
        path
        for name, _ in _files(Path("sitelore"), "", [CommandNode(words=(), help="", options=())])
        if (path := home.joinpath(name)).is_file()
    ]
    for path in found:
        path.unlink()
    return found


def refresh(home: Path) -> list[str]:
    """Have the desktop read its databases again; return a sentence for each program that failed."""
    said: list[str] = []
    for command in (
        ["update-desktop-database", "-q", str(home / "applications")],
        ["update-mime-database", str(home / "mime")],
    ):
        if shutil.which(command[0]) and Path(command[-1]).is_dir() and not _run(command)[0]:
            said.append(f"{command[0]} failed; the desktop may show the entry only after the next log-in")
    if (home / "icons/hicolor/icon-theme.cache").is_file() and shutil.which("gtk-update-icon-cache"):
        _run(["gtk-update-icon-cache", "-q", "-t", "-f", str(home / "icons/hicolor")])
    return said


def give_folders_back(home: Path) -> bool:
    """Take folders out of the entry if this desktop would now open every folder with it; return whether it did."""
    entry = home / ENTRY
    if not shutil.which("xdg-mime") or not entry.is_file():
        return False
    worked, answer = _run(["xdg-mime", "query", "default", "inode/directory"])
    if not worked or answer.strip() != Path(ENTRY).name:
        return False
    _put(entry, entry.read_bytes().replace(FOLDERS.encode(), b""))
    refresh(home)
    return True


def desktop_entry(program: Path) -> str:
    """Return the entry; its ``Exec`` lines have the absolute path of the program."""
    entry = resource("desktop", "sitelore.desktop").read_text("utf-8")
    entry = re.sub(r"(?m)^Exec=sitelore", lambda _: f"Exec={exec_word(str(program))}", entry)
    return re.sub(r"(?m)^TryExec=sitelore", lambda _: f"TryExec={_value(str(program))}", entry)


def exec_word(word: str) -> str:
    """Return an argument as an ``Exec`` line has it: quoted, then escaped as any value (Desktop Entry 1.5)."""
    word = word.replace("%", "%%")
    if _RESERVED.search(word):
        word = '"' + re.sub(r'(["`$\\])', r"\\\1", word) + '"'
    return _value(word)


def _value(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")


def _files(program: Path, version: str, nodes: Sequence[CommandNode]) -> Iterator[tuple[str, str | bytes]]:
    yield ENTRY, desktop_entry(program)
    yield "mime/packages/sitelore.xml", resource("desktop", "sitelore-mime.xml").read_text("utf-8")
    about = resource("desktop", "org.sitelore.Sitelore.metainfo.xml")
    yield f"metainfo/{about.name}", about.read_bytes()
    yield "icons/hicolor/scalable/apps/sitelore.svg", resource("icons", "sitelore.svg").read_bytes()
    for picture in sorted(resource("icons", "png").glob("sitelore-*.png")):
        size = picture.stem.rpartition("-")[2]
        yield f"icons/hicolor/{size}x{size}/apps/sitelore.png", picture.read_bytes()
    yield "man/man1/sitelore.1", man_page(nodes, version)
    for shell, place in _COMPLETIONS.items():
        yield place, completion_script(shell, nodes, version)


def _write(path: Path, content: str | bytes) -> bool:
    data = content.encode() if isinstance(content, str) else content
    here = path.read_bytes() if path.is_file() else None
    if here in (data, data.replace(FOLDERS.encode(), b"")):  # the second: folders were given back
        return False
    _put(path, data)
    return True


def _put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    part.write_bytes(data)
    part.replace(path)


def _run(command: Sequence[str]) -> tuple[bool, str]:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False, ""
    return done.returncode == 0, done.stdout

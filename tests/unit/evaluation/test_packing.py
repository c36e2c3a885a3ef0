"""Packed files: what comes back, and what is refused."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest
import zstandard

from app.engine.evaluation import packing
from app.engine.evaluation.packing import pack_files, read_folder, unpack_files
from app.errors import Conflict, InputError

FILES = {"run.json": b"{}", "blobs/a.txt.zst": b"\0" * 5000, "leer": b""}


def test_files_come_back_and_equal_files_give_equal_bytes(tmp_path: Path):
    data = pack_files(FILES)
    assert data == pack_files(dict(reversed(FILES.items())))
    unpack_files(data, tmp_path / "out")
    assert read_folder(tmp_path / "out") == FILES
    assert (tmp_path / "out").stat().st_mode & 0o077 == 0
    with pytest.raises(Conflict):
        unpack_files(data, tmp_path / "out")


def _packed(*entries: tuple[tarfile.TarInfo, bytes]) -> bytes:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as archive:
        for entry, content in entries:
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return zstandard.ZstdCompressor().compress(raw.getvalue())


def _entry(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = kind, link
    return entry


@pytest.mark.parametrize(
    "entry",
    [
        _entry("../escaped"),
        _entry("a/../../escaped"),
        _entry("/etc/escaped"),
        _entry("a\\..\\escaped"),
        _entry("C:escaped"),
        _entry("."),
        _entry("link", tarfile.SYMTYPE, "/etc/passwd"),
        _entry("hard", tarfile.LNKTYPE, "../x"),
        _entry("pipe", tarfile.FIFOTYPE),
        _entry("device", tarfile.CHRTYPE),
        _entry("folder", tarfile.DIRTYPE),
    ],
    ids=lambda entry: entry.name,
)
def test_an_entry_that_is_no_plain_file_below_the_folder_is_refused(tmp_path: Path, entry):
    with pytest.raises(InputError, match="no plain file"):
        unpack_files(_packed((entry, b"")), tmp_path / "out")
    assert not (tmp_path / "escaped").exists()


@pytest.mark.parametrize("data", [b"", b"nonsense", pack_files(FILES)[:40]])
def test_damaged_bytes_are_refused_in_a_sentence(tmp_path: Path, data):
    with pytest.raises(InputError):
        unpack_files(data, tmp_path / "out")


def test_a_small_file_that_unpacks_to_much_is_refused(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(packing, "MAX_UNPACKED", 4000)
    with pytest.raises(InputError, match="more than may be unpacked"):
        unpack_files(pack_files(FILES), tmp_path / "out")

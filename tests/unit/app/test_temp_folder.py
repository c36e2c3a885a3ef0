"""Temporary folders are removed with their process: at its end, or at the next start of one like it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.engine.store import temp_folder
from app.engine.store.temp_folder import LOCK, PREFIX, TempFolder, remove_abandoned

HOLD = """
import sys, time
from pathlib import Path
from app.engine.store.temp_folder import TempFolder
made = TempFolder.make(Path(sys.argv[1]))
(made.path / "profile").mkdir()
(made.path / "profile" / "data").write_text("x")
print(made.path, flush=True)
sys.stdin.read()
"""


def held(base: Path) -> tuple[subprocess.Popen[str], Path]:
    """Yield a folder in ``base`` held by another process."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(base)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def test_a_folder_is_private_and_leaves_nothing(tmp_path: Path) -> None:
    with TempFolder.make(tmp_path) as path:
        assert path.parent == tmp_path
        assert path.stat().st_mode & 0o777 == 0o700
        (path / "profile").mkdir()
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path: Path) -> None:
    process, left = held(tmp_path)
    end(process)
    assert (left / "profile" / "data").exists()

    with TempFolder.make(tmp_path):
        assert not left.exists()


def test_the_folder_of_a_living_process_is_left_alone(tmp_path: Path) -> None:
    process, living = held(tmp_path)
    try:
        assert remove_abandoned(tmp_path) == 0
        assert (living / "profile" / "data").exists()
    finally:
        end(process)


def test_only_our_own_folders_are_ever_removed(tmp_path: Path) -> None:
    others = [tmp_path / "playwright-artifacts-x", tmp_path / "sitelore-tmp", tmp_path / f"{PREFIX}file"]
    others[0].mkdir()
    (others[0] / LOCK).touch()
    others[1].mkdir()
    others[2].touch()
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / LOCK).touch()
    link = tmp_path / f"{PREFIX}link"
    link.symlink_to(outside)

    assert remove_abandoned(tmp_path) == 0
    assert all(path.exists() for path in (*others, link, outside / LOCK))


@pytest.mark.skipif(not hasattr(os, "chown") or os.getuid() != 0, reason="only root gives folders away")
def test_a_folder_of_another_user_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / f"{PREFIX}theirs"
    path.mkdir()
    (path / LOCK).touch()
    os.chown(path, 65534, 65534)

    assert remove_abandoned(tmp_path) == 0
    assert path.exists()


def test_a_folder_without_a_lock_is_being_made_unless_it_is_old(tmp_path: Path) -> None:
    path = tmp_path / f"{PREFIX}new"
    path.mkdir()
    assert remove_abandoned(tmp_path) == 0

    old = time.time() - 2 * temp_folder.STALE_SECONDS
    os.utime(path, (old, old))
    assert remove_abandoned(tmp_path) == 1
    assert not path.exists()


def test_a_temporary_folder_with_a_long_path_is_not_used_for_sockets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(temp_folder.tempfile, "tempdir", str(tmp_path / ("x" * temp_folder.MAX_BASE_PATH)))
    assert len(os.fsencode(temp_folder.short_temp())) <= temp_folder.MAX_BASE_PATH

"""The recipe of a bundle, and the folder that an AppImage is packed from."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from app import installation

ROOT = Path(__file__).parents[3]


@pytest.fixture
def bundle() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bundle", ROOT / "packaging" / "bundle.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_the_recipe_is_python_and_says_where_it_was_tried():
    text = (ROOT / "packaging" / "sitelore.spec").read_text("utf-8")
    compile(text, "sitelore.spec", "exec")
    assert "Windows and macOS: not tried" in text


@pytest.mark.parametrize("module", installation.CHILDREN)
def test_every_child_of_a_bundle_is_a_module_that_runs(module: str):
    found = importlib.util.find_spec(module)
    assert found is not None
    assert found.origin is not None
    assert '__name__ == "__main__"' in Path(found.origin).read_text("utf-8")


@pytest.mark.skipif(sys.platform == "win32", reason="an AppDir is for Linux")
def test_an_app_dir_starts_its_program_from_anywhere_with_all_its_words(bundle: ModuleType, tmp_path: Path):
    program = tmp_path / "built here" / "sitelore"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n', "utf-8")
    program.chmod(0o755)
    made = bundle.app_dir(program.parent, tmp_path)
    link = tmp_path / "link"
    link.symlink_to(made / "AppRun")
    done = subprocess.run([link, "open", "a file.akb"], capture_output=True, text=True, check=True, cwd="/")
    assert done.stdout.splitlines() == ["open", "a file.akb"]
    assert (made / ".DirIcon").resolve().is_file()
    assert (made / "sitelore.desktop").is_file()
    assert (made / "usr/share/metainfo/org.sitelore.Sitelore.metainfo.xml").is_file()


def test_what_cannot_be_built_here_is_said_and_is_no_failure(
    bundle: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(bundle.importlib.util, "find_spec", lambda _name: None)
    monkeypatch.setattr(bundle.shutil, "which", lambda _name: None)
    assert bundle.freeze(tmp_path) is None
    assert bundle.app_image(tmp_path, tmp_path) is None
    assert "no bundle: PyInstaller is not installed" in (said := capsys.readouterr().out)
    assert "no AppImage: appimagetool is not installed" in said

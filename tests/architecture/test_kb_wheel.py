"""The small wheel: the package kb alone, with the versions and ranges of the project, and it works by itself."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.support.frozen_files import frozen_shop

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("hatchling")
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "packaging/kb_wheel.py", str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


def test_it_holds_kb_with_its_types_licence_and_page_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        about = archive.read(next(name for name in names if name.endswith("/METADATA"))).decode()
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"kb"}
    assert {"kb/__init__.py", "kb/py.typed", "kb/mcp_server.py"} <= names
    assert {name.rsplit("/", 1)[-1] for name in names if "/licenses/" in name} == {"LICENSE", "NOTICE"}
    assert "# Knowledge for the agent you have" in about
    assert wheel.stat().st_size < 600_000


def test_its_version_and_ranges_are_those_of_the_project() -> None:
    def project(path: str) -> dict[str, object]:
        return tomllib.loads((ROOT / path).read_text("utf-8"))["project"]

    main, small = project("pyproject.toml"), project("packaging/kb/pyproject.toml")
    assert {name: main[name] for name in ("version", "license", "requires-python")} == {
        name: small[name] for name in ("version", "license", "requires-python")
    }
    extras = small["optional-dependencies"]
    assert isinstance(extras, dict)
    assert set(small["dependencies"]) | set(extras["encoder"]) <= set(main["dependencies"])  # type: ignore[call-overload]


def test_installed_alone_it_answers_from_python_and_from_the_command_line(
    wheel: Path, tmp_path: Path
) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    frozen = frozen_shop(tmp_path)
    url, goal = "https://www.shop.example/item/7", "choose a size and add the mug to the basket"
    code = (
        "import kb, sys; found = kb.open_frozen(sys.argv[1]).retrieve(url=sys.argv[2], goal=sys.argv[3]);"
        "print(kb.__file__, found.tips[0].text)"
    )
    by_command = ["-m", "kb", "retrieve", str(frozen), "--url", url, "--goal", goal]
    for command in (["-c", code, str(frozen), url, goal], by_command):
        done = subprocess.run(
            [sys.executable, *command],
            cwd=tmp_path / "site",
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONPATH": str(tmp_path / "site")},
        )
        assert "Choose a size before you press Add to basket" in done.stdout
        assert "-c" not in command or done.stdout.startswith(str(tmp_path / "site"))

"""An exported run is a valid trajectory by harbor's own validator, where harbor (Python 3.12) can be installed."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.engine.exports.atif import FILE, RUN_EXPORT
from app.engine.exports.redacted_source import redacted
from tests.support.program import CHECKOUT
from tests.unit.engine.test_export_otlp import source

HARBOR = "harbor>=0.24,<1"
CHECK = (
    "import sys; from harbor.utils.trajectory_validator import TrajectoryValidator as V; v = V();"
    " ok = v.validate(sys.argv[1]); print(v.get_errors()); sys.exit(not ok)"
)


def interpreters() -> Iterator[str]:
    """Interpreters that harbor may run on; those of pyenv are not on the path unless somebody chose them."""
    for name in ("python3.12", "python3.13"):
        if found := shutil.which(name):
            yield found
        yield from map(str, Path.home().glob(f".pyenv/versions/{name.removeprefix('python')}*/bin/python"))


def works(interpreter: str) -> bool:
    return not subprocess.run(
        [interpreter, "-m", "venv", "--help"], capture_output=True, check=False
    ).returncode


@pytest.fixture(scope="module")
def harbor() -> Path:
    """The interpreter of an environment with harbor's models; their own need is pydantic alone."""
    place = CHECKOUT / ".adapters" / "harbor"
    python = place / "bin" / "python"
    if (place / "ready").exists():
        return python
    interpreter = next(filter(works, interpreters()), None)
    if interpreter is None:
        pytest.skip("harbor needs Python 3.12")
    shutil.rmtree(place, ignore_errors=True)
    for command in (
        [interpreter, "-m", "venv", str(place)],
        [str(python), "-m", "pip", "install", "-q", "--no-deps", HARBOR],
        [str(python), "-m", "pip", "install", "-q", "pydantic>=2.10,<3"],
    ):
        if subprocess.run(command, capture_output=True, timeout=240, check=False).returncode:
            pytest.skip("harbor can't be installed here")
    (place / "ready").touch()
    return python


@pytest.mark.parametrize("damaged", [False, True])
def test_harbors_validator_accepts_an_exported_run(harbor: Path, tmp_path: Path, damaged: bool):
    out = tmp_path / "run"
    RUN_EXPORT.write(redacted(source()), out)
    if damaged:  # the validator is asked, and not merely started
        (out / FILE).write_text(
            (out / FILE).read_text("utf-8").replace('"source": "user"', '"source": "nobody"')
        )
    found = subprocess.run(
        [str(harbor), "-c", CHECK, str(out / FILE)], capture_output=True, text=True, timeout=120, check=False
    )
    assert bool(found.returncode) is damaged, found.stdout + found.stderr

"""Read and write ``requirements.lock``: one exact version and its hashes for every package, in three parts.

The parts are what the program needs, what the tests add, and what exports the encoder.  Standard library only.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

BUILD_TOOLS = ["hatchling", "editables", "uv"]
PARTS = ("program", "dev", "encoder")
LOCAL_CUDA = re.compile(r"^(nvidia-|cuda-|triton\b)")
HEAD = """\
# Exact versions and hashes of everything, for every system.  Made by: python packaging/bootstrap.py lock
# On Linux torch is the CPU build and nothing of CUDA is in here; that build is the one entry without a hash, because
# it comes from an index or a folder that the machine's owner names.
"""


class Unreadable(Exception):
    """The resolver failed, or the lock has another form than this module writes."""


def entries(text: str) -> dict[str, str]:
    """Return each requirement of a compiled file, hashes included, by the name of its package."""
    joined = re.sub(r"\s*\\\n\s*", " ", text)
    lines = [line.strip() for line in joined.splitlines() if line.strip() and not line.startswith("#")]
    return {re.split(r"[=\s]", line, maxsplit=1)[0]: line for line in lines}


def read(lock: Path, *parts: str) -> str:
    """Return the requirements of these parts, ready for ``pip install --require-hashes -r``; torch is left out."""
    wanted: list[str] = []
    part = ""
    for line in re.sub(r"\s*\\\n\s*", " ", lock.read_text("utf-8")).splitlines():
        if line.startswith("# part: "):
            part = line.removeprefix("# part: ").strip()
        elif line and not line.startswith(("#", "torch==")) and part in parts:
            wanted.append(line)
    if not wanted:
        raise Unreadable(f"{lock.name} has no part {' or '.join(parts)}")
    return "\n".join(wanted) + "\n"


def named(lock: Path, package: str) -> str:
    """Return the requirement of one package, hashes included."""
    found = entries(lock.read_text("utf-8")).get(package)
    if found is None:
        raise Unreadable(f"{lock.name} does not name {package}")
    return found + "\n"


def write(lock: Path, uv: Path, pyproject: Path) -> None:
    """Resolve the newest versions that fit, for every system, and write them down in parts."""
    with tempfile.TemporaryDirectory() as folder:
        build = Path(folder) / "build.in"
        build.write_text("\n".join(BUILD_TOOLS), "utf-8")
        everything = _compiled(
            uv,
            pyproject,
            build,
            "--generate-hashes",
            "--upgrade",
            extras=("evaluate", "mcp", "encoder", "dev"),
        )
        same = Path(folder) / "same.in"
        same.write_text(
            _compiled(uv, pyproject, build, "--upgrade", extras=("evaluate", "mcp", "encoder", "dev")),
            "utf-8",
        )

        def named_by(*extras: str) -> set[str]:
            return set(
                entries(_compiled(uv, pyproject, build, "-c", str(same), extras=("evaluate", "mcp", *extras)))
            )

        program, dev, encoder = named_by(), named_by("dev"), named_by("encoder")
    # Either of the two further parts can be installed alone, so what both need is the program's.
    lock.write_text(in_parts(everything, program=program | (dev & encoder), dev=dev), "utf-8")


def in_parts(compiled: str, *, program: set[str], dev: set[str]) -> str:
    """Sort what was compiled into its parts, without CUDA, and with no torch for Linux but the CPU build."""
    parts: dict[str, list[str]] = {part: [] for part in PARTS}
    for name, line in entries(compiled).items():
        if LOCAL_CUDA.match(name):
            continue
        part = "program" if name in program else "dev" if name in dev else "encoder"
        parts[part] += _torch(line) if name == "torch" else [line]
    blocks = [
        f"# part: {part}\n" + "\n".join(line.replace(" --hash=", " \\\n    --hash=") for line in lines)
        for part, lines in parts.items()
    ]
    return HEAD + "\n\n".join(blocks) + "\n"


def _torch(line: str) -> list[str]:
    version, _, hashes = line.removeprefix("torch==").partition(" ")
    other = f"torch=={version} ; sys_platform != 'linux' {hashes}".rstrip()
    return [f"torch=={version}+cpu ; sys_platform == 'linux'", other]


def _compiled(uv: Path, *sources_and_options: str | Path, extras: tuple[str, ...] = ()) -> str:
    command = [str(uv), "pip", "compile", "--universal", "--python-version", "3.11", "--no-header"]
    command += ["--no-annotate", "--fork-strategy", "fewest", *(f"--extra={extra}" for extra in extras)]
    command += [str(each) for each in sources_and_options]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if made.returncode:
        raise Unreadable(f"the lock could not be made: {made.stderr}")
    return made.stdout

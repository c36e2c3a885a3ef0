"""Build a bundle: a folder that runs without Python, and on Linux an AppImage of it.

    python packaging/bundle.py [--out FOLDER] [--folder READY]

Needs PyInstaller beside the installed program (``pip install pyinstaller``); the AppImage also ``appimagetool``.  What
can't be built here is said in one line and is no failure.  Exit codes: 0 built, or skipped with the reason; 1 failed.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESOURCES = ROOT / "resources"
APP_RUN = """\
#!/bin/sh
here="$(dirname "$(readlink -f "$0")")"
exec "$here/usr/lib/sitelore/sitelore" "$@"
"""


def freeze(out: Path) -> Path | None:
    """Run PyInstaller; return the folder with the program, or None where there is no PyInstaller."""
    if importlib.util.find_spec("PyInstaller") is None:
        print("no bundle: PyInstaller is not installed here")
        return None
    work = [f"--distpath={out}", f"--workpath={out / 'work'}", "--noconfirm", "--log-level=WARN"]
    subprocess.run(
        [sys.executable, "-m", "PyInstaller", *work, str(ROOT / "packaging" / "sitelore.spec")], check=True
    )
    return out / "sitelore"


def app_dir(folder: Path, out: Path) -> Path:
    """Lay out an AppDir around a bundle, with entry, icon and description where AppImages have them."""
    made = out / "Sitelore.AppDir"
    shutil.rmtree(made, ignore_errors=True)
    shutil.copytree(folder, made / "usr/lib/sitelore", symlinks=True)
    run = made / "AppRun"
    run.write_text(APP_RUN, "utf-8")
    run.chmod(0o755)
    for place in (made, made / "usr/share/applications"):
        place.mkdir(parents=True, exist_ok=True)
        entry = (RESOURCES / "desktop/sitelore.desktop").read_text("utf-8")
        (place / "sitelore.desktop").write_text(entry, "utf-8")
    shutil.copy(RESOURCES / "icons/png/sitelore-256.png", made / "sitelore.png")
    (made / ".DirIcon").symlink_to("sitelore.png")
    about = made / "usr/share/metainfo"
    about.mkdir(parents=True)
    shutil.copy(RESOURCES / "desktop/org.sitelore.Sitelore.metainfo.xml", about)
    return made


def app_image(directory: Path, out: Path) -> Path | None:
    """Pack an AppDir; return the file, or None where ``appimagetool`` is not installed."""
    tool = shutil.which("appimagetool")
    if tool is None:
        print(f"no AppImage: appimagetool is not installed here; {directory / 'AppRun'} starts without it")
        return None
    made = out / f"Sitelore-{platform.machine()}.AppImage"
    environment = {**os.environ, "ARCH": platform.machine()}
    subprocess.run([tool, "--no-appstream", str(directory), str(made)], env=environment, check=True)
    return made


def main() -> int:
    """Build what can be built here."""
    parser = argparse.ArgumentParser(description="Build a bundle of Sitelore.")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="where to (default: dist)")
    parser.add_argument("--folder", type=Path, help="a bundle that is ready: only the AppImage is made of it")
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    try:
        folder = chosen.folder or freeze(chosen.out)
        if folder is not None and sys.platform.startswith("linux"):
            app_image(app_dir(folder, chosen.out), chosen.out)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"the bundle could not be built: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

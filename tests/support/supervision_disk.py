"""The supervision store on a small disk of its own that fills up or is read-only.

``python -m tests.support.supervision_disk full|read-only FOLDER`` mounts a disk on the folder, so it needs a process
that may: ``unshare -rm``.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from app.engine.core.supervision import Intervention, OperatorAction
from app.engine.store.workspace import Workspace
from app.errors import StoreError

SIZE = "4m"


def mount(folder: str, *options: str) -> None:
    subprocess.run(["mount", *options, folder], check=True, capture_output=True)


def sample_action(workspace: Workspace, number: int) -> Intervention:
    deed = Intervention(
        run="run", step=number, action=OperatorAction.HINTED, words="x" * 2000, at=float(number)
    )
    return workspace.supervision.add_action(deed)


def main(how: str, folder: str) -> None:
    """Note deeds until the disk refuses, then with room again; what was said and what is there, as JSON."""
    mount(folder, "-t", "tmpfs", "-o", f"size={SIZE}", "none")
    place = Path(folder) / "workspace"
    ballast = Path(folder) / "ballast"
    ballast.write_bytes(bytes(1_000_000))
    said = ""
    with Workspace.open(place) as workspace:
        kept = [sample_action(workspace, number) for number in range(5)]
        if how == "read-only":
            workspace.close()
            mount(folder, "-o", "remount,ro")
    if how == "read-only":
        said = refusal_to_open(place)
        mount(folder, "-o", "remount,rw")
    else:
        with Workspace.open(place) as workspace:
            try:
                while len(kept) < 5000:
                    kept.append(sample_action(workspace, len(kept)))
            except StoreError as error:
                said = str(error)
            ballast.unlink()
            kept.append(sample_action(workspace, len(kept)))
    with Workspace.open(place) as workspace:
        kept.append(sample_action(workspace, len(kept)))
        whole = [(one.order, one.step) for one in workspace.supervision.interventions("run")] == [
            (one.order, one.step) for one in kept
        ]
    sys.stdout.write(json.dumps({"said": said, "whole": whole, "kept": len(kept)}))


def refusal_to_open(place: Path) -> str:
    """Return the message about a workspace that can't be written."""
    try:
        with Workspace.open(place) as workspace:
            sample_action(workspace, -1)
    except StoreError as error:
        return str(error)
    return ""


if __name__ == "__main__":
    main(*sys.argv[1:])

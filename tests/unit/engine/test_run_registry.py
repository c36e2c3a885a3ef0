"""Whose a waiting run is: its process's as long as that lives, then anybody's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from app.engine.store.run_locks import RunRegistry

HOLDS = """
import sys, time
from pathlib import Path
from app.engine.store.run_locks import RunRegistry
RunRegistry(Path(sys.argv[1])).claim(["theirs"])
print("there", flush=True)
time.sleep(60)
"""


def test_what_another_claims_is_known_and_what_one_claims_oneself_is_not_another_s(tmp_path: Path):
    here, there = RunRegistry(tmp_path), RunRegistry(tmp_path)
    assert here.runs_of_others() == set()
    here.claim(["a", "b"])
    there.claim(["c"])
    here.claim(["d"])
    assert (here.runs_of_others(), there.runs_of_others()) == ({"c"}, {"a", "b", "d"})
    here.close()
    assert there.runs_of_others() == set()
    there.close()
    assert list(tmp_path.iterdir()) == []


def test_the_runs_of_a_process_that_was_killed_are_anybody_s_and_its_files_go(tmp_path: Path):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "there\n"
        assert RunRegistry(tmp_path).runs_of_others() == {"theirs"}
    finally:
        process.kill()
        process.communicate()
    assert RunRegistry(tmp_path).runs_of_others() == set()
    assert list(tmp_path.iterdir()) == []

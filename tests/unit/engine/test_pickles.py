"""Other people's pickles are data: nothing in them runs, nothing of them is endless, and one costs no other."""

from __future__ import annotations

import datetime
import gzip
import io
import os
import pickle
import pickletools
import subprocess
import sys
import time
from collections import OrderedDict, defaultdict, deque
from pathlib import Path, PurePosixPath

import numpy as np
import pytest
from PIL import Image

from app.engine.pickles import reader as reader_module
from app.engine.pickles import recorded, worker
from app.engine.pickles.reader import PickleReader
from app.errors import InputError

PLACE = Path("step_0.pkl.gz")
ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def reading():
    made = PickleReader()
    yield made
    made.close()


def refused(reading: PickleReader, data: bytes, kind: str = "arguments") -> str:
    with pytest.raises(InputError) as raised:
        reading.read(data, kind, PLACE)
    assert raised.value.path == str(PLACE)
    return raised.value.what


class _Runs:
    """Pickled, it is a call; opened as usual, the call is made."""

    def __init__(self, call, *args):
        self.call, self.args = call, args

    def __reduce__(self):
        return self.call, self.args


def _string(text: str) -> bytes:
    data = text.encode()
    return pickle.BINUNICODE + len(data).to_bytes(4, "little") + data


def canaries(file: Path) -> dict[str, bytes]:
    """Pickles that make a file if anything of them runs, by the way they try it."""
    shell = f"touch {file}"
    python = f"open({str(file)!r}, 'w').write('x')"
    command = b"(" + _string(shell)
    return {
        "reduce os.system": pickle.dumps(_Runs(os.system, shell)),
        "reduce subprocess": pickle.dumps(_Runs(subprocess.call, ["touch", str(file)])),
        "reduce exec": pickle.dumps(_Runs(exec, python)),
        "reduce eval": pickle.dumps(_Runs(eval, python)),
        "reduce open": pickle.dumps(_Runs(open, str(file), "w")),
        "reduce mkdir": pickle.dumps(_Runs(os.mkdir, str(file))),
        "global": b"cos\nsystem\n" + command + b"tR.",
        "global posix": b"cposix\nsystem\n" + command + b"tR.",
        "stack global": b"\x80\x04\x8c\x02os\x8c\x06system\x93" + command + b"tR.",
        "dotted name": b"\x80\x04\x8c\x08builtins\x8c\x0d__import__.os\x93" + command + b"tR.",
        "inst": command + b"ios\nsystem\n.",
        "obj": b"(cos\nsystem\n" + _string(shell) + b"o.",
        "newobj": b"\x80\x02cos\nsystem\n" + command + b"t\x81.",
        "newobj ex": b"\x80\x04\x8c\x02os\x8c\x06system\x93" + command + b"t}\x92.",
        "build": b"\x80\x02cos\nsystem\n)\x81}" + _string("x") + command + b"tsb.",
        "setitems": b"\x80\x02cos\nenviron\n)\x81(" + _string("PATH") + _string(shell) + b"u.",
        "allowed name as a way": b"cnumpy.core.multiarray\n_reconstruct\n(cos\nsystem\n" + command + b"tRtR.",
        "getattr": b"cbuiltins\ngetattr\n(cos\nsystem\n" + _string("__call__") + b"tR" + command + b"tR.",
        "path that opens": pickle.dumps(_Runs(Path.touch, file)),
    }


@pytest.mark.parametrize("way", canaries(Path("x")))
@pytest.mark.parametrize("kind", ["arguments", "step"])
def test_nothing_in_a_pickle_runs(reading, tmp_path, way, kind):
    file = tmp_path / "canary"
    data = canaries(file)[way]
    for given in (data, gzip.compress(data)):
        try:
            reading.read(given, kind, PLACE)
        except InputError:
            continue
        finally:
            assert not file.exists()


def test_the_canaries_would_run_if_they_were_opened_as_usual(tmp_path):
    file = tmp_path / "canary"
    pickle.loads(canaries(file)["reduce os.system"])
    assert file.exists()


def test_nothing_is_imported_for_a_pickle_and_no_name_is_looked_up():
    before = set(sys.modules)
    read = recorded.read_pickle(b"cantigravity\nfly\n(tR.")
    assert (type(read).name, read.args) == ("antigravity.fly", ())
    assert set(sys.modules) == before


VALUES = {
    "array of whole numbers": (np.array([3, 1]), [3, 1]),
    "array of one": (np.array([2]), [2]),
    "array without dimension": (np.array(7), 7),
    "array of floats": (np.array([0.5, 1.5], dtype=np.float32), [0.5, 1.5]),
    "array of bytes, big endian": (np.array([258], dtype=">i2"), [258]),
    "scalar": (np.float64(1.25), 1.25),
    "flag": (np.bool_(True), True),
    "moment": (datetime.datetime(2026, 11, 22, 16, 41, 6), "2026-11-22T16:41:06.000000"),
    "day": (datetime.date(2026, 11, 22), "2026-11-22"),
    "path": (PurePosixPath("/home/x/run"), "/home/x/run"),
    "ordered": (OrderedDict(a=1), {"a": 1}),
    "default": (defaultdict(list, a=[1]), {"a": [1]}),
    "queue": (deque([1, 2]), [1, 2]),
    "set": ({"x"}, ["x"]),
    "tuple": ((1, (2, None)), [1, [2, None]]),
    "not a number": (float("nan"), None),
    "half a character": ("a\ud800b", "a?b"),
    "bytes": (b"abc", None),
}


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("name", VALUES)
def test_values_of_known_names_are_read_in_every_protocol(reading, name, protocol):
    given, wanted = VALUES[name]
    if name == "bytes" and protocol == 2:
        wanted = {}
    assert reading.read(pickle.dumps({"v": given}, protocol), "arguments", PLACE)[0] == {"v": wanted}


def test_a_screenshot_in_a_pickle_comes_as_a_picture(reading):
    pixels = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3)
    data = pickle.dumps({"obs": {"screenshot": pixels}, "action": "x"})
    _, picture = reading.read(data, "step", PLACE, picture=True)
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(picture))), pixels)
    assert reading.read(data, "step", PLACE)[1] == b""


def _laughs() -> bytes:
    """A few hundred bytes that are a list of 2 to the 60th items."""
    value: list = ["ha"]
    for _ in range(60):
        value = [value, value]
    return pickle.dumps(value)


def _nested() -> bytes:
    return b"\x80\x02" + b"]" * 200_000 + b"a" * 199_999 + b"."


ENDLESS = {
    "a gzip bomb": lambda: gzip.compress(b"\0" * (recorded.MAX_PICKLE_BYTES + 1)),
    "bombs in one file": lambda: b"".join(gzip.compress(b"\0" * 2**24) for _ in range(7)),
    "shared parts without end": _laughs,
    "lists within lists": _nested,
    "itself": lambda: b"\x80\x02]q\x00h\x00a.",
    "a memo of billions": lambda: b"\x80\x02Nr\xff\xff\xff\x7f.",
    "very many objects": lambda: gzip.compress(b"\x80\x02(" + b"}" * 90_000_000 + b"l."),
    "a number of a million digits": lambda: pickle.dumps(1 << 4_000_000),
    "a length it does not have": lambda: b"\x80\x04\x8e" + (2**62).to_bytes(8, "little") + b"x.",
}


@pytest.mark.parametrize("name", ENDLESS)
def test_what_is_endless_is_refused_in_time_with_a_sentence(reading, name):
    began = time.monotonic()
    what = refused(reading, ENDLESS[name]())
    assert "pickle" in what
    assert "\n" not in what
    assert time.monotonic() - began < 30
    assert reading.read(pickle.dumps([1]), "goal", PLACE)[0] == [1]


def test_a_damaged_file_is_refused_wherever_it_is_cut_or_changed(reading):
    data = gzip.compress(pickle.dumps({"obs": {"goal": "x" * 50}, "action": "click('1')"}), mtime=0)
    for end in range(0, len(data) - 1, 7):
        refused(reading, data[:end])
    whole = pickle.dumps({"obs": {"goal": "x", "url": ["y", 1.5]}, "action": "click('1')"})
    for at in range(len(whole)):
        for byte in (0, 0x2E, 0x52, 0x62, 0x81, 0x93, 0xFF):
            changed = whole[:at] + bytes([byte]) + whole[at + 1 :]
            try:
                reading.read(changed, "step", PLACE)
            except InputError:
                continue


def test_every_opcode_alone_is_data_or_a_sentence(reading):
    for code in pickletools.opcodes:
        try:
            reading.read(b"\x80\x04" + code.code.encode("latin-1") + b"\x01\0\0\0x\n1\n.", "step", PLACE)
        except InputError:
            continue


def test_references_to_the_outside_are_refused(reading):
    assert "outside" in refused(reading, b"Pmine\n.")


def test_a_pickle_that_takes_too_long_costs_itself_alone(monkeypatch):
    reading = PickleReader()
    try:
        assert reading.read(pickle.dumps([1]), "goal", PLACE)[0] == [1]
        monkeypatch.setattr(reader_module, "MAX_SECONDS", 0.0)
        big = pickle.dumps([{"n": [str(number)]} for number in range(300_000)])
        assert "too long" in refused(reading, big)
        monkeypatch.setattr(reader_module, "MAX_SECONDS", 60.0)
        assert reading.read(pickle.dumps([2]), "goal", PLACE)[0] == [2]
    finally:
        reading.close()


SLOW = b"\x80\x04}N\x85" + b"2\x86" * 60 + b"K\x01s."
"""A key whose hash takes 2 to the 60th steps."""


def test_after_some_pickles_that_take_too_long_none_is_read_until_the_next_import(monkeypatch):
    monkeypatch.setattr(reader_module, "MAX_SECONDS", 0.3)
    monkeypatch.setattr(reader_module, "MAX_TIMEOUTS", 2)
    reading = PickleReader()
    try:
        assert "too long" in refused(reading, gzip.compress(SLOW), "step")
        assert "too long" in refused(reading, SLOW)
        assert "2 pickles before it took too long" in refused(reading, pickle.dumps([1]))
        monkeypatch.setattr(reader_module, "MAX_SECONDS", 20.0)
        reading.begin_import()
        assert reading.read(pickle.dumps([1]), "goal", PLACE)[0] == [1]
    finally:
        reading.close()


def test_the_limits_of_time_hold_together():
    assert reader_module.MAX_SECONDS < worker.LONGEST_SECONDS <= 21
    assert reader_module.MAX_SECONDS * reader_module.MAX_TIMEOUTS <= 60


_LONG = "k" * (2 << 20)
TEXTS = {
    "one text": "\0" * (12 << 20),
    "a name": {"\0" * (12 << 20): 1},
    "a text that is there often": [_LONG] * 40,
    "a name that is there often": [{_LONG: number} for number in range(40)],
    "a name within a class": pickle.dumps(OrderedDict({"\0" * (12 << 20): 1})),
    "a text of the step": {"obs": {"axtree_txt": "\0" * (12 << 20)}, "action": "noop()"},
    "text longer than all": "a" * (65 << 20),
}


@pytest.mark.parametrize("case", TEXTS)
@pytest.mark.parametrize("kind", ["step", "arguments"])
def test_text_is_bounded_as_it_is_sent(reading, case, kind):
    given = TEXTS[case]
    if kind == "step" and case != "a text of the step":
        given = {"obs": {"axtree_object": given if not isinstance(given, bytes) else pickle.loads(given)}}
    data = given if isinstance(given, bytes) else pickle.dumps(given, 4)
    assert "more than 64 MB of text" in refused(reading, data, kind)


def test_the_text_of_a_real_step_is_far_below_the_bound(reading):
    tree = "[1] button 'Käse ✓'\n" * 200_000
    value, _ = reading.read(pickle.dumps({"obs": {"axtree_txt": tree}, "action": "noop()"}), "step", PLACE)
    assert value["obs"]["axtree_txt"] == tree


def test_a_process_that_ended_meanwhile_is_started_again(reading):
    reading.read(pickle.dumps([1]), "goal", PLACE)
    reading._process.kill()
    reading._process.wait()
    assert reading.read(pickle.dumps([2]), "goal", PLACE)[0] == [2]


def test_a_process_that_can_not_start_is_a_sentence(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    assert "does not start" in refused(PickleReader(), pickle.dumps([1]))


TRIES = {
    "a file is read": "open('/etc/hostname')",
    "a file is written": "open('{place}', 'w')",
    "a socket": "socket.socket()",
    "a process": "os.fork()",
    "a program": "os.execv('/bin/true', ['/bin/true'])",
    "a removal": "os.unlink('{place}')",
    "a folder": "os.mkdir('{place}.d')",
    "a signal": "os.kill(os.getppid(), 0)",
    "much memory": "bytearray(2**31)",
}


@pytest.mark.skipif(sys.platform != "linux", reason="a process can give up less there")
@pytest.mark.parametrize("name", TRIES)
def test_the_process_has_given_up(tmp_path, name):
    place = tmp_path / "kept"
    place.write_text("kept")
    code = (
        f"import sys, os, socket; sys.path.append({str(ROOT)!r})\n"
        "from app.engine.pickles.confinement import confine\n"
        "assert confine() in ('filter', 'limits')\n"
        f"try:\n    {TRIES[name].format(place=place)}\n"
        "except (OSError, MemoryError):\n    os._exit(7)\n"
        "os._exit(0)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (7, b"")
    assert place.read_text() == "kept"


def test_the_process_imports_the_standard_library_alone():
    code = (
        f"import sys; sys.path.append({str(ROOT)!r})\nimport app.engine.pickles.worker\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules} - sys.stdlib_module_names - {'__main__'}))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, timeout=60, check=True
    )
    assert done.stdout.split() == [b"app"]


def test_packed_and_plain_files_are_the_same(reading):
    data = pickle.dumps([{"type": "text", "text": "Buy it"}])
    twice = gzip.compress(data[:20]) + gzip.compress(data[20:])
    assert [reading.read(one, "goal", PLACE)[0] for one in (data, gzip.compress(data), twice)] == [
        [{"type": "text", "text": "Buy it"}]
    ] * 3


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")
def test_a_process_whose_parent_was_killed_ends_at_once():
    parent = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import time; from pathlib import Path; from app.engine.pickles.reader import PickleReader;"
            " r = PickleReader(); r.read(b'N.', 'arguments', Path('x')); print(r._process.pid, flush=True);"
            " time.sleep(60)",
        ],
        stdout=subprocess.PIPE,
        cwd=ROOT,
    )
    with parent:
        assert parent.stdout is not None
        child = Path(f"/proc/{int(parent.stdout.readline())}")
        assert child.exists()
        parent.kill()
        deadline = time.monotonic() + 10
        while child.exists() and "Z" not in (child / "stat").read_text().split()[2]:
            assert time.monotonic() < deadline
            time.sleep(0.02)

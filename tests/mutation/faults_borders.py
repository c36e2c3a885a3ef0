"""Faults in the rules at the borders: what comes in from strangers, what goes out, who may speak to the engine."""

from __future__ import annotations

from tests.mutation.mutation import Mutation

HOST, CHANNEL = "app/engine/host.py", "app/engine/channel.py"
CSV, TOOLTIPS = "kb/exchange/csv.py", "resources/styles/00_base.qss"
IMPORTER, BLOBS = "app/engine/imports/importer.py", "app/engine/store/blobs.py"
RUN_FILES, NATIVE = "app/engine/store/run_files.py", "app/engine/imports/native.py"
FLEET, SUPERVISION = "app/engine/cases/fleet.py", "app/engine/supervision.py"
_HOST = ("tests/unit/engine/test_host_greeting.py",)
_CSV = ("tests/unit/kb/test_exchange.py",)
_IMPORT = ("tests/unit/engine/test_import_names.py", "tests/unit/engine/test_import_workspace.py")
_PLACES = ("tests/unit/engine/test_places.py",)

FAULTS = (
    Mutation(
        "host-reads-little-before-the-secret",
        HOST,
        "frame = await read_frame(reader, HELLO_BYTES)",
        "frame = await read_frame(reader)",
        "Nothing large is read before the secret is shown.",
        _HOST,
        safety=True,
    ),
    Mutation(
        "host-refused-leaves-nobody",
        HOST,
        "if known and not self._writers and not self.stopped.is_set():",
        "if not self._writers and not self.stopped.is_set():",
        "A client that is refused leaves no run without its supervisor.",
        _HOST,
        safety=True,
    ),
    Mutation(
        "host-secret-and-protocol",
        HOST,
        'if not known or hello.get("protocol") != PROTOCOL:',
        'if not known and hello.get("protocol") != PROTOCOL:',
        "Who doesn't show the secret is refused, whatever else it says rightly.",
        _HOST,
        safety=True,
    ),
    Mutation(
        "host-both-lengths",
        CHANNEL,
        "if length + extra > most:",
        "if length > most:",
        "What travels beside a message counts to its length.",
        _HOST,
        safety=True,
    ),
    Mutation(
        "csv-all-quoted",
        CSV,
        "quoting=csv.QUOTE_ALL",
        "quoting=csv.QUOTE_MINIMAL",
        "Every cell of a CSV file is quoted.",
        _CSV,
        safety=True,
    ),
    Mutation(
        "csv-formula-signs",
        CSV,
        '_STARTS = "[=+\\\\-@＝＋－＠]"',
        '_STARTS = "[=+\\\\-＝＋－＠]"',
        "A cell that begins with an at sign is no formula of a spreadsheet.",
        _CSV,
        safety=True,
    ),
    Mutation(
        "csv-parts-of-a-cell",
        CSV,
        '_PARTS = r"[;\\t\\r\\n][\\s\\"]*"',
        '_PARTS = r"[\\t\\r\\n][\\s\\"]*"',
        "A part of a cell is no formula where a semicolon parts the cells.",
        _CSV,
        safety=True,
    ),
    Mutation(
        "tooltips-are-plain",
        TOOLTIPS,
        "qproperty-textFormat: PlainText;",
        "qproperty-textFormat: AutoText;",
        "A tooltip never renders markup.",
        ("tests/gui/test_tooltips.py",),
        safety=True,
    ),
    Mutation(
        "import-one-folder",
        IMPORTER,
        "        except Exception as error:  # noqa: BLE001 one folder, whatever is in it, costs no other\n",
        "        except InputError as error:\n",
        "One folder, whatever is in it, costs no other its import.",
        _IMPORT,
        safety=True,
    ),
    Mutation(
        "import-failed-run-is-forgotten",
        IMPORTER,
        "                self._coming -= underway.wanted\n",
        "                self._coming |= underway.wanted\n",
        "Pages of a run that could not be stored are not missed by those that share them.",
        _IMPORT,
        safety=True,
    ),
    Mutation(
        "import-notes-of-all",
        IMPORTER,
        "                if run.notes:\n",
        "                if run.notes and len(self._tally.notes) < 1:\n",
        "Notes of all runs are counted.",
        _IMPORT,
    ),
    Mutation(
        "import-ids-apart",
        RUN_FILES,
        'return f"{plain}-{digest}-{suffix}"',
        'return f"{plain}-{suffix}"',
        "Two folders whose names look alike in ASCII have two ids.",
        _IMPORT,
    ),
    Mutation(
        "import-no-views",
        BLOBS,
        "if made is None or made[0] != _TABLE:",
        "if made is None:",
        "A stranger's file whose table is a view is refused, as it may go on for ever.",
        _IMPORT,
        safety=True,
    ),
    Mutation(
        "import-content-as-named",
        BLOBS,
        "if hashlib.sha256(content).hexdigest() == digest:",
        "if content:",
        "A content that is not what its digest says is left out.",
        _IMPORT,
        safety=True,
    ),
    Mutation(
        "import-no-pipes",
        BLOBS,
        "if not stat.S_ISREG(path.lstat().st_mode):",
        "if stat.S_ISDIR(path.lstat().st_mode):",
        "A pipe in the place of a file is refused, and nobody waits for it.",
        _IMPORT,
        safety=True,
    ),
    Mutation(
        "places-waiting-runs",
        SUPERVISION,
        "return self in (RunState.STARTING, RunState.RUNNING, RunState.MENDING)",
        "return self in (RunState.STARTING, RunState.RUNNING, RunState.MENDING, RunState.WAITING)",
        "A run that waits for a person gives up its place in the queue.",
        _PLACES,
    ),
    Mutation(
        "places-mended-runs",
        SUPERVISION,
        "return self in (RunState.STARTING, RunState.RUNNING, RunState.MENDING)",
        "return self in (RunState.STARTING, RunState.RUNNING)",
        "A run whose browser is brought back keeps its place.",
        _PLACES,
    ),
    Mutation(
        "places-open-browsers",
        FLEET,
        "going < self._at_once and alive < MOST_AT_ONCE and not self._closing",
        "going < self._at_once and not self._closing",
        "Browsers of waiting runs count among those that may be open.",
        _PLACES,
        safety=True,
    ),
    Mutation(
        "places-as-soon-as-one-waits",
        FLEET,
        "LiveChanged(row=row) if row.run in self._runs and row.state.held:",
        "LiveChanged(row=row) if row.run in self._runs and not row.state.alive:",
        "The next run begins as soon as one waits for a person.",
        _PLACES,
    ),
    Mutation(
        "next-action-over",
        "app/engine/agent/loop.py",
        "        acted = time.monotonic() - began\n        self._control.unplan()\n",
        "        acted = time.monotonic() - began\n",
        "An action that was done is no next action any more.",
        (*_PLACES, "tests/unit/engine/test_agent_control.py"),
    ),
)

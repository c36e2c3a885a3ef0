"""Faults in what other agents are given: frozen knowledge, maps, and the guard before the server."""

from __future__ import annotations

from tests.mutation.mutation import Mutation

KNOWLEDGE, SERVING, MAP = "kb/knowledge.py", "kb/mcp_serving.py", "kb/site_map.py"
_KNOWLEDGE = ("tests/unit/kb/test_knowledge.py",)
_GUARD = ("tests/unit/kb/test_mcp_guard.py",)
_MAP = ("tests/unit/kb/test_site_map.py",)

FAULTS = (
    Mutation(
        "agents-orders-in-tips",
        KNOWLEDGE,
        '("reads like an instruction to the agent" if _orders(parts) else "")',
        '("reads like an instruction to the agent" if not parts else "")',
        "A tip that reads like an instruction to the agent is given from no file.",
        _KNOWLEDGE,
        safety=True,
    ),
    Mutation(
        "agents-hidden-text-in-tips",
        KNOWLEDGE,
        'reason = "hides characters that nobody can see" if next(hidden(parts), None) else ""',
        'reason = "hides characters that nobody can see" if not parts else ""',
        "A tip that hides characters is given from no file.",
        _KNOWLEDGE,
        safety=True,
    ),
    Mutation(
        "agents-changed-file",
        KNOWLEDGE,
        "    note = refuse_changed(path)\n",
        '    note = ""\n',
        "A frozen file that its manifest does not fit is not opened for an agent.",
        _KNOWLEDGE,
        safety=True,
    ),
    Mutation(
        "agents-token",
        SERVING,
        'if len(given) != 1 or kind.lower() != b"bearer" or not right:',
        'if len(given) != 1 or kind.lower() != b"bearer":',
        "A request over HTTP needs the right token.",
        _GUARD,
        safety=True,
    ),
    Mutation(
        "agents-host",
        SERVING,
        "if len(hosts) != 1 or hosts[0] not in self._hosts:",
        "if len(hosts) != 1:",
        "A request has to name this machine and the port as its host.",
        _GUARD,
        safety=True,
    ),
    Mutation(
        "agents-origin",
        SERVING,
        '.removeprefix("http://") not in self._hosts:',
        '.removeprefix("http://") == "":',
        "A page of another origin is refused even with the token.",
        _GUARD,
        safety=True,
    ),
    Mutation(
        "agents-map-evidence",
        MAP,
        "chance = (min(successes, attempts) + 2 * _PRIOR) / (attempts + 2)",
        "chance = _PRIOR",
        "A transition that mostly failed costs more than one that worked.",
        _MAP,
    ),
    Mutation(
        "agents-map-direct",
        MAP,
        "{id: price for id, state in self.states.items() if state.direct}",
        "{id: price for id, state in self.states.items() if state.url}",
        "A state is opened by its address only where that is known to lead there.",
        _MAP,
    ),
)

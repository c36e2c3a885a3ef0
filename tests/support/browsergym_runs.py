"""Experiment folders as BrowserGym and AgentLab write them, made without them: pickles of look-alike classes."""

from __future__ import annotations

import gzip
import json
import pickle
import sys
import types
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

TREE = "RootWebArea 'Shop'\n\t[8] textbox 'User'\n\t[10] textbox 'Password'\n\t[14] button 'Save'"
HTML = '<body bid="1"><input bid="8"/><input bid="10" type="password"/><button bid="14">Save</button></body>'


@contextmanager
def foreign_classes(**modules: tuple[str, ...]):
    """Classes of other packages for the time of pickling: ``agentlab__experiments__loop=("StepInfo",)``."""
    made: dict[str, Any] = {}
    added: list[str] = []
    for name, classes in modules.items():
        dotted = name.replace("__", ".")
        parts = dotted.split(".")
        for count in range(1, len(parts) + 1):
            part = ".".join(parts[:count])
            if part not in sys.modules:
                sys.modules[part] = types.ModuleType(part)
                added.append(part)
        for one in classes:
            made[one] = type(one, (), {"__module__": dotted})
            setattr(sys.modules[dotted], one, made[one])
    try:
        yield types.SimpleNamespace(**made)
    finally:
        for part in added:
            del sys.modules[part]


def observation(position: int, **fields: Any) -> dict[str, Any]:
    """An observation as an AgentLab agent keeps it."""
    return {
        "goal": "Save the form",
        "goal_object": None,
        "chat_messages": (
            {"role": "assistant", "timestamp": 1.0, "message": "Hi!"},
            {"role": "user", "timestamp": 2.0, "message": "Save the form"},
        ),
        "open_pages_urls": ("https://shop.example/form",),
        "open_pages_titles": ("Shop",),
        "active_page_index": np.array([0]),
        "url": "https://shop.example/form",
        "last_action": "" if position == 0 else "click('14')",
        "last_action_error": "",
        "elapsed_time": np.array([1.5]),
        "focused_element_bid": "8",
        "axtree_txt": f"{TREE}\n\tStaticText 'at {position}'",
        "pruned_html": HTML,
        "extra_element_properties": {
            "14": {
                "visibility": 1.0,
                "bbox": [10.0, 20.0, 30.0, 15.5],
                "clickable": True,
                "set_of_marks": True,
            },
            "8": {"visibility": 0.0, "bbox": None, "clickable": False, "set_of_marks": False},
        },
        **fields,
    }


@dataclass
class MadeRun:
    """A run of two steps: the second one sends a message."""

    folder: Path
    package: str = "agentlab"
    steps: list[dict[str, Any]] = field(default_factory=list)
    summary: dict[str, Any] | None = field(default_factory=dict)
    protocol: int = 4

    def __post_init__(self) -> None:
        if not self.steps:
            said = {"role": "assistant", "timestamp": 9.0, "message": "It costs 24.50"}
            first = observation(0)
            end = observation(2, last_action="send_msg_to_user('It costs 24.50')")
            end["chat_messages"] = (*end["chat_messages"], said)
            self.steps = [
                self.step(0, first, "click('14')", think="I save it.", stats={"input_tokens": 70, "output_tokens": 5,
                                                                             "cost": 0.25, "step_elapsed": 1.0}),
                self.step(1, observation(1, last_action_error="TimeoutError: it took 500ms"),
                          "send_msg_to_user('It costs 24.50')", think="Done."),
                self.step(2, end, None, reward=1.0, terminated=True),
            ]  # fmt: skip
        if self.summary == {}:
            self.summary = {
                "n_steps": len(self.steps) - 1, "cum_reward": 1.0, "err_msg": None, "terminated": True,
                "truncated": False, "stats.cum_input_tokens": 70, "stats.cum_output_tokens": 5,
            }  # fmt: skip

    @staticmethod
    def step(position: int, obs: Any, action: str | None, think: str = "", **more: Any) -> dict[str, Any]:
        return {
            "step": position, "obs": obs, "reward": 0, "raw_reward": None, "terminated": False, "truncated": False,
            "action": action, "agent_info": {"think": think} if think else {}, "stats": None,
            "profiling": {"env_start": 100.0 + position, "agent_start": 200.0 + position}, "task_info": None, **more,
        }  # fmt: skip

    def write(self, change: Callable[[dict[str, Any]], None] | None = None) -> Path:
        """Write the folder; ``change`` may damage each step's fields."""
        self.folder.mkdir(parents=True, exist_ok=True)
        names = {f"{self.package}__experiments__loop": ("StepInfo", "StepTimestamps", "ExpArgs", "EnvArgs")}
        with foreign_classes(
            **names, browsergym__experiments__agent=("AgentInfo",), my_agent=("MyArgs",)
        ) as known:
            for position, fields in enumerate(self.steps):
                info = known.StepInfo()
                info.__dict__.update(fields)
                if change is not None:
                    change(info.__dict__)
                for name, kind in (("agent_info", known.AgentInfo), ("profiling", known.StepTimestamps)):
                    value = info.__dict__.get(name)
                    if isinstance(value, dict):
                        held = kind()
                        held.__dict__.update(value)
                        info.__dict__[name] = held
                data = pickle.dumps(info, self.protocol)
                (self.folder / f"step_{position}.pkl.gz").write_bytes(gzip.compress(data, mtime=0))
            self._write_arguments(known)
        if self.summary is not None:
            (self.folder / "summary_info.json").write_text(json.dumps(self.summary))
        return self.folder

    def _write_arguments(self, known: Any) -> None:
        arguments, environment, agent = known.ExpArgs(), known.EnvArgs(), known.MyArgs()
        environment.__dict__.update(task_name="webarena.310", task_seed=0, max_steps=9, task_kwargs=None)
        agent.__dict__.update(agent_name="GenericAgent-gpt", chat_model_args={"model_name": "gpt-x"})
        arguments.__dict__.update(
            env_args=environment, agent_args=agent, exp_dir=Path("/home/somebody"), err_msg=None
        )
        (self.folder / "exp_args.pkl").write_bytes(pickle.dumps(arguments, self.protocol))

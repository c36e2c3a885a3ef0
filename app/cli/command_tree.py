"""The commands of the command line as plain data, for the man page and for the completion of shells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

_KINDS = {"str": "text", "int": "number", "integer": "number", "float": "number", "integer range": "number"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandOption:
    """An option or an argument.

    Attributes:
        names: as typed (``--out``, ``-o``); of an argument its name alone.
        value: the placeholder of its value; "" for a switch.
        choices: its values, if only these are taken.
    """

    names: tuple[str, ...]
    value: str = ""
    help: str = ""
    choices: tuple[str, ...] = ()
    is_argument: bool = False
    is_required: bool = False
    is_repeated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandNode:
    """A command or a group of commands.

    Attributes:
        words: its path, without the program's name; empty for the program itself.
        children: the last words of its own commands.
    """

    words: tuple[str, ...]
    help: str
    options: tuple[CommandOption, ...]
    children: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """The first sentence of the help."""
        first = " ".join(self.help.partition("\n\n")[0].split())
        return first.partition(". ")[0].removesuffix(".")


def command_tree(program: Any) -> list[CommandNode]:
    """Return every command of a program in the order of the help, each group before its commands, no hidden one."""
    return list(_nodes(program, ()))


def _nodes(command: Any, words: tuple[str, ...]) -> Iterator[CommandNode]:
    below: dict[str, Any] = {
        name: child for name, child in getattr(command, "commands", {}).items() if not child.hidden
    }
    options = [_option(one) for one in command.params if not getattr(one, "hidden", False)]
    options.append(CommandOption(names=("--help",), help="Show the help and exit."))
    yield CommandNode(
        words=words, help=(command.help or "").strip(), options=tuple(options), children=tuple(below)
    )
    for name, child in below.items():
        yield from _nodes(child, (*words, name))


def _option(param: Any) -> CommandOption:
    is_argument = param.param_type_name == "argument"
    is_switch = bool(getattr(param, "is_flag", False))
    choices, kind = _value_of(param)
    placeholder = (param.metavar or _KINDS.get(kind, kind)).strip("<>[]").lower() or "value"
    return CommandOption(
        names=(param.name,) if is_argument else (*param.opts, *param.secondary_opts),
        value="" if is_switch else "|".join(choices) or placeholder,
        help=" ".join((getattr(param, "help", "") or "").split()),
        choices=choices,
        is_argument=is_argument,
        is_required=bool(param.required),
        is_repeated=bool(getattr(param, "multiple", False)) or param.nargs == -1,
    )


def _value_of(param: Any) -> tuple[tuple[str, ...], str]:
    """Return the choices and the kind of a parameter's value; newer versions of Typer keep its annotation alone."""
    if hasattr(param, "type"):
        return tuple(
            str(getattr(one, "value", one)) for one in getattr(param.type, "choices", ())
        ), param.type.name
    annotation = param.type_descriptor.annotation
    while get_origin(annotation) not in (None, Literal):
        annotation = get_args(annotation)[0]
    return tuple(map(str, get_args(annotation))), getattr(annotation, "__name__", "")

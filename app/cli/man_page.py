"""The manual page sitelore(1), in roff, made from the help of the commands."""

from __future__ import annotations

from collections.abc import Sequence

from app.cli.command_tree import CommandNode, CommandOption

EXITS = (
    ("0", "done"),
    ("1", "the operation failed, or a check did not hold"),
    ("2", "wrong usage"),
    ("3", "bad input file"),
)
VARIABLES = (
    ("SITELORE_BROWSER", "The browser to start: a path, a program on PATH, or a channel."),
    ("SITELORE_MODEL_URL", "The address of a model's endpoint."),
    ("SITELORE_MODEL_NAME", "The model to use there."),
    ("OPENAI_API_KEY", "The key of the endpoint, where no keyring holds it."),
)


def man_page(nodes: Sequence[CommandNode], version: str) -> str:
    """Return the page: the program, each command with its options, exit codes, variables of the environment."""
    program, *commands = nodes
    lines = [
        f'.TH SITELORE 1 "" "sitelore {_text(version)}" "User Commands"',
        ".nh",  # no hyphens in the names of commands
        ".SH NAME",
        "sitelore \\- a workbench for knowledge curation and supervision of web agents",
        ".SH SYNOPSIS",
        _synopsis(program),
        ".br",
        ".B sitelore\n.IR file ...",
        ".SH DESCRIPTION",
        *_paragraphs(program.help),
        ".PP",
        "A path in place of a command is opened in the window: a knowledge base (.akb), a run folder, a trace.",
        ".SH OPTIONS",
        *_options(program),
        ".SH COMMANDS",
    ]
    for node in commands:
        if node.children:
            lines += [f'.SS "{_quoted(" ".join(node.words))}"', *_paragraphs(node.help), *_options(node)]
        else:
            lines += [".TP", _synopsis(node), *_paragraphs(node.help, ".IP")]
            if entries := _options(node):
                lines += [".RS", *entries, ".RE"]
    lines += [".SH EXIT STATUS", *(f".TP\n.B {code}\n{meaning}" for code, meaning in EXITS)]
    lines += [".SH ENVIRONMENT", *(f".TP\n.B {name}\n{_text(use)}" for name, use in VARIABLES)]
    return "\n".join(lines) + "\n"


def _synopsis(node: CommandNode) -> str:
    parts = [f"\\fB{_text(' '.join(('sitelore', *node.words)))}\\fR"]
    if any(not one.is_argument for one in node.options):
        parts.append("[\\fIoptions\\fR]")
    for one in node.options:
        if one.is_argument:
            name = f"\\fI{_text(one.names[0].replace('_', '-'))}\\fR" + ("..." if one.is_repeated else "")
            parts.append(name if one.is_required else f"[{name}]")
    if node.children:
        parts.append("\\fIcommand\\fR ...")
    return " ".join(parts)


def _options(node: CommandNode) -> list[str]:
    return [
        f".TP\n{_head(one)}\n{_text(one.help) or '(as its name says)'}"
        for one in node.options
        if one.names != ("--help",) and (one.help or not one.is_argument)
    ]


def _head(option: CommandOption) -> str:
    if option.is_argument:
        return f"\\fI{_text(option.names[0].replace('_', '-'))}\\fR"
    names = ", ".join(f"\\fB{_text(name)}\\fR" for name in option.names)
    return f"{names} \\fI{_text(option.value)}\\fR" if option.value else names


def _paragraphs(help: str, between: str = ".PP") -> list[str]:
    """Return the paragraphs of a help; ``between`` begins all but the first (``.IP`` keeps an entry's indent)."""
    parts = [_text(" ".join(part.split())) for part in help.split("\n\n") if part.strip()]
    return [line for number, part in enumerate(parts) for line in ([between] if number else []) + [part]]


def _text(text: str) -> str:
    """Return text as roff reads it: backslashes, hyphens, and no request at the beginning of a line."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga").replace("'", "\\(aq")
    return f"\\&{escaped}" if escaped.startswith(".") else escaped


def _quoted(text: str) -> str:
    return _text(text).replace('"', "\\(dq")

"""Completion of commands, options and their values for bash, zsh and fish.

The scripts hold the whole tree, so a Tab starts no Python.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from app.cli.command_tree import CommandNode

SHELLS = ("bash", "zsh", "fish")

_WALK = """\
  for word in {words}; do
    case "$at/$word" in
{steps}
    esac
  done
  case "$at $last" in
{choices}
    *) case "$at" in
{found}
    esac ;;
  esac
"""

_BASH = """\
# bash completion of sitelore {version}; made by: sitelore completion bash
_sitelore() {{
  local at="" found="" word last="${{COMP_WORDS[COMP_CWORD-1]}}"
{walk}
  COMPREPLY=($(compgen -W "$found" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -o bashdefault -F _sitelore sitelore
"""

_ZSH = """\
#compdef sitelore
# zsh completion of sitelore {version}; made by: sitelore completion zsh
_sitelore() {{
  local at="" found="" word last="${{words[CURRENT-1]}}"
{walk}
  compadd -- ${{=found}}
  _files
}}
if [ "$funcstack[1]" = _sitelore ]; then _sitelore "$@"; else compdef _sitelore sitelore; fi
"""

_FISH_HEAD = """\
# fish completion of sitelore {version}; made by: sitelore completion fish
function __sitelore_at
    set -l at ""
    for word in (commandline -opc)[2..-1]
        switch "$at/$word"
{steps}
        end
    end
    test "$at" = "$argv[1]"
end
"""


def completion_script(shell: str, nodes: Sequence[CommandNode], version: str) -> str:
    """Return the script of one of ``SHELLS``."""
    if shell == "fish":
        return _fish(nodes, version)
    words = '"${COMP_WORDS[@]:1:COMP_CWORD-1}"' if shell == "bash" else "${words[2,CURRENT-1]}"
    steps = [f"      {_place(node)}) at={_place(node)} ;;" for node in nodes if node.words]
    choices = [
        f"    {shlex.quote(f'{_path(node)} {name}')}) found={shlex.quote(' '.join(option.choices))} ;;"
        for node in nodes
        for option in node.options
        if option.choices and not option.is_argument
        for name in option.names
    ]
    found = [f"      {_place(node) or repr('')}) found={shlex.quote(_words(node))} ;;" for node in nodes]
    walk = _WALK.format(
        words=words, steps="\n".join(steps), choices="\n".join(choices), found="\n".join(found)
    )
    return (_BASH if shell == "bash" else _ZSH).format(version=version, walk=walk.rstrip())


def _fish(nodes: Sequence[CommandNode], version: str) -> str:
    steps = "\n".join(
        f"            case {_place(node)}\n                set at {_place(node)}"
        for node in nodes
        if node.words
    )
    lines = [_FISH_HEAD.format(version=version, steps=steps)]
    summaries = {node.words: node.summary for node in nodes}
    for node in nodes:
        begin = f"complete -c sitelore -n {_fish_quote(f'__sitelore_at {_place(node) or _EMPTY}')}"
        for child in node.children:
            lines.append(f"{begin} -f -a {child} -d {_fish_quote(summaries[(*node.words, child)])}")
        for option in node.options:
            if option.is_argument:
                if option.choices:
                    lines.append(f"{begin} -f -a {_fish_quote(' '.join(option.choices))}")
                continue
            names = " ".join(
                f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names
            )
            values = f" -x -a {_fish_quote(' '.join(option.choices))}" if option.choices else ""
            values = values or (" -r" if option.value else "")
            lines.append(f"{begin} {names}{values} -d {_fish_quote(option.help.partition('. ')[0])}")
    return "\n".join(lines) + "\n"


_EMPTY = '""'


def _words(node: CommandNode) -> str:
    options = [name for option in node.options if not option.is_argument for name in option.names]
    values = [choice for option in node.options if option.is_argument for choice in option.choices]
    return " ".join((*node.children, *values, *options))


def _path(node: CommandNode) -> str:
    return "".join(f"/{word}" for word in node.words)


def _place(node: CommandNode) -> str:
    return shlex.quote(_path(node)) if node.words else ""


def _fish_quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"

# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Refuses parameters that were given to a node but are not declared; most are misspelt.

ROS ignores them silently. A file may be for several nodes, so a parameter under a pattern that
matches any node, such as /**, may be for another node.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rclpy.node import Node

from kron_dynamics.exceptions import ParameterError

_FILE_OPTION = '--params-file'
_PARAMETERS = 'ros__parameters'
# Prefix of the files that launch writes for parameters in a launch file. They are for one node,
# whatever their pattern.
_OF_LAUNCH = 'launch_params_'
# Smallest similarity of two names, 0 to 1, for a suggestion; and to regard a parameter as
# misspelt although it may be for another node. Within a group, names are compared without it.
_ALIKE, _MISSPELT = 0.75, 0.85
# Largest numbers of suggested names and of unknown names in a message.
_EXAMPLES, _MOST = 4, 5
# Prefix of parameters of topics, which may be declared later.
_OF_TOPICS = 'qos_overrides.'

# Arguments that replace those of the process's command line; at most one element.
_arguments: list[Sequence[str]] = []


def note_arguments(arguments: Sequence[str] | None) -> None:
    """Store the arguments that ROS was started with; None for those of the process."""
    _arguments[:] = [] if arguments is None else [arguments]


def refuse_unknown_parameters(node: Node) -> None:
    """Check that all parameters given by file or argument are declared by the node.

    A parameter that a file gives under a pattern for any node may be another node's. It is
    refused only if its name is very similar to that of a declared parameter that was not given.

    Args:
        node: node with all of its parameters declared.

    Raises:
        ParameterError: parameters are unknown; the message has similar names.
    """
    given = node._parameter_overrides
    known = node.get_parameters_by_prefix('')
    unknown = [name for name in given if name not in known and not name.startswith(_OF_TOPICS)]
    if not unknown:
        return
    arguments = _arguments[0] if _arguments else sys.argv
    for_anyone = given_to_anyone(node.get_name(), parameter_files(arguments))
    refused = []
    for name in unknown:
        near, likeness = nearest(name, known)
        needed = _ALIKE if _group(near) == _group(name) != '' else _MISSPELT
        if name in for_anyone and (likeness < needed or near in given):
            continue
        refused.append(f"'{name}'{_hint(name, near if likeness >= _ALIKE else None, known)}")
    if refused:
        more = f' and {len(refused) - _MOST} more' if len(refused) > _MOST else ''
        raise ParameterError(
            f'{node.get_name()} has no parameter {", ".join(refused[:_MOST])}{more}'
        )


def nearest(name: str, known: Iterable[str]) -> tuple[str, float]:
    """Return the most similar known name, and the similarity, 0 to 1.

    A name of a known group, such as gains, is compared only with names of this group and without
    the group: a long group name must not make other joints similar.
    """
    from difflib import SequenceMatcher  # rarely needed; imported late for a faster start

    group = _group(name)
    of_group = [other for other in known if group and _group(other) == group]
    matcher = SequenceMatcher(b=name.removeprefix(group) if of_group else name, autojunk=False)
    best, likeness = '', 0.0
    for other in of_group or known:
        matcher.set_seq1(other.removeprefix(group) if of_group else other)
        if matcher.real_quick_ratio() > likeness and (ratio := matcher.ratio()) > likeness:
            best, likeness = other, ratio
    return best, likeness


def _group(name: str) -> str:
    """Return the group of a parameter with its dot; empty for a parameter without group."""
    return name[: name.index('.') + 1] if '.' in name else ''


def parameter_files(arguments: Sequence[str]) -> list[Path]:
    """Return the parameter files among the arguments of a process."""
    pairs = zip(arguments, arguments[1:], strict=False)
    return [Path(value) for option, value in pairs if option == _FILE_OPTION]


def given_to_anyone(node: str, files: Iterable[Path]) -> set[str]:
    """Return the parameters that files give only under patterns for any node.

    Args:
        node: name of the node.
        files: YAML files; unreadable ones are skipped.
    """
    anyone: set[str] = set()
    own: set[str] = set()
    for file in files:
        for pattern, names in _patterns(_content(file), ''):
            last = pattern.rsplit('/', 1)[-1]
            if last in ('*', '**') and not file.name.startswith(_OF_LAUNCH):
                anyone |= names
            elif last in ('*', '**', node):
                own |= names
    return anyone - own


def _content(file: Path) -> Any:
    import yaml  # rarely needed; imported late for a faster start

    try:
        return yaml.safe_load(file.read_text(encoding='utf-8'))
    except (OSError, ValueError, yaml.YAMLError):
        return None


def _patterns(content: Any, above: str) -> Iterator[tuple[str, set[str]]]:
    """Yield patterns of node names, and the names of the parameters under each."""
    if not isinstance(content, Mapping):
        return
    for key, value in content.items():
        if key == _PARAMETERS:
            yield above, set(_names(value, ''))
        else:
            yield from _patterns(value, f'{above}/{key}')


def _names(content: Any, above: str) -> Iterator[str]:
    if not isinstance(content, Mapping):
        yield above.removesuffix('.')
        return
    for key, value in content.items():
        yield from _names(value, f'{above}{key}.')


def _hint(name: str, near: str | None, known: Iterable[str]) -> str:
    if near is not None:
        return f", did you mean '{near}'?"
    alike = sorted(other for other in known if _group(other) == _group(name) != '')[:_EXAMPLES]
    return f' (expected one of {", ".join(alike)}, ...)' if alike else ''

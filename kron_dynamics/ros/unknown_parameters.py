# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters that were given to a node and that it does not have: most are misspelt.

ROS drops them in silence. A file may be for several nodes: what stands under a pattern that any
node matches, such as /**, may be for another one.
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
# What launch makes of parameters in a launch file is for the node alone, whatever its pattern.
_OF_LAUNCH = 'launch_params_'
# Likeness of two names, 0 to 1, from which on one may be meant by the other; and, where names of
# other nodes are about, can hardly be anything else. Within a group the rest of the name counts.
_ALIKE, _MISSPELT = 0.75, 0.85
# Names of others that a message tells, and unknown ones.
_EXAMPLES, _MOST = 4, 5
# These belong to topics, which may come later.
_OF_TOPICS = 'qos_overrides.'

# Arguments of this process where they are not those of its command line.
_arguments: list[Sequence[str]] = []


def note_arguments(arguments: Sequence[str] | None) -> None:
    """Take the arguments that ROS was started with; None for those of the process."""
    _arguments[:] = [] if arguments is None else [arguments]


def refuse_unknown_parameters(node: Node) -> None:
    """Refuse what was given to a node as a parameter, by file or argument, and is none of it.

    What a file gives under a pattern that any node matches is refused only where it is nearly the
    name of a parameter that was not given; otherwise it may be another node's.

    Args:
        node: with all of its parameters declared.

    Raises:
        ParameterError: names them, with the nearest names.
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
    """Return the name that is most like a name, and how like, 0 to 1.

    Names of a group that is known, such as gains, are compared without it, and only with others of
    the group: another joint is not alike because its group has a long name.
    """
    from difflib import SequenceMatcher  # seldom needed, and the node is to start soon

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
    """The group of a parameter with its dot; empty for one of the node."""
    return name[: name.index('.') + 1] if '.' in name else ''


def parameter_files(arguments: Sequence[str]) -> list[Path]:
    """Return the parameter files among the arguments of a process."""
    pairs = zip(arguments, arguments[1:], strict=False)
    return [Path(value) for option, value in pairs if option == _FILE_OPTION]


def given_to_anyone(node: str, files: Iterable[Path]) -> set[str]:
    """Return the parameters that files give under patterns for any node, and not to one by name.

    Args:
        node: its name.
        files: YAML; what cannot be read gives nothing.
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
    import yaml  # seldom needed, and the node is to start soon

    try:
        return yaml.safe_load(file.read_text(encoding='utf-8'))
    except (OSError, ValueError, yaml.YAMLError):
        return None


def _patterns(content: Any, above: str) -> Iterator[tuple[str, set[str]]]:
    """Patterns of node names, and the names of the parameters under each."""
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

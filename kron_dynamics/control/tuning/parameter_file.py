# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""ROS 2 parameter files with a comment at each number."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence

from kron_dynamics.control.tuning.parameter_values import JOINT, TunedParameter
from kron_dynamics.exceptions import ParameterError

_WIDTH = 98
_INDENT = 4 * ' '
# Keys that YAML accepts without quotes, except words that it reads as booleans or null.
_PLAIN = re.compile(r'[A-Za-z_][A-Za-z0-9_]*')
_WORDS = ('y', 'n', 'yes', 'no', 'on', 'off', 'true', 'false', 'null')


def parameter_file(
    header: Iterable[str],
    parameters: Mapping[str, TunedParameter],
    declared: Iterable[str],
    joints: Sequence[str],
) -> str:
    """Return the YAML text of a parameter file for dynamics_node in any namespace.

    Args:
        header: paragraphs of the comment at the top.
        parameters: parameters by name.
        declared: names of the node's parameters, with `JOINT` for the joint name, in the order of
            the file.
        joints: names of the joints, in the order of the values.

    Raises:
        ParameterError: a parameter is not declared.
    """
    groups: dict[str, list[TunedParameter]] = {}
    for name in declared:
        if name in parameters:
            groups.setdefault(name.partition(f'.{JOINT}')[0], []).append(parameters[name])
    known = {member.name for members in groups.values() for member in members}
    if unknown := sorted(parameters.keys() - known):
        raise ParameterError(f'dynamics_node has no parameter {", ".join(unknown)}')
    lines = [line for paragraph in header for line in _comment(paragraph, '')]
    lines += ['', '/**/dynamics_node:', '  ros__parameters:']
    for group, members in groups.items():
        for member in members:
            lines += _comment(member.reason, _INDENT)
        per_joint = JOINT in members[0].name
        lines += _of_joints(group, members, joints) if per_joint else _plain(members[0])
    return '\n'.join(lines) + '\n'


def _plain(parameter: TunedParameter) -> list[str]:
    return [_line(parameter.name, parameter.values[0], parameter.notes[0], _INDENT)]


def _of_joints(group: str, members: Sequence[TunedParameter], joints: Sequence[str]) -> list[str]:
    # ROS separates groups by points and mishandles a point in a group's key: write full names.
    in_full = any('.' in joint for joint in joints)
    lines = [] if in_full else [f'{_INDENT}{group}:']
    for k, joint in enumerate(joints):
        inner = _INDENT + '  '
        for i, member in enumerate(members):
            leaf = member.name.partition(f'.{JOINT}')[2].removeprefix('.')
            value, note = member.values[k], member.notes[k]
            if in_full:
                name = _key(member.name.replace(JOINT, joint))
                lines.append(_line(name, value, note, _INDENT))
                continue
            if not leaf:
                lines.append(_line(_key(joint), value, note, inner))
                continue
            if i == 0:
                lines.append(f'{inner}{_key(joint)}:')
            lines.append(_line(leaf, value, note, inner + '  '))
    return lines


def _line(key: str, value: float | str, note: str, indent: str) -> str:
    shown = value if isinstance(value, str) else number(value)
    return f'{indent}{key}: {shown}  # {note}'


def _comment(text: str, indent: str) -> list[str]:
    prefix = f'{indent}# '
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=prefix,
        subsequent_indent=prefix,
        break_long_words=False,
        break_on_hyphens=False,
    )


def number(value: float) -> str:
    """Return a number with four digits and a decimal point, without which ROS 2 reads an integer.

    Args:
        value: number in any unit.
    """
    rounded = float(f'{value:.4g}')
    text = repr(rounded)
    return text if '.' in text else text.replace('e', '.0e')


def _key(joint: str) -> str:
    if _PLAIN.fullmatch(joint) and joint.lower() not in _WORDS:
        return joint
    return "'" + joint.replace("'", "''") + "'"

# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Update of a description of flexible links to identified frequencies and damping ratios."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from kron_dynamics.bag.vibration.modal_results import ModalContent, ModeContent
from kron_dynamics.exceptions import BagError
from kron_dynamics.messages import clipped
from kron_dynamics.model.entries import read_description
from kron_dynamics.model.flexible_description import read_flexible
from kron_dynamics.modes import payload_map
from kron_dynamics.robot import Robot

FlexibleLinks = Mapping[str, object]
# Iterations of the scaling: frequencies are not quite proportional to the root of the stiffness,
# because gravity contributes a little.
_ROUNDS = 4
_LEAST_RATIO, _LARGEST_RATIO = 1e-5, 0.9  # limits of updated damping ratios
_SAME_RATIO = 1e-3  # relative difference of damping ratios that are matched


def write_update(
    path: Path,
    source: Path,
    content: ModalContent,
    bending: Callable[[FlexibleLinks], Robot],
) -> list[str]:
    """Write a description that matches the identified modes; return the changes as text lines.

    The bending stiffness of each plane is scaled so that its lowest identified mode has the
    identified frequency, and the damping ratios of identified modes are replaced. All other values
    are kept; comments are lost. Other modes of a plane, and with stiffness-proportional damping
    all their ratios but the first, may not be matched: the lines have the numbers reached.

    Args:
        path: the new file, not the description itself.
        source: the description with which the modes were predicted.
        content: the identified modes.
        bending: returns the robot with a description.

    Raises:
        BagError: the path is the description itself, or no mode was identified.
        ModelError: the description cannot be read.
    """
    seen = [mode for mode in content.modes if mode.seen]
    if path.resolve() == source.resolve():
        raise BagError(f"'{path}' is the description itself: write the update to another file")
    if not seen:
        raise BagError(f"no mode of '{source}' was seen: there is nothing to update")
    _, links = read_description(source, 'flexible description', 'flexible_links')
    old = _explicit(copy.deepcopy(dict(links.values)))
    new = copy.deepcopy(old)
    before = _predicted(old, content, bending)
    for _ in range(_ROUNDS):
        now = _predicted(new, content, bending)
        done = set[tuple[str, str]]()
        for mode in seen:
            link, plane, place = _parts(mode.name)
            wanted = before[mode.name][0] * mode.frequency / mode.predicted_frequency
            if (link, plane) not in done:
                done.add((link, plane))
                factor = (wanted / now[mode.name][0]) ** 2
                stiffness = new[link]['bending_stiffness']
                stiffness[plane] = [factor * value for value in stiffness[plane]]
            ratios = new[link]['damping_ratio'][plane]
            if place < len(ratios):
                changed = mode.damping
                if now[mode.name][1] > 0.0 and ratios[place] > 0.0:
                    changed = ratios[place] * mode.damping / now[mode.name][1]
                ratios[place] = float(np.clip(changed, _LEAST_RATIO, _LARGEST_RATIO))
    now = _predicted(new, content, bending)
    changes = _changes(old, new)
    for mode in seen:
        changes += _reached(mode, before[mode.name], now[mode.name])
    header = [f'# {clipped(source.name)}, updated with vibrations identified from a recording:']
    header += [f'#   {line}' for line in changes]
    text = yaml.safe_dump({'flexible_links': new}, sort_keys=False, default_flow_style=None)
    path.write_text('\n'.join(header) + '\n' + text, encoding='utf-8')
    return changes


def _explicit(links: dict[str, Any]) -> dict[str, Any]:
    """Return links with lists of stiffness and damping by plane, not sections and materials."""
    found = dict[str, Any]()
    for description in read_flexible({'flexible_links': links}):
        link = {
            k: v for k, v in links[description.link].items() if k not in ('section', 'material')
        }
        link['stations'] = [float(x) for x in description.stations]
        if description.mass_per_length is not None:
            link['mass_per_length'] = [float(x) for x in description.mass_per_length]
        link['bending_stiffness'] = {
            plane: [float(x) for x in values]
            for plane, values in description.bending_stiffness.items()
        }
        link['damping_ratio'] = {
            plane: [float(x) for x in values]
            for plane, values in description.damping_ratio.items()
        }
        found[description.link] = link
    return found


def _predicted(
    links: dict[str, Any], content: ModalContent, bending: Callable[[FlexibleLinks], Robot]
) -> dict[str, tuple[float, float]]:
    """Return frequency in Hz and damping ratio of each mode at the pose of the record."""
    robot = bending({'flexible_links': links})
    joints = robot.joint_names[: robot.model.joint_count]
    # With payload 0 alone nothing is compiled, which would take longer than everything else here.
    found = payload_map(
        lambda _: robot, content.frame, [0.0], at=dict(zip(joints, content.pose, strict=True))
    )
    values = zip(found.frequencies[0], found.damping_ratios[0], strict=True)
    return {
        name: (float(frequency), float(ratio))
        for name, (frequency, ratio) in zip(found.names, values, strict=True)
    }


def _parts(name: str) -> tuple[str, str, int]:
    """Return link, plane and index of a modal coordinate such as 'boom/v1'."""
    link, _, mode = name.rpartition('/')
    return link, mode[0], int(mode[1:]) - 1


def _changes(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    lines = []
    for link in old:
        for plane, values in old[link]['bending_stiffness'].items():
            factor = new[link]['bending_stiffness'][plane][0] / values[0]
            if factor != 1.0:
                lines.append(f'{link}: bending_stiffness {plane} times {factor:.4f}')
            ratios = new[link]['damping_ratio'][plane]
            for place, ratio in enumerate(old[link]['damping_ratio'][plane]):
                if ratios[place] != ratio:
                    lines.append(
                        f'{link}: damping_ratio {plane}{place + 1} {ratio:.4g} -> '
                        f'{ratios[place]:.4g}'
                    )
    return lines


def _reached(
    mode: ModeContent, before: tuple[float, float], now: tuple[float, float]
) -> list[str]:
    """Lines that compare a mode of the old and new description, at its poses, with the record.

    Args:
        mode: the identified mode.
        before: frequency and damping ratio by the old description at one pose.
        now: the same by the new one.
    """
    frequency = mode.predicted_frequency * now[0] / before[0]
    line = (
        f'{mode.name}: {mode.predicted_frequency:.4g} Hz, identified {mode.frequency:.4g} +/- '
        f'{mode.frequency_interval:.2g} Hz, now {frequency:.4g} Hz'
    )
    if abs(frequency - mode.frequency) > mode.frequency_interval:
        line += ', not matched: a slower mode sets the stiffness of its plane'
    lowest, largest = mode.damping_interval
    if lowest <= now[1] <= largest or abs(now[1] / mode.damping - 1.0) < _SAME_RATIO:
        return [line]
    return [
        line,
        f'{mode.name}: damping ratio {mode.predicted_damping:.4g}, identified '
        f'{mode.damping:.4g}, now {now[1]:.4g}, not matched',
    ]

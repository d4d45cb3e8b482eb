# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A description of flexible links whose modes have the identified frequencies and damping."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from kron_dynamics.bag.vibration.modal_results import ModalContent, ModeContent
from kron_dynamics.exceptions import BagError
from kron_dynamics.model.entries import read_description
from kron_dynamics.model.flexible_description import read_flexible
from kron_dynamics.modes import payload_map
from kron_dynamics.robot import Robot

FlexibleLinks = Mapping[str, object]
# Gravity has a small part in frequencies, so that they are met by scaling a few times.
_ROUNDS = 4
_LEAST_RATIO, _LARGEST_RATIO = 1e-5, 0.9


def write_update(
    path: Path,
    source: Path,
    content: ModalContent,
    bending: Callable[[FlexibleLinks], Robot],
) -> list[str]:
    """Write the description that meets the modes which were seen; return what is changed.

    The bending stiffness of each plane is scaled so that its lowest mode that was seen has the
    identified frequency, and the damping ratios of the modes that were seen become the identified
    ones. All else is as it was, but for comments.

    Args:
        path: the new file; the description's own is left as it is.
        source: the description that the modes were predicted with.
        content: what was seen.
        bending: makes the robot of a description.

    Raises:
        BagError: the path is that of the description itself, or no mode was seen.
        ModelError: the description cannot be read.
    """
    seen = [mode for mode in content.modes if mode.seen]
    if path.resolve() == source.resolve():
        raise BagError(f"'{path}' is the description itself: updates go beside it")
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
    changes = _changes(old, new, seen)
    header = [f'# {source.name}, updated by what a recording shows of its vibrations:']
    header += [f'#   {line}' for line in changes]
    text = yaml.safe_dump({'flexible_links': new}, sort_keys=False, default_flow_style=None)
    path.write_text('\n'.join(header) + '\n' + text, encoding='utf-8')
    return changes


def _explicit(links: dict[str, Any]) -> dict[str, Any]:
    """Links with stiffness and damping by plane, as lists, in place of sections and materials."""
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
    """Frequency in Hz and damping ratio of each mode at the pose of the record."""
    robot = bending({'flexible_links': links})
    joints = robot.joint_names[: robot.model.joint_count]
    # A map over no payload: it compiles nothing, which would take longer than all else here.
    found = payload_map(
        lambda _: robot, content.frame, [0.0], at=dict(zip(joints, content.pose, strict=True))
    )
    values = zip(found.frequencies[0], found.damping_ratios[0], strict=True)
    return {
        name: (float(frequency), float(ratio))
        for name, (frequency, ratio) in zip(found.names, values, strict=True)
    }


def _parts(name: str) -> tuple[str, str, int]:
    """Link, plane and place of a modal coordinate, as of 'boom/v1'."""
    link, _, mode = name.rpartition('/')
    return link, mode[0], int(mode[1:]) - 1


def _changes(old: dict[str, Any], new: dict[str, Any], seen: list[ModeContent]) -> list[str]:
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
    for mode in seen:
        lines.append(
            f'{mode.name}: {mode.predicted_frequency:.4g} Hz -> {mode.frequency:.4g} +/- '
            f'{mode.frequency_interval:.2g} Hz'
        )
    return lines

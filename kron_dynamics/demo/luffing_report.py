# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Table and plot that compare luffing by a torque with luffing by a cylinder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kron_dynamics.bag import BagContents
from kron_dynamics.constrained import ConstrainedRobot
from kron_dynamics.control import Trajectory
from kron_dynamics.demo.luffing import CYLINDER, LUFF
from kron_dynamics.exceptions import BagError
from kron_dynamics.typing import FloatArray

# Largest allowed RMS error of the boom angle, rad: a tenth of a millimetre at the bucket wheel.
REQUIRED_ERROR = 2e-6
REQUIRED_CLOSURE = 1e-10  # largest allowed loop-closure error, m or rad


class LuffingResult(NamedTuple):
    """One run: the samples recorded during the motion.

    Attributes:
        name: name of the run.
        time: time since the start of the motion, shape (N,), s.
        angle: angle of the boom, shape (N,), rad.
        reference: reference angle, shape (N,), rad.
        effort: effort of the luffing drive, shape (N,), N m or N.
        opening: largest loop-closure error, m or rad; None without loops.
    """

    name: str
    time: FloatArray
    angle: FloatArray
    reference: FloatArray
    effort: FloatArray
    opening: float | None

    @property
    def rms(self) -> float:
        """Root mean square of the angle's error, rad."""
        return float(np.sqrt(np.mean((self.reference - self.angle) ** 2)))


def evaluate_luffing(
    contents: BagContents,
    name: str,
    wanted: Trajectory,
    start: float,
    closed: ConstrainedRobot | None,
) -> LuffingResult:
    """Return boom angle, effort and loop closure of a recorded run.

    Args:
        contents: the bag.
        name: name of the run, which is its namespace.
        wanted: reference trajectory that contains the joint `luff`.
        start: start of the motion on the clock of the states, s.
        closed: the machine with its constraints, to evaluate loop closure; None for a tree.

    Raises:
        BagError: the bag lacks the run.
    """
    topic = f'/{name}/joint_states'
    recorded = contents.joint_states.get(topic)
    if recorded is None:
        raise BagError(f"no joint states on '{topic}' in {contents.path}")
    since = recorded.stamp * 1e-9 - start
    states = recorded.taken((since >= 0.0) & (since <= wanted.duration))
    if not len(states):
        raise BagError(f"no joint states on '{topic}' during the motion")
    time = np.asarray(states.stamp * 1e-9 - start)
    driven = CYLINDER if closed is not None else LUFF
    column = wanted.joint_names.index(LUFF)
    opening = None
    if closed is not None:
        positions = states.values(closed.joint_names, 'position')
        opening = max(float(np.abs(closed.residual(q)).max()) for q in positions)
    return LuffingResult(
        name,
        time,
        states.values([LUFF], 'position')[:, 0],
        np.array([wanted.sample(t)[0][column] for t in time]),
        states.values([driven], 'effort')[:, 0],
        opening,
    )


def luffing_table(by_torque: LuffingResult, by_cylinder: LuffingResult) -> str:
    """Return the table of both runs."""
    lines = [f'{"boom luffed by":<16} {"error of its angle":>20} {"effort":>26}']
    for what, result, unit in (
        ('a torque', by_torque, 'MN m'),
        ('a cylinder', by_cylinder, 'MN'),
    ):
        least, most = 1e-6 * result.effort.min(), 1e-6 * result.effort.max()
        error, effort = f'{1e6 * result.rms:.3g} urad RMS', f'{least:.4g} to {most:.4g} {unit}'
        lines.append(f'{what:<16} {error:>20} {effort:>26}')
    lines.append(f'loops open by at most {by_cylinder.opening:.2g} m')
    return '\n'.join(lines)


def luffing_problems(by_torque: LuffingResult, by_cylinder: LuffingResult) -> list[str]:
    """Return the requirements that the runs do not meet, one line each."""
    problems = [
        f'{result.name}: the angle of the boom was {result.rms:.3g} rad off (RMS), expected at '
        f'most {REQUIRED_ERROR:g}'
        for result in (by_torque, by_cylinder)
        if not result.rms <= REQUIRED_ERROR
    ]
    if by_cylinder.opening is None or not by_cylinder.opening <= REQUIRED_CLOSURE:
        problems.append(
            f'{by_cylinder.name}: loops are open by {by_cylinder.opening}, expected at most '
            f'{REQUIRED_CLOSURE:g}'
        )
    return problems


def plot_luffing(results: Sequence[LuffingResult], path: Path) -> None:
    """Draw angle, error and effort of each run into a PNG file."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13.0, 3.4), layout='constrained')
    figure.suptitle('The same motion of the boom, by a torque and by a hydraulic cylinder')
    angle, error, effort = figure.subplots(1, 3, sharex=True)
    angle.plot(results[0].time, 1e3 * results[0].reference, 'k--', lw=1, label='reference')
    for result in results:
        label = result.name.replace('_', ' ')
        angle.plot(result.time, 1e3 * result.angle, lw=1, label=label)
        error.plot(result.time, 1e6 * (result.reference - result.angle), lw=1, label=label)
        effort.plot(result.time, 1e-6 * result.effort, lw=1, label=label)
    for panel, title, unit in (
        (angle, 'angle of the boom', 'mrad'),
        (error, 'error', 'urad'),
        (effort, 'effort of the drive', 'MN m, MN'),
    ):
        panel.set_title(title)
        panel.set_ylabel(unit)
        panel.set_xlabel("machine's time [s]")
        panel.grid(alpha=0.3)
    angle.legend(fontsize='small')
    figure.savefig(path, dpi=110)

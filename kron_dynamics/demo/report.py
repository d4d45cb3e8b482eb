# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Table and plot that compare tracking by computed torque with PD alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kron_dynamics.demo.evaluation import LawResult
from kron_dynamics.model import RobotModel
from kron_dynamics.model.joint_kinds import joint_kind

REQUIRED_RATIO = 10.0  # smallest allowed ratio of RMS errors, PD alone to computed torque
REQUIRED_RATE = 40.0  # smallest allowed message rate in simulated time, Hz; 50 Hz are published
_MILLI = 1e3  # errors are shown in mrad and mm


def tracking_ratios(model_based: LawResult, plain: LawResult) -> list[float]:
    """Return the ratio of the plain law's RMS error to the model-based law's, per joint."""
    return [
        float(other / own) if own > 0.0 else float('inf')
        for own, other in zip(model_based.rms, plain.rms, strict=True)
    ]


def tracking_table(model: RobotModel, model_based: LawResult, plain: LawResult) -> str:
    """Return the table of tracking errors, one line per joint."""
    lines = [f'{"joint":<10} {"computed torque":>20} {"PD alone":>20} {"ratio":>8}']
    ratios = tracking_ratios(model_based, plain)
    for j, (name, kind) in enumerate(zip(model.joint_names, model.joint_types, strict=True)):
        unit = joint_kind(kind).unit('position')
        cells = [f'{_MILLI * result.rms[j]:.4g} m{unit} RMS' for result in (model_based, plain)]
        lines.append(f'{name:<10} {cells[0]:>20} {cells[1]:>20} {ratios[j]:>7.0f}x')
    return '\n'.join(lines)


def tracking_problems(joint_names: Sequence[str], results: Sequence[LawResult]) -> list[str]:
    """Return the requirements that the runs do not meet, one line each.

    Args:
        joint_names: names of the n joints.
        results: results of the model-based law and of the plain one.
    """
    problems = [
        f"joint '{name}': PD alone tracks only {ratio:.1f} times worse, expected at least "
        f'{REQUIRED_RATIO:g}'
        for name, ratio in zip(joint_names, tracking_ratios(*results), strict=True)
        if not ratio >= REQUIRED_RATIO
    ]
    for result in results:
        for what, rate in (
            ('joint states', result.state_rate),
            ('commands', result.command_rate),
            ('tip accelerations', result.acceleration_rate),
        ):
            if rate < REQUIRED_RATE:
                problems.append(
                    f'{result.law}: {what} came at {rate:.1f} Hz, expected '
                    f'{REQUIRED_RATE:g} Hz or more'
                )
    return problems


def plot_tracking(model: RobotModel, results: Sequence[LawResult], path: Path) -> None:
    """Draw positions, errors and efforts of every joint under each law into a PNG file."""
    from matplotlib.figure import Figure

    n = model.n
    figure = Figure(figsize=(13.0, 2.6 * n + 0.8), layout='constrained')
    figure.suptitle(f'{model.name}: bench reclaiming, computed torque against PD alone')
    axes = figure.subplots(n, 3, sharex=True, squeeze=False)
    for j, (name, kind) in enumerate(zip(model.joint_names, model.joint_types, strict=True)):
        unit = joint_kind(kind).unit('position')
        position, error, effort = axes[j]
        position.plot(results[0].time, results[0].reference[:, j], 'k--', lw=1, label='reference')
        for result in results:
            label = result.law.replace('_', ' ')
            position.plot(result.time, result.position[:, j], lw=1, label=label)
            magnitude = np.maximum(np.abs(_MILLI * result.error[:, j]), 1e-6)
            error.semilogy(result.time, magnitude, lw=1, label=label)
            effort.plot(result.time, 1e-3 * result.effort[:, j], lw=1, label=label)
        position.set_ylabel(f'{name} [{unit}]')
        error.set_ylabel(f'abs(error) [m{unit}]')
        effort.set_ylabel(f'effort [k{joint_kind(kind).unit("effort")}]')
        for panel in axes[j]:
            panel.grid(alpha=0.3)
    for panel, title in zip(axes[0], ('position', 'tracking error', 'effort'), strict=True):
        panel.set_title(title)
    for panel in axes[-1]:
        panel.set_xlabel("machine's time [s]")
    axes[0][0].legend(fontsize='small')
    figure.savefig(path, dpi=110)

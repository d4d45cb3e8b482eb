# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Table and plot of the boom's vibration with and without input shaping."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kron_dynamics.demo.residual import VibrationResult

REQUIRED_RATIO = 10.0  # smallest allowed ratio of residual vibrations, unshaped to shaped
# Directions of the modes that are shown.
_DIRECTIONS = {'boom/v1': 'sideways', 'boom/w1': 'up and down'}
# Times that the plot shows before the end of a move and after the last window, s.
_BEFORE, _AFTER = 18.0, 0.5


def vibration_ratios(unshaped: VibrationResult, shaped: VibrationResult) -> list[float]:
    """Return the ratio of residual vibrations, unshaped to shaped, for each move."""
    ratios = []
    for plain, own in zip(unshaped.windows, shaped.windows, strict=True):
        left, other = shaped.residual(own), unshaped.residual(plain)
        ratios.append(other / left if left > 0.0 else float('inf'))
    return ratios


def vibration_problems(unshaped: VibrationResult, shaped: VibrationResult) -> list[str]:
    """Return the requirements that the runs do not meet, one line each."""
    ratios = vibration_ratios(unshaped, shaped)
    return [
        f'{own.joint} move: without shaping only {ratio:.1f} times more vibration is left, '
        f'expected at least {REQUIRED_RATIO:g}'
        for own, ratio in zip(shaped.windows, ratios, strict=True)
        if not ratio >= REQUIRED_RATIO
    ]


def vibration_table(unshaped: VibrationResult, shaped: VibrationResult) -> str:
    """Return the table of residual vibrations, one line per move.

    The unshaped run is evaluated twice: after its own reference has stopped, and after the shaped
    one has, because drives and friction damp the vibration in between.
    """
    names = ('unshaped', 'shaped', 'unshaped then')
    lines = [
        f'{"after":<5} {"tip goes":<12}'
        + ''.join(f'{name:>15}' for name in names)
        + f'{"ratio":>8} {"later by":>10}'
    ]
    ratios = vibration_ratios(unshaped, shaped)
    for plain, own, ratio in zip(unshaped.windows, shaped.windows, ratios, strict=True):
        residuals = (unshaped.residual(plain), shaped.residual(own), unshaped.residual(own))
        cells = [f'{1e3 * residual:.3g} mm' for residual in residuals]
        lines.append(
            f'{own.joint:<5} {_DIRECTIONS[own.mode]:<12}'
            + ''.join(f'{cell:>15}' for cell in cells)
            + f'{ratio:>7.0f}x {own.begin - plain.begin:>8.2f} s'
        )
    return '\n'.join(lines)


def plot_vibration(unshaped: VibrationResult, shaped: VibrationResult, path: Path) -> None:
    """Draw the joints' velocities and the tip's deflection around each stop into a PNG file."""
    from matplotlib.figure import Figure

    moves = list(zip(unshaped.windows, shaped.windows, strict=True))
    figure = Figure(figsize=(13.0, 7.0), layout='constrained')
    figure.suptitle('vibration of the boom, with and without input shaping of the reference')
    axes = figure.subplots(2, len(moves), sharex='col', squeeze=False)
    for (plain, own), (speed, tip) in zip(moves, axes.T, strict=True):
        for run, window, colour in ((unshaped, plain, 'C1'), (shaped, own, 'C0')):
            joint = run.followed.joint_names.index(window.joint)
            reference = [run.followed.sample(t)[1][joint] for t in run.joint_time]
            moved = run.velocity[window.joint]
            speed.plot(run.joint_time, 1e3 * moved, colour, lw=1, label=run.name)
            speed.plot(run.joint_time, 1e3 * np.array(reference), 'k--', lw=0.7)
            inside = (run.time >= window.begin) & (run.time <= window.end)
            deflection = run.deflection[window.mode]
            from_rest = 1e3 * (deflection - deflection[inside].mean())
            tip.plot(run.time, from_rest, colour, lw=1, label=run.name)
            tip.axvspan(window.begin, window.end, color=colour, alpha=0.12, lw=0)
        speed.set_title(f'{plain.joint} move')
        speed.set_ylabel(f'{plain.joint} velocity [mrad/s]')
        tip.set_ylabel(f'tip {_DIRECTIONS[plain.mode]} [mm]')
        tip.set_xlabel("machine's time [s]; residual vibration is judged in the shaded windows")
        tip.set_xlim(max(0.0, plain.begin - _BEFORE), own.end + _AFTER)
        for panel in (speed, tip):
            panel.grid(alpha=0.3)
    axes[0][0].plot([], [], 'k--', lw=0.7, label='references')
    axes[0][0].legend(fontsize='small')
    figure.savefig(path, dpi=110)

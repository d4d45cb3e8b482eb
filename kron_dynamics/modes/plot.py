# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Plot of a mode map: frequencies, and damping ratios below them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kron_dynamics.exceptions import ParameterError
from kron_dynamics.modes.mode_map import ModeMap

# Line styles that keep coinciding curves distinguishable.
_LINES = ('-', '--', '-.', ':')


def check_picture(path: str | Path) -> Path:
    """Return the path of a picture after checking its extension.

    Raises:
        ParameterError: the extension is neither .png nor .svg.
    """
    path = Path(path)
    if path.suffix.lower() not in ('.png', '.svg'):
        raise ParameterError(f'path is {path}, expected a .png or an .svg file')
    return path


def plot_mode_map(found: ModeMap, path: str | Path, *, title: str = 'modes of vibration') -> None:
    """Draw the map into a file, with damping ratios if there are any.

    Args:
        found: the map.
        path: file to write, .png or .svg.
        title: text above the picture.

    Raises:
        ParameterError: the file has another extension.
    """
    path = check_picture(path)

    import matplotlib  # takes long to import
    from matplotlib.figure import Figure

    damped = bool((np.nan_to_num(found.damping_ratios) != 0).any())
    figure = Figure(figsize=(7.0, 5.6 if damped else 3.8), layout='constrained')
    grid = figure.subplots(
        2 if damped else 1, 1, sharex=True, squeeze=False, height_ratios=(2, 1)[: 1 + damped]
    )[:, 0]
    curves = (found.frequencies, found.damping_ratios)
    labels = ('natural frequency [Hz]', 'damping ratio')
    # A single value needs a marker, since a line would be invisible.
    marker = 'o' if len(found.values) == 1 else ''
    for axes, table, label in zip(grid, curves, labels, strict=False):
        for k in range(len(found.names)):
            style = _LINES[k % len(_LINES)]
            axes.plot(found.values, table[:, k], style, marker=marker, label=f'mode {k + 1}')
        axes.set_ylabel(label)
        axes.grid(True, color='0.9', linewidth=0.8)
        axes.spines[['top', 'right']].set_visible(False)
        axes.ticklabel_format(axis='y', useOffset=False)
        if np.nanmin(table) >= 0 and np.nanmax(table) > 0:
            axes.set_ylim(0, 1.1 * np.nanmax(table))
    # Names are shown as they are: $ does not begin a formula, and _ does not hide a curve.
    grid[0].set_title(title, parse_math=False)
    for text, name in zip(
        grid[0].legend(frameon=False, fontsize=9).get_texts(), found.names, strict=True
    ):
        text.set(text=name, parse_math=False)
    grid[-1].set_xlabel(f'{found.parameter} [{found.unit}]', parse_math=False)
    # Without a date and with a fixed salt of identifiers, the same map gives the same file.
    metadata = {'Date': None} if path.suffix.lower() == '.svg' else {}
    with matplotlib.rc_context({'svg.hashsalt': 'modes'}):
        figure.savefig(path, dpi=110, metadata=metadata)

# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Plot of a map of stability margins."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kron_dynamics.arguments import real_array
from kron_dynamics.exceptions import ParameterError, ShapeError
from kron_dynamics.typing import ArrayLike


def plot_stability_map(
    xs: ArrayLike,
    ys: ArrayLike,
    margins: ArrayLike,
    path: str | Path,
    *,
    x_label: str = 'x',
    y_label: str = 'y',
    title: str = 'stability margin',
    level: float = 0.0,
) -> None:
    """Plot the margins from `stability_map`, with the stability boundary, into a file.

    Args:
        xs: values of the first parameter, increasing, shape (a,) with a >= 2.
        ys: values of the second parameter, increasing, shape (b,) with b >= 2.
        margins: shape (b, a), 1/s.
        path: file to write, .png or .svg.
        x_label: label of the x axis.
        y_label: label of the y axis.
        title: title of the plot.
        level: margin at which the boundary is drawn, 1/s. An undamped system needs a value
            slightly below 0, because its margin is 0 wherever it is stable.

    Raises:
        ParameterError: the file has another suffix, or a parameter does not increase.
        ShapeError: the shapes do not fit together.
        ArgumentTypeError: xs, ys or margins is not real numbers.
    """
    x, y, z = real_array(xs, 'xs'), real_array(ys, 'ys'), real_array(margins, 'margins')
    for name, values in (('xs', x), ('ys', y)):
        if values.ndim != 1 or len(values) < 2:
            raise ShapeError(f'{name} has shape {values.shape}, expected (k,) with k >= 2')
        if not (np.diff(values) > 0).all():
            raise ParameterError(f'{name} is {values.tolist()}, expected increasing numbers')
    if z.shape != (len(y), len(x)):
        raise ShapeError(f'margins has shape {z.shape}, expected {(len(y), len(x))}')
    path = Path(path)
    if path.suffix.lower() not in ('.png', '.svg'):
        raise ParameterError(f'path is {path}, expected a .png or an .svg file')

    from matplotlib.figure import Figure  # takes long to import

    shown = np.ma.masked_invalid(z)
    # Symmetric about the level, so that white marks the boundary.
    reach = float(np.abs(shown - level).max()) if shown.count() else 0.0
    reach = reach or 1.0
    figure = Figure(figsize=(7.0, 5.0), layout='constrained')
    axes = figure.subplots()
    mesh = axes.pcolormesh(
        x, y, shown, shading='nearest', cmap='RdBu', vmin=level - reach, vmax=level + reach
    )
    mesh.set_rasterized(True)
    figure.colorbar(mesh, ax=axes, label='margin [1/s], stable if positive')
    if shown.count() and shown.min() < level < shown.max():
        axes.contour(x, y, shown, levels=[level], colors='k', linewidths=1.0)
    axes.set(xlabel=x_label, ylabel=y_label, title=title)
    figure.savefig(path, dpi=110)

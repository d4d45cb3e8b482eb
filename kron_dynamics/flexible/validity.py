# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Limits on the deflection of flexible links, and the check of states against them.

Positions and rotations of a bent link are correct to third order of its slope, its elastic energy
to fourth. In the first mode, with a slope of about 1.5 times the deflection over the length, the
error of a frequency is about 0.01 % at a deflection of 5 %, about 1 % at 30 %, and grows quickly
from there. Higher modes are steeper, the fifth ten times: the slope has limits of its own.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np

from kron_dynamics.exceptions import ModelError, ModelWarning
from kron_dynamics.flexible.flexible_model import FlexibleModel
from kron_dynamics.messages import named
from kron_dynamics.model import RobotModel
from kron_dynamics.typing import ArrayLike, FloatArray

WARNED_DEFLECTION = 0.05
"""Deflection over length above which a warning is given."""

LARGEST_DEFLECTION = 0.3
"""Deflection over length above which states are refused with an error."""

WARNED_SLOPE = 0.15
"""Slope of a bent link above which a warning is given."""

LARGEST_SLOPE = 0.8
"""Slope above which states are refused with an error; the tangent has none above 1."""


class Deflection(NamedTuple):
    """Deflection of a flexible link.

    Attributes:
        link: name of the link.
        length: length of its beam, m.
        share: largest transverse deflection of a section over the length, dimensionless.
        slope: largest slope of a section, dimensionless.
    """

    link: str
    length: float
    share: float
    slope: float

    def __str__(self) -> str:
        return (
            f'deflects by {self.share * self.length:.3g} m, {_percent(self.share)} of its length'
        )


def deflections(model: RobotModel, q: ArrayLike) -> list[Deflection]:
    """Return the deflections of all flexible links of a robot.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m; for a batch, shape (N, n), the largest deflection of
            each link, and the largest slope, are returned.
    """
    tree = getattr(model, 'tree', model)  # the spanning tree of a robot with closed loops
    if not isinstance(tree, FlexibleModel):
        return []
    coordinates: FloatArray = np.asarray(q, dtype=np.float64)
    found = []
    fewer = tree.n - model.n  # closed loops have fewer joint coordinates than their tree
    for link in tree.flexible_links:
        first, end = link.coordinates[0] - fewer, link.coordinates[-1] + 1 - fewer
        across, slopes = link.outline @ coordinates[..., first:end].T
        share, slope = (float(np.hypot(*each).max(initial=0.0)) for each in (across, slopes))
        found.append(Deflection(link.link, link.length, share, slope))
    return found


class DeflectionCheck:
    """Check of the deflections of one robot, which warns once for each link.

    NaN passes the check, as the equations then return NaN.
    """

    def __init__(self) -> None:
        """Start without links that have been warned about."""
        self._known: set[str] = set()

    def __call__(self, model: RobotModel, q: ArrayLike, stacklevel: int = 2) -> None:
        """Warn about large deflections and raise an error for excessive ones.

        Args:
            model: the robot.
            q: coordinates, shape (n,) or (N, n), rad or m.
            stacklevel: as in `warnings.warn`; 2 attributes the warning to the caller.

        Raises:
            ModelError: the deflection of a link is more than `LARGEST_DEFLECTION`, or its slope
                more than `LARGEST_SLOPE`.
        """
        for bent in deflections(model, q):
            if bent.share > LARGEST_DEFLECTION:
                raise ModelError(f'{_named(bent)} {bent}, expected at most {limit(bent)}')
            if bent.slope > LARGEST_SLOPE:
                raise ModelError(
                    f'{_named(bent)} bends to a slope of {bent.slope:.3g}, expected at most '
                    f'{LARGEST_SLOPE:g}'
                )
            if bent.link not in self._known and (warning := _large(bent)) is not None:
                self._known.add(bent.link)
                warnings.warn(warning, stacklevel=stacklevel)


def _large(bent: Deflection) -> ModelWarning | None:
    """Return the warning about a large deflection or slope; None if both are small."""
    if bent.share > WARNED_DEFLECTION:
        found, warned = f'{bent} of {bent.length:g} m', _percent(WARNED_DEFLECTION)
        largest = _percent(LARGEST_DEFLECTION)
    elif bent.slope > WARNED_SLOPE:
        found, warned = f'bends to a slope of {bent.slope:.3g}', f'{WARNED_SLOPE:g}'
        largest = f'{LARGEST_SLOPE:g}'
    else:
        return None
    return ModelWarning(
        'large_deflection',
        _named(bent),
        f'{found}, and from {warned} on results lose digits',
        f'see docs/flexible-links.md for how many; beyond {largest} there are no results',
    )


def limit(bent: Deflection) -> str:
    """Return the limit of a link's deflection as text."""
    most = LARGEST_DEFLECTION
    return f'{most * bent.length:.3g} m, {_percent(most)} of its length of {bent.length:g} m'


def _named(bent: Deflection) -> str:
    return named('flexible link', bent.link)


def _percent(share: float) -> str:
    return f'{100 * share:.3g} %'

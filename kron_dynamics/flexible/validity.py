# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Limits on the deflection of flexible links, and the check of states against them.

Positions and rotations of a bent link are correct to third order of its deflection, its elastic
energy to fourth. At a deflection of 5 % of the length the error of a frequency is about 0.01 %, at
30 % about 1 %, and it grows quickly from there.
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


class Deflection(NamedTuple):
    """Deflection of a flexible link.

    Attributes:
        link: name of the link.
        length: length of its beam, m.
        share: largest transverse deflection of a section over the length, dimensionless.
    """

    link: str
    length: float
    share: float

    def __str__(self) -> str:
        return (
            f'deflects by {self.share * self.length:.3g} m, {_percent(self.share)} of its length'
        )


def deflections(model: RobotModel, q: ArrayLike) -> list[Deflection]:
    """Return the deflections of all flexible links of a robot.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m; for a batch, shape (N, n), the largest deflection of
            each link is returned.
    """
    tree = getattr(model, 'tree', model)  # the spanning tree of a robot with closed loops
    if not isinstance(tree, FlexibleModel):
        return []
    coordinates: FloatArray = np.asarray(q, dtype=np.float64)
    found = []
    fewer = tree.n - model.n  # closed loops have fewer joint coordinates than their tree
    for link in tree.flexible_links:
        first, end = link.coordinates[0] - fewer, link.coordinates[-1] + 1 - fewer
        across = link.outline @ coordinates[..., first:end].T
        share = float(np.hypot(*across).max(initial=0.0))
        found.append(Deflection(link.link, link.length, share))
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
            ModelError: the deflection of a link is more than `LARGEST_DEFLECTION`.
        """
        for bent in deflections(model, q):
            if bent.share > LARGEST_DEFLECTION:
                raise ModelError(f'{_named(bent)} {bent}, expected at most {limit(bent)}')
            if bent.share > WARNED_DEFLECTION and bent.link not in self._known:
                self._known.add(bent.link)
                warnings.warn(
                    ModelWarning(
                        'large_deflection',
                        _named(bent),
                        f'{bent} of {bent.length:g} m, and from {_percent(WARNED_DEFLECTION)} on '
                        f'results lose digits',
                        f'see docs/flexible-links.md for how many; beyond '
                        f'{_percent(LARGEST_DEFLECTION)} there are no results',
                    ),
                    stacklevel=stacklevel,
                )


def limit(bent: Deflection) -> str:
    """Return the limit of a link's deflection as text."""
    most = LARGEST_DEFLECTION
    return f'{most * bent.length:.3g} m, {_percent(most)} of its length of {bent.length:g} m'


def _named(bent: Deflection) -> str:
    return named('flexible link', bent.link)


def _percent(share: float) -> str:
    return f'{100 * share:.3g} %'

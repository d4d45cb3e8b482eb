# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""How far flexible links may bend: what their equations are checked for, and what is refused.

Places and turns of a bent link are right to third order of its deflection, its elastic energy to
fourth. At a deflection of 5 % of the length a frequency is wrong by some 0.01 %, at 30 % by some
1 %, and from there on quickly by more.
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
"""Deflection over length from which a link's results carry a warning."""

LARGEST_DEFLECTION = 0.3
"""Deflection over length beyond which there are no results."""


class Deflection(NamedTuple):
    """How far a link is bent.

    Attributes:
        link: name.
        length: of its beam, m.
        share: largest distance of a section from the straight beam across it, over the length,
            unit 1.
    """

    link: str
    length: float
    share: float

    def __str__(self) -> str:
        return (
            f'deflects by {self.share * self.length:.3g} m, {_percent(self.share)} of its length'
        )


def deflections(model: RobotModel, q: ArrayLike) -> list[Deflection]:
    """Return how far the flexible links of a robot are bent.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m; of a batch, shape (N, n), the worst of each link.
    """
    tree = getattr(model, 'tree', model)  # of a robot with closed loops
    if not isinstance(tree, FlexibleModel):
        return []
    coordinates: FloatArray = np.asarray(q, dtype=np.float64)
    found = []
    fewer = tree.n - model.n  # coordinates, all of them of joints
    for link in tree.flexible_links:
        first, end = link.coordinates[0] - fewer, link.coordinates[-1] + 1 - fewer
        across = link.outline @ coordinates[..., first:end].T
        share = float(np.hypot(*across).max(initial=0.0))
        found.append(Deflection(link.link, link.length, share))
    return found


class DeflectionCheck:
    """Checks states of one robot; warns once of each link.

    What is no number is not checked: the equations make no number of it either.
    """

    def __init__(self) -> None:
        """Begin with no link that was warned of."""
        self._known: set[str] = set()

    def __call__(self, model: RobotModel, q: ArrayLike, stacklevel: int = 2) -> None:
        """Warn of links that are bent far; refuse states in which one is bent too far.

        Args:
            model: the robot.
            q: coordinates, shape (n,) or (N, n), rad or m.
            stacklevel: whom the warning is for, as for `warnings.warn`, 2 being the caller.

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
    """Return the largest deflection of a link, in words."""
    most = LARGEST_DEFLECTION
    return f'{most * bent.length:.3g} m, {_percent(most)} of its length of {bent.length:g} m'


def _named(bent: Deflection) -> str:
    return named('flexible link', bent.link)


def _percent(share: float) -> str:
    return f'{100 * share:.3g} %'

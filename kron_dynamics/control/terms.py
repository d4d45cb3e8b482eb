# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Model terms in the commanded efforts, and model terms that the drives add themselves."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kron_dynamics.exceptions import ParameterError
from kron_dynamics.typing import FloatArray

if TYPE_CHECKING:
    from kron_dynamics.robot import Robot

TERMS = ('inertia', 'coriolis', 'gravity', 'friction', 'flexible')
# Terms a drive can compensate by itself: it knows the measured state, not the reference.
DRIVE_TERMS = ('coriolis', 'gravity', 'friction')


@dataclass(frozen=True, slots=True)
class EffortTerms:
    """Division of the model terms: the joint efforts are the commanded ones plus the drives' own.

    Attributes:
        commanded: model terms in the commands, a subset of `TERMS`: inertia is M(q) qdd_ref,
            coriolis c(q, qd), gravity g(q), friction f(qd_ref), flexible the reaction of flexible
            links. Feedback is always commanded and not listed here.
        drive: terms that the drives add to every command at the measured state, a subset of
            `DRIVE_TERMS`.
    """

    commanded: frozenset[str] = frozenset(TERMS)
    drive: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Check both.

        Raises:
            ParameterError: a term is unknown, or would be compensated twice; names it.
        """
        _check_known('terms', self.commanded, TERMS)
        _check_known('drive_terms', self.drive, DRIVE_TERMS)
        twice = self.commanded & self.drive
        if twice:
            left = in_order(self.commanded - self.drive)
            raise ParameterError(
                f'terms and drive_terms both have {", ".join(in_order(twice))}, which would be '
                f'compensated twice; expected terms [{", ".join(left)}] if the drives add it'
            )

    @property
    def gravity_is_compensated(self) -> bool:
        """Whether the commands or the drives compensate gravity."""
        return 'gravity' in self.commanded | self.drive

    def weight(self, robot: Robot, q: FloatArray) -> FloatArray:
        """Return the gravity efforts that commands must contain, shape (n,), N m or N.

        Zero where the drives compensate gravity.
        """
        return np.zeros(robot.n) if 'gravity' in self.drive else robot.gravity_vector(q)

    def drive_effort(self, robot: Robot, q: FloatArray, qd: FloatArray) -> FloatArray:
        """Return the efforts that the drives add to a command in a state, shape (n,), N m or N."""
        effort = np.zeros(robot.n)
        if 'gravity' in self.drive:
            effort += robot.gravity_vector(q)
        if 'coriolis' in self.drive:
            effort += robot.coriolis_vector(q, qd)
        if 'friction' in self.drive:
            effort += robot.joint_friction(qd)
        return effort


def in_order(terms: Collection[str]) -> list[str]:
    """Return terms in the order of `TERMS`."""
    return [term for term in TERMS if term in terms]


def _check_known(name: str, given: Iterable[str], known: Collection[str]) -> None:
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise ParameterError(
            f'{name} has {", ".join(map(repr, unknown))}, expected some of {", ".join(known)}'
        )

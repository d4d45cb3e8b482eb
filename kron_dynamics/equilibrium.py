# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""How far the links of a robot bend while its joints move steadily."""

from __future__ import annotations

import numpy as np

from kron_dynamics.arguments import finite_array, instance
from kron_dynamics.exceptions import ModelError, ShapeError
from kron_dynamics.messages import clipped, named, shown
from kron_dynamics.model import RobotModel
from kron_dynamics.robot import Robot
from kron_dynamics.typing import ArrayLike, FloatArray

_ROUNDS = 20
# Relative to the largest modal coordinate. Newton's steps shrink quadratically: after a step of
# this size there is nothing left but rounding.
_CLOSE = 1e-8
# Deflection over length that no step goes beyond: equations mean nothing out there.
_FURTHEST = 0.5


def quasi_static_equilibrium(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike | None = None,
    qdd: ArrayLike | None = None,
    *,
    start: ArrayLike | None = None,
) -> FloatArray:
    """Return all coordinates of a robot whose links are bent but do not vibrate, shape (n,).

    The modal coordinates are those at which, held constant, elastic forces balance gravity and
    the inertia of the joints' motion: where vibrations go to when they die out. A rigid robot has
    none, and its q is returned.

    Args:
        robot: the robot.
        q: positions of the joints, shape (n_j,), rad or m.
        qd: their rates, shape (n_j,); None at rest.
        qdd: their accelerations, shape (n_j,); None for none.
        start: modal coordinates to begin from, shape (n - n_j,): those of a state nearby save
            time. None begins with straight links.

    Raises:
        ArgumentTypeError: robot is none, or an argument holds no real numbers.
        ShapeError: an argument has another shape.
        NonFiniteError: an argument holds a NaN or an infinity.
        ModelError: the links give way: their stiffness does not carry this load, or bends them
            further than their equations hold.
    """
    instance(robot, Robot, 'robot', 'a Robot')
    motion = _motion(robot, q, qd, qdd, start)
    full: FloatArray = motion[0]
    modal = slice(robot.model.joint_count, robot.n)
    if modal.start == robot.n:
        return full
    from kron_dynamics.flexible import deflections  # who has such links has it already

    terms, e = None, full[modal]
    for _ in range(_ROUNDS):
        terms = robot.linearization(*motion, out=terms)
        K = terms.stiffness_matrix[modal, modal]
        try:
            step = np.linalg.solve(K, terms.effort[modal])
        except np.linalg.LinAlgError:  # stiffness and load just cancel
            break
        e -= step
        if not np.isfinite(e).all():  # the motion is out of all proportion
            break
        if np.abs(step).max() <= _CLOSE * np.abs(e).max():
            if _holds(K):
                robot.check_deflections(full, stacklevel=3)
                return full
            break
        furthest = max(deflections(robot.model, full), key=lambda bent: bent.share)
        if furthest.share > _FURTHEST:
            e *= _FURTHEST / furthest.share
    raise _no_balance(robot.model, full)


def _motion(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike | None,
    qdd: ArrayLike | None,
    start: ArrayLike | None,
) -> FloatArray:
    """All coordinates, rates and accelerations, shape (3, n), those of the links at rest."""
    count = robot.model.joint_count
    motion = np.zeros((3, robot.n))
    for name, values, place in (
        ('q', q, motion[0, :count]),
        ('qd', qd, motion[1, :count]),
        ('qdd', qdd, motion[2, :count]),
        ('start', start, motion[0, count:]),
    ):
        if values is not None or name == 'q':
            given = finite_array(values, name)
            if given.shape != place.shape:
                raise ShapeError(f'{name} has shape {given.shape}, expected {place.shape}')
            place[:] = given
    return motion


def quasi_static_equilibria(
    robot: Robot, q: ArrayLike, qd: ArrayLike | None = None, qdd: ArrayLike | None = None
) -> FloatArray:
    """Return `quasi_static_equilibrium` of each of N motions, shape (N, n), many times as fast.

    Args:
        robot: the robot.
        q: positions of the joints, shape (N, n_j), rad or m.
        qd: their rates, shape (N, n_j); None at rest.
        qdd: their accelerations, shape (N, n_j); None for none.

    Raises:
        ArgumentTypeError: robot is none, or an argument holds no real numbers.
        ShapeError: an argument has another shape.
        NonFiniteError: an argument holds a NaN or an infinity.
        ModelError: the links give way in one of the motions.
    """
    instance(robot, Robot, 'robot', 'a Robot')
    count = robot.model.joint_count
    given = [
        None if values is None and name != 'q' else finite_array(values, name)
        for name, values in (('q', q), ('qd', qd), ('qdd', qdd))
    ]
    shape = given[0].shape if given[0] is not None else ()
    motions = np.zeros((3, *shape[:1], robot.n))
    for name, values, row in zip(('q', 'qd', 'qdd'), given, motions, strict=True):
        if values is not None:
            if values.ndim != 2 or values.shape != (*shape[:1], count):
                expected = 'N' if name == 'q' else shape[0]
                raise ShapeError(
                    f'{name} has shape {values.shape}, expected ({expected}, {count})'
                )
            row[:, :count] = values
    if count < robot.n:
        # What Newton's plain steps do not lead to is left to the careful search, or its refusal.
        for k in _balance(robot, motions, slice(count, robot.n)):
            motions[0, k] = quasi_static_equilibrium(robot, *motions[:, k, :count])
        robot.check_deflections(motions[0], stacklevel=3)
    full: FloatArray = motions[0]
    return full


def _balance(robot: Robot, motions: FloatArray, modal: slice) -> list[int]:
    """Balance the links in motions, shape (3, N, n), together; return which are not."""
    from kron_dynamics.flexible import deflections  # who has such links has it already

    left = np.arange(motions.shape[1])
    for _ in range(_ROUNDS):
        if not left.size:
            break
        terms = robot.linearization(*motions[:, left])
        K = terms.stiffness_matrix[:, modal, modal]
        try:
            step = np.linalg.solve(K, terms.effort[:, modal, None])[..., 0]
            e = motions[0, left, modal] - step
            close = np.abs(step).max(axis=-1) <= _CLOSE * np.abs(e).max(axis=-1)
            np.linalg.cholesky((K + K.swapaxes(1, 2))[close])
        except np.linalg.LinAlgError:  # of one of them
            break
        motions[0, left, modal] = e
        bent = deflections(robot.model, motions[0, left])
        if not max(link.share for link in bent) <= _FURTHEST:
            break
        left = left[~close]
    return [int(k) for k in left]


def _no_balance(model: RobotModel, q: FloatArray) -> ModelError:
    """What is said where the search ends in coordinates q, shape (n,)."""
    from kron_dynamics.flexible.validity import LARGEST_DEFLECTION, deflections, limit

    furthest = max(deflections(model, q), key=lambda bent: bent.share)
    found = ''
    if furthest.share > LARGEST_DEFLECTION:
        link = named('flexible link', furthest.link)
        found = f', {link} deflects by more than {limit(furthest)}'
    return ModelError(
        f"the flexible links of '{clipped(model.name)}' find no balance at q = "
        f'{shown(q[: model.joint_count].tolist())}: their stiffness does not carry this load'
        f'{found}'
    )


def _holds(stiffness: FloatArray) -> bool:
    """Whether every small deflection meets a force against it."""
    try:
        np.linalg.cholesky(stiffness + stiffness.T)
    except np.linalg.LinAlgError:
        return False
    return True

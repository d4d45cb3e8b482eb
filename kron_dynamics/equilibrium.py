# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Quasi-static deflection of flexible links under gravity and the motion of the joints."""

from __future__ import annotations

import numpy as np

from kron_dynamics.arguments import finite_array, instance
from kron_dynamics.exceptions import ModelError, ShapeError
from kron_dynamics.messages import clipped, named, shown
from kron_dynamics.model import RobotModel
from kron_dynamics.robot import Robot
from kron_dynamics.typing import ArrayLike, FloatArray

_ROUNDS = 20  # most iterations of Newton's method
# Step size relative to the largest modal coordinate at which the iteration has converged:
# convergence is quadratic, so the error after a step of this size is at rounding level.
_CLOSE = 1e-8
# Bound of the deflection over the link's length; the equations are meaningless beyond.
_FURTHEST = 0.5


def quasi_static_equilibrium(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike | None = None,
    qdd: ArrayLike | None = None,
    *,
    start: ArrayLike | None = None,
) -> FloatArray:
    """Return all coordinates, with the flexible links in quasi-static equilibrium, shape (n,).

    At the returned modal coordinates, held constant, elastic forces balance gravity and the
    inertia forces of the joints' motion; vibrations decay towards them. A rigid robot has no
    modal coordinates, and its q is returned.

    Args:
        robot: the robot.
        q: positions of the n_j joints, shape (n_j,), rad or m.
        qd: their velocities, shape (n_j,); None for 0.
        qdd: their accelerations, shape (n_j,); None for 0.
        start: initial guess of the modal coordinates, shape (n - n_j,); the solution of a state
            nearby saves iterations. None starts with straight links.

    Raises:
        ArgumentTypeError: robot is not a `Robot`, or an argument holds no real numbers.
        ShapeError: an argument has another shape.
        NonFiniteError: an argument holds a NaN or an infinity.
        ModelError: the links buckle, that is, their stiffness does not carry this load, or they
            deflect beyond the range in which their equations hold.
    """
    instance(robot, Robot, 'robot', 'a Robot')
    motion = _motion(robot, q, qd, qdd, start)
    full: FloatArray = motion[0]
    modal = slice(robot.model.joint_count, robot.n)
    if modal.start == robot.n:
        return full
    from kron_dynamics.flexible import deflections  # already imported if there are such links

    terms, e = None, full[modal]
    for _ in range(_ROUNDS):
        terms = robot.linearization(*motion, out=terms)
        K = terms.stiffness_matrix[modal, modal]
        try:
            step = np.linalg.solve(K, terms.effort[modal])
        except np.linalg.LinAlgError:  # the load just cancels the stiffness
            break
        e -= step
        if not np.isfinite(e).all():  # absurdly large velocities or accelerations
            break
        if np.abs(step).max() <= _CLOSE * np.abs(e).max():
            if _is_stable(K):
                robot.check_deflections(full, stacklevel=3)
                return full
            break
        furthest = max(deflections(robot.model, full), key=lambda bent: bent.share)
        if furthest.share > _FURTHEST:
            e *= _FURTHEST / furthest.share
    raise _no_equilibrium(robot.model, full)


def _motion(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike | None,
    qdd: ArrayLike | None,
    start: ArrayLike | None,
) -> FloatArray:
    """Return q, qd, qdd of all coordinates, shape (3, n), with modal qd and qdd of 0."""
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
    """Return `quasi_static_equilibrium` of each of N states, shape (N, n), many times as fast.

    Args:
        robot: the robot.
        q: positions of the joints, shape (N, n_j), rad or m.
        qd: their velocities, shape (N, n_j); None for 0.
        qdd: their accelerations, shape (N, n_j); None for 0.

    Raises:
        ArgumentTypeError: robot is not a `Robot`, or an argument holds no real numbers.
        ShapeError: an argument has another shape.
        NonFiniteError: an argument holds a NaN or an infinity.
        ModelError: the links buckle, or deflect too far, in one of the states.
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
        # States for which the undamped iteration does not converge are solved, or refused, singly.
        for k in _solve_together(robot, motions, slice(count, robot.n)):
            motions[0, k] = quasi_static_equilibrium(robot, *motions[:, k, :count])
        robot.check_deflections(motions[0], stacklevel=3)
    full: FloatArray = motions[0]
    return full


def _solve_together(robot: Robot, motions: FloatArray, modal: slice) -> list[int]:
    """Iterate on all motions, shape (3, N, n), together; return indices of those not solved."""
    from kron_dynamics.flexible import deflections  # already imported if there are such links

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
        except np.linalg.LinAlgError:  # raised for any one of them
            break
        motions[0, left, modal] = e
        bent = deflections(robot.model, motions[0, left])
        if not max(link.share for link in bent) <= _FURTHEST:
            break
        left = left[~close]
    return [int(k) for k in left]


def _no_equilibrium(model: RobotModel, q: FloatArray) -> ModelError:
    """Return the error for an iteration that ended at coordinates q, shape (n,)."""
    from kron_dynamics.flexible.validity import LARGEST_DEFLECTION, deflections, limit

    furthest = max(deflections(model, q), key=lambda bent: bent.share)
    found = ''
    if furthest.share > LARGEST_DEFLECTION:
        link = named('flexible link', furthest.link)
        found = f', {link} deflects by more than {limit(furthest)}'
    return ModelError(
        f"no stable equilibrium of the flexible links of '{clipped(model.name)}' at q = "
        f'{shown(q[: model.joint_count].tolist())}: their stiffness does not carry this load'
        f'{found}'
    )


def _is_stable(stiffness: FloatArray) -> bool:
    """Return whether the stiffness is positive definite, so that the equilibrium is stable."""
    try:
        np.linalg.cholesky(stiffness + stiffness.T)
    except np.linalg.LinAlgError:
        return False
    return True

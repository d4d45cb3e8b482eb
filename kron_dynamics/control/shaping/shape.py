# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Input shaping of reference trajectories by modes whose frequencies follow the pose."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kron_dynamics.arguments import real_array
from kron_dynamics.control.reference.trajectory import Trajectory
from kron_dynamics.control.shaping.clamped_modes import ClampedJointModes
from kron_dynamics.control.shaping.pose_mesh import PoseMesh
from kron_dynamics.control.shaping.reference_rates import ReferenceRates
from kron_dynamics.control.shaping.shaped_motion import ModeClock, ShapedMotion
from kron_dynamics.control.shaping.shapers import check_mode, impulses
from kron_dynamics.exceptions import ArgumentTypeError, ShapeError, TrajectoryError
from kron_dynamics.messages import shown
from kron_dynamics.typing import ArrayLike, FloatArray

ModesOf = Callable[[FloatArray], tuple[ArrayLike, ArrayLike]]

# Relative tolerances: of the interpolated velocity (to the joint's largest velocity), of the
# frequencies interpolated between poses, and of their change in a fixed-point iteration.
_VELOCITY_ERROR = 1e-5
_BETWEEN_POSES = 1e-5
_AT_POSES = 1e-6
# Allowed deviation of a given start, relative to the travel and the largest velocity of the joint.
_START_GAP = 0.02
# Rests, s, between which motions are shaped on their own if nothing is left of the one before when
# the next one starts, and what has to be left of such a rest.
_LONG_REST, _LEAST_REST = 60.0, 1.0
# Limits: poses at which modes are evaluated, halvings of an interval between them, beyond which
# the modes count as jumping there, and iterations between two halvings.
_MOST_POSES, _MOST_HALVINGS, _MOST_ROUNDS = 16385, 14, 60


def shape_trajectory(
    trajectory: Trajectory,
    modes_of: ModesOf,
    kind: str = 'zv',
    tolerated_vibration: float = 0.05,
    *,
    past: Sequence[tuple[float, Trajectory]] = (),
    start: tuple[ArrayLike, ArrayLike, ArrayLike] | None = None,
) -> Trajectory:
    r"""Return the input-shaped trajectory, which leaves no residual vibration of the modes.

    An increment of the reference r at a time s arrives in parts, A_i at the times a_i(s):

    .. math:: r_{shaped}(t) = r(0) + \sum_i \int A_i(s) \dot r(s) H(t - a_i(s)) ds

    a_i(s) is the time at which the phase of the mode, the integral of its damped frequency wd
    along the shaped motion itself, has grown by the constant phase ``phi_i`` of impulse i, such as
    pi for the second one of 'zv': ``phase(a_i) = phase(s) + phi_i``. With a constant frequency
    this is the plain convolution with the `shaper`. With a varying one the impulses still act in
    the right phase of the vibration, and no part overtakes another: monotone motions stay
    monotone. The amplitudes follow from the damping ratio at the
    time s, weighted by ``sqrt(wd(s) / wd(a_i))``, because the amplitude of a mode that the motion
    excites equally at all poses changes with its frequency. The residual vibration is of second
    order in the change of the frequency per period. Several modes are shaped one after the other;
    all joints get the same shaper, so they stay coordinated.

    The result starts and ends at the positions of r, and ends at rest, later by the last delay at
    its end. With constant frequencies positions, velocities and accelerations stay within the
    extremes of those of r; with varying ones the velocity of a part grows by the ratio of the
    frequency at its arrival to that at its start. Check the limits of the result.

    If r has a continuous acceleration, from rest to rest, so has the result: quintic pieces.
    Otherwise its acceleration steps where a part of a step arrives: cubic pieces. The pieces meet
    at arrival times of the pieces of r, and are halved until the velocity error, at three points
    of each, is below 1e-5 of the joint's largest velocity. For constant frequencies quintic pieces
    are exact at once. The frequencies are tabulated over time, more densely where they vary
    faster, until spline interpolation is accurate to 1e-5.

    A trajectory that starts in motion cannot be shaped alone, because delayed parts of the motion
    before it have still to arrive. Pass the unshaped references followed before as `past`; the
    new one has to continue the *unshaped* state. The result then continues the shaped motion, but
    only approximately with varying frequencies, because the earlier parts were planned with other
    arrival times. Pass the shaped state as `start` too: the difference then fades out within the
    last delay, including that of the acceleration if the result has a continuous one; otherwise
    the first piece is a quintic one that starts with that acceleration.

    Args:
        trajectory: r, of n joints.
        modes_of: gives the natural frequencies (m,) in rad/s and damping ratios (m,) of the m
            modes at a pose (n,), always in the same order; smooth. `ClampedJointModes` are
            followed along the motion, also where their frequencies cross.
        kind: 'zv', 'zvd' or 'ei', see `shaper`.
        tolerated_vibration: residual vibration of 'ei'.
        past: (start, unshaped trajectory) of the references followed before, in their order; start
            in s relative to the start of the new one, so negative. Each was followed until the
            next one. The first starts at rest, or longer ago than the last delay.
        start: (q, qd, qdd), each (n,), present state of the shaped reference.

    Raises:
        TrajectoryError: r starts in motion and the past does not reach back far enough, the
            velocity steps, start is too far off, the modes change too fast along the motion, or
            a piece of it is shorter than about 1/2000 of a period.
        ArgumentTypeError: numbers, modes_of or what it gives are none.
        ParameterError: the kind is unknown, or a mode is out of its range.
        NonFiniteError: a mode is NaN or infinite.
        ShapeError: modes_of gives arrays of wrong shapes, or start has one.
    """
    from scipy.interpolate import BPoly  # takes long to import

    impulses(kind, 0.0, tolerated_vibration)
    if not callable(modes_of):
        raise ArgumentTypeError(f'modes_of is {shown(modes_of)}, expected a function of a pose')
    segments = [*past, (0.0, trajectory)]
    reference = ReferenceRates.of(segments)
    if reference.resting:
        return trajectory
    first = segments[0][1].sample(0.0)[0]

    def shape(part: ReferenceRates) -> ShapedMotion:
        begin = part.knots[0]
        pose = first if begin <= 0.0 else trajectory.sample(begin)[0]
        return _shaped(part, pose, modes_of, kind, tolerated_vibration)

    motions = _between_rests(reference, shape)
    motion, begun = motions[0][1], reference.knots[0]
    late = motion.arrivals(reference.knots[:1])[-1]
    if reference.starts_moving and late > 0.0:
        joint = int(np.abs(reference.velocity(begun)).argmax())
        raise TrajectoryError(
            f'{trajectory.joint_names[joint]!r} is in motion where what is to be shaped starts, '
            f'expected rest, or a past that reaches back {late - begun:.4g} s, got {-begun:.4g} s'
        )
    knots, positions, velocities, accelerations = _points(motions, trajectory)
    if not past:
        positions[0] = first
    if start is not None:
        fading = _start_mismatch(
            start, (positions, velocities, accelerations), trajectory.joint_names
        )
        if not reference.smooth:
            # The acceleration may step at the start: its difference is not faded out.
            fading[2] = 0.0
        end = max(1, int(np.searchsorted(knots, motion.arrivals(np.zeros(1))[-1])))
        span = BPoly.from_derivatives(knots[[0, end]], [fading, np.zeros_like(fading)])
        for order, values in enumerate((positions, velocities, accelerations)):
            values[:end] += span.derivative(order)(knots[:end])
    return Trajectory.from_points(
        trajectory.joint_names,
        knots,
        positions,
        velocities,
        accelerations if reference.smooth else None,
        start=start,
        start_tolerance=np.inf,  # checked in _start_mismatch
    )


def _between_rests(
    reference: ReferenceRates, shape: Callable[[ReferenceRates], ShapedMotion]
) -> list[tuple[ReferenceRates, ShapedMotion]]:
    """Return the motions between long rests, in their order, and what a function makes of each.

    All parts of a motion arrive before the next one starts, so each is shaped as if it were alone.
    """
    rest = _LONG_REST
    while True:
        parts = reference.between_rests(rest)
        motions = [shape(part) for part in parts]
        ends = np.array([motion.end for motion in motions[:-1]])
        begins = np.array([part.knots[0] for part in parts[1:]])
        if np.all(ends + _LEAST_REST <= begins):
            return list(zip(parts, motions, strict=True))
        rest *= 4.0


def _points(
    motions: Sequence[tuple[ReferenceRates, ShapedMotion]], trajectory: Trajectory
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return times from 0 on, (K,), and positions, velocities and accelerations, (K, n) each.

    Args:
        motions: those between the rests of a reference, with what is made of each.
        trajectory: the reference from time 0 on.
    """
    found = list[tuple[FloatArray, ...]]()
    for part, motion in motions:
        begin = part.knots[0] if found else 0.0
        knots, gained, *rates = motion.interpolated(begin, _VELOCITY_ERROR)
        positions = trajectory.sample(part.knots[-1])[0] - (gained[-1] - gained)
        rates[0][-1] = 0.0
        if found:  # a rest between: what rounding leaves of the rates there would grow over it
            positions[0] = trajectory.sample(begin)[0]
            for rate in rates:
                rate[0] = 0.0
            found[-1][-1][-1] = 0.0
        found.append((knots, positions, *rates))
    knots, positions, velocities, accelerations = map(np.concatenate, zip(*found, strict=True))
    return knots, positions, velocities, accelerations


def _shaped(
    reference: ReferenceRates,
    first: FloatArray,
    modes_of: ModesOf,
    kind: str,
    tolerated_vibration: float,
) -> ShapedMotion:
    """Return the reference shaped for the modes along the shaped motion itself.

    By fixed-point iteration: evaluate the modes at the poses of the last shaped motion and shape
    again. It converges because arrivals depend on earlier poses only.
    """

    def clocks_of(motion: ShapedMotion, mesh: PoseMesh, times: FloatArray) -> list[ModeClock]:
        poses = first + motion.displacements(times)
        frequencies, ratios = _modes_at(modes_of, poses, times, mesh)
        return [
            ModeClock.of(times, w, z, kind, tolerated_vibration)
            for w, z in zip(frequencies.T, ratios.T, strict=True)
        ]

    mesh = PoseMesh.of(reference.knots)
    motion = ShapedMotion(reference, ())
    clocks: list[ModeClock] | None = None
    for _ in range(_MOST_HALVINGS):
        for _ in range(_MOST_ROUNDS):
            times = mesh.times(motion.end)
            before, clocks = clocks, clocks_of(motion, mesh, times)
            motion = ShapedMotion(reference, clocks)
            if before is not None and _changes(before, clocks, times).max() <= _AT_POSES:
                break
        else:
            raise TrajectoryError(
                f'shaping does not converge in {_MOST_ROUNDS} rounds: frequencies or damping '
                'ratios change too fast along the motion, expected a slower one'
            )
        fine = mesh.halved()
        times = fine.times(motion.end)
        finer, middles = clocks_of(motion, fine, times), times[1::2]
        wrong = _changes(clocks, finer, middles) > _BETWEEN_POSES
        if not wrong.any():
            return motion
        # Amplitudes jump before the frequency does: with parts that arrive after its jump.
        jumps = [
            old.frequency_change_to(new, middles) for old, new in zip(clocks, finer, strict=True)
        ]
        at = middles[np.max(jumps, axis=0).argmax()]
        # An error between two poses is felt in the intervals beside it.
        mesh = mesh.halved(np.convolve(wrong, np.ones(3), 'same') > 0.0)
        count = len(mesh.shares)
        if count > _MOST_POSES:
            raise TrajectoryError(
                f'frequencies and damping ratios are not resolved with {_MOST_POSES} poses over '
                f'{motion.end - reference.knots[0]:.6g} s: split the reference'
            )
    raise TrajectoryError(
        f'frequencies or damping ratios jump along the motion at {at:.6g} s: {count} poses do '
        'not resolve them, expected modes_of to be smooth and to keep the order of the modes'
    )


def _start_mismatch(
    start: tuple[ArrayLike, ArrayLike, ArrayLike],
    motion: tuple[FloatArray, FloatArray, FloatArray],
    names: tuple[str, ...],
) -> FloatArray:
    """Difference of start from the first state of a motion, shape (3, n), after a check."""
    found = np.array([values[0] for values in motion])
    given = real_array(start, 'start')
    if given.shape != found.shape:
        raise ShapeError(f'start has shape {given.shape}, expected {found.shape}')
    gap: FloatArray = given - found
    allowed = np.array([_START_GAP * np.ptp(motion[0], axis=0), np.abs(motion[1]).max(axis=0)])
    allowed[1] *= _START_GAP
    wrong = np.flatnonzero(~np.all(np.abs(gap[:2]) <= allowed + 1e-6, axis=0))
    if wrong.size or not np.isfinite(gap).all():
        at = int(wrong[0]) if wrong.size else int((~np.isfinite(gap)).any(axis=0).argmax())
        raise TrajectoryError(
            f'start is not where the shaped motion of {names[at]!r} is: q, qd, qdd are '
            f'{given[:, at].tolist()}, expected about {found[:, at].tolist()}'
        )
    return gap


def _changes(
    before: Sequence[ModeClock], after: Sequence[ModeClock], times: FloatArray
) -> FloatArray:
    """Largest change of a mode at each of the times, see `ModeClock.change_to`."""
    changes = [old.change_to(new, times) for old, new in zip(before, after, strict=True)]
    return np.asarray(np.max(changes, axis=0))


def _modes_at(
    modes_of: ModesOf, poses: FloatArray, times: FloatArray, mesh: PoseMesh
) -> tuple[FloatArray, FloatArray]:
    """Frequencies and damping ratios, each (K, m), at the poses (K, n) of a mesh."""
    if isinstance(modes_of, ClampedJointModes):
        frequencies, ratios = modes_of.along(poses, times, mesh.shares)
    else:
        frequencies, ratios = _given_modes(modes_of, poses)
    usable = (0.0 < frequencies) & (frequencies < np.inf) & (0.0 <= ratios) & (ratios < 1.0)
    for k, mode in np.argwhere(~usable).tolist():
        where = f' for mode {mode} at {times[k]:.4g} s, q = {poses[k].tolist()}'
        check_mode(frequencies[k, mode], ratios[k, mode], where)
    return frequencies, ratios


def _given_modes(modes_of: ModesOf, poses: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Frequencies and damping ratios, each (K, m), of a function at the poses (K, n)."""
    found: list[tuple[FloatArray, FloatArray]] = []
    for q in poses:
        given = modes_of(q.copy())
        try:
            frequency, ratio = given
        except (TypeError, ValueError):
            raise ShapeError(
                f'modes_of gives {shown(given)} at q = {q.tolist()}, expected frequencies and '
                'damping ratios'
            ) from None
        w, z = real_array(frequency, 'frequency'), real_array(ratio, 'damping_ratio')
        expected = found[0][0].shape if found else w.shape
        if w.shape != expected or z.shape != expected or w.ndim != 1 or not w.size:
            raise ShapeError(
                f'modes_of gives frequencies of shape {w.shape} and damping ratios of shape '
                f'{z.shape} at q = {q.tolist()}, expected (m,) both, the same m at every pose'
            )
        found.append((w.copy(), z.copy()))
    frequencies, ratios = zip(*found, strict=True)
    return np.array(frequencies), np.array(ratios)

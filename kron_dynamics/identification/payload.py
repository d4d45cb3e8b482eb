# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The payload of a link from recorded efforts: mass and centre of mass with intervals, over time.

Efforts are linear in the ten inertial parameters of the payload and in the errors of the model's
inertial and friction parameters. All are estimated together, with priors, from motion with and
without load. Model errors identified without load are not attributed to the payload. Unobservable
parameters keep their prior variance, and so does the payload where the two cannot be
distinguished.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from kron_dynamics.carrying import tree_of
from kron_dynamics.exceptions import ModelError, ParameterError
from kron_dynamics.identification.friction import BASIC_TERMS
from kron_dynamics.identification.known_load import body_columns, placing
from kron_dynamics.identification.least_squares import (
    correlation_times,
    joint_noise,
    outlier_weights,
)
from kron_dynamics.identification.payload_estimate import (
    PayloadEstimate,
    difference,
    mean_payload,
)
from kron_dynamics.identification.payload_inputs import check_payload_inputs
from kron_dynamics.identification.payload_prior import (
    GYRATION_SHARE,
    model_prior,
    point_inertia,
    point_inertia_slope,
)
from kron_dynamics.identification.payload_standstill import static_variance
from kron_dynamics.identification.piecewise import changes
from kron_dynamics.identification.rows import Rows
from kron_dynamics.identification.standstill import LEAST_REST
from kron_dynamics.model.magnitudes import reach_of
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

# Prior standard deviation of the payload's mass, as a multiple of the robot's mass.
LARGEST_SHARE = 10.0
# A coordinate of the centre of mass is identifiable if its standard deviation is below this share
# of the robot's reach.
EXCITED_SHARE = 0.2
# Largest number of windows over time, and least number of rows of each.
MOST_WINDOWS = 24
LEAST_ROWS = 12
# Standard deviations of errors by averages, stamps and rounding that residuals do not show: of a
# mass as a share of it, and of a centre as a share of the robot's reach.
MASS_SHARE = 5e-4
CENTER_SHARE = 1e-4
# Regularisation against rounding, as a share of the largest diagonal element: recordings of
# simulated machines may have no noise at all.
ROUNDING = 1e-13
ITERATIONS = 12
# Relative change of the noise at which the iteration ends.
CONVERGED = 1e-4


@dataclass(frozen=True)
class PayloadFit:
    """Payload of a recording.

    Attributes:
        link: name of the link that carries it.
        whole: estimate for a constant payload over the whole recording; if it changes, of no use.
        windows: estimates of windows of the recording, which share the errors of the model.
        pieces: estimates of the segments with constant payload; one if it never changes.
        noise: standard deviation of each joint's residual effort, shape (n,), N m or N.
        learnt: whether motion without load was used.
        center_given: whether the centre of mass was given.
        terms: friction terms of the model.
    """

    link: str
    whole: PayloadEstimate
    windows: tuple[PayloadEstimate, ...]
    pieces: tuple[PayloadEstimate, ...]
    noise: FloatArray
    learnt: bool
    center_given: bool
    terms: tuple[str, ...]


def fit_payload(
    robot: Robot,
    link: str,
    loaded: Rows,
    empty: Rows | None = None,
    *,
    center: FloatArray | None = None,
    terms: Sequence[str] = BASIC_TERMS,
) -> PayloadFit:
    """Return the payload of a link.

    Args:
        robot: the robot as described, without load.
        link: name of the link that carries the load.
        loaded: regressor and efforts with load, from `regressor_rows`.
        empty: the same without load; None trusts the description within 5 %.
        center: known centre of mass of the load in the link's frame, shape (3,), m; None
            estimates it.
        terms: friction terms of the rows.

    Raises:
        ModelError: the link does not move, or the robot has no mass.
        NonFiniteError: the centre of mass is NaN or infinite.
        ParameterError: there are too few rows, the friction terms are not those of the rows or
            without Coulomb friction, links are flexible, or there are loops.
        ShapeError: the centre of mass has another shape.
        UnknownFrameError: the robot has no such link.
    """
    check_payload_inputs(robot, [loaded] if empty is None else [loaded, empty], terms, center)
    if len(loaded) < LEAST_ROWS:
        raise ParameterError(
            f'{len(loaded)} independent samples with load are too few for a payload, expected '
            f'{LEAST_ROWS} or more: record a longer motion'
        )
    problem = _Problem(robot, link, loaded, empty, center, terms)
    # Separate payloads of windows keep a change of payload out of the noise.
    problem.settle(problem.windows())
    windows = problem.estimates(problem.windows())
    cuts, before = problem.pieces(), 0
    while len(cuts) != before:
        # Payloads of short windows also fit other errors, which underestimates the noise and finds
        # spurious changes: repeat with the found segments while they become fewer.
        problem.settle(cuts)
        before, found = len(cuts), problem.pieces()
        cuts = found if len(found) < before else cuts
    pieces = problem.estimates(cuts)
    everything = [(0, len(loaded))]
    (whole,) = pieces if cuts == everything else problem.estimates(everything)
    return PayloadFit(
        link,
        whole,
        windows,
        pieces,
        problem.noise,
        empty is not None,
        center is not None,
        tuple(terms),
    )


class _Problem:
    """Equations of all rows, with the model errors and the payloads of windows as unknowns.

    Attributes:
        noise: standard deviation of each joint's residual effort, shape (n,), N m or N.
    """

    def __init__(
        self,
        robot: Robot,
        link: str,
        loaded: Rows,
        empty: Rows | None,
        center: FloatArray | None,
        terms: Sequence[str],
    ) -> None:
        self._center = center
        self._place = placing(robot, link)
        mean, deviation = model_prior(robot, terms, loaded, empty is not None)
        parts = [loaded] if empty is None else [loaded, empty]
        self._loaded_rows = len(loaded)
        self._time = loaded.time
        self._step = float(np.median(np.diff(loaded.time))) if len(loaded) > 1 else 0.0
        matrix = np.concatenate([part.matrix for part in parts])
        recorded = np.concatenate([part.effort for part in parts])
        self._known = np.isfinite(recorded)
        self._usual = np.sqrt(np.mean(np.nan_to_num(recorded) ** 2, axis=0))
        self._group = np.concatenate([part.group + 1e6 * k for k, part in enumerate(parts)])
        self._friction = (matrix[..., matrix.shape[2] - robot.n * len(terms) :], tuple(terms))
        self._mean, self._deviation = mean, deviation
        self._effort = recorded - matrix @ mean
        self._effort = np.where(self._known, self._effort, 0.0)
        self._matrix = matrix * deviation
        self._raw = loaded.matrix[:, :, body_columns(robot, link)] @ self._place
        total = float(sum(b.mass for b in tree_of(robot.model).bodies))
        if not total > 0.0:
            raise ModelError('the robot has no mass that a payload could be compared with')
        self._reach = reach_of(robot.model)
        self._mass_scale = LARGEST_SHARE * total
        self._guess = (0.0, np.zeros(3) if center is None else center)
        self._weights = self._known.astype(float)
        self._correlation = np.ones(matrix.shape[1])
        self._static = np.zeros(self._effort.shape)
        spread = np.sqrt(np.sum(self._effort**2, axis=0) / np.maximum(self._known.sum(axis=0), 1))
        self.noise = np.where(spread > 0.0, spread, 1.0)
        self._before = np.inf
        self._last: tuple[FloatArray, tuple[FloatArray, FloatArray, FloatArray]] | None = None

    def settle(self, cuts: Sequence[tuple[int, int]]) -> None:
        """Improve until the noise has converged."""
        for _ in range(ITERATIONS):
            if self.improve(cuts):
                break

    def improve(self, cuts: Sequence[tuple[int, int]]) -> bool:
        """Update weights and noise by the residuals; return whether the noise has converged."""
        mean, _, columns = self._solve(cuts)
        rest = self._effort - self._matrix @ mean[: self._matrix.shape[2]]
        size = columns.shape[2]
        for k, (first, last) in enumerate(cuts):
            own = mean[self._matrix.shape[2] + k * size :][:size]
            rest[first:last] -= columns[first:last] @ own
        self._static = self._static_variance(mean)
        self._weights = self._known * outlier_weights(rest, self._known)
        moving = self._weights * (self._static < self.noise**2)
        self.noise = joint_noise(rest, np.where(moving.any(axis=0), moving, self._weights))
        parts = [slice(0, self._loaded_rows), slice(self._loaded_rows, len(rest))]
        times = [correlation_times(rest[p], self._weights[p]) for p in parts if len(rest[p]) > 2]
        self._correlation = np.max(times, axis=0) if times else self._correlation
        # Windows are too short for a guess, and one payload of all rows is no mean of several.
        short = cuts == self.windows()
        self._guess = mean_payload(self.estimates([(0, self._loaded_rows)] if short else cuts))
        size_of_noise = float(np.linalg.norm(self.noise))
        done = abs(size_of_noise - self._before) <= CONVERGED * size_of_noise
        self._before = size_of_noise
        return done

    def windows(self) -> list[tuple[int, int]]:
        """Return the half-open row ranges [first, last) of windows of the same length."""
        count = int(np.clip(self._loaded_rows // LEAST_ROWS, 1, MOST_WINDOWS))
        bounds = [round(k * self._loaded_rows / count) for k in range(count + 1)]
        return list(zip(bounds[:-1], bounds[1:], strict=True))

    def pieces(self) -> list[tuple[int, int]]:
        """Return the half-open row ranges of segments with constant payload.

        Errors of the model are fixed at their estimates from all windows.
        """
        windows = self.windows()
        mean, _, columns = self._solve(windows)
        first = self._matrix.shape[2]
        rows = slice(0, self._loaded_rows)
        root = self._root()[rows]
        rest = (self._effort[rows] - self._matrix[rows] @ mean[:first]) * root
        X = columns * root[..., None]
        found = changes(X, rest)
        # While the payload changes, the averages mix both payloads: drop such short segments.
        cuts = [cut for cut in found if cut[1] - cut[0] >= LEAST_ROWS] or windows
        while len(cuts) > 1:
            parts = self.estimates(cuts)
            apart = [difference(one, two, self._reach) for one, two in pairwise(parts)]
            place = int(np.argmin(apart))
            if apart[place] >= 1.0:
                break
            cuts[place : place + 2] = [(cuts[place][0], cuts[place + 1][1])]
        return cuts

    def estimates(self, cuts: Sequence[tuple[int, int]]) -> tuple[PayloadEstimate, ...]:
        """Return the payload of each row range."""
        from scipy.linalg import cho_solve  # takes long to import

        mean, factor, columns = self._solve(cuts)
        covariance = cho_solve(factor, np.eye(len(mean)))
        size, first = columns.shape[2], self._matrix.shape[2]
        deviation, _ = self._payload_prior()
        found = []
        for k, (begin, end) in enumerate(cuts):
            own = slice(first + k * size, first + (k + 1) * size)
            found.append(self._estimate(begin, end, deviation, mean[own], covariance[own, own]))
        return tuple(found)

    def _estimate(
        self,
        begin: int,
        end: int,
        deviation: FloatArray,
        mean: FloatArray,
        covariance: FloatArray,
    ) -> PayloadEstimate:
        mass = float(mean[0] * deviation[0])
        mass_deviation = float(np.sqrt(covariance[0, 0]) * deviation[0])
        center, center_deviation = np.zeros(3), np.zeros(3)
        if self._center is not None:
            center, excited = np.asarray(self._center), (True, True, True)
        else:
            scale = np.diag(deviation[:4])
            moments = scale @ mean[:4]
            center = moments[1:] / mass if mass else np.full(3, np.nan)
            # First order: d(h / m) = (dh - c dm) / m.
            J = np.column_stack([-center, np.eye(3)]) / (mass if mass else np.nan)
            spread = J @ scale @ covariance[:4, :4] @ scale @ J.T
            center_deviation = np.sqrt(np.diag(spread) + (CENTER_SHARE * self._reach) ** 2)
            narrow = center_deviation < EXCITED_SHARE * self._reach
            excited = (bool(narrow[0]), bool(narrow[1]), bool(narrow[2]))
        half = 0.5 * self._step
        return PayloadEstimate(
            float(self._time[begin] - half),
            float(self._time[end - 1] + half),
            mass,
            float(np.hypot(mass_deviation, MASS_SHARE * mass)),
            center,
            center_deviation,
            excited,
        )

    def _payload_prior(self) -> tuple[FloatArray, FloatArray]:
        """Return prior deviations of a payload's s unknowns, and their columns, shape (10, s)."""
        mass, center = self._guess
        gyration = GYRATION_SHARE * self._reach
        turning = max(mass, 1e-6 * self._mass_scale) * gyration**2
        if self._center is not None:
            point = np.concatenate([[1.0], center, point_inertia(center)])
            columns = np.column_stack([point, np.eye(10)[:, 4:]])
            return np.array([self._mass_scale, *[turning] * 6]), columns
        columns = np.eye(10)
        # Inertia of a point mass, linearised at the current centre, plus six unknown moments.
        slope = point_inertia_slope(center)
        columns[4:, 0] = point_inertia(center) - slope @ center
        columns[4:, 1:4] = slope
        moment = self._mass_scale * self._reach
        return np.array([self._mass_scale, *[moment] * 3, *[turning] * 6]), columns

    def _static_variance(self, mean: FloatArray) -> FloatArray:
        """Return the variance that static friction adds to each equation, shape (R, n)."""
        columns, terms = self._friction
        found = self._mean + self._deviation * mean[: len(self._mean)]
        coefficients = found[len(found) - columns.shape[2] :]
        least = LEAST_REST / self._step if self._step else np.inf
        return static_variance(columns, coefficients, terms, self._usual, self._group, least)

    def _root(self) -> FloatArray:
        """Return the square root of the weight of each equation, shape (R, n)."""
        variance = self._correlation * self.noise**2 + self._static
        return np.asarray(np.sqrt(self._weights / variance))

    def _solve(self, cuts: Sequence[tuple[int, int]]) -> tuple[FloatArray, Any, FloatArray]:
        """Return the mean of all unknowns in prior deviations, a factor, and payload columns.

        The unknowns are p model errors, then s payload parameters of each row range. The factor,
        for `cho_solve`, is that of the inverse of their covariance.
        """
        from scipy.linalg import cho_factor, cho_solve  # takes long to import

        deviation, columns = self._payload_prior()
        payload = self._raw @ (columns * deviation)
        root = self._root()
        # Rows with load outside all ranges must not count as rows without load.
        inside = np.zeros(self._loaded_rows, dtype=bool)
        for begin, end in cuts:
            inside[begin:end] = True
        root[: self._loaded_rows][~inside] = 0.0
        A, b, squares = self._weighted(root)
        p, size = A.shape[1], payload.shape[2]
        total = p + size * len(cuts)
        gram, right = np.eye(total), np.zeros(total)
        gram[:p, :p] += squares
        right[:p] = A.T @ b
        n = root.shape[1]
        X = (payload * root[: self._loaded_rows, :, None]).reshape(-1, size)
        for k, (begin, end) in enumerate(cuts):
            rows = slice(begin * n, end * n)
            own = slice(p + k * size, p + (k + 1) * size)
            gram[own, own] += X[rows].T @ X[rows]
            gram[:p, own] = A[rows].T @ X[rows]
            gram[own, :p] = gram[:p, own].T
            right[own] = X[rows].T @ b[rows]
        np.fill_diagonal(gram, gram.diagonal() + ROUNDING * gram.diagonal().max())
        factor = cho_factor(gram)
        return cho_solve(factor, right), factor, payload

    def _weighted(self, root: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the equations of the model errors with weights, A, b and A^T A.

        They are kept for the next call, as only the payload's columns change in between.
        """
        if self._last is None or not np.array_equal(root, self._last[0]):
            A = (self._matrix * root[..., None]).reshape(-1, self._matrix.shape[2])
            self._last = root, (A, (self._effort * root).ravel(), A.T @ A)
        return self._last[1]

# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Weighted least squares with each joint's own noise, outliers weighted down, and covariance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import svd

from kron_dynamics.exceptions import ParameterError
from kron_dynamics.typing import BoolArray, FloatArray

# Singular values below this share of the largest, columns scaled to length one, are zero.
RANK_TOLERANCE = 1e-7
ITERATIONS = 30
CONVERGED = 1e-6
# Tukey's biweight keeps 95 % of the efficiency with this many standard deviations.
TUKEY = 4.685
# Weighted so, the standard deviation of normal remainders is this share of what it was.
BIWEIGHT_SHARE = ((1 - 6 / TUKEY**2 + 15 / TUKEY**4) / (1 - 2 / TUKEY**2 + 3 / TUKEY**4)) ** 0.5
NORMAL_MAD = 1.4826
# Noise below this share of a joint's efforts counts as that: no model is better, and the squares
# of remainders, which are differences of such efforts, have no more digits.
LEAST_NOISE = 1e-3
# Remainders are taken to be correlated over at most this share of the rows.
LONGEST_CORRELATION = 0.1


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """Parameters that fit n joints' efforts best.

    Attributes:
        parameters: shape (p,); of those that the data do not tell apart, the shortest.
        covariance: shape (p, p), with each joint's noise and its correlation in time; of what the
            data do not show, 0.
        noise: standard deviation of each joint's remainders, shape (n,), N m or N; NaN where no
            effort is known.
        correlation: rows over which the remainders of each joint are correlated, at least 1,
            shape (n,).
        weights: of each equation by its remainder, 1 for usual ones and 0 for outliers, (R, n).
        rank: number of combinations of parameters that the data show.
        condition: largest over smallest singular value that counts, columns scaled.
    """

    parameters: FloatArray
    covariance: FloatArray
    noise: FloatArray
    correlation: FloatArray
    weights: FloatArray
    rank: int
    condition: float


def weighted_least_squares(
    matrix: FloatArray, effort: FloatArray, *, robust: bool = True
) -> LeastSquares:
    """Return the parameters that minimise the squares of remainders over each joint's noise.

    Args:
        matrix: shape (R, n, p).
        effort: shape (R, n), N m or N; NaN where none is known.
        robust: whether outliers lose weight, by Tukey's biweight.

    Raises:
        ParameterError: there are fewer equations than parameters that they tell apart.
    """
    known = np.isfinite(effort)
    values = np.where(known, effort, 0.0)
    if not known.any():
        raise ParameterError('no effort is known: there is nothing to fit')
    weights = known.astype(float)
    noise = joint_noise(values, weights, robust=False)
    least = LEAST_NOISE * noise
    solution, before = None, np.full(len(noise), np.inf)
    equations = int(known.sum())
    share = 1.0
    for _ in range(ITERATIONS):
        solution = _solve(matrix, values, np.sqrt(weights) / noise)
        rank = solution[2]
        if equations <= rank:
            raise ParameterError(
                f'{equations} equations do not determine {rank} parameters: record a longer motion'
            )
        share = equations / (equations - rank)
        rest = values - matrix @ solution[0]
        # Remainders of a fit are smaller than the noise: without `share` few rows lose more.
        weights = known * (outlier_weights(rest, known, share, least) if robust else 1.0)
        noise = joint_noise(rest, weights, robust)
        if np.all(np.abs(noise - before) <= CONVERGED * noise):
            break
        before = noise
    assert solution is not None
    parameters, spread, rank, condition = solution
    correlation = correlation_times(values - matrix @ parameters, weights)
    root = np.sqrt(weights) / noise
    # Correlated remainders count as fewer: each joint's information shrinks by its own factor.
    scaled = (matrix * root[..., None]).reshape(-1, matrix.shape[2]) @ spread
    middle = (scaled * np.tile(correlation, len(matrix))[:, None]).T @ scaled
    covariance = share * (spread @ middle @ spread.T)
    noise = np.where(known.any(axis=0), np.sqrt(share) * noise, np.nan)
    return LeastSquares(parameters, covariance, noise, correlation, weights, rank, condition)


def _solve(
    matrix: FloatArray, effort: FloatArray, root: FloatArray
) -> tuple[FloatArray, FloatArray, int, float]:
    """Return the parameters, a square root of their covariance (p, r), rank and condition."""
    A = (matrix * root[..., None]).reshape(-1, matrix.shape[2])
    b = (effort * root).ravel()
    scale = np.linalg.norm(A, axis=0)
    scale[scale <= 1e-12 * scale.max(initial=0.0)] = np.inf
    # The triangle has the singular values of the tall matrix.
    Q, R = np.linalg.qr(A / scale)
    # That of NumPy does not converge on some triangles of less than full rank.
    U, sizes, Vt = svd(R, lapack_driver='gesvd')
    rank = int(np.count_nonzero(sizes > RANK_TOLERANCE * sizes[0]))
    spread = (Vt[:rank].T / sizes[:rank]) / scale[:, None]
    parameters = spread @ (U[:, :rank].T @ (Q.T @ b))
    return parameters, spread, rank, float(sizes[0] / sizes[rank - 1])


def outlier_weights(
    rest: FloatArray, known: BoolArray, share: float = 1.0, least: FloatArray | float = 0.0
) -> FloatArray:
    """Return Tukey's biweights of remainders by each joint's robust spread, shape (R, n).

    Args:
        rest: remainders, shape (R, n).
        known: where they count, shape (R, n).
        share: variance of the noise over that of the remainders, which a fit has made smaller.
        least: the spread that each joint has at least, shape (n,), N m or N. Of a machine that
            rests most of the time the median remainder is next to nothing, and all motion far off.
    """
    filled = np.where(known | ~known.any(axis=0), np.where(known, np.abs(rest), 0.0), np.nan)
    spread = share**0.5 * NORMAL_MAD * np.nanmedian(filled, axis=0)
    spread = np.maximum(spread, least)
    spread = np.where(np.isfinite(spread) & (spread > 0.0), spread, np.inf)
    return np.square(np.clip(1.0 - np.square(rest / (TUKEY * spread)), 0.0, None))


def joint_noise(rest: FloatArray, weights: FloatArray, robust: bool = True) -> FloatArray:
    """Return the weighted standard deviation of each joint's remainders, shape (n,); 1 if none.

    Args:
        rest: remainders, shape (R, n).
        weights: shape (R, n).
        robust: whether the weights are those of `outlier_weights`, which make it smaller.
    """
    total = weights.sum(axis=0)
    noise = np.sqrt((weights * rest * rest).sum(axis=0) / np.where(total > 0.0, total, 1.0))
    noise /= BIWEIGHT_SHARE if robust else 1.0
    return np.where((total > 0.0) & (noise > 0.0), noise, 1.0)


def correlation_times(rest: FloatArray, weights: FloatArray) -> FloatArray:
    """Return over how many rows each joint's remainders are correlated, at least 1, shape (n,).

    1 + 2 (rho_1 + rho_2 + ...) up to the first correlation below zero.

    Args:
        rest: remainders at evenly spaced times, shape (R, n).
        weights: shape (R, n).
    """
    values = rest * np.sqrt(weights)
    power = (values * values).sum(axis=0)
    times = np.ones(rest.shape[1])
    running = power > 0.0
    for lag in range(1, max(2, int(LONGEST_CORRELATION * len(rest)))):
        together = (values[lag:] * values[:-lag]).sum(axis=0)
        rho = together / np.where(power > 0.0, power, 1.0)
        running &= rho > 0.0
        if not running.any():
            break
        times += np.where(running, 2.0 * rho, 0.0)
    return times

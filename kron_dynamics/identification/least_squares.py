# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Robust weighted least squares with a separate noise level per joint, and its covariance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kron_dynamics.exceptions import ParameterError
from kron_dynamics.typing import BoolArray, FloatArray

# Singular values below this share of the largest, columns scaled to length one, count as zero.
RANK_TOLERANCE = 1e-7
# Columns shorter than this share of the longest count as zero.
EMPTY_COLUMN = 1e-12
ITERATIONS = 30
# Relative change of the joint noise at which the iteration ends.
CONVERGED = 1e-6
# Cut-off of Tukey's biweight in standard deviations: 95 % efficiency for normal residuals.
TUKEY = 4.685
# Standard deviation of normal residuals under these weights, relative to the unweighted one.
BIWEIGHT_SHARE = ((1 - 6 / TUKEY**2 + 15 / TUKEY**4) / (1 - 2 / TUKEY**2 + 3 / TUKEY**4)) ** 0.5
# Standard deviation of a normal distribution over its median absolute deviation.
NORMAL_MAD = 1.4826
# Lower bound of the noise, as a share of a joint's efforts: no model is more exact, and sums of
# squared residuals, which are differences of squared efforts, have no more digits.
LEAST_NOISE = 1e-3
# Longest lag of the autocorrelation of residuals, as a share of the rows.
LONGEST_CORRELATION = 0.1


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """Least-squares parameters for the efforts of n joints.

    Attributes:
        parameters: minimum-norm solution in scaled columns, shape (p,).
        covariance: shape (p, p), with each joint's noise and its correlation in time; 0 in
            unidentifiable directions.
        noise: standard deviation of each joint's residuals, shape (n,), N m or N; NaN where no
            effort is known.
        correlation: number of rows over which the residuals of each joint are correlated, at
            least 1, shape (n,).
        weights: robust weights of the equations, from 1 to 0 for outliers, shape (R, n).
        rank: number of identifiable combinations of parameters.
        condition: largest over smallest nonzero singular value, columns scaled.
    """

    parameters: FloatArray
    covariance: FloatArray
    noise: FloatArray
    correlation: FloatArray
    weights: FloatArray
    rank: int
    condition: float

    @property
    def scales(self) -> FloatArray:
        """Factors that give the weighted equations errors of variance 1, shape (R, n)."""
        return np.sqrt(self.weights) / np.where(np.isfinite(self.noise), self.noise, 1.0)


def weighted_least_squares(
    matrix: FloatArray, effort: FloatArray, *, robust: bool = True
) -> LeastSquares:
    """Return the parameters that minimise the squared residuals, weighted by each joint's noise.

    Args:
        matrix: shape (R, n, p).
        effort: shape (R, n), N m or N; NaN where unknown.
        robust: whether outliers are down-weighted by Tukey's biweight.

    Raises:
        ParameterError: no effort is known, or the equations are not more than their rank.
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
        # Residuals of a fit are smaller than the noise: without `share`, a fit to few rows would
        # lose more and more of them as outliers.
        weights = known * (outlier_weights(rest, known, share, least) if robust else 1.0)
        noise = joint_noise(rest, weights, robust)
        if np.all(np.abs(noise - before) <= CONVERGED * noise):
            break
        before = noise
    assert solution is not None
    parameters, spread, rank, condition = solution
    correlation = correlation_times(values - matrix @ parameters, weights)
    root = np.sqrt(weights) / noise
    # Correlation in time reduces each joint's information by its own factor.
    scaled = (matrix * root[..., None]).reshape(-1, matrix.shape[2]) @ spread
    middle = (scaled * np.tile(correlation, len(matrix))[:, None]).T @ scaled
    covariance = share * (spread @ middle @ spread.T)
    noise = np.where(known.any(axis=0), np.sqrt(share) * noise, np.nan)
    return LeastSquares(parameters, covariance, noise, correlation, weights, rank, condition)


def _solve(
    matrix: FloatArray, effort: FloatArray, root: FloatArray
) -> tuple[FloatArray, FloatArray, int, float]:
    """Return the parameters, a square root of their covariance (p, r), rank and condition."""
    from scipy.linalg import svd  # takes long to import

    A = (matrix * root[..., None]).reshape(-1, matrix.shape[2])
    b = (effort * root).ravel()
    scale = np.linalg.norm(A, axis=0)
    scale[scale <= EMPTY_COLUMN * scale.max(initial=0.0)] = np.inf
    # R has the singular values of the tall matrix; with b as a last column, it also has Q^T b.
    triangle = np.asarray(np.linalg.qr(np.column_stack([A / scale, b]), mode='r'))
    R, projected = triangle[: A.shape[1], :-1], triangle[: A.shape[1], -1]
    # NumPy's SVD (gesdd) does not converge on some rank-deficient triangles.
    U, sizes, Vt = svd(R, lapack_driver='gesvd')
    rank = int(np.count_nonzero(sizes > RANK_TOLERANCE * sizes[0]))
    spread = (Vt[:rank].T / sizes[:rank]) / scale[:, None]
    parameters = spread @ (U[:, :rank].T @ projected)
    return parameters, spread, rank, float(sizes[0] / sizes[rank - 1])


def outlier_weights(
    rest: FloatArray, known: BoolArray, share: float = 1.0, least: FloatArray | float = 0.0
) -> FloatArray:
    """Return Tukey's biweights of residuals, scaled by each joint's robust spread, shape (R, n).

    Args:
        rest: residuals, shape (R, n).
        known: whether each residual is valid, shape (R, n).
        share: variance of the noise over the variance of the residuals, which a fit reduces.
        least: lower bound of each joint's spread, shape (n,), N m or N. If a machine stands still
            most of the time, the median residual is almost zero and all motion would be outliers.
    """
    filled = np.where(known | ~known.any(axis=0), np.where(known, np.abs(rest), 0.0), np.nan)
    spread = share**0.5 * NORMAL_MAD * np.nanmedian(filled, axis=0)
    spread = np.maximum(spread, least)
    spread = np.where(np.isfinite(spread) & (spread > 0.0), spread, np.inf)
    return np.square(np.clip(1.0 - np.square(rest / (TUKEY * spread)), 0.0, None))


def joint_noise(rest: FloatArray, weights: FloatArray, robust: bool = True) -> FloatArray:
    """Return the weighted standard deviation of each joint's residuals, shape (n,); 1 if none.

    Args:
        rest: residuals, shape (R, n).
        weights: shape (R, n).
        robust: whether the weights are from `outlier_weights`; their bias is then corrected.
    """
    total = weights.sum(axis=0)
    noise = np.sqrt((weights * rest * rest).sum(axis=0) / np.where(total > 0.0, total, 1.0))
    noise /= BIWEIGHT_SHARE if robust else 1.0
    return np.where((total > 0.0) & (noise > 0.0), noise, 1.0)


def correlation_times(rest: FloatArray, weights: FloatArray) -> FloatArray:
    """Return each joint's integrated autocorrelation time in rows, at least 1, shape (n,).

    1 + 2 (rho_1 + rho_2 + ...), truncated at the first correlation that is not positive.

    Args:
        rest: residuals at evenly spaced times, shape (R, n).
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

# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Consistent parameters by iteratively reweighted least squares: joint noise and outliers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kron_dynamics.identification.consistent_fit import (
    ConsistentFit,
    Gram,
    Prior,
    consistent_fit,
    gram,
)
from kron_dynamics.identification.least_squares import (
    LEAST_NOISE,
    correlation_times,
    joint_noise,
    outlier_weights,
)
from kron_dynamics.identification.parameter_covariance import parameter_covariance
from kron_dynamics.identification.rows import Rows
from kron_dynamics.typing import FloatArray

ITERATIONS = 15
# Number of first iterations without robust weights.
PLAIN = 4
# Relative change of the joint noise at which the iteration ends.
CONVERGED = 1e-3
# Strength of the prior while the noise is estimated: residuals of a strong prior contain its
# bias and not only noise.
LOOSE = 0.01
# Lower bound of (equations - fitted parameters) / equations, the factor by which a fit reduces the
# variance of its residuals.
LEAST_SHARE = 0.25


@dataclass(frozen=True, eq=False)
class WeightedFit:
    """Parameters with the weights of the equations.

    Attributes:
        fit: the parameters, with the covariance of `parameter_covariance`.
        data: the weighted equations.
        weights: inverse variances, reduced for outliers, shape (R, n).
        noise: standard deviation of each joint's residuals, shape (n,); NaN without efforts.
        correlation: number of rows over which residuals are correlated, shape (n,).
        outliers: share of each joint's known efforts with weight zero, shape (n,).
    """

    fit: ConsistentFit
    data: Gram
    weights: FloatArray
    noise: FloatArray
    correlation: FloatArray
    outliers: FloatArray


def weighted_fit(
    rows: Rows, prior: Prior, strength: float, start: FloatArray | None = None
) -> WeightedFit:
    """Return the consistent parameters of rows, weighted by joint noise and without outliers.

    Args:
        rows: equations.
        prior: prior from the description.
        strength: weight of the prior.
        start: consistent initial guess, shape (p,); None for the prior's parameters.
    """
    known = np.isfinite(rows.effort)
    has_effort = known.any(axis=0)
    values = np.where(known, rows.effort, 0.0)
    least = LEAST_NOISE * joint_noise(values, known.astype(float), robust=False)
    x = prior.expected if start is None else start
    share, before = 1.0, np.full(rows.effort.shape[1], np.inf)
    equations = float(known.sum())
    for round_ in range(ITERATIONS):
        rest = values - rows.matrix @ x
        # Residuals of the description are model errors, so none is an outlier at first.
        settled = start is not None or round_ >= PLAIN
        own = known * (outlier_weights(rest, known, share, least) if settled else 1.0)
        noise = np.sqrt(share) * joint_noise(rest, own, settled)
        weights = own / np.maximum(noise, least) ** 2 * has_effort
        data = gram(rows.matrix, rows.effort, weights)
        fit = consistent_fit(data, prior, LOOSE, x)
        x = fit.parameters
        # Effective number of fitted parameters: the trace of the influence matrix.
        used = float(np.einsum('ij,ji->', data.matrix, fit.covariance))
        used = min(used, equations)
        share = equations / max(equations - used, LEAST_SHARE * equations)
        if settled and np.all(np.abs(noise - before) <= CONVERGED * noise):
            break
        before = noise
    fit = consistent_fit(data, prior, strength, x)
    correlation = correlation_times(values - rows.matrix @ fit.parameters, own)
    lost = ((own == 0.0) & known).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    # The fit itself does not weight by the correlation: slow residuals are often model errors, and
    # the predictions for joints with less weight would be worse.
    correlated = gram(rows.matrix, rows.effort, weights * (correlation - 1.0)).matrix
    return WeightedFit(
        replace(fit, covariance=parameter_covariance(fit, prior, strength, correlated)),
        data,
        weights,
        np.where(has_effort, noise, np.nan),
        correlation,
        lost,
    )

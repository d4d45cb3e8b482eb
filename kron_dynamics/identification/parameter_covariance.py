# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Covariance of parameters that a prior of any strength has pulled towards the description.

The strength is chosen for the best prediction. Where the data do not distinguish parameters, the
strongest prior predicts as well as a weak one, but the description is not more accurate for that.
The estimate solves ``H (x - truth) = A^T W noise - s grad D(truth)``, with H the Hessian of the
cost, s the strength and D the divergence from the description, whose curvature is P. If the
description has the accuracy of strength s0, ``grad D(truth)`` has covariance ``P / s0``.
"""

from __future__ import annotations

import numpy as np

from kron_dynamics.identification.consistent_fit import ConsistentFit, Prior, followed_curvature
from kron_dynamics.typing import FloatArray

# Largest strength that stands for an accuracy of the description. The standard deviation of a
# described mass is then half of it: its 95 % interval reaches from almost zero to twice the mass.
DESCRIBED_STRENGTH = 4.0


def parameter_covariance(
    fit: ConsistentFit, prior: Prior, strength: float, correlated: FloatArray
) -> FloatArray:
    """Return the covariance of noise and prior together, shape (p, p).

    Args:
        fit: the minimum of the cost, its covariance being the inverse of the Hessian.
        prior: prior of the parameters.
        strength: weight of the prior in this fit.
        correlated: Gram matrix of the equations, weighted by how much more the correlation of
            their residuals in time makes them vary than white noise, shape (p, p).
    """
    further = correlated
    if strength > DESCRIBED_STRENGTH:
        excess = strength * (strength / DESCRIBED_STRENGTH - 1.0)
        further = further + excess * followed_curvature(prior, fit.parameters)
    return np.asarray(fit.covariance + fit.covariance @ further @ fit.covariance)

# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Model selection by K-fold cross-validation on the training data.

Folds are whole motions if there are three or more, else stretches of time. A choice that is more
complex, or that trusts the description less, is accepted only if it is better by more than the
standard error of the difference: simpler models usually generalise better to other motions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kron_dynamics.identification.consistent_fit import Gram, Prior, consistent_fit, gram
from kron_dynamics.identification.rows import Rows
from kron_dynamics.typing import FloatArray, IntArray

FOLDS = 5
# Candidate strengths of the prior, the strongest first.
STRENGTHS = tuple(10.0**k for k in range(4, -2, -1))
# Least relative improvement of the score that justifies a choice.
LEAST_GAIN = 0.01
# Strengths whose scores differ by less than this share count as equally good.
FLAT = 0.02
# Lower bound of the score that these shares refer to. Mean squares of residuals in units of the
# noise are about 1; efforts without noise have much smaller ones, whose changes are meaningless.
LEAST_SCORE = 0.5


@dataclass(frozen=True, eq=False)
class Folds:
    """Folds of the equations.

    Attributes:
        parts: the quadratic form of each fold.
        prior: prior of the parameters.
    """

    parts: tuple[Gram, ...]
    prior: Prior

    @property
    def whole(self) -> Gram:
        """Quadratic form of all equations."""
        total = self.parts[0]
        for part in self.parts[1:]:
            total = total + part
        return total

    def of(self, others: IntArray) -> Folds:
        """Return the folds with the bodies' parameters and some of the others, by index."""
        bodies = 10 * len(self.prior.bodies)
        columns = np.concatenate([np.arange(bodies), bodies + others])
        return Folds(tuple(part.of(columns) for part in self.parts), self.prior.of(others))

    def least_scores(self) -> FloatArray:
        """Return lower bounds of `scores`: by a fit to each fold itself without a prior, (K,)."""
        return np.array([part.least() / max(part.count, 1.0) for part in self.parts])

    def scores(self, strength: float, starts: Sequence[FloatArray] | None = None) -> FloatArray:
        """Return the weighted mean square of each fold's residuals by a fit to the others, (K,).

        Args:
            strength: weight of the prior.
            starts: initial guess of each fit; overwritten in place with the solutions.
        """
        whole = self.whole
        found = []
        for k, part in enumerate(self.parts):
            start = starts[k] if starts is not None else None
            fit = consistent_fit(whole - part, self.prior, strength, start)
            if starts is not None:
                starts[k][:] = fit.parameters
            found.append(part.squares(fit.parameters) / max(part.count, 1.0))
        return np.array(found)


def folds_of(rows: Rows, weights: FloatArray, prior: Prior) -> Folds:
    """Return the folds of rows: whole motions if there are three or more, else stretches.

    Args:
        rows: the training rows.
        weights: weights of the squared residuals, shape (R, n).
        prior: prior of the parameters.
    """
    groups = np.unique(rows.group)
    order = np.arange(len(rows))
    if len(groups) >= 3:
        parts = [order[np.isin(rows.group, groups[k::FOLDS])] for k in range(FOLDS)]
        parts = [part for part in parts if len(part)]
    else:
        parts = np.array_split(order, FOLDS)
    return Folds(
        tuple(gram(rows.matrix[p], rows.effort[p], weights[p]) for p in parts if len(p)), prior
    )


def is_better(
    scores: FloatArray, than: FloatArray, errors: float = 1.0, gain: float = LEAST_GAIN
) -> bool:
    """Return whether scores are lower by more than chance and by a least share.

    Args:
        scores: mean squared residual of each fold in variances of the noise, shape (K,).
        than: scores of the other choice, shape (K,).
        errors: number of standard errors of the mean difference that may be chance.
        gain: least relative improvement.
    """
    gains = than - scores
    error = gains.std(ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else 0.0
    least = gain * max(float(than.mean()), LEAST_SCORE)
    return bool(gains.mean() > max(errors * float(error), least))


def choose_strength(folds: Folds) -> tuple[float, dict[float, float]]:
    """Return the strength of the prior, and the mean score of each candidate.

    The choice is the strongest one within one standard error, or a share of `FLAT`, of the best.

    Args:
        folds: the training data.
    """
    starts = [folds.prior.expected for _ in folds.parts]
    scores = {strength: folds.scores(strength, starts) for strength in STRENGTHS}
    best = min(scores, key=lambda strength: float(scores[strength].mean()))
    chosen = best
    for strength in STRENGTHS:  # the strongest first
        apart = scores[strength] - scores[best]
        error = apart.std(ddof=1) / np.sqrt(len(apart)) if len(apart) > 1 else 0.0
        least = FLAT * max(float(scores[best].mean()), LEAST_SCORE)
        if strength >= best and apart.mean() <= max(float(error), least):
            chosen = strength
            break
    return chosen, {strength: float(values.mean()) for strength, values in scores.items()}

# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Choices by what each part of the training data says of a fit to the others.

Parts are whole motions where there are several, else stretches of time. A choice that is more
elaborate, or trusts the description less, is taken only where it is better by more than the
standard error of the difference: what validates on other motions is usually simpler.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kron_dynamics.identification.consistent_fit import Gram, Prior, consistent_fit, gram
from kron_dynamics.identification.rows import Rows
from kron_dynamics.typing import FloatArray, IntArray

FOLDS = 5
STRENGTHS = tuple(10.0**k for k in range(4, -2, -1))
# A choice has to be better by this share at least.
LEAST_GAIN = 0.01
# Strengths whose scores are nearer than this share are as good as each other.
FLAT = 0.02
# Shares are of mean squares of about one, of remainders as large as the noise. Efforts without
# noise leave much less, and shares of next to nothing say nothing.
LEAST_SCORE = 0.5


@dataclass(frozen=True, eq=False)
class Folds:
    """Equations in parts.

    Attributes:
        parts: quadratic forms of each part.
        prior: of their parameters.
    """

    parts: tuple[Gram, ...]
    prior: Prior

    @property
    def whole(self) -> Gram:
        """All equations."""
        total = self.parts[0]
        for part in self.parts[1:]:
            total = total + part
        return total

    def of(self, others: IntArray) -> Folds:
        """Return those with some of the parameters that are not of bodies, by their index."""
        bodies = 10 * len(self.prior.bodies)
        columns = np.concatenate([np.arange(bodies), bodies + others])
        return Folds(tuple(part.of(columns) for part in self.parts), self.prior.of(others))

    def scores(self, strength: float, starts: Sequence[FloatArray] | None = None) -> FloatArray:
        """Return weighted mean squares of each part by a fit to the others, shape (K,).

        Args:
            strength: of the prior.
            starts: parameters of each fit to begin with; they are replaced by those found.
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
    """Return rows in parts: whole motions where there are three or more, else stretches.

    Args:
        rows: the training rows.
        weights: of the squares of remainders, shape (R, n).
        prior: of the parameters.
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
    """Return whether scores are lower by more than chance and a least share.

    Args:
        scores: mean squares of each part in units of the noise, shape (K,).
        than: those of the other choice.
        errors: how many standard errors of the difference are chance.
        gain: the least share.
    """
    gains = than - scores
    error = gains.std(ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else 0.0
    least = gain * max(float(than.mean()), LEAST_SCORE)
    return bool(gains.mean() > max(errors * float(error), least))


def choose_strength(folds: Folds) -> tuple[float, dict[float, float]]:
    """Return the strength of the prior, and the mean score of each that was tried.

    The strongest within one standard error of the best, or as good.

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

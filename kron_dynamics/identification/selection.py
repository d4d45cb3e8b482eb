# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Selection of the model structure by cross-validation on the training data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kron_dynamics.exceptions import ParameterError
from kron_dynamics.identification.consistent_fit import Prior
from kron_dynamics.identification.cross_validation import FOLDS, LEAST_GAIN, folds_of, is_better
from kron_dynamics.identification.delay_search import LEAST_CHANGE, MOST_DELAY, least_delay
from kron_dynamics.identification.friction import BASIC_TERMS
from kron_dynamics.identification.motion import Motion
from kron_dynamics.identification.prior import prior_of
from kron_dynamics.identification.rows import Rows
from kron_dynamics.identification.structure import Structure
from kron_dynamics.identification.thinning import thinned
from kron_dynamics.identification.weighted_fit import weighted_fit
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

# The prior's strength while structures are compared.
STRENGTH = 10.0
# Candidates: widths of the recorder's effort average, in samples; transition velocities of Coulomb
# friction, as multiples of the model's; presliding times, s; and further friction terms.
EFFORT_SAMPLES = (2.0, 4.0, 8.0, 16.0, 32.0)
PASSAGES = (2.0, 4.0, 8.0, 0.3, 0.1)
PRESLIDING = (0.1, 0.3, 1.0)
FURTHER_TERMS = ('load', 'stribeck', 'cubic', 'asymmetry')
# Lower bound of a joint's speed scale, as a share of its velocity limit.
SLOW_SHARE = 0.1
# Improvement that a candidate needs: standard errors of the difference, and share of the score.
# Further friction terms need more, since a wrong one harms where the model extrapolates to faster
# motion. The load-dependent term does not: every gear has it, and it grows only with the load.
CHOICE_NEEDS = (1.0, LEAST_GAIN)
TERM_NEEDS = (2.0, 0.03)
# The form of the rows adds no parameter, so any improvement is enough.
FORM_NEEDS = (0.0, 0.0)
NEEDS = {'terms': TERM_NEEDS, 'tilt': (0.0, 0.0), 'form': FORM_NEEDS}


@dataclass(frozen=True, eq=False)
class Usual:
    """RMS values of a recording, which scale the prior.

    Attributes:
        effort: RMS efforts of the joints, shape (n,), N m or N, above zero.
        speed: RMS speeds of the joints, shape (n,), rad/s or m/s, above zero.
    """

    effort: FloatArray
    speed: FloatArray


def usual_values(robot: Robot, motions: Sequence[Motion]) -> Usual:
    """Return the RMS efforts and speeds; slow joints get a share of their velocity limit.

    Args:
        robot: the robot.
        motions: the recording.
    """
    effort = np.concatenate([motion.effort for motion in motions])
    speed = np.concatenate([motion.qd for motion in motions])
    known = np.isfinite(effort)
    power = np.where(known, effort, 0.0) ** 2
    rms = np.sqrt(power.sum(axis=0) / np.maximum(known.sum(axis=0), 1))
    largest = rms.max(initial=0.0)
    rms = np.where(rms > 0.0, rms, largest if largest > 0.0 else 1.0)
    fast = np.sqrt(np.mean(speed**2, axis=0))
    limit = robot.model.velocity_limit
    could = SLOW_SHARE * np.where(np.isfinite(limit) & (limit > 0.0), limit, 1.0)
    return Usual(rms, np.maximum(fast, could))


def choose_structure(
    robot: Robot, motions: Sequence[Motion], first: Structure, *, terms: Sequence[str] | None
) -> tuple[Structure, list[str]]:
    """Return the structure that predicts best, and a line for each accepted change.

    Args:
        robot: the robot as described.
        motions: the training data.
        first: the structure to begin with.
        terms: friction terms; None selects those that improve the prediction.
    """
    motions = thinned(motions)
    usual = usual_values(robot, motions)
    best = first if terms is None else replace(first, terms=tuple(terms))
    reference = _Reference.of(robot, motions, best, usual)
    lines = []
    step = min(motion.step for motion in motions)

    def share(delay: float) -> float:
        scores = reference.scores(robot, motions, replace(best, delay=delay), usual)
        return float(scores[0].mean() / scores[1].mean()) if scores is not None else np.inf

    def delays(reach: float) -> list[dict[str, Any]]:
        if abs(best.delay) + reach * step > MOST_DELAY * step:
            return []
        delay = least_delay(share, best.delay, reach * step, MOST_DELAY * step)
        return [{'delay': delay}] if abs(delay - best.delay) > LEAST_CHANGE * step else []

    for kind, candidates in _candidates(first, step, bool(robot.model.gravity.any()), delays):
        if kind == 'terms' and terms is not None:
            continue
        worse = 0
        for changes in candidates:
            added = changes.get('terms')
            if kind == 'terms':
                changes = {'terms': (*best.terms, *changes['terms'])}
            trial = replace(best, **changes)
            scores = reference.scores(robot, motions, trial, usual)
            needed = CHOICE_NEEDS if added == ('load',) else NEEDS.get(kind, CHOICE_NEEDS)
            if scores is not None and is_better(*scores, *needed):
                lines.append(f'{_change_text(changes)}: {_share(*scores)} of the squares')
                best = trial
                reference = _Reference.of(robot, motions, best, usual, reference)
                worse = 0
            else:
                worse += 1
                if worse > 1 and kind in ('effort_width', 'presliding'):
                    break
    return best, lines


def _candidates(
    first: Structure,
    step: float,
    has_weight: bool,
    delays: Callable[[float], list[dict[str, Any]]],
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the kinds of changes of a structure, and the candidates of each, in order."""
    # The first, because late efforts resemble presliding friction; then, with it, more accurately.
    yield 'delay', delays(1.0)
    yield 'effort_width', [{'effort_width': count * step} for count in EFFORT_SAMPLES]
    yield 'passage', [{'passage': share} for share in PASSAGES]
    yield 'presliding', [{'presliding': time} for time in PRESLIDING]
    yield 'delay', delays(0.5)
    if first.terms == BASIC_TERMS:
        yield 'terms', [{'terms': (term,)} for term in FURTHER_TERMS]
    if has_weight:
        yield 'tilt', [{'tilt': True}]
    yield 'form', [{'form': 'acceleration'}]


def _change_text(changes: dict[str, Any]) -> str:
    ((name, value),) = changes.items()
    if name == 'passage':
        return f'friction that passes through zero over {value:g} times the speed'
    if isinstance(value, tuple):
        return f'friction term {value[-1]}'
    if value is True:
        return 'gravity across the described one'
    said = f'{value:.3g} s' if isinstance(value, float) else str(value)
    return f'{name.replace("_", " ")} {said}'


def _share(scores: FloatArray, than: FloatArray) -> str:
    return f'{100.0 * float(scores.mean() / than.mean()):.3g} %'


@dataclass(frozen=True, eq=False)
class _Reference:
    """The best structure so far: its rows, the weights of their residuals, and its parameters."""

    structure: Structure
    rows: Rows
    weights: FloatArray
    prior: Prior
    parameters: FloatArray

    @classmethod
    def of(
        cls,
        robot: Robot,
        motions: Sequence[Motion],
        structure: Structure,
        usual: Usual,
        before: _Reference | None = None,
    ) -> _Reference:
        known = None if before is None else (before.structure, before.rows)
        rows = structure.rows(robot, motions, known=known)
        prior = prior_of(robot, structure.terms, usual.effort, usual.speed, structure.tilt)
        weighted = weighted_fit(rows, prior, STRENGTH)
        return cls(structure, rows, weighted.weights, prior, weighted.fit.parameters)

    def scores(
        self, robot: Robot, motions: Sequence[Motion], trial: Structure, usual: Usual
    ) -> tuple[FloatArray, FloatArray] | None:
        """Return the scores of a trial and of this structure, on their common rows."""
        try:
            rows = trial.rows(robot, motions, known=(self.structure, self.rows))
        except ParameterError:  # the motion is too short for the trial's average
            return None
        common, other, own = np.intersect1d(rows.keys, self.rows.keys, return_indices=True)
        if len(common) < 2 * FOLDS:
            return None
        rows, reference, weights = rows.taken(other), self.rows.taken(own), self.weights[own]
        weights = np.where(np.isfinite(rows.effort), weights, 0.0)
        prior = prior_of(robot, trial.terms, usual.effort, usual.speed, trial.tilt)
        folds = folds_of(reference, weights, self.prior)
        # From the parameters of all rows, it is a few steps to those of each fold.
        starts = [self.parameters.copy() for _ in folds.parts]
        than = folds.scores(STRENGTH, starts)
        folds = folds_of(rows, weights, prior)
        least = folds.least_scores()
        if least.mean() > than.mean():  # no parameters of the trial are as good
            return least, than
        starts = [self._with_terms_of(trial, prior, robot.n, start) for start in starts]
        return folds.scores(STRENGTH, starts), than

    def _with_terms_of(
        self, trial: Structure, prior: Prior, joints: int, x: FloatArray
    ) -> FloatArray:
        """Return parameters of this structure, and a trial's further ones as expected.

        Args:
            trial: the trial, whose friction terms begin with those of this structure.
            prior: prior of the trial.
            joints: number of joints.
            x: parameters of this structure, shape (p,).
        """
        found, (own, its) = prior.expected, (len(each.terms) for each in (self.structure, trial))
        first = len(x) - joints * own - 2 * self.structure.tilt
        found[:first] = x[:first]
        friction = found[first:][: joints * its].reshape(joints, its)
        friction[:, :own] = x[first:][: joints * own].reshape(joints, own)
        if self.structure.tilt:
            found[-2:] = x[-2:]
        return found

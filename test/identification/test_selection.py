# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Structures are chosen by what they predict: how sharply friction turns at a reversal."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics.dynamics.friction import friction_coefficients
from kron_dynamics.identification import selection
from kron_dynamics.identification.cross_validation import FOLDS
from kron_dynamics.identification.delay_search import MOST_DELAY, delay_notes, least_delay
from kron_dynamics.identification.motion import Motion
from kron_dynamics.identification.selection import PASSAGES, choose_structure, usual_values
from kron_dynamics.identification.structure import Structure
from kron_dynamics.identification.thinning import MOST_SAMPLES, STRETCH, thinned

pytestmark = pytest.mark.interpreted

STEP = 0.01
TERMS = ('coulomb', 'viscous', 'offset')


def moved(
    robot: kd.Robot, rng: np.random.Generator, sharpness: float, coulomb: float, by_load: float
) -> Motion:
    """Slow motion, a good part of which is near a reversal, with friction and 5 % of noise.

    Args:
        robot: the robot.
        rng: of the noise.
        sharpness: friction passes through zero over this multiple of the usual speed.
        coulomb: friction as a share of the efforts.
        by_load: friction as a share of the weight that a joint holds.
    """
    t = STEP * np.arange(1500)[:, None]
    w = 2.0 * np.pi * np.array([0.31, 0.47, 0.38])
    passage = friction_coefficients(robot.model)[:, 2]
    top = 20.0 * passage
    q, qd, qdd = top / w * np.sin(w * t), top * np.cos(w * t), -top * w * np.sin(w * t)
    tau = robot.inverse_dynamics(q, qd, qdd)
    size = np.sqrt(np.mean(tau**2, axis=0))
    level = coulomb * size + by_load * np.abs(robot.inverse_dynamics(q, 0.0 * q, 0.0 * q))
    tau += level * np.tanh(qd / (sharpness * passage))
    tau += 0.05 * size * rng.standard_normal(tau.shape)
    return Motion(t[:, 0], q, qd, tau)


@pytest.mark.parametrize(('sharpness', 'least', 'most'), [(1.0, 1.0, 1.0), (0.02, 0.1, 0.3)])
def test_the_speed_over_which_friction_turns_is_found(
    sharpness: float, least: float, most: float, robot_text: Any, rng: np.random.Generator
) -> None:
    robot = kd.loads(robot_text('rrp'))
    motion = moved(robot, rng, sharpness, 1.0, 0.0)
    found, told = choose_structure(robot, [motion], Structure(3.0 * STEP), terms=TERMS)
    assert least <= found.passage <= most
    assert any('passes through zero' in line for line in told) == (sharpness != 1.0)


@pytest.mark.parametrize('by_load', [0.0, 0.01])
def test_a_little_friction_by_load_is_found_where_it_is(by_load: float, robot_text: Any) -> None:
    """It need not pay as much as terms of the speed, which a faster motion takes far off."""
    robot = kd.loads(robot_text('rrp'))
    motion = moved(robot, np.random.default_rng(0), 1.0, 0.2, by_load)
    found, _ = choose_structure(robot, [motion], Structure(3.0 * STEP), terms=None)
    assert ('load' in found.terms) == (by_load > 0.0)


def test_of_candidates_by_size_one_may_be_worse_but_not_two(
    monkeypatch: pytest.MonkeyPatch, robot_text: Any, rng: np.random.Generator
) -> None:
    tried: list[Structure] = []

    class Told(selection._Reference):
        """Stands for what is compared by data: an average of four samples is better."""

        def __init__(self) -> None:
            pass

        @classmethod
        def of(cls, *given: Any) -> Told:
            return cls()

        def scores(self, robot: Any, motions: Any, trial: Structure, usual: Any) -> Any:
            tried.append(trial)
            better = trial.effort_width == 4.0 * STEP and trial == Structure(
                trial.width, effort_width=trial.effort_width, terms=TERMS
            )
            return np.full(3, 0.5 if better else 2.0), np.ones(3)

    monkeypatch.setattr(selection, '_Reference', Told)
    robot = kd.loads(robot_text('rrp'))
    motion = moved(robot, rng, 1.0, 1.0, 0.0)
    found, told = choose_structure(robot, [motion], Structure(3.0 * STEP), terms=TERMS)
    assert found == Structure(3.0 * STEP, effort_width=4.0 * STEP, terms=TERMS)
    assert {round(trial.delay / STEP, 9) for trial in tried} == {0.0, -1.0, 1.0, -0.5, 0.5}
    assert told == ['effort width 0.04 s: 50 % of the squares']
    widths = [round(trial.effort_width / STEP) for trial in tried if not trial.delay]
    assert widths[:4] == [2, 4, 8, 16] and set(widths[4:]) == {4}
    assert {trial.presliding for trial in tried} == {0.0, 0.1, 0.3}
    assert {trial.passage for trial in tried} == {1.0, *PASSAGES}  # from both sides


@pytest.mark.parametrize('late', [2.5, 10.0])
def test_the_whole_delay_of_efforts_is_found(
    late: float, monkeypatch: pytest.MonkeyPatch, robot_text: Any, rng: np.random.Generator
) -> None:
    for others in ('EFFORT_SAMPLES', 'PASSAGES', 'PRESLIDING'):
        monkeypatch.setattr(selection, others, ())
    robot = kd.loads(robot_text('rrp'))
    t, w = STEP * np.arange(500)[:, None], np.array([3.0, 4.3, 3.7])

    def states(time: np.ndarray) -> tuple[np.ndarray, ...]:
        slow, fast = np.sin(w * time), 0.5 * np.sin(2.3 * w * time + 1.0)
        rates = w * np.cos(w * time) + 1.15 * w * np.cos(2.3 * w * time + 1.0)
        return slow + fast, rates, -(w**2) * (slow + 2.3**2 * fast)

    q, qd, _ = states(t)
    tau = robot.inverse_dynamics(*states(t - late * STEP))
    tau += 1e-3 * np.sqrt(np.mean(tau**2, axis=0)) * rng.standard_normal(tau.shape)
    motion = Motion(t[:, 0], q, qd, tau)
    found, _ = choose_structure(robot, [motion], Structure(1.5 * STEP), terms=TERMS)
    assert found.delay / STEP == pytest.approx(min(late, MOST_DELAY), abs=0.1)
    assert bool(delay_notes(found, [motion])) == (late > MOST_DELAY)


@pytest.mark.parametrize('late', [0.0, 0.3, -0.7, 1.4, -4.0, 6.0, 7.9, -11.0])
def test_the_least_score_is_found_within_the_range(late: float) -> None:
    def score(delay: float) -> float:
        return (1.0 + (delay - late) ** 2) / (1.0 + late**2)

    wanted = float(np.clip(late, -MOST_DELAY, MOST_DELAY))
    assert least_delay(score, 0.0, 1.0, MOST_DELAY) == pytest.approx(wanted, abs=1e-9)
    # Where no rows are left to compare, nothing is gained.
    few = least_delay(lambda delay: np.inf if delay else 1.0, 0.0, 1.0, MOST_DELAY)
    assert few == 0.0


@pytest.mark.parametrize('missing', [1, 0])
def test_a_trial_is_compared_on_two_rows_or_more_for_each_fold(
    missing: int, robot_text: Any, rng: np.random.Generator
) -> None:
    robot = kd.loads(robot_text('rrp'))
    motions, structure = [moved(robot, rng, 1.0, 1.0, 0.0)], Structure(3.0 * STEP, terms=TERMS)
    usual = usual_values(robot, motions)
    whole = selection._Reference.of(robot, motions, structure, usual)
    some = np.arange(2 * FOLDS - missing)
    # With another form, no columns are those of the trial.
    short = replace(
        whole,
        structure=replace(structure, form='acceleration'),
        rows=whole.rows.taken(some),
        weights=whole.weights[some],
    )
    assert (short.scores(robot, motions, structure, usual) is None) == (missing > 0)


def test_structures_are_compared_where_efforts_are_known() -> None:
    """Not in stretches at fixed places, between which all joints may move."""
    count, stretch = 60 * STRETCH, STRETCH
    effort = np.full((count, 3), np.nan)
    effort[4 * stretch :][: 3 * stretch, 0] = 1.0
    effort[20 * stretch :: 5, 0] = 1.0
    effort[11 * stretch :][:100, 1] = 1.0  # while the first rests
    some = np.zeros((count, 3))
    motion = Motion(1e-3 * np.arange(count), some, some, effort)
    found = thinned([motion])
    assert sum(len(each.time) for each in found) <= MOST_SAMPLES + stretch
    begins = np.array([each.time[0] for each in found])
    assert (np.diff(begins) > 0.0).all() and begins[-1] - begins[0] > 0.5 * motion.time[-1]
    known = np.sum([np.isfinite(each.effort).sum(axis=0) for each in found], axis=0)
    assert known[0] >= 2 * stretch and known[1] == 100
    # Efforts that are known everywhere are taken from everywhere.
    everywhere = thinned([replace(motion, effort=some)])
    begins = np.array([each.time[0] for each in everywhere]) / motion.time[-1]
    assert np.diff([0.0, *begins, 1.0]).max() < 0.25
    assert sum(len(each.time) for each in everywhere) == MOST_SAMPLES


def test_short_motions_and_remainders_are_compared_as_well() -> None:
    """They may be all there is of a joint, or of fast motion."""

    def some(count: int, joint: int, start: float) -> Motion:
        effort = np.full((count, 3), np.nan)
        effort[:, joint] = 1.0
        zeros = np.zeros((count, 3))
        return Motion(start + 1e-3 * np.arange(count), zeros, zeros, effort)

    long = some(STRETCH + 1, 0, 0.0)
    short = [some(STRETCH - 1, 1, 10.0 * k) for k in range(1, 16)]
    found = thinned([long, *short])
    known = np.sum([np.isfinite(each.effort).sum(axis=0) for each in found], axis=0)
    assert known[1] > 0.8 * MOST_SAMPLES > 0.0 and known[0] > 0 and known[2] == 0
    assert sum(len(each.time) for each in found) <= MOST_SAMPLES + STRETCH
    # A remainder with the only efforts of a joint.
    last = some(10 * STRETCH - 1, 0, 0.0)
    last.effort[-100:, 1] = 1.0
    assert sum(np.isfinite(each.effort[:, 1]).sum() for each in thinned([last])) == 100

# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The vibration left after a move is found in signals whose vibration is known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from joint_messages import Message, tables_of

from kron_dynamics.bag import BagContents
from kron_dynamics.demo import Motion, evaluate_vibration, held_periods
from kron_dynamics.demo.vibration_report import (
    plot_vibration,
    vibration_problems,
    vibration_ratios,
    vibration_table,
)
from kron_dynamics.exceptions import BagError
from kron_dynamics.loading import load

ROOT = Path(__file__).parents[2]
START = 50.0
PERIODS = {'boom/v1': 0.9, 'boom/w1': 1.2}
RATE = 50.0
SAG = -0.47


@pytest.fixture
def motion():
    """Slew until 4 s, luff from 10 s to 14 s, rest until 20 s."""
    times = np.array([0.0, 4.0, 10.0, 14.0, 20.0])
    positions = np.array([[0, 0, 0], [0, 1, 0], [0, 1, 0], [0, 1, 1], [0, 1, 1]], dtype=float)
    rest = np.zeros_like(positions)
    return Motion(('travel', 'slew', 'luff'), times, positions, rest, rest)


def record(name, sideways, vertical, *, rate=RATE, until=30.0, modes=('boom/v1', 'boom/w1')):
    """A bag of a run whose tip swings as two functions of the time since the start say."""
    times = np.arange(-5.0, until, 1.0 / rate)

    def states(names, position, velocity):
        return tables_of(
            [
                Message(0, round((START + t) * 1e9), names, q, qd, np.zeros(0))
                for t, q, qd in zip(times, position, velocity, strict=True)
            ]
        )

    known = {'boom/v1': sideways(times), 'boom/w1': SAG + vertical(times)}
    bending = np.array([known[mode] for mode in modes]).T
    joints = np.array([times, np.sin(times), np.cos(times)]).T
    return BagContents(
        Path('bag'),
        joint_states={
            f'/{name}/simulator_node/modal_states': states(modes, bending, 0.0 * bending),
            f'/{name}/joint_states': states(('luff', 'travel', 'slew'), joints, 2.0 * joints),
        },
    )


def swing(mode, begin, amplitude, before=1.0, decay=0.0):
    """Vibration from a time on, another one before."""
    omega = 2.0 * np.pi / PERIODS[mode]

    def deflection(t):
        after = amplitude * np.exp(-decay * (t - begin)) * np.cos(omega * (t - begin))
        return np.where(t >= begin - 1e-6, after, before * np.cos(3.0 * omega * t))

    return deflection


def later(motion, delay):
    """The motion as a reference that ends its moves later."""
    times = motion.times + delay * (motion.times > 0.0)
    return replace(motion, times=times).trajectory()


def evaluated(motion, name, sideways, vertical, delay=0.0, **options):
    contents = record(name, sideways, vertical, **options)
    return evaluate_vibration(contents, name, motion, START, later(motion, delay), PERIODS)


def test_the_residual_is_the_swing_after_the_stop(motion):
    """Neither the motion before nor the static sag counts, and each move has its mode."""
    run = evaluated(motion, 'run', swing('boom/v1', 4.0, 2e-3), swing('boom/w1', 14.0, 5e-4))
    slew, luff = run.windows
    assert (slew.joint, slew.mode, slew.begin) == ('slew', 'boom/v1', 4.0)
    assert (luff.joint, luff.mode, luff.begin) == ('luff', 'boom/w1', 14.0)
    np.testing.assert_allclose([slew.end, luff.end], [4.0 + 2.7, 14.0 + 3.6])
    residuals = [run.residual(window) for window in run.windows]
    np.testing.assert_allclose(residuals, [2e-3, 5e-4], rtol=0.02)


def test_a_longer_reference_is_judged_from_its_own_end(motion):
    """A vibration until then, of 1 m, is part of the motion."""
    run = evaluated(
        motion, 'run', swing('boom/v1', 5.5, 2e-3), swing('boom/w1', 15.5, 5e-4), delay=1.5
    )
    assert [window.begin for window in run.windows] == [5.5, 15.5]
    residuals = [run.residual(window) for window in run.windows]
    np.testing.assert_allclose(residuals, [2e-3, 5e-4], rtol=0.02)


def test_what_damping_does_is_seen_in_the_later_window(motion):
    decay = 0.7
    still = swing('boom/w1', 14.0, 1e-3)
    run = evaluated(motion, 'run', swing('boom/v1', 4.0, 2e-3, decay=decay), still)
    window = run.windows[0]
    # After a whole period the same swing is seen, only smaller; its mean changes with it.
    second = window._replace(begin=window.begin + 0.9, end=window.end + 0.9)
    np.testing.assert_allclose(
        run.residual(second) / run.residual(window), np.exp(-decay * 0.9), rtol=0.02
    )


def test_velocities_of_the_joints_go_by_name(motion):
    run = evaluated(motion, 'run', swing('boom/v1', 4.0, 0.0), swing('boom/w1', 14.0, 0.0))
    np.testing.assert_allclose(run.velocity['luff'], 2.0 * run.joint_time, atol=1e-8)
    np.testing.assert_allclose(run.velocity['slew'], 2.0 * np.cos(run.joint_time), atol=1e-8)


@pytest.mark.parametrize(
    ('options', 'said'),
    [
        ({'until': 17.0}, r"'run' has \[(\d+, )+0\] samples .* of boom/w1 after the luff move"),
        ({'rate': 15.0}, r'of boom/v1 after the slew move, from 4 s to 6.7 s, expected at least'),
        ({'modes': ('boom/v1',)}, "'run' has no coordinate 'boom/w1'"),
        ({'until': -1.0}, "no messages on '/run/simulator_node/modal_states' during the motion"),
    ],
    ids=['cut short', 'too few', 'no such mode', 'another time'],
)
def test_a_recording_that_does_not_tell_is_refused(motion, options, said):
    still = swing('boom/v1', 0.0, 0.0), swing('boom/w1', 0.0, 0.0)
    with pytest.raises(BagError, match=said):
        evaluated(motion, 'run', *still, **options)


def test_another_run_is_not_taken_for_this_one(motion):
    contents = record('run', swing('boom/v1', 4.0, 1.0), swing('boom/w1', 14.0, 1.0))
    with pytest.raises(BagError, match="no messages on '/other/simulator_node/modal_states'"):
        evaluate_vibration(contents, 'other', motion, START, motion.trajectory(), PERIODS)


def test_periods_are_those_of_the_boom_with_joints_held():
    """0.8 and 1.1 Hz: close to what stiffness and mass of docs/machine.md were chosen for."""
    robot = load(
        ROOT / 'urdf' / 'stacker_reclaimer.urdf',
        flexible=ROOT / 'config' / 'stacker_reclaimer_flexible.yaml',
    )
    periods = held_periods(robot, [100.0, 0.5, 0.0])
    assert list(periods) == ['boom/v1', 'boom/w1']
    np.testing.assert_allclose(list(periods.values()), [1 / 1.095, 1 / 0.8211], rtol=1e-3)


@pytest.fixture
def pair(motion):
    """Without shaping, damped; with it 40 and 5 times less, two sideways periods later."""
    unshaped = evaluated(
        motion,
        'unshaped',
        swing('boom/v1', 4.0, 2e-3, decay=1.0),
        swing('boom/w1', 14.0, 5e-4),
    )
    shaped = evaluated(
        motion,
        'shaped',
        swing('boom/v1', 5.8, 5e-5),
        swing('boom/w1', 15.8, 1e-4),
        delay=1.8,
    )
    return unshaped, shaped


def test_ratios_say_how_much_more_is_left_without_shaping(pair):
    unshaped, shaped = pair
    first = unshaped.residual(unshaped.windows[0]) / 5e-5
    np.testing.assert_allclose(vibration_ratios(*pair), [first, 5.0], rtol=0.02)
    assert 30.0 < first < 41.0  # the mean takes its share of a swing that shrinks


def test_a_ratio_below_ten_is_a_problem(pair):
    (problem,) = vibration_problems(*pair)
    assert problem.startswith('luff move: without shaping only 5.0 times more vibration is left')
    still = evaluate_nothing_left(pair[1])
    assert vibration_problems(pair[0], still) == []


def evaluate_nothing_left(result):
    for deflection in result.deflection.values():
        deflection[:] = SAG
    return result


def test_the_table_has_a_line_a_move(pair):
    header, slew, luff = vibration_table(*pair).splitlines()
    assert header.split() == 'after tip goes unshaped shaped unshaped then ratio later by'.split()
    words = slew.split()
    assert words[:2] == ['slew', 'sideways']
    plain, own, then = (float(words[at]) for at in (2, 4, 6))
    assert words[3] == words[5] == words[7] == 'mm'
    np.testing.assert_allclose([plain, own, then / plain], [2.0, 0.05, np.exp(-1.8)], rtol=0.15)
    assert words[-2:] == ['1.80', 's']
    assert luff.split()[:4] == ['luff', 'up', 'and', 'down']
    assert luff.split()[-3:] == ['5x', '1.80', 's']
    assert len(header) == len(slew) == len(luff)


def test_the_plot_is_a_picture(pair, tmp_path):
    path = tmp_path / 'vibration.png'
    plot_vibration(*pair, path)
    data = path.read_bytes()
    assert data.startswith(b'\x89PNG')
    # It is drawn, not empty: one colour alone would compress to almost nothing.
    assert len(data) > 20_000

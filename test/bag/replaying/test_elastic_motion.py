# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Links that bend along motions of the joints, against the simulated machine."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm

import kron_dynamics as kd
from kron_dynamics.bag import analyze_bag
from kron_dynamics.bag.replaying.elastic_motion import _transitions, modal_blocks
from kron_dynamics.equilibrium import quasi_static_equilibria
from kron_dynamics.resources import resource_path
from kron_dynamics.simulation import Plant

pytestmark = pytest.mark.interpreted

URDF = resource_path('urdf', 'stacker_reclaimer.urdf')
FLEXIBLE = resource_path('config', 'stacker_reclaimer_flexible.yaml')
STEP = 0.005
NAMES = ('travel', 'slew', 'luff')


@pytest.fixture(scope='module')
def boom():
    return kd.load(URDF, flexible=FLEXIBLE)


@pytest.fixture(scope='module')
def pushed(boom):
    """Return the machine pushed sideways and up from rest, joints free, every 5 ms."""
    plant = Plant(boom, [100.0, 0.4, 0.05])
    push = boom.gravity_vector(plant.q)[:3] + [0.0, 8e5, 6e5]
    return plant.record(push, 8.0, STEP / 2.0, every=2)


def joints(motion, rows=slice(None)):
    return tuple(values[rows, :3] for values in (motion.q, motion.qd, motion.qdd))


def links(boom, step, joints, known, start=None, rows=None):
    """Modal coordinates and two derivatives, given some rows at a time."""
    motion, rows = np.stack(joints), rows or len(known)
    cuts = [slice(first, first + rows) for first in range(0, len(known), rows)]
    parts = [(motion[:, cut], known[cut]) for cut in cuts]
    found = np.concatenate(list(modal_blocks(boom, step, parts, start)), axis=1)
    assert found.shape == (3, len(known), 2)
    return found


def test_errors_of_transitions_are_of_fourth_order_in_the_steps(rng):
    """A system that changes in proportion, X' = (1 + t) A X, whose solution is known."""
    A = rng.normal(size=(3, 3))
    right = expm(1.5 * A)
    errors = [
        np.abs(_transitions(np.stack((A, 2.0 * A)), 1.0, steps)[0] - right).max()
        for steps in (16, 32, 64)
    ]
    ratios = np.divide(errors[:-1], errors[1:])
    np.testing.assert_allclose(ratios, 16.0, rtol=0.25)


def test_links_move_as_those_of_the_simulated_machine(boom, pushed):
    known = np.ones(len(pushed.time), dtype=bool)
    found = links(boom, STEP, joints(pushed), known, (pushed.q[0, 3:], pushed.qd[0, 3:]))
    for name, ours in zip(('q', 'qd', 'qdd'), found, strict=True):
        true = getattr(pushed, name)[:, 3:]
        np.testing.assert_allclose(ours, true, rtol=0.0, atol=3e-3 * np.ptp(true, axis=0).max())
        assert (np.ptp(true, axis=0) > 0.0).all()


def test_a_motion_goes_on_where_a_part_of_it_ended(boom, pushed):
    known = np.ones(len(pushed.time), dtype=bool)
    whole = links(boom, STEP, joints(pushed), known)
    half = len(known) // 2
    at = whole[0, half], whole[1, half]
    rest = links(boom, STEP, joints(pushed, slice(half, None)), known[half:], at)
    np.testing.assert_allclose(rest[0], whole[0, half:], atol=1e-6)


@pytest.mark.parametrize('rows', [1, 7, 100])
def test_links_move_alike_however_the_motion_is_cut(boom, pushed, rows):
    known = np.ones(len(pushed.time), dtype=bool)
    known[:15] = known[95:108] = known[200:203] = known[-30:] = False
    holed = tuple(np.where(known[:, None], values, np.nan) for values in joints(pushed))
    whole = links(boom, STEP, holed, known)
    cut = links(boom, STEP, holed, known, rows=rows)
    np.testing.assert_allclose(cut, whole, rtol=0.0, atol=1e-9 * np.abs(whole).max())
    # They stay as they are before the first known sample and after the last one.
    assert (whole[0, :15] == whole[0, 15]).all() and (whole[0, -30:] == whole[0, -31]).all()
    assert not whole[1:, :15].any() and not whole[1:, -30:].any()


def test_links_of_a_motion_that_is_never_known_do_not_move(boom, pushed):
    known = np.zeros(len(pushed.time), dtype=bool)
    assert not links(boom, STEP, joints(pushed), known, rows=300).any()


def test_slow_motions_only_bend_the_links(boom):
    t = np.arange(0.0, 40.0, 0.05)
    w = 2.0 * np.pi / 40.0
    way = np.array([1.0, 0.3, 0.1])
    q, qd = np.outer(1.0 - np.cos(w * t), way), np.outer(w * np.sin(w * t), way)
    qdd = np.outer(w * w * np.cos(w * t), way)
    found = links(boom, 0.05, (q, qd, qdd), np.ones(len(t), dtype=bool))
    bent = quasi_static_equilibria(boom, q, qd, qdd)[:, 3:]
    np.testing.assert_allclose(found[0], bent, atol=0.02 * np.ptp(bent, axis=0).max())


def test_what_is_not_known_is_bridged(boom, pushed):
    known = np.ones(len(pushed.time), dtype=bool)
    known[:10] = known[400:404] = known[-7:] = False
    holed = tuple(np.where(known[:, None], values, np.nan) for values in joints(pushed))
    found = links(boom, STEP, holed, known)
    assert np.isfinite(found).all()
    whole = links(boom, STEP, joints(pushed, slice(10, None)), known[10:] | True)
    np.testing.assert_allclose(found[0, 10:-7], whole[0, :-7], atol=1e-3 * np.ptp(whole[0]))


@pytest.fixture
def record(make_bag, boom, pushed):
    return lambda external: recorded(make_bag, boom, pushed, external)


def recorded(make_bag, boom, pushed, external):
    """Return a bag of the pushed machine; drives need not exert what others do.

    The external efforts are given as function of the time since the first stamp.
    """
    with make_bag('boom') as bag:
        bag.text('/robot_description', URDF.read_text(encoding='utf-8'))
        # At rest first: how a boom vibrates that did so before is not in the joints' motion.
        rest = boom.gravity_vector(Plant(boom, [100.0, 0.4, 0.05]).q)[:3]
        for k in range(50):
            time = 0.02 * (k - 50) + 5.0
            state = [100.0, 0.4, 0.05], np.zeros(3), rest - external(time - 4.0)
            bag.joint_state('/joint_states', time, NAMES, *state)
        for k in range(3, len(pushed.time), 4):
            time = pushed.time[k] + 5.0
            state = pushed.q[k, :3], pushed.qd[k, :3], pushed.effort[k] - external(time - 4.0)
            bag.joint_state('/joint_states', time, NAMES, *state)
    return bag.path


def test_flexible_links_explain_the_efforts_of_a_boom_that_vibrates(record):
    bag = record(lambda time: 0.0)
    stiff, bending = (
        analyze_bag(bag, flexible=flexible, window=0.1).runs[0] for flexible in (None, FLEXIBLE)
    )
    assert stiff.replay.modal_names == ()
    assert bending.replay.modal_names == ('boom/v1', 'boom/w1')
    assert [joint.name for joint in bending.joints] == ['travel', 'slew', 'luff']
    for joint in (1, 2):
        residuals = [run.joints[joint].residual_rms for run in (stiff, bending)]
        assert residuals[1] < 0.1 * residuals[0]


@pytest.mark.parametrize('size', [0.0, 1.0])
def test_external_efforts_are_not_those_that_bend_the_links(record, size):
    """Known external efforts on slew and luff, or none, of a boom that vibrates."""

    def external(time):
        return size * np.multiply.outer(np.sin(0.8 * time), [0.0, 3e5, -2e5])

    (run,) = analyze_bag(record(external), flexible=FLEXIBLE, window=0.1, effort_delay=0.0).runs
    (found,), (segment,) = run.external_series, run.replay.segments
    known = np.isfinite(found.effort).all(axis=1)
    errors = found.effort[known] - external(found.rows.time[known])
    residuals = (segment.residual + external(segment.time))[segment.valid]
    for joint in (1, 2):
        level = np.sqrt(np.mean(residuals[:, joint] ** 2))
        assert level < 0.01 * run.joints[joint].effort_rms
        assert np.sqrt(np.mean(errors[:, joint] ** 2)) < 2.0 * level
    # Nor those of the travel, whose brake holds it, without an effort.
    assert 'digging' not in {phase.kind for phase in run.phases}

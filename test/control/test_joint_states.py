# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from array import array

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kron_dynamics.control import JointStateAssembler, SampleOutcome
from kron_dynamics.exceptions import ParameterError

NAMES = ('travel', 'slew', 'luff')
Q = (10.0, 0.5, -0.1)
QD = (0.4, 0.008, 0.001)
TAU = (1e5, 2e6, -3e6)


@pytest.fixture
def assembler():
    return JointStateAssembler(NAMES, timeout=0.1)


def feed(assembler, names=NAMES, q=Q, qd=QD, tau=TAU, *, stamp=None, now=0.0):
    return assembler.update(names, q, qd, tau, stamp=stamp, now=now)


def test_nothing_is_known_at_first(assembler):
    state = assembler.state(0.0)
    assert not state.ready
    for values in (state.q, state.qd, state.effort, assembler.last_position):
        assert np.isnan(values).all()
    assert np.isinf(state.ages).all()
    for name in NAMES:
        assert name in state.problem()
    assert 'position never received for travel, slew, luff' in state.problem()
    assert 'velocity never received for travel, slew, luff' in state.problem()


@given(order=st.permutations([*range(3), 'other']))
def test_joints_are_matched_by_name_in_any_order(order):
    assembler = JointStateAssembler(NAMES, timeout=0.1)
    names = ['bucket' if i == 'other' else NAMES[i] for i in order]
    columns = [[777.0 if i == 'other' else row[i] for i in order] for row in (Q, QD, TAU)]
    assert feed(assembler, names, *columns) is SampleOutcome.ACCEPTED
    state = assembler.state(0.0)
    np.testing.assert_array_equal([state.q, state.qd, state.effort], [Q, QD, TAU])
    assert state.ready and state.problem() is None


def test_arrays_of_a_message_are_taken_as_they_come(assembler):
    q, qd = array('d', Q), np.array(QD)
    feed(assembler, q=q, qd=qd, tau=array('d'))
    q[0] = qd[0] = 99.0
    state = assembler.state(0.0)
    np.testing.assert_array_equal([state.q, state.qd], [Q, QD])
    assert np.isnan(state.effort).all()


def test_publishers_may_split_the_joints(assembler):
    feed(assembler, NAMES[:1], Q[:1], QD[:1], (), stamp=5.0)
    state = assembler.state(0.0)
    assert not state.ready
    assert 'travel' not in state.problem()
    assert 'position never received for slew' in state.problem()
    # The other publisher's clock is far away; its joints have an order of their own.
    outcome = feed(assembler, NAMES[:0:-1], Q[:0:-1], QD[:0:-1], (), stamp=900.0)
    assert outcome is SampleOutcome.ACCEPTED
    assert feed(assembler, NAMES[:1], Q[:1], QD[:1], (), stamp=5.1) is SampleOutcome.ACCEPTED
    state = assembler.state(0.0)
    assert state.ready
    np.testing.assert_array_equal([state.q, state.qd], [Q, QD])


def test_publishers_may_split_the_quantities(assembler):
    feed(assembler, qd=(), tau=(), stamp=5.0)
    assert not assembler.state(0.0).ready
    # Same stamp, other quantity: not a repetition.
    assert feed(assembler, q=(), tau=(), stamp=5.0) is SampleOutcome.ACCEPTED
    assert assembler.state(0.0).ready
    assert assembler.rejections == {}


def test_velocity_that_is_not_measured_is_not_made_up(assembler):
    for i in range(10):
        feed(assembler, q=np.add(Q, 0.1 * i), qd=(), tau=(), stamp=0.01 * i, now=0.01 * i)
    state = assembler.state(0.09)
    assert np.isfinite(state.q).all() and np.isnan(state.qd).all()
    assert not state.ready
    assert 'position' not in state.problem()
    assert state.problem().endswith(': velocity never received for travel, slew, luff')


@pytest.mark.parametrize('bad', [np.nan, np.inf, -np.inf])
def test_value_that_is_not_finite_is_no_news(assembler, bad):
    feed(assembler, now=0.0, stamp=1.0)
    outcome = feed(assembler, q=(11.0, bad, -0.2), qd=(bad,) * 3, now=0.06, stamp=1.06)
    assert outcome is SampleOutcome.ACCEPTED
    state = assembler.state(0.06)
    np.testing.assert_array_equal(state.q, [11.0, 0.5, -0.2])
    np.testing.assert_array_equal(state.qd, QD)
    np.testing.assert_allclose(state.ages[:2], [[0.0, 0.06, 0.0], [0.06, 0.06, 0.06]])
    assert assembler.rejections == {'value not finite': 1}
    later = assembler.state(0.12)
    np.testing.assert_array_equal(np.isnan(later.q), [False, True, False])
    assert 'position 0.12 s old for slew;' in later.problem()
    assert later.problem().endswith('velocity 0.12 s old for travel, slew, luff')


def test_sample_of_nothing_but_nan_is_rejected(assembler):
    nans = (np.nan,) * 3
    assert feed(assembler, q=nans, qd=nans, tau=nans) is SampleOutcome.REJECTED
    assert assembler.rejections == {'value not finite': 1}


def test_state_goes_stale_but_the_last_position_stays_known(assembler):
    feed(assembler, now=5.0)
    assert assembler.state(5.1).ready
    state = assembler.state(5.2)
    assert not state.ready
    assert np.isnan(state.q).all() and np.isnan(state.qd).all()
    assert 'timeout 0.1 s' in state.problem()
    np.testing.assert_array_equal(assembler.last_position, Q)


def test_repeated_stamp_is_not_a_sign_of_life(assembler):
    feed(assembler, stamp=1.0, now=0.0)
    for i in range(1, 20):
        outcome = feed(assembler, stamp=1.0, now=0.01 * i)
        assert outcome is SampleOutcome.REJECTED
    assert not assembler.state(0.19).ready
    assert assembler.rejections == {'stamp repeated': 19}


def test_publisher_without_stamps_is_judged_by_arrival(assembler):
    for i in range(20):
        assert feed(assembler, stamp=None, now=0.01 * i) is SampleOutcome.ACCEPTED
    assert assembler.state(0.19).ready


def test_late_sample_does_not_undo_a_newer_one(assembler):
    feed(assembler, stamp=10.0, now=0.0)
    outcome = feed(assembler, q=(9.0, 9.0, 9.0), stamp=9.95, now=0.05)
    assert outcome is SampleOutcome.REJECTED
    np.testing.assert_array_equal(assembler.state(0.05).q, Q)
    assert assembler.rejections == {'stamp late': 1}


def test_late_sample_still_brings_the_joints_it_is_first_for(assembler):
    feed(assembler, NAMES[:1], Q[:1], QD[:1], TAU[:1], stamp=10.0)
    outcome = feed(assembler, q=(9.0, 0.5, -0.1), stamp=9.95)
    assert outcome is SampleOutcome.ACCEPTED
    np.testing.assert_array_equal(assembler.state(0.0).q, Q)


def test_clock_that_steps_back_forgets_all_that_was_known(assembler):
    feed(assembler, stamp=100.0, now=0.0)
    outcome = feed(assembler, NAMES[:1], [0.0], [0.0], [], stamp=0.02, now=0.01)
    assert outcome is SampleOutcome.RESTARTED
    state = assembler.state(0.01)
    np.testing.assert_array_equal(np.isnan(state.q), [False, True, True])
    assert 'position never received for slew' in state.problem()
    assert feed(assembler, stamp=0.03, now=0.02) is SampleOutcome.ACCEPTED
    assert assembler.state(0.02).ready


def test_clock_that_steps_back_for_one_joint_is_a_restart(assembler):
    """The last stamps of two publishers differ: what one joint alone tells is enough."""
    feed(assembler, NAMES[:1], Q[:1], QD[:1], TAU[:1], stamp=100.0)
    feed(assembler, NAMES[1:], Q[1:], QD[1:], TAU[1:], stamp=5.0)
    assert feed(assembler, stamp=50.0, now=0.01) is SampleOutcome.RESTARTED
    assert assembler.rejections == {}
    np.testing.assert_array_equal(assembler.state(0.01).ages, np.zeros((3, 3)))


def test_one_sample_from_the_far_future_does_not_lock_the_others_out(assembler):
    feed(assembler, stamp=4e9, now=0.0)
    assert feed(assembler, stamp=10.0, now=0.01) is SampleOutcome.RESTARTED
    assert feed(assembler, stamp=10.01, now=0.02) is SampleOutcome.ACCEPTED


def test_reset_forgets_values_and_stamps_but_not_the_counts(assembler):
    feed(assembler, stamp=10.0)
    feed(assembler, stamp=10.0)
    assembler.reset()
    assert np.isnan(assembler.last_position).all()
    assert feed(assembler, stamp=9.9) is SampleOutcome.ACCEPTED
    assert assembler.rejections == {'stamp repeated': 1}


@pytest.mark.parametrize(
    ('sample', 'reason'),
    [
        ({'q': Q[:2]}, 'wrong length'),
        ({'tau': (*TAU, 1.0)}, 'wrong length'),
        ({'names': ()}, 'wrong length'),
        ({'q': (), 'qd': (), 'tau': ()}, 'no values'),
        ({'names': (), 'q': (), 'qd': (), 'tau': ()}, 'no values'),
        ({'names': ('a', 'b', 'c')}, 'no known joint'),
        ({'names': ('slew', 'luff', 'slew')}, 'joint repeated'),
        ({'stamp': np.nan}, 'time not finite'),
        ({'stamp': np.inf}, 'time not finite'),
        ({'now': np.nan}, 'time not finite'),
    ],
)
def test_malformed_sample_is_rejected_whole_and_counted(assembler, sample, reason):
    for _ in range(2):
        assert feed(assembler, **sample) is SampleOutcome.REJECTED
    assert assembler.rejections == {reason: 2}
    assert np.isnan(assembler.last_position).all()


def test_repeated_joint_of_another_machine_is_not_our_concern(assembler):
    names = (*NAMES, 'other', 'other')
    outcome = feed(assembler, names, (*Q, 1.0, 2.0), (*QD, 1.0, 2.0), ())
    assert outcome is SampleOutcome.ACCEPTED
    np.testing.assert_array_equal(assembler.state(0.0).q, Q)


def test_ever_new_names_do_not_fill_the_memory(assembler):
    for i in range(1000):
        feed(assembler, (*NAMES, f'other{i}'), (*Q, 0.0), (*QD, 0.0), ())
    assert len(assembler._layouts) <= 32


def test_state_is_a_snapshot(assembler):
    feed(assembler, now=0.0)
    state = assembler.state(0.0)
    feed(assembler, q=(9.0, 9.0, 9.0), now=0.01)
    np.testing.assert_array_equal(state.q, Q)


def test_time_that_is_unknown_leaves_nothing_fresh(assembler):
    feed(assembler)
    state = assembler.state(np.nan)
    assert not state.ready
    assert np.isnan(state.q).all()


@pytest.mark.parametrize(
    ('options', 'words'),
    [
        ({'timeout': 0.0}, 'timeout is 0.0 s'),
        ({'timeout': np.nan}, 'timeout is nan s'),
        ({'timeout': 0.1, 'restart_after': -1.0}, 'restart_after is -1.0 s'),
    ],
)
def test_times_that_cannot_be_used_are_refused(options, words):
    with pytest.raises(ParameterError, match=words):
        JointStateAssembler(NAMES, **options)


def test_machine_with_a_repeated_joint_name_is_refused():
    with pytest.raises(ParameterError, match='slew'):
        JointStateAssembler(('slew', 'slew'), timeout=0.1)


_ANY_SAMPLE = st.fixed_dictionaries(
    {
        'order': st.sampled_from(((0, 1, 2), (2, 0, 1))),
        'values': st.tuples(*[st.sampled_from((0.0, 1.5, -2.0, np.nan))] * 3),
        'efforts': st.booleans(),
        'later': st.sampled_from((0.01, 0.01, 0.01, 0.0, -0.02, -5.0)),
        'passed': st.sampled_from((0.01, 0.01, 0.2)),
    }
)


@given(samples=st.lists(_ANY_SAMPLE, max_size=12))
def test_samples_of_all_joints_mean_the_same_whichever_way_they_are_taken(samples):
    """Names as a tuple that stays may take the short way; as a list they never do."""
    names = {order: tuple(NAMES[i] for i in order) for order in ((0, 1, 2), (2, 0, 1))}
    short, long = (JointStateAssembler(NAMES, timeout=0.1) for _ in range(2))
    stamp, now = 100.0, 0.0
    for sample in samples:
        stamp, now = stamp + sample['later'], now + sample['passed']
        told = names[sample['order']]
        tau = sample['values'] if sample['efforts'] else ()
        given_ = (sample['values'], QD, tau)
        assert feed(short, told, *given_, stamp=stamp, now=now) is feed(
            long, list(told), *given_, stamp=stamp, now=now
        )
        for at in (now, now + 0.05):
            ours, theirs = short.state(at), long.state(at)
            for field in ('q', 'qd', 'effort', 'ages'):
                np.testing.assert_array_equal(getattr(ours, field), getattr(theirs, field))
            assert ours.ready == theirs.ready
            assert ours.problem() == theirs.problem()
        assert short.rejections == long.rejections


@pytest.mark.parametrize('tau', [TAU, ()])
def test_machine_that_never_tells_efforts_is_as_quick_to_hear(assembler, tau):
    for k in range(3):
        feed(assembler, tau=tau, stamp=1.0 + k, now=float(k))
    state = assembler.state(2.0)
    assert state.is_new and state.ready
    np.testing.assert_array_equal(state.effort, TAU if tau else [np.nan] * 3)
    np.testing.assert_array_equal(state.ages[2], 0.0 if tau else np.inf)

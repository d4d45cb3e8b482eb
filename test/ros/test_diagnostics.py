# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Diagnostics count what they say they count."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace

import pytest

from kron_dynamics.control import JointStateAssembler

with contextlib.suppress(ImportError):  # then these tests are not collected
    from kron_dynamics.ros.diagnostics import CycleStatistics, controller_values, state_values

pytestmark = pytest.mark.ros


def test_the_rate_of_states_is_that_of_their_arrivals():
    statistics = CycleStatistics()
    assert statistics.values() == {}
    statistics.arrivals.append(7.0)
    assert statistics.values() == {}
    statistics.arrivals.append(7.0)
    assert statistics.values() == {}  # both at once: no rate
    statistics.arrivals.append(7.25)
    assert statistics.values() == {'state rate [Hz]': '8.0'}
    # Of the last thousand: what was before them is forgotten.
    statistics.arrivals.extend(10.0 + 0.02 * k for k in range(1000))
    assert statistics.values() == {'state rate [Hz]': '50.0'}
    statistics.arrivals.append(10.0 + 0.02 * 999 + 20.0)
    assert statistics.values() == {'state rate [Hz]': '25.0'}


def test_half_of_the_compute_times_are_above_the_median_and_one_in_a_hundred_above_p99():
    statistics = CycleStatistics()
    statistics.compute.append(0.0025)
    expected = {'compute time median [ms]': '2.500', 'compute time p99 [ms]': '2.500'}
    assert statistics.values() == expected
    statistics.compute.clear()
    statistics.compute.extend(1e-3 * k for k in reversed(range(101)))
    expected = {'compute time median [ms]': '50.000', 'compute time p99 [ms]': '99.000'}
    assert statistics.values() == expected


def test_the_age_of_the_states_is_that_of_the_oldest_joint():
    robot = SimpleNamespace(model=SimpleNamespace(fingerprint='abc'))
    assembler = JointStateAssembler(('turn', 'lift'), timeout=1.0)
    for stamp, name in ((1, 'turn'), (2, 'lift')):
        assembler.update([name], [0.0], [0.0], [], stamp=stamp * 10**8, now=0.1 * stamp)
    told = state_values(robot, assembler, 0.375)
    assert told['state age [s]'] == '0.275'
    assert told['model'] == 'abc'


@pytest.mark.parametrize('problem', [None, 'no gains here: the previous ones are kept'])
def test_vibration_damping_is_active_unless_it_has_a_problem(problem):
    controller = SimpleNamespace(
        law=SimpleNamespace(terms=()),
        law_state=SimpleNamespace(problem=problem),
        references=SimpleNamespace(shaping=None),
        latch=SimpleNamespace(faulted=False),
        guard=SimpleNamespace(
            joint_names=(), effort_limit=(), effort_saturations=(), rate_saturations=()
        ),
        hold=None,
        period=0.01,
        errors=None,
    )
    given = {'vibration_damping': True, 'control_law': 'computed_torque'}
    settings = SimpleNamespace(value=lambda name: {**given, 'state_period': 0.01}.get(name, ()))
    assert controller_values(controller, settings)['vibration damping'] == (problem or 'active')

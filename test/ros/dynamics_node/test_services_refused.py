# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Requests that the services cannot answer are refused by name, and nothing is answered."""

from __future__ import annotations

import math

import numpy as np
import pytest
from model_services import SERVICES

pytestmark = pytest.mark.ros


@pytest.mark.parametrize('name', SERVICES)
@pytest.mark.parametrize(
    ('spoil', 'said'),
    [
        (lambda r, last: r[last].pop(), '{last} has 2 numbers, expected 1 x 3'),
        (lambda r, last: r['position'].append(0.0), 'position has 4 numbers, expected 1 x 3'),
        (lambda r, last: r[last].__setitem__(1, math.nan), '{last} holds a NaN'),
        (lambda r, last: r['position'].__setitem__(0, -math.inf), 'position holds a NaN'),
        (lambda r, last: r.update(joint_names=['turn', 'lift', 'sledge']), "'sledge'"),
        (lambda r, last: r.update(joint_names=['turn', 'slide']), "missing: 'lift'"),
        (lambda r, last: r.update(joint_names=['turn', 'turn', 'lift', 'slide']), "'turn'"),
    ],
    ids=['short', 'long', 'nan', 'infinity', 'unknown', 'missing', 'repeated'],
)
def test_bad_requests_are_refused_by_name(call, name, spoil, said):
    kind, fields = SERVICES[name]
    request = {field: [0.1, 0.2, 0.3] for field in fields}
    spoil(request, fields[-1])
    answer = call(name, **request)
    assert not answer.success
    assert said.format(last=fields[-1]) in answer.message
    arrays = [getattr(answer, field) for field in answer.get_fields_and_field_types()]
    assert all(len(array) == 0 for array in arrays if not isinstance(array, (str, bool)))


@pytest.mark.parametrize('name', SERVICES)
def test_a_motion_out_of_all_proportion_is_refused_by_name(bench, call, name):
    """Whatever overflows: no success with a NaN in it, and no warning on the terminal."""
    _, fields = SERVICES[name]
    seen = []
    for spoilt in (fields[1:], fields):
        for size in (1e200, 1e308):
            request = {field: [0.1] * 6 for field in fields}
            for field in spoilt:
                request[field][3:] = [size] * 3
            answer = call(name, **request)
            arrays = [getattr(answer, field) for field in answer.get_fields_and_field_types()]
            numbers = [array for array in arrays if getattr(array, 'typecode', '') == 'd']
            assert numbers
            if answer.success:
                assert all(np.isfinite(array).all() for array in numbers)
            else:
                assert all(len(array) == 0 for array in numbers)
                assert 'in state 1 is beyond the range of float64' in answer.message
                assert 'singular' not in answer.message
            seen.append(answer.success)
    assert not all(seen)
    assert 'Warning' not in bench.process.output


def test_joint_and_state_of_an_overflow_are_named(call):
    rates = [0.0, 0.0, 0.0, 0.0, 1e200, 0.0]
    rest = [0.1] * 6
    answer = call('inverse_dynamics', position=rest, velocity=rates, acceleration=rest)
    assert not answer.success
    assert answer.message.startswith("effort of joint 'turn' in state 1 is beyond")
    answer = call('forward_dynamics', position=rest, velocity=rates, effort=rest)
    assert answer.message.startswith("acceleration of joint 'turn' in state 1 is beyond")
    answer = call('frame_kinematics', position=rest, velocity=rates, acceleration=rest)
    assert answer.message.startswith('acceleration of component x in state 1 is beyond')


@pytest.mark.parametrize(
    ('name', 'answered'),
    [
        ('inverse_dynamics', 9),  # of the request: it is the longer one
        ('forward_dynamics', 9),
        ('equations_of_motion', 9 + 27 + 9 + 3),
        ('frame_kinematics', 7 + 18 + 54 + 18),
        ('linearize', 27 + 12),
    ],
)
def test_batches_have_a_largest_size(bench, call, name, answered):
    bench.configure(max_batch_size=1000)
    _, fields = SERVICES[name]
    most = 1000 // answered
    for count in (most, most + 1):
        answer = call(name, **{field: [0.1] * (3 * count) for field in fields})
        assert answer.success == (count == most), answer.message
    what = 'request' if answered == 9 else 'answer'
    assert answer.message == (
        f'the {what} would hold {answered * count} numbers, {answered} for each of {count} '
        f'states, expected at most 1000 (parameter max_batch_size): send at most {most} states in '
        f'one request'
    )
    bench.configure()
    assert call(name, **{field: [0.1] * (3 * count) for field in fields}).success


@pytest.mark.parametrize('name', SERVICES)
def test_an_empty_request_is_refused(call, name):
    answer = call(name)
    assert not answer.success
    assert 'position has 0 numbers' in answer.message


def test_unknown_frame_is_refused_by_name(call):
    answer = call('frame_kinematics', frame='crane', position=[0.0, 0.0, 0.0])
    assert not answer.success
    assert 'crane' in answer.message
    assert 'nozzle' in answer.message  # what there is instead


@pytest.mark.parametrize('name', SERVICES)
def test_a_node_that_is_not_configured_says_so(bench, name):
    bench.unconfigure()
    kind, fields = SERVICES[name]
    request = {field: [0.1, 0.2, 0.3] for field in fields}
    answer = bench.client.call(kind, f'dynamics_node/{name}', **request)
    assert not answer.success
    assert 'not configured' in answer.message

# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import expm

from kron_dynamics.control.vibration.lqg import DampingGains, LqrWeights
from kron_dynamics.exceptions import ModelError, NonFiniteError, ParameterError
from kron_dynamics.linearized import LinearizedModel

PERIOD = 0.05
SCALES = LqrWeights(*(np.array([value]) for value in (0.2, 1.5, 0.5, 4.0, 30.0)))


def model(M, D, K, names):
    zero = [np.zeros(len(names)) for _ in range(4)]
    return LinearizedModel(tuple(names), *(np.array(a, dtype=float) for a in (M, D, K)), *zero)


def two_masses(damping=0.05, coupling=1.5, stiffness=16.0):
    M, K = [[5.0, coupling], [coupling, 1.0]], [[0.0, 0.0], [0.0, stiffness]]
    return model(M, [[0.0, 0.0], [0.0, damping]], K, ('hub', 'boom/v1'))


def gains_of(machine, period=PERIOD, scales=SCALES, resolution=0.001):
    n_j = len(scales.effort)
    noise_model = scales.noise_model(machine, np.full(n_j, resolution))
    return DampingGains.of(machine, period, scales, noise_model)


def sampled(machine, n_j=1, period=PERIOD):
    n = machine.n
    inverse = np.linalg.inv(machine.mass)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-inverse @ machine.stiffness, np.zeros((n, n))]])
    A[n:, n:] = -inverse @ machine.damping
    B = np.vstack((np.zeros((n, n_j)), inverse[:, :n_j]))
    both = expm(np.block([[A, B], [np.zeros((n_j, 2 * n + n_j))]]) * period)
    return both[: 2 * n, : 2 * n], both[: 2 * n, 2 * n :]


def test_feedback_is_where_dynamic_programming_settles():
    A, B = sampled(two_masses())
    Q = np.diag(np.array([0.2, 0.5, 1.5, 4.0]) ** -2)
    P, R = Q, np.array([[30.0**-2]])
    for _ in range(2000):
        K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
        P = Q + A.T @ P @ (A - B @ K)
    gains = gains_of(two_masses())
    np.testing.assert_allclose(gains.feedback, np.hstack((K, [[1.0]])), rtol=1e-7)
    expected = np.sort_complex(np.linalg.eigvals(A - B @ K))
    np.testing.assert_allclose(np.sort_complex(gains.regulator_poles), expected, rtol=1e-7)
    np.testing.assert_allclose(gains.transition[:4, :4], A, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(gains.input[:4], B, rtol=1e-9)
    assert gains.transition[4].tolist() == [0.0, 0.0, 0.0, 0.0, 1.0]


def test_units_do_not_change_the_law():
    """The same machine in tonnes and millimetres has the same poles."""
    one = gains_of(two_masses())
    unit = np.array([1e3, 1e-5])  # of the coordinates
    T = np.diag(unit)
    machine = two_masses()
    other = model(*(T @ a @ T for a in (machine.mass, machine.damping, machine.stiffness)), 'ab')
    scales = LqrWeights(
        SCALES.position / unit[0],
        SCALES.rate / unit[0],
        SCALES.deflection / unit[1],
        SCALES.deflection_rate / unit[1],
        SCALES.effort * unit[0],
    )
    two = gains_of(other, scales=scales, resolution=0.001 / unit[0])
    for a, b in (
        (one.regulator_poles, two.regulator_poles),
        (one.filter.poles, two.filter.poles),
    ):
        np.testing.assert_allclose(np.sort_complex(a), np.sort_complex(b), rtol=1e-7)


def test_default_scales_give_a_rigid_joint_its_bandwidth_and_damping():
    """Continuous time: kp = limit / p and kd = sqrt(2 M kp + (limit / v)^2)."""
    rigid = model([[6e8]], [[0.0]], [[0.0]], ['slew'])
    scales = LqrWeights.of(rigid, [5e6], bandwidth=2.0)
    kp = 5e6 / scales.position[0]
    kd = np.sqrt(2.0 * 6e8 * kp + (5e6 / scales.rate[0]) ** 2)
    assert kp == pytest.approx(6e8 * 2.0**2)
    assert kd == pytest.approx(2.0 * np.sqrt(3.0) / 2.0 * 6e8 * 2.0)
    gains = gains_of(rigid, 1e-4, scales, 1e-5)
    np.testing.assert_allclose(gains.feedback, [[kp, kd, 1.0]], rtol=1e-3)


def test_default_bandwidth_is_half_the_clamped_frequency():
    assert LqrWeights.of(two_masses(), [30.0]).position == pytest.approx(
        LqrWeights.of(two_masses(), [30.0], bandwidth=2.0).position
    )


def test_default_scales_hold_the_energy_of_the_joint_coupled_most():
    M = np.array([[6e8, 0.0, 4e6], [0.0, 1e6, 1e4], [4e6, 1e4, 6e4]])
    machine = model(M, np.zeros((3, 3)), np.diag([0.0, 0.0, 1.5e6]), ('slew', 'travel', 'boom/w1'))
    scales = LqrWeights.of(machine, [5e6, 6e5])
    energy = 6e8 * scales.rate[0] ** 2
    assert 1.5e6 * scales.deflection[0] ** 2 == pytest.approx(energy)
    assert 6e4 * scales.deflection_rate[0] ** 2 == pytest.approx(energy)
    assert (np.abs(gains_of(machine, 0.02, scales, 1e-5).regulator_poles) < 1.0).all()


def test_disturbances_are_a_part_of_the_scales():
    found = SCALES.noise_model(two_masses(), [0.001], part=0.1)
    assert found.joint_effort == pytest.approx([3.0])
    assert found.drift == pytest.approx([3.0])
    assert found.modal_force == pytest.approx([0.1 * 16.0 * 0.5])
    assert found.rate_noise is None


@pytest.mark.parametrize('period', [0.001, 0.02, 0.1])
@pytest.mark.parametrize('size', [1e-6, 1.0, 1e9])
@pytest.mark.parametrize('resolution', [1e-9, 1e-2])
def test_gains_are_found_for_machines_of_any_size(period, size, resolution):
    """A size scales inertia, stiffness and effort alike: nothing but efforts may change."""
    one = two_masses()
    machine = model(one.mass * size, one.damping * size, one.stiffness * size, one.joint_names)
    scales = replace(SCALES, effort=SCALES.effort * size)
    gains = gains_of(machine, period, scales, resolution)
    expected = gains_of(one, period, SCALES, resolution)
    np.testing.assert_allclose(gains.feedback[:, :4] / size, expected.feedback[:, :4], rtol=1e-5)
    np.testing.assert_allclose(gains.filter.gain[:4], expected.filter.gain[:4], rtol=1e-5)


@pytest.mark.parametrize(
    ('limit', 'bandwidth', 'message'),
    [
        ([], None, 'effort_limit has 0 values'),
        ([1.0, 1.0, 1.0], None, 'effort_limit has 3 values'),
        ([0.0], None, "effort_limit cannot be used for 'hub'"),
        ([np.inf], None, "effort_limit cannot be used for 'hub'"),
        ([1.0, 1.0], None, 'bandwidth is None'),
        ([1.0], 0.0, 'bandwidth is 0'),
        ([1.0], np.nan, 'bandwidth is nan'),
    ],
)
def test_scales_that_cannot_be_derived(limit, bandwidth, message):
    with pytest.raises(ParameterError, match=message):
        LqrWeights.of(two_masses(), limit, bandwidth=bandwidth)


def test_a_mode_that_nothing_holds_has_no_scale():
    with pytest.raises(ParameterError, match="stiffness of 'boom/v1' is -1"):
        LqrWeights.of(two_masses(stiffness=-1.0), [30.0])


@pytest.mark.parametrize('field', ['position', 'rate', 'deflection', 'deflection_rate', 'effort'])
@pytest.mark.parametrize('value', [0.0, np.nan])
def test_scales_are_checked(field, value):
    wrong = replace(SCALES, **{field: np.array([value])})
    noise_model = SCALES.noise_model(two_masses(), [0.001])
    with pytest.raises(ParameterError, match=f'scale of {field} .*(hub|boom/v1)'):
        DampingGains.of(two_masses(), PERIOD, wrong, noise_model)


def test_errors_of_the_plant_come_through():
    with pytest.raises(ModelError, match='boom/v1'):
        gains_of(two_masses(0.0, 0.0))
    noise_model = SCALES.noise_model(two_masses(), [0.001])
    with pytest.raises(NonFiniteError, match='damping'):
        DampingGains.of(two_masses(np.nan), PERIOD, SCALES, noise_model)
    with pytest.raises(ParameterError, match='resolution'):
        SCALES.noise_model(two_masses(), [0.0])
    with pytest.raises(ParameterError, match='part is -1'):
        SCALES.noise_model(two_masses(), [0.001], part=-1.0)


def test_a_damped_mode_out_of_reach_is_left_alone():
    gains = gains_of(two_masses(0.05, 0.0))
    assert gains.undampable_modes == ('boom/v1',)
    assert gains.feedback[0, 1] == pytest.approx(0.0, abs=1e-9 * gains.feedback[0, 0])

# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The twelve sets of orientation angles, against SciPy and derivatives of rotations."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from public_vectors import cases_of
from scipy.spatial.transform import Rotation

import kron_dynamics as kd
from kron_dynamics.dual import jacobian_of
from kron_dynamics.kernels import KernelCollection
from kron_dynamics.kernels.specification import KernelSpecification
from kron_dynamics.kinematics import (
    ORIENTATION_SETS,
    angle_accelerations,
    angle_rates,
    angles_of_rotation,
    angular_acceleration,
    angular_transfer_matrix,
    angular_transfer_matrix_rate,
    angular_velocity,
    body_angular_velocity,
    distance_to_singularity,
    orientation_angles,
    orientation_axes,
    product_of_exponentials,
    quaternion_of_angles,
    quaternion_of_rotation,
    rotation_of,
    rotation_of_angles,
)
from kron_dynamics.model import load_model

pytestmark = pytest.mark.interpreted

SETS = pytest.mark.parametrize('sequence', ORIENTATION_SETS)
ANGLES, RATES, ACCELERATIONS = [0.4, -0.7, 1.2], [0.3, 1.1, -0.8], [0.5, -0.2, 0.9]
SINGULAR = {True: (0.0, np.pi, -np.pi), False: (np.pi / 2, -np.pi / 2)}


def singular_places(sequence: str) -> tuple[float, ...]:
    return SINGULAR[sequence[0] == sequence[2]]


@pytest.mark.parametrize('case', cases_of('euler'), ids=lambda case: case['id'])
def test_reference_vectors(case: Any, assert_close: Any) -> None:
    """[N] (28)-(45)."""
    given, expected = case['inputs'], case['expected']
    sequence, angles, rates = given['sequence'], given['angles'], given['rates']
    R = rotation_of_angles(angles, sequence)
    assert_close(R, expected['R'], 1e-14)
    assert_close(angular_velocity(angles, rates, sequence), expected['omega'], 1e-14)
    found = angular_acceleration(angles, rates, given['accelerations'], sequence)
    assert_close(found, expected['omega_dot'], 1e-14)
    assert_close(angles_of_rotation(R, sequence), angles, 1e-14)
    assert_close(angle_rates(angles, expected['omega'], sequence), rates, 1e-13)


def test_there_are_twelve_sets_and_their_axes_differ_in_turn() -> None:
    """[N] (29)-(31)."""
    assert len(set(ORIENTATION_SETS)) == 12
    for sequence in ORIENTATION_SETS:
        A, B, C = orientation_axes(sequence).T
        assert [A @ B, B @ C] == [0, 0]
        np.testing.assert_array_equal(A, np.eye(3)['xyz'.index(sequence[0])])
        np.testing.assert_array_equal(C, np.eye(3)['xyz'.index(sequence[2])])


@given(angles=st.tuples(*[st.floats(-7, 7)] * 3))
@SETS
def test_rotations_are_scipys(sequence: str, angles: Any) -> None:
    """[N] (28), (32), (33); the quaternion is SciPy's but for its sign."""
    peer = Rotation.from_euler(sequence.upper(), angles)
    R = rotation_of_angles(angles, sequence)
    np.testing.assert_allclose(R, peer.as_matrix(), atol=1e-14)
    e = quaternion_of_angles(angles, sequence)
    np.testing.assert_allclose(rotation_of(e), R, atol=1e-14)
    found = quaternion_of_rotation(R)
    assert found[3] >= 0
    np.testing.assert_allclose(found * np.sign(found @ e), e, atol=1e-13)
    np.testing.assert_allclose(quaternion_of_rotation(R, e), e, atol=1e-13)
    np.testing.assert_allclose(rotation_of(found), R, atol=1e-14)


@given(angles=st.tuples(*[st.floats(-7, 7)] * 3))
@SETS
def test_angles_of_a_rotation_give_it_again(sequence: str, angles: Any) -> None:
    """[N] (28): SciPy's angles without a reference, those that were given with one nearby."""
    R = rotation_of_angles(angles, sequence)
    distance = distance_to_singularity(angles, sequence)
    near = np.array(angles) + [0.02, -0.03, 0.01]
    found = angles_of_rotation(R, sequence, near)
    np.testing.assert_allclose(rotation_of_angles(found, sequence), R, atol=1e-11)
    if distance is not None and distance > 0.05:
        np.testing.assert_allclose(found, angles, atol=1e-12)
        first = angles_of_rotation(R, sequence)
        peer = Rotation.from_matrix(R).as_euler(sequence.upper())
        turns = np.remainder(first - peer + np.pi, 2 * np.pi) - np.pi
        np.testing.assert_allclose(turns, 0, atol=1e-12)
        np.testing.assert_allclose(first[1], peer[1], atol=1e-12)


@SETS
def test_angular_velocity_is_that_of_the_rotation(
    sequence: str, derivative: Any, assert_close: Any
) -> None:
    """[N] (34)-(45): dR/dt R^T is omega~, and acceleration the rate of omega.

    Components in the body's axes are R^T of these, of the acceleration too.
    """
    start, first, second = map(np.array, (ANGLES, RATES, ACCELERATIONS))

    def moved(t: float) -> tuple[Any, Any]:
        return start + first * t + second * t**2 / 2, first + second * t

    R = rotation_of_angles(start, sequence)
    spin = derivative(lambda t: rotation_of_angles(moved(t)[0], sequence)) @ R.T
    omega = angular_velocity(start, first, sequence)
    assert_close([spin[2, 1], spin[0, 2], spin[1, 0]], omega, 1e-9)
    J = angular_transfer_matrix(start, sequence)
    A, B, C = orientation_axes(sequence).T
    assert_close(J[:, 0], A)
    assert_close(J[:, 2], R @ C, 1e-14)
    assert_close(J.T @ J[:, 0], [1, 0, A @ J[:, 2]], 1e-14)
    assert_close(J @ first, omega, 1e-15)
    exact = derivative(lambda t: angular_transfer_matrix(moved(t)[0], sequence))
    J_dot = angular_transfer_matrix_rate(start, first, sequence)
    assert_close(J_dot, exact, 1e-9)
    np.testing.assert_array_equal(J_dot[:, 0], 0)
    alpha = angular_acceleration(start, first, second, sequence)
    assert_close(alpha, derivative(lambda t: angular_velocity(*moved(t), sequence)), 1e-9)

    def own(t: float) -> Any:
        angles, rates = moved(t)
        return rotation_of_angles(angles, sequence).T @ angular_velocity(angles, rates, sequence)

    assert_close(R.T @ alpha, derivative(own), 1e-9)
    assert_close(angle_rates(start, omega, sequence), first, 1e-13)
    assert_close(angle_accelerations(start, first, alpha, sequence), second, 1e-13)
    # Quaternions tell the same.
    e, slope = jacobian_of(lambda x: quaternion_of_angles(x, sequence), start)
    assert_close(R @ body_angular_velocity(e, slope @ first), omega, 1e-13)


@SETS
def test_singularities_are_told(sequence: str) -> None:
    """[N] (35) cannot be solved there, and of (28) only alpha and gamma together."""
    for place in singular_places(sequence):
        for away in (0.0, 3e-7, -3e-7):
            angles = [0.3, place + away, -1.1]
            with pytest.raises(kd.SingularOrientationError) as caught:
                angle_rates(angles, RATES, sequence)
            error = caught.value
            assert (error.sequence, error.angle) == (sequence, place + away)
            assert error.distance == pytest.approx(abs(away), abs=1e-15)
            assert f"'{sequence}'" in str(error) and '\n' not in str(error)
            with pytest.raises(kd.SingularOrientationError):
                angle_accelerations(angles, RATES, RATES, sequence)
        near = [0.3, place + 2e-3, -1.1]
        assert distance_to_singularity(near, sequence) == pytest.approx(2e-3)
        omega = angular_velocity(near, RATES, sequence)
        np.testing.assert_allclose(angle_rates(near, omega, sequence), RATES, atol=1e-11)
        with pytest.raises(kd.SingularOrientationError, match='expected at least 0.01'):
            angle_rates(near, omega, sequence, least_distance=0.01)
        exact = rotation_of_angles([0.0, round(2 * place / np.pi) * np.pi / 2, 0.0], sequence)
        with pytest.raises(kd.SingularOrientationError):
            angles_of_rotation(np.round(exact), sequence)
    assert distance_to_singularity([0, sympy.Symbol('b'), 0], sequence) is None
    for nowhere in (np.nan, np.inf, -np.inf):
        assert np.isnan(distance_to_singularity([0, nowhere, 0], sequence))


@SETS
def test_angles_that_only_rounding_determines_are_singular(sequence: str) -> None:
    """In a matrix with six digits, angles as near to a singularity as its error of 5e-7."""
    for place, away in itertools.product(singular_places(sequence), (8e-7, 1.6e-6, 0.02)):
        angles = np.array([0.7, place + away, 2.3])
        written = np.round(rotation_of_angles(angles, sequence), 6)
        error = abs(written.T @ written - np.eye(3)).max()
        near = angles_of_rotation(written, sequence, angles)
        np.testing.assert_allclose(rotation_of_angles(near, sequence), written, atol=5 * error)
        np.testing.assert_allclose(near, angles, atol=5e-6 if away < 1e-3 else 1e-4)
        if away < 1e-3:
            with pytest.raises(kd.SingularOrientationError):
                angles_of_rotation(written, sequence)
        else:
            angles_of_rotation(written, sequence)


def test_digits_that_fit_each_other_by_chance_are_rounding_all_the_same() -> None:
    """Of six digits, which leave the angles nearest to a singularity with an error of 0.2 rad."""
    draw = np.random.default_rng(3)
    for first, third in draw.uniform(-3.0, 3.0, (60, 2)):
        exact = rotation_of_angles([first, 1e-6, third], 'zxz')
        with pytest.raises(kd.SingularOrientationError):
            angles_of_rotation(np.round(exact, 6), 'zxz')
        np.testing.assert_allclose(
            angles_of_rotation(exact, 'zxz'), [first, 1e-6, third], atol=1e-9
        )

    def turned(angle: float) -> np.ndarray:
        return np.array([[1.0, 0.0, 0.0], [0.0, 1.0, -angle], [0.0, angle, 1.0]])

    with pytest.raises(kd.SingularOrientationError):
        angles_of_rotation(turned(1e-6), 'zxz')
    # The cosine of this angle is 1.
    np.testing.assert_allclose(angles_of_rotation(turned(1e-8), 'zxz'), [0.0, 1e-8, 0.0])


def test_the_error_survives_pickling() -> None:
    error = kd.SingularOrientationError('zyx', 1.5, 0.01, 0.1)
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert (again.sequence, again.distance, again.least) == ('zyx', 0.01, 0.1)


@SETS
def test_angles_go_on_through_singularities(sequence: str) -> None:
    """[N] (28): along a motion through one each angle stays beside the one before."""
    for place in singular_places(sequence):
        near = np.array([0.3, place - 0.1, -2.0])
        for t in np.linspace(-0.1, 0.1, 41):  # t = 0 is among them
            angles = [0.3 + 0.2 * t, place + t, -2.0 - 0.5 * t]
            R = rotation_of_angles(angles, sequence)
            found = angles_of_rotation(R, sequence, near)
            np.testing.assert_allclose(found, angles, atol=0.01)
            np.testing.assert_allclose(rotation_of_angles(found, sequence), R, atol=1e-11)
            near = found
        # There, of all angles of the same rotation, the nearest are found.
        R = rotation_of_angles([0.3, place, -2.0], sequence)
        found = angles_of_rotation(R, sequence, [0.7, place, -2.0])
        np.testing.assert_allclose(np.abs(found - [0.7, place, -2.0]), [0.2, 0, 0.2], atol=1e-9)


def test_orientation_of_links(model: Any, state: Any, assert_close: Any) -> None:
    """[N] (27), and (33): the angles are those of the product of the joints' exponentials."""
    for link in model.link_names:
        R = product_of_exponentials(model, state.q, link)[:3, :3]
        for sequence in ('zyx', 'zxz'):
            angles = orientation_angles(model, state.q, link, sequence, reference=[0.1, 0.2, 0.3])
            assert_close(rotation_of_angles(angles, sequence), R, 1e-11)


@pytest.mark.parametrize('sequence', ['zyx', 'zxz'])
def test_float_is_sympy_is_traced(sequence: str, robot_text: Any, assert_close: Any) -> None:
    def together(_: Any, x: Any) -> Any:
        angles, rates = x[:3], x[3:]
        parts = [
            rotation_of_angles(angles, sequence),
            quaternion_of_angles(angles, sequence),
            angular_acceleration(angles, rates, rates, sequence),
            angle_accelerations(angles, rates, rates, sequence),
        ]
        return np.concatenate([part.reshape(-1) for part in parts])

    x = np.array([*ANGLES, *RATES])
    expected = together(None, x)
    symbols = np.array(sympy.symbols('x:6'), dtype=object)
    evaluate = sympy.lambdify(list(symbols), list(together(None, symbols)), cse=True)
    assert_close(evaluate(*x), expected, 1e-13)
    kernels = KernelCollection(load_model(robot_text('planar_2r')))
    kernel = kernels.get(KernelSpecification(f'together_{sequence}', [('x', 6)], together))
    assert_close(kernel(x), expected, 1e-13)


def test_wrong_arguments_are_named(robot_text: Any) -> None:
    with pytest.raises(kd.ParameterError, match=r"sequence is 'xxy', expected one of xyz, xzy"):
        rotation_of_angles(ANGLES, 'xxy')
    with pytest.raises(kd.ParameterError, match='sequence is a <U3 array'):
        rotation_of_angles(ANGLES, np.array(['xyz', 'zyx']))
    for wrong in (0.0, -1.0, np.nan):
        with pytest.raises(kd.ParameterError, match='least_distance is'):
            angle_rates(ANGLES, RATES, 'zyx', least_distance=wrong)
    with pytest.raises(kd.ArgumentTypeError, match="least_distance is or holds 'a'"):
        angle_rates(ANGLES, RATES, 'zyx', least_distance='a')
    with pytest.raises(kd.ParameterError, match="sequence is 'ZYX'"):
        angles_of_rotation(np.eye(3), 'ZYX')
    with pytest.raises(kd.ShapeError, match='angles has shape'):
        angular_velocity([0.1, 0.2], RATES, 'zyx')
    with pytest.raises(kd.ShapeError, match=r'rotation has shape \(2, 2\)'):
        angles_of_rotation(np.eye(2), 'zyx')
    with pytest.raises(kd.ShapeError, match=r'reference has shape \(2,\)'):
        angles_of_rotation(np.eye(3), 'zyx', [0.1, 0.2])
    with pytest.raises(kd.ShapeError, match=r'reference has shape \(3,\)'):
        quaternion_of_rotation(np.eye(3), ANGLES)
    for wrong in (2 * np.eye(3), np.diag([1.0, 1.0, -1.0])):
        with pytest.raises(kd.ParameterError, match='rotation is no rotation'):
            quaternion_of_rotation(wrong)
    with pytest.raises(kd.NonFiniteError, match='rotation'):
        angles_of_rotation(np.full((3, 3), np.nan), 'zyx')
    model = load_model(robot_text('rrp'))
    with pytest.raises(kd.UnknownFrameError, match="link 'nose' does not exist"):
        orientation_angles(model, np.zeros(model.n), 'nose', 'zyx')

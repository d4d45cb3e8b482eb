# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Motion of any link seen from any other, in the axes of any third."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from kron_dynamics import kinematics
from kron_dynamics.kinematics import (
    jacobian,
    kinematic_hessian,
    relative_hessian,
    relative_jacobian,
    relative_jacobian_derivative,
    relative_pose,
    rotation_between,
)
from kron_dynamics.kronecker import block_skew, commutation_matrix, contract, skew

RATES = ('velocity', 'acceleration', 'jerk')
# A point of the link c, in its frame.
POINT = np.array([0.3, -0.2, 0.5])


def pick(data: Any, model: Any, count: int) -> list[str]:
    return [data.draw(st.sampled_from(model.link_names)) for _ in range(count)]


@given(data=st.data())
def test_relative_jacobian_is_the_derivative_of_the_relative_pose(
    data: Any, random_robots: Any, derivative: Any, assert_close: Any
) -> None:
    """[T] (20), (21), (29), (68)-(70): omega~ = Adot A^T, and A^T Adot in the axes of c."""
    model, s = data.draw(random_robots)
    c, a = pick(data, model, 2)
    J, J_c = (relative_jacobian(model, s.q, c, a, axes) for axes in (a, c))
    position = derivative(lambda q: relative_pose(model, q, c, a)[:3, 3], s.q)
    assert_close(J[:3], position, 1e-9, floor=1.0)
    A = relative_pose(model, s.q, c, a)[:3, :3]
    turning = derivative(lambda q: relative_pose(model, q, c, a)[:3, :3], s.q)  # (3, 3, n)
    for k in range(model.n):
        assert_close(skew(J[3:, k]), turning[:, :, k] @ A.T, 1e-9, floor=1.0)
        assert_close(skew(J_c[3:, k]), A.T @ turning[:, :, k], 1e-9, floor=1.0)


@given(data=st.data())
def test_relative_hessians_are_derivatives_in_khangs_layout(
    data: Any, random_robots: Any, derivative: Any, assert_close: Any
) -> None:
    """[T] (51), (53), (57), (58), (60), (61)."""
    model, s = data.draw(random_robots)
    n = model.n
    c, a, k = pick(data, model, 3)
    seen = derivative(lambda q: relative_jacobian(model, q, c, a), s.q).reshape(6, n * n)
    assert_close(relative_hessian(model, s.q, c, a), seen, 1e-9, floor=1.0)
    A = rotation_between(model, s.q, k, a)
    assert_close(relative_hessian(model, s.q, c, a, k)[:3], A @ seen[:3], 1e-9, floor=1.0)
    written = derivative(lambda q: relative_jacobian(model, q, c, a, k), s.q).reshape(6, n * n)
    dJ = relative_jacobian_derivative(model, s.q, c, a, k)
    assert_close(dJ, written, 1e-9, floor=1.0)
    # [T] (57): H_T^(a) = A H_T^(b) + dA/dq (J_T^(b) (x) E_n).
    turning = derivative(lambda q: rotation_between(model, q, a, k), s.q).reshape(3, 3 * n)
    spread = np.kron(relative_jacobian(model, s.q, c, a, k)[:3], np.eye(n))
    assert_close(A.T @ dJ[:3] + turning @ spread, seen[:3], 1e-9, floor=1.0)


@given(data=st.data())
def test_seen_from_the_base_it_is_the_absolute_motion(
    data: Any, random_robots: Any, assert_close: Any
) -> None:
    model, s = data.draw(random_robots)
    (c,) = pick(data, model, 1)
    base = model.root_link
    pose = kinematics.forward_kinematics(model, s.q, c)
    assert_close(relative_pose(model, s.q, c, base), pose, 1e-13, floor=1.0)
    assert_close(relative_jacobian(model, s.q, c, base), jacobian(model, s.q, c), 1e-13, floor=1.0)
    H = kinematic_hessian(model, s.q, c)
    assert_close(relative_hessian(model, s.q, c, base), H, 1e-13, floor=1.0)


def test_a_link_does_not_move_seen_from_itself(model: Any, state: Any) -> None:
    for link in model.link_names:
        np.testing.assert_allclose(
            relative_pose(model, state.q, link, link), np.eye(4), atol=1e-15
        )
        assert not relative_jacobian(model, state.q, link, link).any()
        assert not relative_hessian(model, state.q, link, link).any()


def test_joints_that_link_and_reference_share_do_not_matter(robot_text: Any, rng: Any) -> None:
    from kron_dynamics.model import load_model

    model = load_model(robot_text('spatial_3r'))
    q = rng.uniform(-1, 1, model.n)
    tip, first = model.tip_link, model.bodies[0].links[0]
    moved = q + np.array([0.7, 0.0, 0.0])
    for quantity in (relative_pose, relative_jacobian, relative_hessian):
        np.testing.assert_allclose(
            quantity(model, q, tip, first), quantity(model, moved, tip, first), atol=1e-14
        )


@given(data=st.data())
def test_recursions_of_tuan_as_matrices(data: Any, random_robots: Any, assert_close: Any) -> None:
    """[T] (77), (78) and, exact as matrices, (86), (87), with b any link of the tree."""
    model, s = data.draw(random_robots)
    c, b, a = *pick(data, model, 2), model.root_link
    n, K = model.n, commutation_matrix(model.n)
    E, EE = np.eye(n), np.eye(n * n)
    J_b, J_c = (relative_jacobian(model, s.q, x, a) for x in (b, c))
    H_b, H_c = (relative_hessian(model, s.q, x, a) for x in (b, c))
    A = rotation_between(model, s.q, a, b)
    d = A @ relative_pose(model, s.q, c, b)[:3, 3]
    bJ = relative_jacobian(model, s.q, c, b, a)
    bH = relative_hessian(model, s.q, c, b, a)
    turning = block_skew(J_b[3:])
    assert_close(J_c[:3], J_b[:3] - skew(d) @ J_b[3:] + bJ[:3], 1e-12, floor=1.0)
    assert_close(J_c[3:], J_b[3:] + bJ[3:], 1e-12, floor=1.0)
    twice = turning @ np.kron(turning, E) @ np.kron(d[:, None], EE) @ K
    coupling = turning @ np.kron(bJ[:3], E) @ (EE + K)
    assert_close(H_c[:3], H_b[:3] - skew(d) @ H_b[3:] + coupling + twice + bH[:3], 1e-12, 1.0)
    assert_close(H_c[3:], H_b[3:] + bH[3:] + turning @ np.kron(bJ[3:], E), 1e-12, floor=1.0)


def in_axes_of_c(model: Any, q: np.ndarray, c: str, b: str, a: str) -> SimpleNamespace:
    """What [T] (80)-(82) and (89)-(91) are made of: components in the axes of c."""
    n = model.n
    E, EE, K = np.eye(n), np.eye(n * n), commutation_matrix(n)
    A = rotation_between(model, q, c, b)
    d = rotation_between(model, q, c, b) @ relative_pose(model, q, c, b)[:3, 3]
    J_b, bJ = relative_jacobian(model, q, b, a, b), relative_jacobian(model, q, c, b, c)
    H_b, bH = relative_hessian(model, q, b, a, b), relative_hessian(model, q, c, b, c)
    P = block_skew(A @ J_b[3:])
    J_c = relative_jacobian(model, q, c, a, c)
    bs = block_skew(J_c[3:])
    H_Rb_b = relative_jacobian_derivative(model, q, b, a, b)[3:]
    return SimpleNamespace(
        E=E,
        K=K,
        J_T=A @ J_b[:3] - A @ skew(A.T @ d) @ J_b[3:] + bJ[:3],
        J_R=A @ J_b[3:] + bJ[3:],
        rest_89=A @ H_b[:3] - skew(d) @ A @ H_Rb_b + bH[:3],
        coriolis_89=P @ np.kron(bJ[:3], E),
        centripetal_89=P @ np.kron(P, E) @ np.kron(d[:, None], EE),
        rest_90=A @ H_Rb_b + relative_jacobian_derivative(model, q, c, b, c)[3:],
        coriolis_90=P @ np.kron(bJ[3:], E),
        centripetal_91=bs @ np.kron(bs, E) @ np.kron(POINT[:, None], EE),
        J_c=J_c,
        H_star=relative_hessian(model, q, c, a, c),
        H_R=relative_jacobian_derivative(model, q, c, a, c)[3:],
        J_TG=relative_jacobian(model, q, c, a, c, POINT)[:3],
        H_star_TG=relative_hessian(model, q, c, a, c, POINT)[:3],
    )


@given(data=st.data())
def test_recursions_of_tuan_in_the_axes_of_the_link(
    data: Any, random_robots: Any, assert_close: Any
) -> None:
    """[T] (80)-(82) and, made exact as matrices, (89)-(91), with a and b any links of the tree."""
    model, s = data.draw(random_robots)
    c, b, a = pick(data, model, 3)
    m = in_axes_of_c(model, s.q, c, b, a)
    EE = np.eye(model.n**2)
    assert_close(m.J_T, m.J_c[:3], 1e-12, floor=1.0)
    assert_close(m.J_R, m.J_c[3:], 1e-12, floor=1.0)
    assert_close(m.J_TG, m.J_c[:3] - skew(POINT) @ m.J_c[3:], 1e-12, floor=1.0)
    form_89 = m.rest_89 + m.coriolis_89 @ (EE + m.K) + m.centripetal_89
    assert_close(form_89, m.H_star[:3], 1e-12, floor=1.0)
    assert_close(m.rest_90 + m.coriolis_90 @ m.K, m.H_R, 1e-12, floor=1.0)
    form_91 = m.H_star[:3] - skew(POINT) @ m.H_R + m.centripetal_91
    assert_close(form_91, m.H_star_TG, 1e-12, floor=1.0)
    # As printed: true times (qd (x) qd).
    printed = m.rest_89 + 2 * m.coriolis_89 + m.centripetal_89
    accelerations = (
        (printed, m.H_star[:3]),
        (m.rest_90 + m.coriolis_90, m.H_R),
        (form_91, m.H_star_TG),
    )
    for form, H in accelerations:
        assert_close(contract(form, s.qd, s.qd), contract(H, s.qd, s.qd), 1e-12, floor=1.0)


@pytest.fixture(scope='module')
def spatial(robot_text: Any) -> SimpleNamespace:
    """[T] (86)-(91) where no term is zero: a the base, b behind two joints, c behind three."""
    from kron_dynamics.model import load_model

    model = load_model(robot_text('spatial_3r'))
    q, n = np.array([0.4, -0.7, 1.1]), 3
    E, EE = np.eye(n), np.eye(n * n)
    c, b, a = 'tool', 'arm', 'base'
    m = in_axes_of_c(model, q, c, b, a)
    A_b, A_c = (rotation_between(model, q, a, link) for link in (b, c))
    d, p = A_b @ relative_pose(model, q, c, b)[:3, 3], A_c @ POINT
    bs_b, bs_c = (block_skew(relative_jacobian(model, q, link, a)[3:]) for link in (b, c))
    m.centripetal_86 = bs_b @ np.kron(bs_b, E) @ np.kron(d[:, None], EE)
    m.coriolis_86 = bs_b @ np.kron(relative_jacobian(model, q, c, b, a)[:3], E)
    m.coriolis_87 = bs_b @ np.kron(relative_jacobian(model, q, c, b, a)[3:], E)
    m.centripetal_88 = bs_c @ np.kron(bs_c, E) @ np.kron(p[:, None], EE)
    H_b, H_c = (relative_hessian(model, q, link, a) for link in (b, c))
    bH = relative_hessian(model, q, c, b, a)
    m.rest_86, m.rest_87 = H_b[:3] - skew(d) @ H_b[3:] + bH[:3], H_b[3:] + bH[3:]
    m.rest_88 = H_c[:3] - skew(p) @ H_c[3:]
    m.H_c, m.H_TG = H_c, relative_hessian(model, q, c, a, point=POINT)[:3]
    return m


# Equation: the term that may need K, the rest, the Hessian, and whether it does.
PERMUTED: dict[str, tuple[Callable[[Any], tuple[Any, Any, Any]], bool]] = {
    '(86) centripetal': (
        lambda m: (m.centripetal_86, m.rest_86 + m.coriolis_86 @ (np.eye(9) + m.K), m.H_c[:3]),
        True,
    ),
    '(87)': (lambda m: (m.coriolis_87, m.rest_87, m.H_c[3:]), False),
    '(88)': (lambda m: (m.centripetal_88, m.rest_88, m.H_TG), True),
    '(89) centripetal': (
        lambda m: (
            m.centripetal_89,
            m.rest_89 + m.coriolis_89 @ (np.eye(9) + m.K),
            m.H_star[:3],
        ),
        False,
    ),
    '(90)': (lambda m: (m.coriolis_90, m.rest_90, m.H_R), True),
    '(91)': (
        lambda m: (m.centripetal_91, m.H_star[:3] - skew(POINT) @ m.H_R, m.H_star_TG),
        False,
    ),
}


@pytest.mark.parametrize('equation', PERMUTED)
def test_permutation_belongs_to_some_of_tuans_terms(equation: str, spatial: Any) -> None:
    """[T] (86)-(91) as matrices: with K or without, never both."""
    parts, permuted = PERMUTED[equation]
    term, rest, H = parts(spatial)
    errors = {
        True: np.abs(rest + term @ spatial.K - H).max(),
        False: np.abs(rest + term - H).max(),
    }
    assert errors[permuted] < 1e-14
    assert errors[not permuted] > 0.05


@pytest.mark.parametrize('factor', ['(86)', '(89)'])
def test_two_is_no_factor_of_the_matrices(factor: str, spatial: Any) -> None:
    """[T] (86), (89): 2 bs(J_R)(J_T (x) E) is right times (qd (x) qd) and not as a matrix."""
    term = spatial.coriolis_86 if factor == '(86)' else spatial.coriolis_89
    assert np.abs(term @ spatial.K - term).max() > 0.05


@given(data=st.data())
def test_point_on_a_body_as_matrices(data: Any, random_robots: Any, assert_close: Any) -> None:
    """[T] (45), (79) and (88) with the commutation matrix."""
    model, s = data.draw(random_robots)
    (link,) = pick(data, model, 1)
    p = kinematics.forward_kinematics(model, s.q, link)[:3, :3] @ POINT
    n = model.n
    J, H = jacobian(model, s.q, link), kinematic_hessian(model, s.q, link)
    E, EE, K = np.eye(n), np.eye(n * n), commutation_matrix(n)
    bs = block_skew(J[3:])
    assert_close(jacobian(model, s.q, link, POINT)[:3], J[:3] - skew(p) @ J[3:], 1e-13, floor=1.0)
    expected = H[:3] - skew(p) @ H[3:] + bs @ np.kron(bs, E) @ np.kron(p[:, None], EE) @ K
    H_TG = kinematics.translational_hessian(model, s.q, link, POINT)
    assert_close(H_TG, expected, 1e-12, floor=1.0)
    assert_close(H_TG @ K, H_TG, 1e-13, floor=1.0)  # symmetric: second derivatives of a point


@given(data=st.data())
def test_motions_of_two_frames_add_up(data: Any, random_robots: Any, assert_close: Any) -> None:
    """[T] (23), (24), (71)-(76) and (83)-(85): c seen from b, and b seen from a."""
    model, s = data.draw(random_robots)
    c, b, a = pick(data, model, 3)
    q, qd, qdd = s.q, s.qd, s.qdd
    pose = relative_pose(model, q, b, a) @ relative_pose(model, q, c, b)
    assert_close(relative_pose(model, q, c, a), pose, 1e-13, floor=1.0)
    A_b, A_c = (rotation_between(model, q, a, link) for link in (b, c))
    assert_close(A_b.T, rotation_between(model, q, b, a), 1e-14)
    d, p = A_b @ relative_pose(model, q, c, b)[:3, 3], A_c @ POINT
    place = relative_pose(model, q, c, a) @ [*POINT, 1.0]
    assert_close(place[:3], pose[:3, 3] + A_b @ rotation_between(model, q, b, c) @ POINT, 1e-13, 1)

    def motion(link: str, reference: str, point: Any = None) -> tuple[Any, Any, Any, Any]:
        J = relative_jacobian(model, q, link, reference, a, point)
        H = relative_hessian(model, q, link, reference, a, point)
        return (*np.split(J @ qd, 2), *np.split(J @ qdd + contract(H, qd, qd), 2))

    v_b, w_b, a_b, alpha_b = motion(b, a)
    bv, bw, ba, balpha = motion(c, b)
    v_c, w_c, a_c, alpha_c = motion(c, a)
    v_G, _, a_G, _ = motion(c, a, POINT)
    cross = np.cross
    assert_close(v_c, v_b + cross(w_b, d) + bv, 1e-12, floor=1.0)
    assert_close(w_c, w_b + bw, 1e-12, floor=1.0)
    assert_close(v_G, v_c + cross(w_c, p), 1e-12, floor=1.0)
    turning = cross(alpha_b, d) + 2 * cross(w_b, bv) + cross(w_b, cross(w_b, d))
    assert_close(a_c, a_b + turning + ba, 1e-12, floor=1.0)
    assert_close(alpha_c, alpha_b + balpha + cross(w_b, bw), 1e-12, floor=1.0)
    assert_close(a_G, a_c + cross(alpha_c, p) + cross(w_c, cross(w_c, p)), 1e-12, floor=1.0)


@given(data=st.data())
def test_point_of_a_link_in_any_axes(
    data: Any, random_robots: Any, derivative: Any, assert_close: Any
) -> None:
    """J_TG and H_TG in any axes are derivatives of the point and give its motion.

    [T] (30)-(34), (41)-(48), (66), (67), (70).
    """
    model, s = data.draw(random_robots)
    n, point = model.n, np.array([0.3, -0.2, 0.5])
    c, a, k = pick(data, model, 3)

    def place(q: np.ndarray) -> np.ndarray:
        pose = relative_pose(model, q, c, a)
        return pose[:3, 3] + pose[:3, :3] @ point

    J = relative_jacobian(model, s.q, c, a, point=point)
    assert_close(J[:3], derivative(place, s.q), 1e-9, floor=1.0)
    A = rotation_between(model, s.q, k, a)
    assert_close(relative_jacobian(model, s.q, c, a, k, point)[:3], A @ J[:3], 1e-13, floor=1.0)
    assert_close(relative_jacobian(model, s.q, c, a, k)[3:], A @ J[3:], 1e-13, floor=1.0)
    h = 1e-3
    at = [place(s.q + s.qd * t + s.qdd * t**2 / 2) for t in (-2 * h, -h, 0.0, h, 2 * h)]
    velocity = np.tensordot([1, -8, 0, 8, -1], at, 1) / (12 * h)
    acceleration = np.tensordot([-1, 16, -30, 16, -1], at, 1) / (12 * h**2)
    assert_close(J[:3] @ s.qd, velocity, 1e-9, floor=1.0)
    seen = derivative(lambda q: relative_jacobian(model, q, c, a, point=point), s.q)
    H = relative_hessian(model, s.q, c, a, point=point)
    assert_close(H, seen.reshape(6, n * n), 1e-9, floor=1.0)
    rate = J[:3] @ s.qdd + contract(H[:3], s.qd, s.qd)
    assert_close(rate, acceleration, 1e-7, floor=1.0)
    written = derivative(lambda q: relative_jacobian(model, q, c, a, k, point), s.q)
    dJ = relative_jacobian_derivative(model, s.q, c, a, k, point)
    assert_close(dJ, written.reshape(6, n * n), 1e-9, floor=1.0)


def test_body_axes_hessian_of_velocity_is_not_that_of_acceleration(
    model: Any, state: Any, assert_close: Any
) -> None:
    """[T] (54)-(56), (58), (59), (62)-(65): d(v^(b))/dt is not a^(b), which H*_T gives."""
    base, tip = model.root_link, model.tip_link
    A = rotation_between(model, state.q, tip, base)
    q, qd, qdd = state.q, state.qd, state.qdd
    a = A @ kinematics.frame_acceleration(model, q, qd, qdd, tip)[:3]
    J = relative_jacobian(model, q, tip, base, tip)
    H_star = relative_hessian(model, q, tip, base, tip)
    H_body = relative_jacobian_derivative(model, q, tip, base, tip)
    assert_close(J[:3] @ qdd + contract(H_star[:3], qd, qd), a, 1e-12)
    # The angular rows give one angular acceleration although the matrices differ.
    alpha = contract(H_body[3:], qd, qd)
    assert_close(contract(H_star[3:], qd, qd), alpha, 1e-12, floor=1.0)
    omega, v = J[3:] @ qd, J[:3] @ qd
    rate = J[:3] @ qdd + contract(H_body[:3], qd, qd)
    assert_close(a - rate, np.cross(omega, v), 1e-12, floor=1.0)
    if np.linalg.norm(np.cross(omega, v)) > 1e-3:
        assert np.abs(H_star - H_body).max() > 1e-3


@pytest.mark.parametrize('quantity', RATES)
def test_a_motion_is_seen_in_the_axes_of_the_reference_unless_others_are_named(
    model: Any, state: Any, quantity: str, assert_close: Any
) -> None:
    function = getattr(kinematics, f'relative_{quantity}')
    rates = [state.qd, state.qdd, state.qddd][: RATES.index(quantity) + 1]
    a, c = model.link_names[1], model.tip_link
    expected = function(model, state.q, *rates, c, a, a)
    assert_close(function(model, state.q, *rates, c, a), expected, floor=1.0)


def test_symbolic_numbers_give_the_same(model: Any, state: Any, assert_close: Any) -> None:
    q = np.array([sympy.Float(x, 20) for x in state.q])
    a, c = model.link_names[1], model.tip_link
    for function in (relative_pose, relative_jacobian):
        assert_close(function(model, q, c, a), function(model, state.q, c, a), 1e-12, floor=1.0)


def test_unknown_links_are_named(model: Any, state: Any) -> None:
    from kron_dynamics import UnknownFrameError

    for arguments in (('nowhere', model.root_link), (model.root_link, 'nowhere')):
        with pytest.raises(UnknownFrameError, match='nowhere'):
            relative_jacobian(model, state.q, *arguments)

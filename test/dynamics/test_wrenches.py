# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Many wrenches at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from public_vectors import cases_of

import kron_dynamics as kd
from kron_dynamics.dynamics import (
    Wrench,
    external_wrench,
    inverse_dynamics,
    joint_reactions,
    wrench_forces,
)
from kron_dynamics.kinematics.forward import body_placements
from kron_dynamics.model import load_model


@pytest.mark.parametrize('case', cases_of('external_wrench'), ids=lambda case: case['id'])
def test_reference_vectors(case: Any, assert_close: Any) -> None:
    """[P] (28), (31): body axes, the force at the mass centre."""
    inputs, expected = case['inputs'], case['expected']
    model = load_model(inputs['urdf'], gravity=inputs['gravity'], joints=inputs['joint_order'])
    q, qd, qdd = (np.array(inputs['state'][key]) for key in ('q', 'qd', 'qdd'))
    wrench = Wrench(inputs['link'], inputs['force_body'], inputs['moment_body'])
    f = wrench_forces(model, q, [wrench])
    assert_close(f, expected['f_ext'], 1e-12)
    assert_close(inverse_dynamics(model, q, qd, qdd) - f, expected['tau_actuator'], 1e-12)


@given(data=st.data())
def test_many_are_the_sum_of_each(data: Any, random_robots: Any, assert_close: Any) -> None:
    """On any links, those of the base and two on one included, at any point and in any axes."""
    model, s = data.draw(random_robots)
    names = list(model.frames)
    rng = np.random.default_rng(data.draw(st.integers(0, 2**16)))
    wrenches = [
        Wrench(name, *rng.normal(size=(3, 3)), axes=axes)
        for name in [*names, names[-1]]
        for axes in (None, names[int(rng.integers(len(names)))])
    ]
    each = [
        external_wrench(model, s.q, w.link, w.force, w.moment, w.point, w.axes) for w in wrenches
    ]
    assert_close(wrench_forces(model, s.q, wrenches), sum(each), 1e-11, floor=1.0)


def test_the_mass_centre_is_that_of_the_link_alone(robot_text: Any, assert_close: Any) -> None:
    (case,) = cases_of('external_wrench')
    model = load_model(case['inputs']['urdf'], joints=case['inputs']['joint_order'])
    q, force = case['inputs']['state']['q'], [3.0, -2.0, 5.0]
    # The camera is fixed on l3; places are those of their <inertial>.
    for link, place in (('l3', (-0.097, 0.018, -0.016)), ('camera', (-0.016, -0.132, -0.097))):
        expected = external_wrench(model, q, link, force, np.zeros(3), place)
        assert_close(wrench_forces(model, q, [Wrench(link, force)]), expected, 1e-12)


def test_none_are_no_force(model: Any, state: Any) -> None:
    assert wrench_forces(model, state.q, []).tolist() == [0.0] * model.n


def test_what_is_no_wrench_is_refused(model: Any, state: Any) -> None:
    with pytest.raises(kd.ArgumentTypeError, match="wrenches hold 'tip', expected a Wrench"):
        wrench_forces(model, state.q, ['tip'])  # type: ignore[list-item]
    with pytest.raises(kd.UnknownFrameError, match="link 'nowhere' does not exist"):
        wrench_forces(model, state.q, [Wrench('nowhere', np.zeros(3))])


@pytest.mark.parametrize('name', ['gripper', 'screws'])
def test_reactions_along_the_axes_are_the_efforts(
    name: str, robot_text: Any, rng: np.random.Generator, assert_close: Any
) -> None:
    """Of joints that mimic others and of screws, too; less the efforts of the rotors."""
    model = load_model(robot_text(name))
    q, qd, qdd = rng.normal(size=(3, model.n))
    wrenches = [Wrench(model.tip_link, (1.0, -2.0, 3.0), (0.5, 0.0, -1.0))]
    rows = joint_reactions(model, q, qd, qdd, wrenches)
    tau = model.armature * qdd
    bodies = body_placements(model, q)
    for joint, placed, row in zip(model.joints, bodies, rows, strict=False):
        axis = np.asarray(placed.rotation @ joint.axis)
        turns, slides = placed.angular_axis @ placed.angular_axis > 0.0, joint.pitch
        moved = row[3:] @ axis + slides * row[:3] @ axis if turns else row[:3] @ axis
        tau[joint.coordinate] += joint.multiplier * moved
    expected = inverse_dynamics(model, q, qd, qdd) - wrench_forces(model, q, wrenches)
    assert_close(tau, expected, 1e-11, floor=1e-9)

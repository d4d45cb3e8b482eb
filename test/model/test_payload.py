# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Point masses on links, against the same masses written into the URDF and against J^T m J."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kron_dynamics import InvalidInertiaError, ModelError, dynamics, kinematics, loads
from kron_dynamics.flexible import load_flexible_model
from kron_dynamics.model import RobotModel, load_model
from kron_dynamics.model.findings import Findings
from kron_dynamics.model.payload import RigidPayload, look_at_payload

STACKER = (Path(__file__).parents[2] / 'urdf' / 'stacker_reclaimer.urdf').read_text('utf-8')
BOOM = {
    'length': 60.0,
    'mass_per_length': 2750.0,
    'bending_stiffness': {'v': 3.2e11, 'w': 1.8e11},
    'modes': {'v': 2, 'w': 1},
    # Shapes of what the boom carries would change with the payload, and M with them.
    'mode_shapes': 'clamped_free',
}
POINT = 'ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"'


def rigid(**options: Any) -> RobotModel:
    return load_model(STACKER, **options)


def flexible(**options: Any) -> RobotModel:
    return load_flexible_model(STACKER, {'flexible_links': {'boom': BOOM}}, **options)


def state(model: RobotModel, rng: np.random.Generator) -> np.ndarray:
    """A pose in which the boom is level enough, bent by centimetres."""
    q = rng.uniform(-0.1, 0.1, model.n)
    q[1] = 0.7
    return q


@pytest.mark.parametrize('make', [rigid, flexible])
@pytest.mark.parametrize('link', ['bucket_wheel', 'boom_head', 'counterweight', 'gnss_antenna'])
def test_payload_adds_its_mass_where_the_link_is(
    make: Callable[..., RobotModel], link: str, rng: np.random.Generator
) -> None:
    bare, loaded = make(), make(payload={link: 8e3})
    q = state(bare, rng)
    J = kinematics.jacobian(bare, q, link)[:3]
    added = dynamics.mass_matrix(loaded, q) - dynamics.mass_matrix(bare, q)
    scale = np.sqrt(np.outer(*[dynamics.mass_matrix(bare, q).diagonal()] * 2))
    np.testing.assert_allclose(added / scale, 8e3 * J.T @ J / scale, atol=1e-12)
    lifted = dynamics.gravity_vector(loaded, q) - dynamics.gravity_vector(bare, q)
    np.testing.assert_allclose(lifted, 8e3 * 9.80665 * J[2], rtol=1e-8, atol=1e-4)
    assert loaded.total_mass - bare.total_mass == pytest.approx(8e3)


def test_payload_on_a_flexible_link_rides_on_the_beam(rng: np.random.Generator) -> None:
    """At the antenna's place the boom's own payload moves as the antenna's does."""
    place = rigid().frame('gnss_antenna').translation
    on_boom = flexible(payload={'boom': (5e3, place)})
    on_antenna = flexible(payload={'gnss_antenna': 5e3})
    q = state(on_boom, rng)
    for quantity in (dynamics.mass_matrix, dynamics.gravity_vector):
        np.testing.assert_allclose(quantity(on_boom, q), quantity(on_antenna, q), rtol=1e-12)
    at_root = flexible(payload={'boom': 5e3})
    np.testing.assert_array_equal(
        dynamics.mass_matrix(at_root, q)[3:, 3:], dynamics.mass_matrix(flexible(), q)[3:, 3:]
    )


@pytest.mark.parametrize('link', ['bucket_wheel', 'boom'])
def test_payload_is_a_link_written_into_the_urdf(link: str, rng: np.random.Generator) -> None:
    text = STACKER.replace(
        '</robot>',
        f'<link name="load"><inertial><mass value="7000"/><inertia {POINT}/></inertial></link>'
        f'<joint name="tie" type="fixed"><parent link="{link}"/><child link="load"/>'
        f'<origin xyz="20 1 -2"/></joint></robot>',
    )
    description = {'flexible_links': {'boom': {**BOOM, 'mode_shapes': 'loaded'}}}
    written = load_flexible_model(text, description)
    model = load_flexible_model(STACKER, description, payload={link: (7e3, (20, 1, -2))})
    q = state(model, rng)
    for quantity in (dynamics.mass_matrix, dynamics.gravity_vector):
        np.testing.assert_array_equal(quantity(model, q), quantity(written, q))


def test_payload_is_no_link_of_the_robot() -> None:
    bare, loaded = rigid(), rigid(payload={'bucket_wheel': 1.0, 'cab': (2, [0, 0, 1])})
    assert loaded.link_names == bare.link_names
    assert loaded.tip_link == bare.tip_link
    assert loaded.joint_names == bare.joint_names
    assert loaded.fingerprint != bare.fingerprint
    assert rigid(payload={}).fingerprint == bare.fingerprint
    assert rigid(payload={'bucket_wheel': 0.0}).fingerprint == bare.fingerprint


def test_robot_takes_a_payload() -> None:
    robot = loads(STACKER, payload={'bucket_wheel': 22e3})
    assert robot.model.total_mass == pytest.approx(1172e3)


@pytest.mark.parametrize('make', [rigid, flexible])
@pytest.mark.parametrize(
    ('payload', 'named'),
    [
        ({'wheel': 1.0}, "link 'wheel' does not exist in the URDF; its links: rail"),
        ({'rail': 1.0}, "link 'rail' does not move"),
        ({'cab': float('nan')}, "link 'cab' carries nan, expected a mass"),
        ({'cab': float('inf')}, "link 'cab' carries inf"),
        ({'cab': (1.0, (0, 0))}, r"link 'cab' carries \(1.0, \(0, 0\)\)"),
        ({'cab': (1.0, (0, 0, float('nan')))}, "link 'cab'"),
        ({'cab': (1.0,)}, "link 'cab'"),
        ({'cab': 'heavy'}, "link 'cab' carries 'heavy'"),
    ],
)
def test_impossible_payloads_are_refused(
    make: Callable[..., RobotModel], payload: dict[str, Any], named: str
) -> None:
    with pytest.raises(ModelError, match=named):
        make(payload=payload)


def test_negative_mass_is_refused() -> None:
    with pytest.raises(InvalidInertiaError, match="link 'cab' carries a mass of -3 kg"):
        rigid(payload={'cab': -3.0})


@pytest.mark.parametrize('reach', [0.02, 1.0, 50.0])
@pytest.mark.parametrize('times', [9.9, 10.1])
def test_payloads_farther_than_ten_times_the_reach_are_doubted(
    reach: float, times: float, parts: Any
) -> None:
    """Their centres of mass and their radii of gyration, for robots of any size."""
    text = parts.robot(
        parts.link('hand'), parts.joint('bolt', 'fixed', 'arm', 'hand', axis='', limit='')
    ).replace('<child link="hand"/>', f'<child link="hand"/><origin xyz="{reach} 0 0"/>')
    far = RigidPayload(1.0, np.array([0.0, 0.0, times * reach]))
    # Half of the trace of the inertia is the mass times the square of the radius.
    wide = RigidPayload(1.0, np.zeros(3), np.eye(3) * 2.0 / 3.0 * (times * reach) ** 2)
    for payload, kind in ((far, 'payload_far'), (wide, 'payload_inertia')):
        findings = Findings()
        look_at_payload(load_model(text), 'hand', payload, findings)
        assert [found.kind for found in findings.warnings] == [kind] * (times > 10.0)
    findings = Findings()
    look_at_payload(load_model(text), 'hand', RigidPayload(0.0), findings)
    assert findings.warnings == []


def test_second_moment_of_a_payload_is_that_of_its_particles(rng: np.random.Generator) -> None:
    masses, points = rng.uniform(1, 2, 7), rng.normal(size=(7, 3))
    center = masses @ points / masses.sum()
    arms = points - center
    inertia = sum(
        m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, arms, strict=True)
    )
    found = RigidPayload(float(masses.sum()), center, inertia).second_moment
    np.testing.assert_allclose(found, np.einsum('k,ki,kj->ij', masses, points, points), rtol=1e-12)

# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Masses and inertias: what is refused, and how links bolted together add up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from kron_dynamics import InvalidInertiaError, ModelError, dynamics
from kron_dynamics.model import Body, load_model
from kron_dynamics.model.inertia import lump


def moments(ixx: float, iyy: float, izz: float, ixy: float = 0) -> str:
    return f'ixx="{ixx}" iyy="{iyy}" izz="{izz}" ixy="{ixy}" ixz="0" iyz="0"'


def test_negative_mass(parts: Any, assert_refused: Any) -> None:
    text = parts.robot(arm=parts.link('arm', mass='-1'))
    assert_refused(text, InvalidInertiaError, "'arm'", 'mass -1 kg')


def test_an_inertia_without_a_mass(parts: Any, assert_warned: Any) -> None:
    text = parts.robot(arm=parts.link('arm', mass='0'))
    words = "'arm'", 'no mass', '0.1 kg m^2'
    assert_warned(text, 'massless_inertia', InvalidInertiaError, *words)
    for arm in (
        parts.link('arm', mass='0', moments=moments(0, 0, 0)),
        parts.link('arm').replace('<mass value="1"/>', ''),  # told as a missing mass
    ):
        kinds = [warning.kind for warning in load_model(parts.robot(arm=arm)).warnings]
        assert kinds and 'massless_inertia' not in kinds
    at_rest = parts.robot().replace('<link name="base"/>', parts.link('base', mass='0'))
    assert load_model(at_rest).warnings == ()
    mount = '<joint name="weld" type="fixed"><parent link="base"/><child link="mount"/></joint>'
    mounted = parts.robot().replace('</robot>', f'{parts.link("mount", mass="0")}{mount}</robot>')
    assert load_model(mounted).warnings == ()
    carried = mounted.replace(mount, mount.replace('base', 'arm'))
    (warning,) = load_model(carried).warnings
    assert (warning.kind, warning.subject) == ('massless_inertia', "link 'mount'")


def test_inertia_that_is_not_positive_semi_definite(parts: Any, assert_warned: Any) -> None:
    text = parts.robot(arm=parts.link('arm', moments=moments(0.1, 0.1, 0.1, ixy=0.2)))
    words = "'arm'", 'not positive semi-definite', '-0.1'
    model = assert_warned(text, 'not_positive_semidefinite', InvalidInertiaError, *words)
    assert model.bodies[0].inertia[0, 1] == 0.2


def test_inertia_that_violates_the_triangle_inequality(parts: Any, assert_warned: Any) -> None:
    text = parts.robot(arm=parts.link('arm', moments=moments(0.1, 0.1, 0.21)))
    words = "'arm'", 'triangle inequality', '0.21', 'by 0.01'
    model = assert_warned(text, 'triangle_inequality', InvalidInertiaError, *words)
    assert model.bodies[0].inertia[2, 2] == 0.21


def test_of_several_links_the_one_with_the_wrong_inertia_is_named(
    parts: Any, assert_warned: Any
) -> None:
    links = [
        parts.link(name, moments=moments(0.1, 0.1, izz))
        for name, izz in (('arm', 0.1), ('hand', 0.21), ('tip', 0.1))
    ]
    joints = [parts.joint(*GRIP), parts.joint('bend', 'revolute', 'hand', 'tip')]
    text = parts.robot(*links[1:], *joints, arm=links[0])
    assert_warned(text, 'triangle_inequality', InvalidInertiaError, "link 'hand'")


def test_a_moment_that_dwarfs_the_others_hides_them(parts: Any, assert_warned: Any) -> None:
    """M of a joint about z is izz but for the rounding of iyy, which the warning tells."""
    lost = '; moments below 2e-07 kg m^2 are lost in the rounding of 1e+09'
    for iyy, told in ((1e9, lost), (1e3, '')):
        text = parts.robot(arm=parts.link('arm', moments=moments(0.1, iyy, 0.2)))
        model = assert_warned(text, 'triangle_inequality', InvalidInertiaError, told)
        assert ('lost' in str(model.warnings[0])) == bool(told)
        plain = load_model(parts.robot(arm=parts.link('arm', moments=moments(0.1, 0.2, 0.2))))
        q = np.zeros(1)
        np.testing.assert_allclose(
            dynamics.mass_matrix(model, q),
            dynamics.mass_matrix(plain, q),
            rtol=0,
            atol=4 * np.finfo(float).eps * iyy,
        )


def test_triangle_inequality_holds_for_principal_moments(parts: Any, assert_warned: Any) -> None:
    # The diagonal looks fine. Principal moments with ixy = 1.5: (0.5, 3, 3.5), just allowed.
    good = parts.robot(arm=parts.link('arm', moments=moments(2, 2, 3, ixy=1.5)))
    assert load_model(good).warnings == ()
    text = parts.robot(arm=parts.link('arm', moments=moments(2, 2, 3, ixy=1.6)))
    assert_warned(text, 'triangle_inequality', InvalidInertiaError, "'arm'")


@pytest.mark.filterwarnings('error::kron_dynamics.exceptions.ModelWarning')
@pytest.mark.parametrize(
    'thin',
    [(0.1, 0.2, 0.3), (0.0, 0.1, 0.1), (0.12345, 0.2, 0.3235), (0.0, 0.1, 0.10005)],
)
def test_thin_plates_rods_and_rounding_are_allowed(thin: Any, parts: Any) -> None:
    text = parts.robot(arm=parts.link('arm', moments=moments(*thin)))
    assert load_model(text).warnings == ()


def test_an_inertia_is_rounding_below_a_radius_of_gyration_of_a_micrometre(parts: Any) -> None:
    rounding = moments(1e-10, 1e-10, 4e-10)  # kg m^2
    for mass, kinds in (('1000', set()), ('1', {'triangle_inequality'})):
        model = load_model(parts.robot(arm=parts.link('arm', mass, rounding)))
        found = {warning.kind for warning in model.warnings}
        assert found & {'triangle_inequality', 'not_positive_semidefinite'} == kinds


GRIP = ('grip', 'revolute', 'arm', 'hand')
# Robot and its joints that move no mass.
MASSLESS: dict[str, tuple[Callable[[Any], str], tuple[str, ...]]] = {
    'no inertial': (lambda parts: parts.robot(arm='<link name="arm"/>'), ('hinge',)),
    'mass of 0': (
        lambda parts: parts.robot(
            arm='<link name="arm"><inertial><mass value="0"/></inertial></link>'
        ),
        ('hinge',),
    ),
    'mass and moments of 0': (
        lambda parts: parts.robot(arm=parts.link('arm', '0', moments(0, 0, 0))),
        ('hinge',),
    ),
    'at the end': (
        lambda parts: parts.robot('<link name="hand"/>', parts.joint(*GRIP)),
        ('grip',),
    ),
    'two at the end': (
        lambda parts: parts.robot(
            '<link name="hand"/><link name="thumb"/>',
            parts.joint(*GRIP),
            parts.joint('bend', 'revolute', 'hand', 'thumb', '<axis xyz="1 0 0"/>'),
        ),
        ('grip', 'bend'),
    ),
    'slide that moves moments alone': (
        lambda parts: parts.robot(
            arm=parts.link('arm', mass='0'), hinge=parts.joint(kind='prismatic')
        ),
        ('hinge',),
    ),
    'hinge through a mass point': (
        lambda parts: parts.robot(arm=parts.link('arm', moments=moments(0, 0, 0))),
        ('hinge',),
    ),
}


@pytest.mark.parametrize('case', MASSLESS)
def test_joint_that_moves_no_mass(case: str, parts: Any, assert_warned: Any) -> None:
    """It has a row of zeros in M, no other joint has, and it is warned of."""
    make, names = MASSLESS[case]
    text = make(parts)
    model = load_model(text)
    if len(names) == 1:
        assert_warned(text, 'massless_joint', InvalidInertiaError, names[0], 'no mass')
    found = [warning for warning in model.warnings if warning.kind == 'massless_joint']
    assert [warning.subject for warning in found] == [f"joint '{name}'" for name in names]
    M = dynamics.mass_matrix(model, np.full(model.n, 0.3))
    zero = [name for name, m in zip(model.joint_names, M.diagonal(), strict=True) if m == 0]
    assert tuple(zero) == names


def test_moments_alone_are_turned_by_every_joint_before_them(parts: Any) -> None:
    hand, grip = parts.link('hand', mass='0'), parts.joint(*GRIP, axis='<axis xyz="1 0 0"/>')
    model = load_model(parts.robot(hand, grip, arm='<link name="arm"/>'))
    assert 'massless_joint' not in {warning.kind for warning in model.warnings}
    np.testing.assert_allclose(dynamics.mass_matrix(model, [0.3, 0.4]).diagonal(), [0.1, 0.1])


def test_rotor_and_master_make_up_for_a_massless_link(parts: Any) -> None:
    bare = '<link name="hand"/>'
    grip = parts.joint('grip', parent='arm', child='hand')
    held = load_model(parts.robot(bare, grip), armature={'grip': 0.01})
    follows = grip.replace('</joint>', '<mimic joint="hinge"/></joint>')
    for model in (held, load_model(parts.robot(bare, follows))):
        assert model.warnings == ()
        np.linalg.cholesky(dynamics.mass_matrix(model, np.zeros(model.n)))


@pytest.mark.parametrize(
    ('good', 'bad', 'kind', 'words'),
    [
        ('<mass value="1"/>', '', 'missing_mass', 'no <mass>'),
        ('<mass value="1"/>', '<mass/>', 'missing_mass', 'no <mass>'),
        ('ixx="0.1" ', '', 'missing_inertia', 'without ixx'),
        ('ixy="0" ixz="0" ', '', 'missing_inertia', 'without ixy, ixz'),
        ('<inertia ' + moments(0.1, 0.1, 0.1) + '/>', '', 'missing_inertia', 'no <inertia>'),
    ],
)
def test_missing_parts_of_an_inertia_are_zero(
    good: str, bad: str, kind: str, words: str, parts: Any, assert_warned: Any
) -> None:
    text = parts.robot(arm=parts.link('arm', moments=moments(0.1, 0.1, 0.1)))
    assert good in text
    body = assert_warned(
        text.replace(good, bad, 1), kind, InvalidInertiaError, "'arm'", words
    ).bodies[0]
    assert body.mass == (0 if kind == 'missing_mass' else 1)
    if 'ixx' in good:
        assert body.inertia[0, 0] == 0


@pytest.mark.parametrize('value', ['1e308', '-1e308'])
def test_sums_beyond_the_range_of_numbers(value: str, parts: Any, assert_refused: Any) -> None:
    arm = parts.link('arm').replace('<mass', f'<origin xyz="{value} 0 0"/><mass')
    assert_refused(parts.robot(arm=arm), InvalidInertiaError, "'arm'", 'finite')
    plate = '<link name="plate"/>' + parts.joint(
        'bolt', 'fixed', 'arm', 'plate', more=f'<origin xyz="{value} 0 0"/>'
    )
    rod = '<link name="rod"/>' + parts.joint(
        'weld', 'fixed', 'plate', 'rod', more=f'<origin xyz="{value} 0 0"/>'
    )
    assert_refused(parts.robot(plate, rod), ModelError, "'rod'", 'inf')


def test_an_inertia_about_the_joint_beyond_the_range_of_numbers(
    parts: Any, assert_refused: Any
) -> None:
    """Of a mass far away and of moments that are both within it."""
    for place, moment, fits in (
        ('1e154', 3e307, False),
        ('1e154', 1e300, True),
        ('1', 3e307, True),
    ):
        arm = parts.link('arm', moments=moments(moment, moment, moment))
        text = parts.robot(arm=arm.replace('<mass', f'<origin xyz="{place} 0 0"/><mass'))
        if fits:
            assert np.isfinite(dynamics.mass_matrix(load_model(text), np.zeros(1))).all()
        else:
            assert_refused(text, InvalidInertiaError, "'arm'", 'not finite numbers')


def test_link_without_inertia_may_carry_mass(parts: Any) -> None:
    carried = parts.joint('bolt', 'fixed', 'arm', 'load')
    model = load_model(parts.robot(parts.link('load'), carried, arm='<link name="arm"/>'))
    assert model.bodies[0].mass == 1.0
    assert model.bodies[0].links == ('load',)


def test_inertia_of_the_root_link_and_of_what_is_bolted_to_it_is_ignored(
    parts: Any, assert_warned: Any
) -> None:
    stand = parts.link('stand', mass='70') + parts.joint('bolt', 'fixed', 'base', 'stand')
    text = parts.robot(stand).replace('<link name="base"/>', parts.link('base', mass='900'))
    model = assert_warned(text, 'root_inertia', InvalidInertiaError, "'base'", '900 kg')
    assert model.total_mass == 1.0
    assert [body.links for body in model.bodies] == [('arm',)]


def particles(masses: np.ndarray, points: np.ndarray) -> Body:
    center = masses @ points / masses.sum()
    arms = points - center
    inertia = sum(
        m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, arms, strict=True)
    )
    return Body(float(masses.sum()), center, inertia)


def test_lumped_body_is_that_of_all_particles(rng: np.random.Generator, assert_close: Any) -> None:
    masses, points = rng.uniform(1, 2, 7), rng.normal(size=(7, 3))
    R, p = Rotation.random(rng=rng).as_matrix(), rng.normal(size=3)
    moved = points[3:] @ R.T + p
    lumped = lump(
        [
            ('a', particles(masses[:3], points[:3]), np.eye(3), np.zeros(3)),
            ('b', particles(masses[3:], points[3:]), R, p),
        ]
    )
    whole = particles(masses, np.vstack([points[:3], moved]))
    assert lumped.links == ('a', 'b')
    assert_close(lumped.mass, whole.mass)
    assert_close(lumped.center_of_mass, whole.center_of_mass)
    assert_close(lumped.inertia, whole.inertia)


def test_a_lone_body_is_turned_about_its_origin_too(
    rng: np.random.Generator, assert_close: Any
) -> None:
    masses, points = rng.uniform(1, 2, 7), rng.normal(size=(7, 3))
    R = Rotation.random(rng=rng).as_matrix()
    lumped = lump([('a', particles(masses, points), R, np.zeros(3))])
    whole = particles(masses, points @ R.T)
    assert_close(lumped.center_of_mass, whole.center_of_mass)
    assert_close(lumped.inertia, whole.inertia)


def test_second_moment_is_that_of_particles(rng: np.random.Generator, assert_close: Any) -> None:
    masses, points = rng.uniform(1, 2, 7), rng.normal(size=(7, 3))
    body = particles(masses, points)
    assert_close(body.first_moment, masses @ points)
    assert_close(body.second_moment, np.einsum('k,ki,kj->ij', masses, points, points))


def test_inertial_frame_is_turned_into_the_links(parts: Any, assert_close: Any) -> None:
    origin = '<origin xyz="0.1 0.2 0.3" rpy="0 0 1.5707963267948966"/><mass'
    arm = parts.link('arm', moments=moments(0.3, 0.5, 0.4)).replace('<mass', origin)
    body = load_model(parts.robot(arm=arm)).bodies[0]
    assert_close(body.inertia, np.diag([0.5, 0.3, 0.4]))
    assert_close(body.center_of_mass, [0.1, 0.2, 0.3])

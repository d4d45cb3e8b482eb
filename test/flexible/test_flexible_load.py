# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""From a URDF and a description to a flexible robot, and what cannot be one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics import dynamics
from kron_dynamics.dynamics.wrenches import Wrench
from kron_dynamics.equilibrium import quasi_static_equilibrium
from kron_dynamics.exceptions import InvalidInertiaError, ModelError
from kron_dynamics.flexible import (
    Beam,
    CarriedBody,
    FlexibleBody,
    FlexibleModel,
    tapered_modes,
)
from kron_dynamics.resources import resource_path

# A pole of 2 m and 3 kg on a motor, a lamp at its top and a bracket at 0.5 m on its side.
pytestmark = pytest.mark.interpreted

POLE = """<robot name="pole"><link name="ground"/>
<joint name="motor" type="continuous"><parent link="ground"/><child link="pole"/>
<axis xyz="0 0 1"/></joint>
<link name="pole"><inertial><origin xyz="0 0 1"/><mass value="3"/>
<inertia ixx="1.01" iyy="1.01" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="top" type="fixed"><parent link="pole"/><child link="lamp"/>
<origin xyz="0 0 2.2"/></joint>
<link name="lamp"><inertial><origin xyz="0 0 0.1"/><mass value="0.5"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="side" type="fixed"><parent link="pole"/><child link="bracket"/>
<origin xyz="0.1 0 0.5"/></joint><link name="bracket"/>
</robot>"""
UP: dict[str, Any] = {
    'length': 2.0,
    'axis': [0, 0, 1],
    'bending_stiffness': 40.0,
    'modes': {'v': 1, 'w': 1},
}


def pole(text: str = POLE, **changes: Any) -> kd.Robot:
    return kd.loads(text, flexible={'flexible_links': {'pole': UP | changes}})


def test_coordinates_follow_the_joints() -> None:
    robot = pole(modes={'w': 2, 'v': 1}, damping_ratio={'v': 0.1, 'w': [0.2, 0.0]})
    model = robot.model
    assert isinstance(model, FlexibleModel)
    assert robot.joint_names == ('motor', 'pole/v1', 'pole/w1', 'pole/w2')
    assert model.joint_types == ('continuous', 'modal', 'modal', 'modal')
    assert (robot.n, model.joint_count, model.rigid.n) == (4, 1, 1)
    assert model.is_flexible
    assert not model.rigid.is_flexible
    assert (model.effort_limit[1:] == 0).all()
    assert np.isinf(model.position_upper[1:]).all()
    assert (model.structural_damping > 0).tolist() == [False, True, True, False]
    assert model.total_mass == 3.5
    assert model.link_names == ('ground', 'pole', 'lamp', 'bracket')
    with pytest.raises(ValueError, match='read-only'):
        model.damping[0] = 1.0


def test_numbers_of_the_beam_make_another_model() -> None:
    prints = {
        pole(**changes).model.fingerprint
        for changes in (
            {},
            {'bending_stiffness': 41.0},
            {'modes': {'v': 1}},
            {'mode_shapes': 'clamped_free'},
            {'geometric_stiffness': False},
            {'damping_ratio': 0.1},
            {'attachments': {'bracket': 0.6}},
        )
    }
    assert len(prints) == 7
    assert pole().model.fingerprint in prints
    assert pole().model.rigid.fingerprint not in prints


def test_children_ride_on_their_sections() -> None:
    robot = pole(modes={'v': 1}, mode_shapes='clamped_free')
    shapes = Beam(2.0, 40.0, 1.5).modes(1)
    q = np.array([0.0, 1e-5])
    # v is along x of the link: the default for a beam along z.
    for link, x, rest in (('lamp', 2.0, (0, 0, 2.2)), ('bracket', 0.5, (0.1, 0, 0.5))):
        deflection, slope = (1e-5 * shapes.shapes([x], order)[0, 0] for order in (0, 1))
        lever = np.array(rest) - [0, 0, x]
        place = robot.frame(link).pose(q)[:3, 3]
        moved = np.array(rest) + [deflection + slope * lever[2], 0, -slope * lever[0]]
        np.testing.assert_allclose(place, moved, atol=1e-3 * abs(deflection))
    fixed = pole(modes={'v': 1}, attachments={'bracket': 0.0})
    np.testing.assert_allclose(fixed.frame('bracket').pose(q)[:3, 3], [0.1, 0, 0.5], atol=1e-15)


def test_points_of_a_link_that_bends_are_refused() -> None:
    """A frame is fixed to the root: of the points on the beam it would ignore the bending."""
    robot = pole()
    frame, q = robot.frame('pole'), np.array([0.2, 0.01, 0.02])
    for seen in (frame, robot.symbolic.frame('pole')):
        with pytest.raises(ModelError, match=r"'pole' bends at the point \[0.1, 0.0, 0.5\]"):
            seen.relative_to('ground', point=(0.1, 0, 0.5))
    behind = frame.relative_to('ground', point=(0.1, 0, -0.5)).pose(q)
    np.testing.assert_allclose(behind[:3, 3], frame.pose(q)[:3] @ [0.1, 0, -0.5, 1], atol=1e-15)
    lamp = robot.frame('lamp').relative_to('pole', point=(0, 0, 0.1)).pose(q)
    assert np.abs(lamp[:2, 3]).min() > 0.01


def test_loaded_modes_know_what_the_link_carries() -> None:
    robot = pole(modes={'v': 2}, mass_per_length=1.5)
    (link,) = robot.model.flexible_links
    # The lamp's centre is 0.3 m beyond the tip, and it turns with the tip.
    lamp = CarriedBody(2.0, 0.5, 0.15, 0.01 + 0.5 * 0.3**2)
    section = kd.flexible.BeamSection([0.0, 2.0], [40.0, 40.0], [1.5, 1.5])
    expected = tapered_modes(section, 2, carried=[lamp]).natural_frequencies
    np.testing.assert_allclose(link.natural_frequencies, expected, rtol=1e-9)
    # A shape has 1 at the tip: the coordinate is the tip's deflection in m.
    np.testing.assert_allclose(link.planes[0].shapes([2.0])[:, 0], 1.0, rtol=1e-12)
    bare = tapered_modes(section, 2).natural_frequencies
    assert (expected < 0.95 * bare).all()


def test_a_stepped_link_sags_as_its_sections_bend() -> None:
    """The tip's deflection is the integral of the curvature M/EI times the distance to the tip."""
    table = {'stations': [0, 1, 1.001, 2], 'mass_per_length': 1.5, 'modes': {'v': 3}}
    stepped = {'pole': UP | table | {'bending_stiffness': [40, 40, 8, 8]}}
    robot = kd.loads(POLE, flexible={'flexible_links': stepped}, gravity=(-1e-3, 0, 0))
    x = (np.arange(100_000) + 0.5) / 50_000
    moment = 1e-3 * (0.5 * (2.3 - x) + 1.5 * (2 - x) ** 2 / 2)
    expected = -(moment / np.interp(x, table['stations'], [40, 40, 8, 8]) @ (2 - x)) / 50_000
    found = quasi_static_equilibrium(robot, [0.0])
    np.testing.assert_allclose(found[1:].sum(), expected, rtol=1e-3)
    (link,) = robot.model.flexible_links
    (tip,) = (at for at in link.sections.values() if at.x == 2)
    slopes = link.planes[0].shapes(x, 1)
    np.testing.assert_allclose(tip.shortening[0], slopes @ slopes.T / 50_000, rtol=1e-6)


def test_children_side_by_side_are_as_one() -> None:
    """Rounding of decimal numbers in a URDF decides no frequency."""
    frequencies = [
        pole(POLE.replace('0.1 0 0.5', f'0.1 0 {2.2 + apart!r}'), attachments={'lamp': 2 + apart})
        .model.flexible_links[0]
        .natural_frequencies
        for apart in (0.0, -1e-5, -1e-6, -5e-7, -1e-8, -1e-9)
    ]
    np.testing.assert_allclose(frequencies[1:], [frequencies[0]] * 5, rtol=1e-4)


PLATE = """<link name="plate">{}</link><joint name="bolts" type="fixed"><parent link="pole"/>
<child link="plate"/><origin xyz="0.3 0 -0.1"/></joint></robot>"""


def test_a_wrench_without_a_point_needs_a_mass_centre_of_its_own() -> None:
    """Beside the beam the rest of the body has a mass centre that means nothing."""
    still = np.zeros(3)
    force = Wrench('plate', (0.0, 1.0, 0.0))
    light = pole(POLE.replace('</robot>', PLATE.format(''))).model
    with pytest.raises(ModelError, match="wrench on link 'plate' has no point.*no inertia"):
        dynamics.joint_reactions(light, still, still, still, [force])
    inertia = '<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/>'
    own = f'<inertial><origin xyz="0.2 0 0"/><mass value="1"/>{inertia}</inertial>'
    heavy = pole(POLE.replace('</robot>', PLATE.format(own))).model
    for model, wrench in ((light, force._replace(point=(0.2, 0.0, 0.0))), (heavy, force)):
        pushed = dynamics.joint_reactions(model, still, still, still, [wrench])[0]
        found = pushed - dynamics.joint_reactions(model, still, still, still)[0]
        np.testing.assert_allclose(found, [0, -1, 0, -0.1, 0, -0.5], atol=1e-12)


@pytest.mark.compiled
def test_kernels_without_a_compiler_are_the_same(
    monkeypatch: pytest.MonkeyPatch, assert_close: Callable[..., None]
) -> None:
    state = 0.1 * np.arange(9.0).reshape(3, 3)
    compiled = pole().linearization(*state)
    monkeypatch.setenv('CC', '/nonexistent/compiler')
    interpreted = pole()
    terms = interpreted.linearization(*state)
    assert [report.source for report in interpreted.kernel_report()] == ['numpy']
    for one, other in zip(terms, compiled, strict=True):
        assert_close(one, other, 1e-12)


@pytest.mark.parametrize(
    ('changes', 'error', 'message'),
    [
        (
            {'attachments': {'moon': 1.0}},
            ModelError,
            r'name moon, expected .* lamp, bracket',
        ),
        ({'mass_per_length': 2.0}, InvalidInertiaError, r'its beam has 4 kg .* which has 3 kg'),
        ({'origin': [0, 0, 0.1]}, InvalidInertiaError, 'is not part of the link'),
        ({'axis': [1, 0, 0]}, InvalidInertiaError, 'is not part of the link'),
        (
            {'mass_per_length': [0.5, 2.5]},
            InvalidInertiaError,
            r'centred at \[0.0, 0.0, 1.222222\] m',
        ),
        (
            {'length': 2.5, 'origin': [0, 0, -0.25], 'mass_per_length': 1.2},
            InvalidInertiaError,
            'more inertia than the link',
        ),
    ],
)
def test_beams_that_do_not_fit_are_refused(
    changes: dict[str, Any], error: type[Exception], message: str
) -> None:
    if isinstance(changes.get('mass_per_length'), list):
        changes = {**changes, 'stations': [0, 2.0]}
    with pytest.raises(error, match=message):
        pole(**changes)


def test_links_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="'tower' does not exist .* ground, pole, lamp, bracket"):
        kd.loads(POLE, flexible={'flexible_links': {'tower': UP}})
    with pytest.raises(ModelError, match='has no mass in the URDF to spread'):
        kd.loads(POLE, flexible={'flexible_links': {'bracket': UP}})
    with pytest.raises(ModelError, match="joint 'pole/v1' has the name of a modal coordinate"):
        pole(POLE.replace('"motor"', '"pole/v1"'))
    file = tmp_path / 'broken.yaml'
    file.write_text('flexible_links: {pole: {length: -1}}')
    with pytest.raises(ModelError, match=r"broken.yaml: link 'pole': .*length"):
        kd.loads(POLE, flexible=file)


def test_names_that_no_terminal_shows_are_escaped() -> None:
    with pytest.raises(ModelError, match=r"flexible link '\\u202e' does not exist") as caught:
        kd.loads(POLE, flexible={'flexible_links': {'\u202e': UP}})
    assert str(caught.value).isprintable()


def rod(across: float, about: float, center: float = 1.0, **changes: Any) -> FlexibleModel:
    """A link of 3 kg and 2 m on a hinge, all of it beam, with some moments of inertia."""
    text = f"""<robot name="rod"><link name="base"/>
<joint name="hinge" type="continuous"><parent link="base"/><child link="beam"/>
  <axis xyz="0.6 -0.8 0"/></joint>
<link name="beam"><inertial><origin xyz="{center} 0 0"/><mass value="3"/>
  <inertia ixx="{about}" iyy="{across}" izz="{across}" ixy="0" ixz="0" iyz="0"/></inertial>
</link></robot>"""
    beam = {'length': 2.0, 'modes': {'v': 1}, **changes}
    if 'section' not in beam:
        beam['bending_stiffness'] = 50.0
    model = kd.loads(text, flexible={'flexible_links': {'beam': beam}}).model
    assert isinstance(model, FlexibleModel)
    return model


def mass_of(model: FlexibleModel) -> float:
    """Mass of bodies and beams."""
    beams = sum(link.shape_integrals[0, 0] for link in model.flexible_links)
    return float(beams + sum(body.mass for body in model.skeleton.bodies))


# m l^2/12 is 1; a rod of radius 0.1 has 0.015 about its axis.
@pytest.mark.parametrize(
    ('across', 'about'),
    [(1.0, 0.0), (1.0, 0.015), (1.0, 0.375), (1.0075, 0.015), (0.9999999, 0.0), (0.995, 0.0)],
)
def test_slender_rods_load_with_the_inertia_of_the_urdf(across: float, about: float) -> None:
    model = rod(across, about)
    whole = dynamics.mass_matrix(model.rigid, np.zeros(1))[0, 0]
    assert whole == pytest.approx(0.36 * about + 0.64 * (across + 3.0), rel=1e-12)
    assert dynamics.mass_matrix(model, np.zeros(2))[0, 0] == pytest.approx(whole, rel=1e-9)


def test_a_beam_with_more_inertia_than_its_link_is_refused() -> None:
    with pytest.raises(InvalidInertiaError, match='its beam has more inertia than the link'):
        rod(0.95, 0.0)


@pytest.mark.parametrize('more', [-1e-3, -9e-5, -1e-8, 2e-8, 9e-5])
def test_a_mass_per_length_with_five_digits_is_that_of_the_urdf(more: float) -> None:
    model = rod(1.0, 0.0, mass_per_length=1.5 * (1 + more))
    assert mass_of(model) == pytest.approx(3.0, rel=1e-12)
    whole = dynamics.mass_matrix(model.rigid, np.zeros(1))[0, 0]
    assert dynamics.mass_matrix(model, np.zeros(2))[0, 0] == pytest.approx(whole, rel=1e-9)
    # All that moves in the mode is the beam.
    exact = dynamics.mass_matrix(rod(1.0, 0.0), np.zeros(2))[1, 1]
    found = dynamics.mass_matrix(model, np.zeros(2))[1, 1]
    assert found / exact == pytest.approx(1 + min(more, 0.0), abs=1e-4)


def test_a_heavier_beam_is_refused_with_the_excess() -> None:
    with pytest.raises(InvalidInertiaError, match='0.0006 kg less'):
        rod(1.0, 0.0, mass_per_length=1.5003)


@pytest.mark.parametrize('mass', [1.0, 1 + 3e-9, 1 - 3e-9, 1 + 2e-6])
def test_a_centre_with_five_digits_is_that_of_the_beam(mass: float) -> None:
    """No body of a few milligrams a hundred metres away makes up for the rounding."""
    table = [2.0 * mass, mass]
    model = rod(0.962963, 0.0, 0.88889, mass_per_length=table)
    assert mass_of(model) == pytest.approx(3.0, rel=1e-12)
    centers = [np.abs(body.center_of_mass).max() for body in model.skeleton.bodies]
    assert max(centers) < 2.0
    with pytest.raises(InvalidInertiaError, match='is not part of the link'):
        rod(0.962963, 0.0, 0.8895, mass_per_length=table)


def test_a_cone_loads_with_the_mass_of_a_cone() -> None:
    """Integrals of its area, in closed form: volume, centre, and moment about the centre."""
    volume, center, across = 7 * np.pi / 32, 9 / 14, 3 * 689 / 2940
    cone = {
        'section': {'shape': 'circle', 'diameter': [1.0, 0.25]},
        'material': {'young': 1e4, 'density': 3 / volume},
    }
    assert mass_of(rod(across, 0.0, center, **cone)) == pytest.approx(3.0, rel=1e-12)


def test_damping_by_mode_or_proportional_to_stiffness() -> None:
    text = resource_path('urdf', 'stacker_reclaimer.urdf').read_text('utf-8')

    def link(**keys: Any) -> FlexibleBody:
        beam = {'length': 60.0, 'bending_stiffness': {'v': 3.2e11, 'w': 1.8e11}}
        beam |= {'mass_per_length': 2750.0, 'modes': {'v': 2, 'w': 1}, **keys}
        model = kd.loads(text, flexible={'flexible_links': {'boom': beam}}).model
        assert isinstance(model, FlexibleModel)
        return model.flexible_links[0]

    def ratios(boom: FlexibleBody) -> list[float]:
        v = boom.planes[0]
        omega = boom.natural_frequencies[:2]
        return list(v.damping * omega / (2 * v.stiffness.diagonal()))

    modal, other = link(damping_ratio=0.02), link(damping_ratio=0.02, damping='modal')
    np.testing.assert_array_equal(modal.planes[0].damping, other.planes[0].damping)
    np.testing.assert_allclose(ratios(modal), [0.02, 0.02])
    for given in (0.02, {'v': 0.02}, {'v': [0.02]}):
        boom = link(damping_ratio=given, damping='stiffness_proportional')
        first, second = boom.natural_frequencies[:2]
        np.testing.assert_allclose(ratios(boom), [0.02, 0.02 * second / first])
        # One factor for the plane: D = beta K.
        v = boom.planes[0]
        np.testing.assert_allclose(v.damping / v.stiffness.diagonal(), 0.04 / first)
    assert not link(damping='stiffness_proportional').planes[0].damping.any()
    with pytest.raises(ModelError, match="damping.*'modal' or 'stiffness_proportional'"):
        link(damping='rayleigh')
    with pytest.raises(ModelError, match='damping_ratio'):
        link(damping_ratio={'v': [0.02, 0.03]}, damping='stiffness_proportional')


@pytest.mark.parametrize(
    'changes',
    [
        {'bending_stiffness': 5e-324},
        {'origin': [0, 0, 1.7e308]},
    ],
)
def test_numbers_too_far_apart_name_the_link(changes: dict[str, Any]) -> None:
    with pytest.raises(ModelError, match="'pole'") as caught:
        pole(**changes)
    assert len(str(caught.value).splitlines()) == 1


SLOPPY = POLE.replace('izz="0.01"', 'izz="0.03"').replace(
    '</robot>',
    '<link name="cap"/><joint name="lid" type="continuous"><parent link="lamp"/>'
    '<child link="cap"/></joint></robot>',
)


def test_warnings_are_those_of_the_description() -> None:
    with pytest.warns(kd.ModelWarning, match='2 warnings, the first') as caught:
        robot = pole(SLOPPY)
    assert len(caught) == 1
    assert caught[0].filename == __file__  # `pole` above, which calls loads
    assert [w.kind for w in robot.model.warnings] == ['triangle_inequality', 'massless_joint']
    with pytest.raises(InvalidInertiaError, match=r"'lamp'.*triangle"):
        kd.loads(SLOPPY, flexible={'flexible_links': {'pole': UP}}, strict=True)


def test_floating_base_is_held() -> None:
    floats = POLE.replace(
        '<link name="ground"/>',
        '<link name="world"/><link name="ground"/><joint name="free" type="floating">'
        '<parent link="world"/><child link="ground"/></joint>',
    )
    flexible = {'flexible_links': {'pole': UP}}
    with pytest.raises(kd.UnsupportedJointError, match="'free'"):
        kd.loads(floats, flexible=flexible)
    held = kd.loads(floats, flexible=flexible, hold_base=True, strict=True, allow=('joint_held',))
    assert held.joint_names == pole().joint_names
    assert held.model.joint_count == 1

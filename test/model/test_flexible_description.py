# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The description of flexible links, and those of the two robots that come with one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import kron_dynamics as kd
from kron_dynamics import ModelError
from kron_dynamics.flexible import Beam, SingleLinkManipulator
from kron_dynamics.model.flexible_description import FlexibleLinkDescription, read_flexible

ROOT = Path(__file__).parents[2]
BARE = {'length': 2.0, 'bending_stiffness': 10.0, 'modes': {'w': 1}}


def read(**changes: object) -> FlexibleLinkDescription:
    (link,) = read_flexible({'flexible_links': {'boom': {**BARE, **changes}}})
    return link


def lists(tables: Any) -> dict[str, list[float]]:
    return {plane: table.tolist() for plane, table in tables.items()}


def test_the_largest_number_of_modes_is_taken() -> None:
    assert read(modes={'w': 20}).modes == {'w': 20}


def test_what_is_left_out() -> None:
    link = read()
    assert (link.link, link.length, link.mode_shapes) == ('boom', 2, 'loaded')
    assert link.axis.tolist() == [1, 0, 0]
    assert link.lateral.tolist() == [0, 1, 0]
    assert link.origin.tolist() == [0, 0, 0]
    assert link.stations.tolist() == [0, 2]
    assert link.mass_per_length is None
    assert lists(link.bending_stiffness) == {'w': [10, 10]}
    assert link.modes == {'w': 1}
    assert lists(link.damping_ratio) == {'w': [0]}
    assert link.attachments == {}
    assert link.geometric_stiffness is True


def test_everything_given(tmp_path: Path) -> None:
    text = """
    flexible_links:
      boom:
        length: 60
        axis: [0, 0, 2]
        lateral: [0, -3, 0]
        origin: [0.1, 0.2, 0.3]
        stations: [0, 20, 60]
        mass_per_length: [3e3, 2750, 1.5e3]
        bending_stiffness: {v: 3.2e11, w: [3e11, 2e11, 1e11]}
        modes: {w: 1, v: 2}
        damping_ratio: {v: [0.01, 0.03], w: 0.02}
        mode_shapes: clamped_free
        attachments: {antenna: 50, wheel: 60}
        geometric_stiffness: false
      mast: {length: 1, bending_stiffness: 1, modes: {v: 1, w: 0}, damping_ratio: 0.5}
    """
    (tmp_path / 'f.yaml').write_text(text)

    for source in (tmp_path / 'f.yaml', str(tmp_path / 'f.yaml')):
        boom, mast = read_flexible(source)
        assert (boom.link, mast.link) == ('boom', 'mast')
        assert boom.axis.tolist() == [0, 0, 1]
        assert boom.lateral.tolist() == [0, -1, 0]
        assert boom.origin.tolist() == [0.1, 0.2, 0.3]
        assert boom.stations.tolist() == [0, 20, 60]
        assert boom.mass_per_length is not None
        assert boom.mass_per_length.tolist() == [3000, 2750, 1500]
        assert lists(boom.bending_stiffness) == {'v': [3.2e11] * 3, 'w': [3e11, 2e11, 1e11]}
        assert list(boom.modes.items()) == [('v', 2), ('w', 1)]
        assert lists(boom.damping_ratio) == {'v': [0.01, 0.03], 'w': [0.02]}
        assert boom.mode_shapes == 'clamped_free'
        assert boom.attachments == {'antenna': 50, 'wheel': 60}
        assert boom.geometric_stiffness is False
        assert (mast.modes, lists(mast.damping_ratio)) == ({'v': 1}, {'v': [0.5]})


@pytest.mark.parametrize(
    ('axis', 'lateral', 'expected'),
    [
        ([-2, 0, 0], None, [0, 1, 0]),
        ([0, 0, 1], None, [1, 0, 0]),
        ([1, 1, 0], None, [0.5**0.5, -(0.5**0.5), 0]),
        ([1, 0, 0], [1, 0, 1], [0, 0, 1]),
        ([0, 1e-200, 0], [1e200, 0, 0], [1, 0, 0]),
    ],
)
def test_directions(axis: list[float], lateral: object, expected: list[float]) -> None:
    link = read(axis=axis, **({} if lateral is None else {'lateral': lateral}))
    np.testing.assert_allclose(link.lateral, expected, atol=1e-15)
    np.testing.assert_allclose(np.linalg.norm(link.axis), 1, rtol=1e-15)
    assert abs(link.axis @ link.lateral) < 1e-15
    assert link.axis @ axis > 0


def test_section_in_place_of_mass_and_stiffness() -> None:
    section = {'shape': 'rectangle', 'width': 0.2, 'height': 0.1}
    material = {'young': 12e4, 'density': 100}
    entries = {'length': 1, 'modes': {'v': 1}, 'section': section, 'material': material}
    (link,) = read_flexible({'flexible_links': {'boom': entries}})
    assert link.mass_per_length is not None
    np.testing.assert_allclose(link.mass_per_length, [2, 2])
    assert list(link.bending_stiffness) == ['v']
    np.testing.assert_allclose(link.bending_stiffness['v'], [8, 8])


def test_nothing_can_be_changed_afterwards() -> None:
    link = read(mass_per_length=3, attachments={'wheel': 1})
    arrays = [link.axis, link.lateral, link.origin, link.stations, link.mass_per_length]
    arrays += [link.bending_stiffness['w'], link.damping_ratio['w']]
    assert [array for array in arrays if array is None or array.flags.writeable] == []
    for mapping in (link.modes, link.bending_stiffness, link.damping_ratio, link.attachments):
        with pytest.raises(TypeError):
            mapping['v'] = 1  # type: ignore[index]


@pytest.mark.parametrize(
    ('changes', 'words'),
    [
        ({'lenght': 2}, "'lenght' is unknown, did you mean 'length'? allowed: length, axis"),
        ({'colour': 2}, "'colour' is unknown, allowed: length, axis"),
        ({7: 2}, "'7' is no text"),
        ({'length': 0}, "'length' is 0, expected a number from 1e-6"),
        ({'length': True}, "'length' is True"),
        ({'length': '2 m'}, "'length' is '2 m'"),
        ({'length': None}, "'length' is None"),
        ({'length': float('inf')}, "'length' is inf"),
        ({'axis': [0, 0, 0]}, "'axis' is [0, 0, 0], expected a direction"),
        ({'axis': [1, 0]}, "'axis' is [1, 0], expected a list of 3, each a finite number"),
        ({'axis': [1, float('nan'), 0]}, "'axis' is [1, nan, 0]"),
        ({'axis': 'x'}, "'axis' is 'x'"),
        ({'lateral': [-2, 0, 0]}, "'lateral' is [-2, 0, 0], expected a direction across the axis"),
        ({'lateral': [1, 1e-9, 0]}, "'lateral' is [1, 1e-09, 0]"),
        ({'lateral': [0, 0, 0]}, "'lateral' is [0, 0, 0], expected a direction"),
        ({'origin': [0, 0, 0, 0]}, "'origin' is [0, 0, 0, 0]"),
        ({'stations': [0, 1]}, "'stations' is [0, 1], expected increasing numbers from 0 to"),
        ({'stations': [0.1, 2]}, "'stations' is [0.1, 2]"),
        ({'stations': [0, 1, 1, 2]}, "'stations' is [0, 1, 1, 2]"),
        ({'stations': [0]}, "'stations' is [0]"),
        ({'stations': []}, "'stations' is []"),
        ({'stations': [0, 'a', 2]}, "'stations' is [0, 'a', 2], expected a list, each a finite"),
        ({'stations': 2}, "'stations' is 2, expected a list"),
        ({'stations': [0, 1, 2], 'mass_per_length': [1, 2]}, "'mass_per_length' is [1, 2]"),
        ({'mass_per_length': -1}, "'mass_per_length' is -1"),
        ({'bending_stiffness': {'v': 1}}, "'bending_stiffness.w' is missing"),
        ({'section': {}}, "'bending_stiffness' is given beside 'section'"),
        ({'modes': {}}, "'modes' is {}, expected at least one mode"),
        ({'modes': {'v': 0}}, "'modes' is {'v': 0}, expected at least one mode"),
        ({'modes': {'v': 1.0}}, "'modes.v' is 1.0, expected a whole number"),
        ({'modes': {'w': -1}}, "'modes.w' is -1"),
        ({'modes': {'w': True}}, "'modes.w' is True"),
        ({'modes': {'w': 21}}, "'modes.w' is 21, expected a whole number, 0 or more, at most 20"),
        ({'modes': {'x': 1}}, "'modes.x' is unknown, allowed: v, w"),
        ({'modes': 2}, "'modes' is 2, expected a mapping"),
        ({'damping_ratio': 1}, "'damping_ratio' is 1, expected a number from 0 to less than 1"),
        ({'damping_ratio': -0.1}, "'damping_ratio' is -0.1"),
        ({'damping_ratio': [0.1]}, "'damping_ratio' is [0.1]"),
        ({'damping_ratio': {'w': [0.1, 0.1]}}, "'damping_ratio.w' is [0.1, 0.1], expected a list"),
        ({'damping_ratio': {'v': 1.5}}, "'damping_ratio.v' is 1.5"),
        ({'damping_ratio': {'y': 0.1}}, "'damping_ratio.y' is unknown"),
        ({'mode_shapes': 'free'}, "'mode_shapes' is 'free', expected 'loaded' or 'clamped_free'"),
        ({'mode_shapes': ['loaded']}, "'mode_shapes' is ['loaded']"),
        ({'attachments': {'wheel': 3}}, "'attachments.wheel' is 3, expected a number from 0 to"),
        ({'attachments': {'wheel': -1}}, "'attachments.wheel' is -1"),
        ({'attachments': ['wheel']}, "'attachments' is ['wheel'], expected a mapping"),
        ({'geometric_stiffness': 1}, "'geometric_stiffness' is 1, expected true or false"),
    ],
    ids=str,
)
def test_wrong_entry_names_link_and_key(changes: dict[str, object], words: str) -> None:
    with pytest.raises(ModelError) as caught:
        read_flexible({'flexible_links': {'boom': {**BARE, **changes}}})
    message = str(caught.value)
    assert message.startswith("flexible description: link 'boom': key ")
    assert words in message
    assert len(message.splitlines()) == 1


@pytest.mark.parametrize(
    ('changes', 'words'),
    [
        ({'length': 1e-300}, 'expected a number from 1e-6 to 1e6'),
        ({'length': 1e300}, 'expected a number from 1e-6 to 1e6'),
        ({'modes': {'w': 21}}, 'at most 20'),
        ({'modes': {'w': 1_000_000_000}}, 'at most 20'),
        ({'stations': list(range(1002))}, 'has 1002 numbers, expected at most 1000'),
        ({'x' * 100_000: 1}, 'is unknown'),
    ],
)
def test_bounds(changes: dict[str, object], words: str) -> None:
    with pytest.raises(ModelError) as caught:
        read(**changes)
    assert words in str(caught.value)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize('key', BARE)
def test_what_must_be_given(key: str) -> None:
    entries = {other: value for other, value in BARE.items() if other != key}
    with pytest.raises(ModelError, match=f"link 'boom': key '{key}' is missing"):
        read_flexible({'flexible_links': {'boom': entries}})


@pytest.mark.parametrize(
    ('text', 'words'),
    [
        ('', ": is empty, expected a mapping 'flexible_links'"),
        ('- boom', ": holds ['boom'], expected a mapping"),
        ('{}', ": key 'flexible_links' is missing"),
        ('flexible_link: {}', ": key 'flexible_link' is unknown, did you mean 'flexible_links'?"),
        ('flexible_links:', ": key 'flexible_links' is None, expected a mapping"),
        ('flexible_links: {}', ": key 'flexible_links' is empty"),
        ('flexible_links: {3: {}}', ": key 'flexible_links.3' is no text"),
        ('flexible_links: {boom: 60}', ": link 'boom' is 60, expected a mapping"),
        ('flexible_links: {boom: {}}', ": link 'boom': key 'length' is missing"),
        ('flexible_links:\n  boom: {}\n  boom: {}', ", line 3: key 'boom' is given twice"),
        ('flexible_links:\n  boom: [', ', line 2: '),
    ],
)
def test_broken_file_names_itself(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / 'f.yaml'
    path.write_text(text)
    with pytest.raises(ModelError) as caught:
        read_flexible(path)
    assert str(caught.value).startswith(f'{path}{words}')


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r'absent\.yaml: the file does not exist'):
        read_flexible(tmp_path / 'absent.yaml')


@pytest.mark.parametrize('source', [None, 3, ['f.yaml']])
def test_source_of_another_type(source: Any) -> None:
    with pytest.raises(ModelError, match='expected a path or a mapping'):
        read_flexible(source)


def test_boom_of_the_stacker_reclaimer() -> None:
    (boom,) = read_flexible(ROOT / 'config' / 'stacker_reclaimer_flexible.yaml')
    robot = kd.load(ROOT / 'urdf' / 'stacker_reclaimer.urdf')
    assert boom.link == 'boom'
    assert (boom.modes, boom.mode_shapes) == ({'v': 1, 'w': 1}, 'loaded')
    assert boom.geometric_stiffness
    assert lists(boom.damping_ratio) == {'v': [0.02], 'w': [0.02]}
    assert lists(boom.bending_stiffness) == {'v': [3.2e11] * 2, 'w': [1.8e11] * 2}
    # w is up, and the beam ends at the wheel and weighs what the URDF's link does.
    assert np.cross(boom.axis, boom.lateral).tolist() == [0, 0, 1]
    q = np.zeros(3)
    root, wheel = (robot.frame(link).pose(q)[:3, 3] for link in ('boom', 'bucket_wheel'))
    np.testing.assert_allclose(wheel - root, boom.length * boom.axis, atol=1e-12)
    assert boom.mass_per_length is not None
    np.testing.assert_allclose(boom.mass_per_length * boom.length, 165e3)


def test_first_frequency_and_stiffness_of_the_boom() -> None:
    (boom,) = read_flexible(ROOT / 'config' / 'stacker_reclaimer_flexible.yaml')
    (vertical, _), (sideways, _) = (boom.bending_stiffness[plane] for plane in 'wv')
    modes = Beam(60.0, vertical, 2750.0, tip_mass=60e3).modes(1)
    np.testing.assert_allclose(modes.natural_frequencies / (2 * np.pi), [0.8], rtol=5e-3)
    np.testing.assert_allclose(3 * vertical / boom.length**3, 2.5e6)
    np.testing.assert_allclose(sideways / vertical, (4 / 3) ** 2)


def khang() -> tuple[FlexibleLinkDescription, dict[str, Any]]:
    (link,) = read_flexible(ROOT / 'config' / 'flexible_manipulator_flexible.yaml')
    cases = json.loads((ROOT / 'test' / 'vectors' / 'public_vectors.json').read_text())['cases']
    (case,) = [case for case in cases if case['id'] == 'flex1-tipmass-2modes']
    return link, case['inputs']['params']


def test_link_of_the_flexible_manipulator_has_the_numbers_of_the_vector() -> None:
    link, of = khang()
    assert (link.link, link.length) == ('link_oe', of['l'])
    assert link.mass_per_length is not None
    assert link.mass_per_length.tolist() == [of['rhoA']] * 2
    assert lists(link.bending_stiffness) == {'w': [of['EI']] * 2}
    assert (link.modes, link.mode_shapes) == ({'w': 1}, of['modes'])
    assert lists(link.damping_ratio) == {'w': [0]}
    assert link.geometric_stiffness
    # In the plane of motion, and up at the zero pose.
    assert np.cross(link.axis, link.lateral).tolist() == [0, 0, 1]


@pytest.mark.parametrize('q', [-2.0, 0.0, 0.6, 1.5])
def test_rigid_flexible_manipulator(q: float) -> None:
    link, of = khang()
    robot = kd.loads((ROOT / 'urdf' / 'flexible_manipulator.urdf').read_text())
    assert robot.joint_names == ('q_a',)
    at = np.array([q])

    inertia = of['J_1'] + of['m_E'] * of['l'] ** 2 + of['rhoA'] * of['l'] ** 3 / 3
    np.testing.assert_allclose(robot.mass_matrix(at), [[inertia]], rtol=1e-14)
    # Equations (68) and (71) of the link, whose first row is the rigid one.
    beam = Beam(link.length, link.bending_stiffness['w'][0], of['rhoA'])
    flexible = SingleLinkManipulator(beam.modes(1), of['J_1'], of['m_E'], gravity=9.80665)
    rigid = flexible.linearized(q, 0.0, 0.0)
    np.testing.assert_allclose(robot.mass_matrix(at)[0, 0], rigid.M[0, 0], rtol=1e-14)
    np.testing.assert_allclose(robot.gravity_vector(at)[0], -rigid.h[0], rtol=1e-12)
    # q_a is measured from the horizontal, and a positive one raises the tip.
    tip = robot.frame('tip').pose(at)[:3, 3]
    np.testing.assert_allclose(tip, 1.3 * np.array([np.cos(q), 0, np.sin(q)]), atol=1e-15)


def test_link_of_the_flexible_manipulator_is_its_beam_and_a_hub_without_mass() -> None:
    link, of = khang()
    robot = kd.load(ROOT / 'urdf' / 'flexible_manipulator.urdf')
    (body,) = robot.model.bodies
    whole, tip = body.second_moment, np.diag([of['m_E'] * of['l'] ** 2, 0, 0])
    beam = np.diag([of['rhoA'] * of['l'] ** 3 / 3, 0, 0])
    hub = np.linalg.eigvalsh(whole - tip - beam)
    np.testing.assert_allclose(hub, [0, of['J_1'] / 2, of['J_1'] / 2], atol=1e-14)
    np.testing.assert_allclose(body.mass, of['rhoA'] * of['l'] + of['m_E'], rtol=1e-14)
    assert link.origin.tolist() == [0, 0, 0]


@pytest.mark.parametrize('name', ['stacker_reclaimer', 'flexible_manipulator'])
def test_other_readers_of_yaml_find_the_same_numbers(name: str) -> None:
    path = ROOT / 'config' / f'{name}_flexible.yaml'
    for ours, theirs in zip(
        read_flexible(path), read_flexible(yaml.safe_load(path.read_text())), strict=True
    ):
        for plane in ours.modes:
            assert lists(ours.bending_stiffness)[plane] == lists(theirs.bending_stiffness)[plane]

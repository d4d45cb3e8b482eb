# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Reading URDF: what is refused, and what is left aside."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kron_dynamics as kd
from kron_dynamics import ModelError
from kron_dynamics.model import load_model, read_urdf_file


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"^URDF file '.*absent\.urdf' does not exist$"):
        kd.load(tmp_path / 'absent.urdf')


def test_folder_in_place_of_a_file(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match='cannot be read'):
        read_urdf_file(tmp_path)


def test_file_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / 'robot.urdf').write_bytes(b'\x7fELF\xff\xfe\x00')
    with pytest.raises(ModelError, match=r'robot\.urdf.*cannot be read'):
        read_urdf_file(tmp_path / 'robot.urdf')


def test_file_as_path_or_text(tmp_path: Path, parts: Any) -> None:
    path = tmp_path / 'robot.urdf'
    path.write_text(parts.robot(), encoding='utf-8')
    assert kd.load(path).joint_names == kd.load(str(path)).joint_names == ('hinge',)


def changed(good: str, bad: str) -> Callable[[Any], str]:
    """A text of the robot with one piece in the place of another."""

    def text(parts: Any) -> str:
        assert good in parts.robot()
        return str(parts.robot().replace(good, bad, 1))

    return text


XACRO = '<xacro:macro xmlns:xacro="http://www.ros.org/wiki/xacro" name="m"/>'
# Text and what the refusal must name.
REFUSED: dict[str, tuple[str | Callable[[Any], str], tuple[str, ...]]] = {
    'empty': ('', ('empty',)),
    'blank': (' \n\t', ('empty',)),
    'broken XML': (lambda parts: parts.robot()[:-5], ('not well-formed',)),
    'other root element': ('<mujoco/>', ('<mujoco>', 'expected <robot>')),
    'no model': ('<sdf version="1.7"/>', ('<sdf> has 0 elements <model>', 'expected one')),
    'no links': ('<robot name="bare"/>', ("'bare'", 'no links')),
    'xacro left in': (lambda parts: parts.robot(XACRO), ('xacro', '<macro>')),
    'expression of xacro': (
        changed('lower="-1"', 'lower="${-pi}"'),
        ("'hinge'", 'lower', 'expression of xacro'),
    ),
    'argument of xacro': (
        changed('lower="-1"', 'lower="$(arg lowest)"'),
        ("'hinge'", 'lower', 'expression of xacro'),
    ),
    'spelling of Python': (changed('<mass value="1"/>', '<mass value="1_0"/>'), ("'arm'",)),
    'wrong count': (
        changed('<axis xyz="0 0 1"/>', '<axis xyz="0 1"/>'),
        ("'hinge'", 'xyz of <axis>', 'expected 3', 'got 2'),
    ),
    'no parent': (changed('<parent link="base"/>', ''), ("'hinge'",)),
    'no child': (changed('<child link="arm"/>', ''), ("'hinge'",)),
    'no type': (changed(' type="revolute"', ''), ("'hinge'",)),
    'joint without a name': (changed(' name="hinge"', ''), ('name',)),
    'link without a name': (changed(' name="base"', ''), ('name',)),
    'line of the file': (
        lambda parts: '\n<?xml version="1.0"?>\n' + parts.robot('\n<xacro/>'),
        ('line 4',),
    ),
    'half a character': ('\ud800', ('surrogate',)),
    'half a character in a name': ('<robot name="\udcff"/>', ('surrogate',)),
    **{
        f'digit {digits} of another script': (
            changed('<mass value="1"/>', f'<mass value="{digits}"/>'),
            ("'arm'", 'value'),
        )
        for digits in ('٣', '３', '1٣')
    },
}


@pytest.mark.parametrize('case', REFUSED)
def test_texts_that_are_no_description_are_refused(
    case: str, parts: Any, assert_refused: Any
) -> None:
    text, words = REFUSED[case]
    assert_refused(text if isinstance(text, str) else text(parts), ModelError, *words)


NUMBERS = {
    'mass': ('arm', '<mass value="1"/>', '<mass value="{}"/>'),
    'inertia': ('arm', 'iyy="0.1"', 'iyy="{}"'),
    'axis': ('hinge', '<axis xyz="0 0 1"/>', '<axis xyz="0 {} 1"/>'),
    'lower': ('hinge', 'lower="-1"', 'lower="{}"'),
    'upper': ('hinge', 'upper="1"', 'upper="{}"'),
    'effort': ('hinge', 'effort="10"', 'effort="{}"'),
    'velocity': ('hinge', 'velocity="2"', 'velocity="{}"'),
    'origin': ('hinge', '<axis', '<origin xyz="0 0 0" rpy="{} 0 0"/><axis'),
    'damping': ('hinge', '<axis', '<dynamics damping="{}"/><axis'),
    'friction': ('hinge', '<axis', '<dynamics friction="{}"/><axis'),
    'multiplier': ('hinge', '<axis', '<mimic joint="hinge" multiplier="{}"/><axis'),
    'offset': ('hinge', '<axis', '<mimic joint="hinge" offset="{}"/><axis'),
}


@pytest.mark.parametrize('place', NUMBERS)
@pytest.mark.parametrize('value', ['nan', '-NaN', 'much', '1,5', '0x10', ''])
def test_what_is_no_number_is_refused(
    place: str, value: str, parts: Any, assert_refused: Any
) -> None:
    owner, good, bad = NUMBERS[place]
    text = parts.robot().replace(good, bad.format(value), 1)
    assert text != parts.robot()
    assert_refused(text, ModelError, f"'{owner}'", 'expected')


@pytest.mark.parametrize('place', ['mass', 'inertia', 'axis', 'origin', 'damping', 'friction'])
@pytest.mark.parametrize('value', ['inf', '-inf', '1e999'])
def test_infinity_is_refused_where_it_means_nothing(
    place: str, value: str, parts: Any, assert_refused: Any
) -> None:
    owner, good, bad = NUMBERS[place]
    text = parts.robot().replace(good, bad.format(value), 1)
    assert_refused(text, ModelError, f"'{owner}'", 'finite')


def test_line_break_in_a_name_is_shown_in_one_line(parts: Any, assert_warned: Any) -> None:
    text = parts.robot(hinge=parts.joint(name='a&#10;b'))
    model = assert_warned(text, 'control_character', ModelError, "'a\\nb'")
    assert model.joint_names == ('a\nb',)


def test_other_dialects_are_left_aside(parts: Any) -> None:
    extras = (
        '<gazebo reference="arm"><selfCollide>true</selfCollide></gazebo>'
        '<transmission name="t"><type>x</type></transmission>'
        '<ros2_control name="c" type="system"/><material name="red"/>'
    )
    arm = parts.link('arm').replace(
        '<inertial>',
        '<visual><geometry><mesh filename="package://x/y.stl"/></geometry></visual><inertial>',
    )
    assert load_model(parts.robot(extras, arm=arm)).joint_names == ('hinge',)


def test_numbers_in_what_is_left_aside_do_not_matter(parts: Any) -> None:
    arm = parts.link('arm').replace(
        '<inertial>', '<gazebo><mass value="0.1 kg"/></gazebo><inertial>'
    )
    assert load_model(parts.robot(arm=arm)).total_mass == 1.0


def test_comments_declaration_and_byte_order_mark(parts: Any) -> None:
    text = '\ufeff<?xml version="1.0" encoding="UTF-8"?><!-- a -->' + parts.robot('<!-- b -->')
    assert load_model(text).joint_names == ('hinge',)


def test_names_beyond_ascii(parts: Any) -> None:
    model = load_model(parts.robot(hinge=parts.joint(name='Gelenk_α')))
    assert model.joint_names == ('Gelenk_α',)


def leaking(text: str, secret: Path) -> str:
    return f'<!DOCTYPE robot [<!ENTITY leak SYSTEM "{secret.as_uri()}">]>{text}'


def test_external_entities_add_no_elements(parts: Any, tmp_path: Path) -> None:
    secret = tmp_path / 'secret'
    secret.write_text('<link name="stolen"/>', encoding='utf-8')
    model = load_model(leaking(parts.robot('&leak;'), secret))
    assert model.link_names == ('base', 'arm')


@pytest.mark.parametrize('attribute', ['mass', 'name'])
def test_external_entities_are_refused_in_attributes(
    attribute: str, parts: Any, tmp_path: Path, assert_refused: Any
) -> None:
    secret = tmp_path / 'secret'
    secret.write_text('42', encoding='utf-8')
    arm = parts.link('arm', mass='&leak;') if attribute == 'mass' else parts.link('&leak;')
    assert_refused(leaking(parts.robot(arm=arm), secret), ModelError, "'leak'")


def test_entity_bomb_is_refused(parts: Any, assert_refused: Any) -> None:
    levels = ''.join(f'<!ENTITY e{k + 1} "{f"&e{k};" * 10}">' for k in range(9))
    declaration = f'<!DOCTYPE robot [<!ENTITY e0 "{"x" * 10}">{levels}]>'
    assert_refused(declaration + parts.robot('<link name="&e9;"/>'), ModelError)


@pytest.mark.parametrize(
    ('first', 'second', 'tag', 'owner'),
    [
        ('<axis xyz="1 0 0"/>', '<axis xyz="0 0 1"/>', 'axis', 'hinge'),
        ('<limit lower="-2" upper="3" effort="1" velocity="1"/>', '<limit ', 'limit', 'hinge'),
        ('<parent link="base"/>', '<parent link="base"/>', 'parent', 'hinge'),
        ('<mass value="5"/>', '<mass value="1"/>', 'mass', 'arm'),
        ('<inertial><mass value="5"/></inertial>', '<inertial>', 'inertial', 'arm'),
    ],
)
def test_of_parts_given_twice_the_first_counts(
    first: str, second: str, tag: str, owner: str, parts: Any, assert_warned: Any
) -> None:
    text = parts.robot().replace(second, first + second, 1)
    words = f"'{owner}'", f'2 elements <{tag}>', 'first counts'
    model = assert_warned(text, 'repeated_element', ModelError, *words)
    read = {
        'axis': model.joints[0].axis.tolist() == [1, 0, 0],
        'limit': model.position_upper[0] == 3,
        'parent': model.joints[0].parent == -1,
        'mass': model.total_mass == 5,
        'inertial': model.total_mass == 5,
    }
    assert read[tag]


# Kind of the warning, text, and what the warning must name.
SLIPS: list[tuple[str, Callable[[Any], str], tuple[str, ...]]] = [
    ('misspelt', changed('<limit ', '<limits '), ("joint 'hinge'", '<limits>')),
    (
        'misspelt',
        lambda parts: parts.robot().replace('inertial>', 'intertial>'),
        ("link 'arm'", '<inertial> if'),
    ),
    ('misspelt', changed('<inertia ', '<Inertia '), ("link 'arm'", '<Inertia>')),
    (
        'misspelt',
        changed('lower="-1"', 'lover="-1"'),
        ("joint 'hinge'", "'lover'", "write 'lower'"),
    ),
    (
        'misspelt',
        changed('<link name="base"/>', '<link name="base"/><joints/>'),
        ('URDF', '<joint>'),
    ),
    (
        'unknown_attribute',
        changed('<axis xyz="0 0 1"/>', '<axis xyz="0 0 1" frame="world"/>'),
        ("'hinge'", "'frame'", 'remove it; <axis> has xyz'),
    ),
    (  # The right one is there, too.
        'unknown_attribute',
        changed('lower="-1"', 'lower="-1" lover="-2"'),
        ("'hinge'", "'lover'", 'remove it; <limit> has'),
    ),
    ('robot_version', changed('<robot ', '<robot version="7" '), ("'7'",)),
]


@pytest.mark.parametrize(('kind', 'text', 'words'), SLIPS)
def test_slips_of_the_pen_are_told(
    kind: str,
    text: Callable[[Any], str],
    words: tuple[str, ...],
    parts: Any,
    assert_warned: Any,
) -> None:
    assert_warned(text(parts), kind, ModelError, *words)


def test_robot_without_a_name(parts: Any, assert_warned: Any) -> None:
    text = parts.robot().replace(' name="toy"', '')
    assert assert_warned(text, 'missing_name', ModelError, 'no name').name == 'robot'


@pytest.mark.parametrize(
    ('before', 'words'),
    [
        ('\n<?xml version="1.0"?>', 'after a blank'),
        ('<?xml version="0.0"?>', "version '0.0'"),
        ('<?xml ?>', 'no version'),
    ],
)
def test_xml_declarations_that_xml_refuses(
    before: str, words: str, parts: Any, assert_warned: Any
) -> None:
    model = assert_warned(before + parts.robot(), 'xml_declaration', ModelError, words)
    assert model.joint_names == ('hinge',)


def test_default_namespace(parts: Any) -> None:
    text = parts.robot().replace('<robot ', '<robot xmlns="http://drake.mit.edu" ')
    assert load_model(text).joint_names == ('hinge',)


@pytest.mark.parametrize('encoding', ['utf-8-sig', 'utf-16', 'utf-32'])
def test_file_with_a_byte_order_mark(tmp_path: Path, parts: Any, encoding: str) -> None:
    path = tmp_path / 'arm.urdf'
    text = f'<?xml version="1.0" encoding="{encoding}"?>' + parts.robot(hinge=parts.joint('Tür'))
    path.write_text(text, encoding=encoding)
    assert load_model(read_urdf_file(path)).joint_names == ('Tür',)
    path.write_bytes(path.read_bytes() + b'\xff\xfe\xff')
    with pytest.raises(ModelError, match='it is not text in utf-'):
        read_urdf_file(path)


def test_file_in_the_encoding_that_it_declares(tmp_path: Path, parts: Any) -> None:
    text = '<?xml version="1.0" encoding="ISO-8859-1"?>' + parts.robot(hinge=parts.joint('Tür'))
    (tmp_path / 'robot.urdf').write_bytes(text.encode('latin-1'))
    assert kd.load(tmp_path / 'robot.urdf').joint_names == ('Tür',)
    (tmp_path / 'robot.urdf').write_bytes(text.replace('ISO-8859-1', 'nonsense').encode('latin-1'))
    with pytest.raises(ModelError, match=r'robot\.urdf.*cannot be read'):
        kd.load(tmp_path / 'robot.urdf')


def test_path_with_a_nul() -> None:
    with pytest.raises(kd.ParameterError, match=r"^path is 'a\\x00b', expected"):
        kd.load('a\0b')


@pytest.mark.parametrize('ratio', ['1e200', '1e999', 'nan'])
def test_gear_ratio_beyond_the_range_of_numbers(
    ratio: str, parts: Any, assert_refused: Any
) -> None:
    gear = (
        '<transmission name="drive"><joint name="hinge"/><actuator><rotor_inertia value="1"/>'
        f'<gear_ratio value="{ratio}"/></actuator></transmission>'
    )
    assert_refused(parts.robot(gear), ModelError, "'drive'", 'gear_ratio', "'hinge'")


HUGE = 'x' * 100_000
LONG_NAMES = {
    'link': lambda parts: parts.robot(parts.link(HUGE)),
    'joint': lambda parts: parts.robot(hinge=parts.joint(HUGE, kind='floating')),
    'type': lambda parts: parts.robot(hinge=parts.joint(kind=HUGE)),
    'parent': lambda parts: parts.robot(hinge=parts.joint(parent=HUGE)),
    'number': lambda parts: parts.robot(arm=parts.link('arm', mass=HUGE)),
    'root': lambda parts: f'<{HUGE}/>',
    'unclosed': lambda parts: f'<{HUGE}>',
    'xacro': lambda parts: parts.robot(f'<x:{HUGE} xmlns:x="http://xacro"/>'),
    'twice': lambda parts: parts.robot(parts.link(HUGE), parts.link(HUGE)),
    'drive': lambda parts: parts.robot(
        f'<transmission name="{HUGE}"><actuator><rotor_inertia value="x"/></actuator>'
        '</transmission>'
    ),
}


@pytest.mark.parametrize('place', LONG_NAMES)
def test_long_names_are_cut_in_messages(place: str, parts: Any) -> None:
    with pytest.raises(ModelError) as caught:
        load_model(LONG_NAMES[place](parts))
    assert 20 < len(str(caught.value)) < 1000
    assert str(caught.value).isprintable()


def test_many_names_are_cut_in_messages(parts: Any) -> None:
    links = [f'<link name="stray{k}"/>' for k in range(5000)]
    with pytest.raises(ModelError, match=r'5001 root links.*and 49\d\d more') as caught:
        load_model(parts.robot(*links))
    assert len(str(caught.value)) < 1000


def test_a_text_for_a_path_says_what_reads_it() -> None:
    with pytest.raises(
        ModelError, match='this is a text, which kron_dynamics.loads reads'
    ) as told:
        kd.load('<robot name="r">\n\n<link name="a"/></robot>')
    assert len(str(told.value).splitlines()) == 1
    with pytest.raises(ModelError) as told:
        kd.load('a\nb.urdf')
    assert len(str(told.value).splitlines()) == 1


def test_arguments_for_a_description_that_is_no_xacro(robot_text: Any) -> None:
    with pytest.raises(kd.ParameterError, match='^xacro_args is .*, but the description is no'):
        kd.loads(robot_text('rrp'), xacro_args={'size': '2'})

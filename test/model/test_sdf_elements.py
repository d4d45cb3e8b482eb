# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""SDFormat: truth values, elements that are not read, and rotors of Drake."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sdf_texts import joint, link

from kron_dynamics.exceptions import ModelError
from kron_dynamics.kinematics import forward_kinematics
from kron_dynamics.model import load_model

AXIS = (
    '<xyz>1 0 0</xyz><use_parent_model_frame>FLAG</use_parent_model_frame>'
    '<limit><lower>-1</lower><upper>2</upper></limit><dynamics><damping>3</damping></dynamics>'
)
TEXT = (
    '<sdf version="1.6" xmlns:drake="http://drake.mit.edu"><model name="m">'
    + link('a', '0 0 0 0 0 0')
    + link('b', '0 0 1 0 90 0').replace('<pose>0 0 1', '<pose degrees="FLAG">0 0 1')
    + joint('h', 'revolute', 'a', 'b', AXIS)
    + '</model></sdf>'
)
PLAIN = TEXT.replace('FLAG', 'false')


def kinds(text: str) -> list[str]:
    return [warning.kind for warning in load_model(text).warnings]


@pytest.mark.parametrize('words', [('true', 'True', ' TRUE ', '1'), ('false', 'False', '0')])
def test_truth_values_count_in_any_letter_case(words: tuple[str, ...], assert_close: Any) -> None:
    """As libsdformat reads them: generators in Python write True."""
    models = [load_model(TEXT.replace('FLAG', word)) for word in words]
    poses = [forward_kinematics(model, [0.3], 'b') for model in models]
    for pose in poses[1:]:
        assert_close(pose, poses[0])
    warned = [
        kinds(PLAIN.replace('<inertial>', f'<gravity>{w}</gravity><inertial>')) for w in words
    ]
    assert all(('other_gravity' in found) == (words[0] == 'false') for found in warned)
    if words[0] == 'true':
        turned = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
        assert_close(forward_kinematics(models[0], [0.0], 'b')[:3, :3], turned, floor=1.0)
        with pytest.raises(ModelError, match='auto'):
            load_model(PLAIN.replace('<inertial>', '<inertial auto="True">'))


@pytest.mark.parametrize(
    ('old', 'new'),
    [
        ('degrees="FLAG"', 'degrees="yes"'),
        ('>FLAG<', '>on<'),
        ('<inertial>', '<inertial auto="wahr">'),
        ('<inertial>', '<gravity>off</gravity><inertial>'),
    ],
)
def test_other_truth_values_are_refused(old: str, new: str) -> None:
    word = new.replace('"', '>').split('>')[1].split('<')[0]
    with pytest.raises(ModelError, match=f"'{word}', expected true or false"):
        load_model(TEXT.replace(old, new).replace('FLAG', 'false'))


@pytest.mark.parametrize(
    ('old', 'new', 'subject'),
    [
        ('limit>', 'limits>', "joint 'h'"),
        ('lower>', 'lowr>', "joint 'h'"),
        ('damping>', 'dampin>', "joint 'h'"),
        ('xyz>', 'xyzz>', "joint 'h'"),
        ('mass>', 'mas>', "link 'a'"),
        ('izz>', 'iz>', "link 'a'"),
        ('</joint>', '<axes/></joint>', "joint 'h'"),
        ('</joint>', '</joint><lnk/>', 'SDF'),
    ],
)
def test_misspelt_elements_are_told(old: str, new: str, subject: str) -> None:
    text = PLAIN.replace(old, new)
    assert text != PLAIN and 'misspelt' not in kinds(PLAIN)
    found = [w.subject for w in load_model(text).warnings if w.kind == 'misspelt']
    assert subject in found
    with pytest.raises(ModelError):
        load_model(text, strict=True)


def test_added_mass_of_a_fluid_is_told() -> None:
    added = PLAIN.replace(
        '</inertial>', '<fluid_added_mass><xx>1</xx></fluid_added_mass></inertial>'
    )
    assert set(kinds(added)) - set(kinds(PLAIN)) == {'added_mass'}


def test_centres_of_mass_in_other_frames_are_refused() -> None:
    given = '<inertial><pose'
    for name in ('', 'b'):
        head, _, tail = PLAIN.rpartition(given)
        load_model(f'{head}{given} relative_to="{name}"{tail}')
    with pytest.raises(ModelError, match=r"relative_to 'a', which is not read, .* link 'b'"):
        load_model(f'{head}{given} relative_to="a"{tail}')


def test_rotors_of_drake_count_at_their_joint() -> None:
    rotor = '<drake:rotor_inertia>0.002</drake:rotor_inertia>'
    gear = '<drake:gear_ratio>50</drake:gear_ratio>'
    for given, expected in ((rotor, 0.002), (rotor + gear, 5.0), (gear, 0.0), ('', 0.0)):
        model = load_model(PLAIN.replace('</joint>', f'{given}</joint>'))
        assert model.armature == [pytest.approx(expected, rel=1e-15)]

# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""SDFormat: where a model is placed in the world, and the gravity there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from sdf_texts import HINGE, joint, link

from kron_dynamics.kinematics import forward_kinematics
from kron_dynamics.model import load_model


@pytest.mark.parametrize('frame', ['f', 'b', 'h'])
def test_the_model_is_placed_by_its_placement_frame(frame: str, assert_close: Any) -> None:
    """A frame, link or joint of the model is where the model's pose says."""
    pose = '1 2 -3 0.4 -0.5 0.6'
    inside = link('a', '0.3 0 1 0.2 0 0.1') + link('b', '0 0.1 0 1 0 0', 'a')
    inside += '<frame name="f" attached_to="a"><pose>1 2 3 0.3 0.2 0.1</pose></frame>'
    inside += joint('h', 'revolute', 'a', 'b', '<xyz>0 0 1</xyz>', '<pose>0.5 0 0 0 1 0</pose>')
    text = f'<sdf version="1.9"><model name="m" placement_frame="{frame}"><pose>{pose}</pose>'
    found = load_model(f'{text}{inside}</model></sdf>')
    mark = f'<link name="mark"><pose relative_to="{frame}"/></link>'
    mark += joint('to mark', 'fixed', 'a' if frame == 'f' else 'b', 'mark')
    marked = load_model(f'{text}{inside}{mark}</model></sdf>')
    q = np.zeros(found.n)
    values = [float(word) for word in pose.split()]
    expected = np.eye(4)
    expected[:3, :3] = Rotation.from_euler('xyz', values[3:]).as_matrix()
    expected[:3, 3] = values[:3]
    assert_close(forward_kinematics(marked, q, 'mark'), expected)
    assert_close(forward_kinematics(found, q, 'a'), forward_kinematics(marked, q, 'a'))


def test_gravity_of_the_file_is_not_passed_over() -> None:
    def warned(world: str, more: str = '', **options: Any) -> list[str]:
        inside = link('a', '0 0 0 0 0 0').replace('<inertial>', f'{more}<inertial>')
        inside += link('b', '0 0 1 0 0 0') + HINGE
        text = f'<sdf version="1.9"><world name="w">{world}<model name="m">{inside}'
        model = load_model(f'{text}</model></world></sdf>', **options)
        return [str(w) for w in model.warnings if w.kind == 'other_gravity']

    moon = '<gravity>0 0 -1.62</gravity>'
    (text,) = warned(moon)
    assert '[0.0, 0.0, -1.62] m/s^2, which is not read: [0.0, 0.0, -9.80665] is used' in text
    assert not warned(moon, gravity=(0.0, 0.0, -1.62))
    assert not warned('<gravity>0 0 -9.8</gravity>', gravity=(0.0, -9.81, 0.0))
    assert not warned('<gravity>0 0 -9.8</gravity>')
    assert not warned('')
    assert warned('<gravity>0 9.8 0</gravity>')
    (text,) = warned('', '<gravity>false</gravity>')
    assert "link 'a'" in text
    assert not warned('', '<gravity>true</gravity>')

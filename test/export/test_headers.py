# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What the headers of an export say of shapes, and that the wrapper's test tries all of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import kron_dynamics as kd
from kron_dynamics.export import export_library

ROBOT = kd.load(Path(__file__).parents[1] / 'robots' / 'planar_2r.urdf')
PLACE = 'include/arm_dynamics/arm'
SHAPES = {
    'gravity_vector': (('result[2]',), ('Vector<2>> result',)),
    'mass_matrix': (('result[4] (2 x 2)',), ('Matrix<2, 2>> result',)),
    'hand_kinematic_hessian': (('result[24] (6 x 4)',), ('Matrix<6, 4>> result',)),
    'hand_control_step': (
        ('mass_matrix[4] (2 x 2)', 'coriolis_vector[2]', 'gravity_vector[2]')
        + ('jacobian[12] (6 x 2)', 'jacobian_dot_qd[6]'),
        ('Matrix<2, 2>> mass_matrix', 'Vector<2>> coriolis_vector', 'Vector<2>> gravity_vector')
        + ('Matrix<6, 2>> jacobian', 'Vector<6>> jacobian_dot_qd'),
    ),
}


@pytest.fixture(scope='module')
def files():
    quantities = ['gravity_vector', 'mass_matrix', 'kinematic_hessian', 'control_step']
    return export_library(ROBOT, prefix='arm', quantities=quantities, frames=['hand']).files()


@pytest.mark.parametrize('name', SHAPES)
def test_shapes_of_results_are_told_in_c_and_cpp(files, name):
    in_c, in_cpp = SHAPES[name]
    above = files[f'{PLACE}.h'].partition(f'\nvoid arm_{name}(')[0]
    assert re.findall(r'^ \* out: (.*)', above, re.MULTILINE)[-1] == ', '.join(in_c)
    (given,) = re.findall(rf'  void {name}\((.*)\) const', files[f'{PLACE}.hpp'])
    assert given.split(', Out<')[1:] == list(in_cpp)


@pytest.mark.parametrize('name', SHAPES)
def test_the_wrapper_is_held_against_each_function(files, name):
    """Both write, into arrays of their own, and every one of these is compared."""
    text = files['test/wrapper_test.cpp']
    ((by_wrapper, by_function),) = re.findall(
        rf'    robot\.{name}\((.*)\);\n    arm_{name}\((.*)\);\n', text
    )
    results = [re.split(r'\W', each)[0] for each in SHAPES[name][0]]
    assert by_wrapper.split(', ')[-len(results) :] == results
    assert by_function.split(', ')[-len(results) :] == [f'{each}_c.data()' for each in results]
    for each in results:
        assert f'    same("{name}", {each}, {each}_c);\n' in text

# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What the headers of an export say of shapes, and that the wrapper's test tries all of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from compilers import EIGEN_PREFIX
from exported import run

import kron_dynamics as kd
from benchmarks.chain import chain_urdf
from kron_dynamics.export import export_library, write_export

ROOT = Path(__file__).parents[2]
ROBOT = kd.load(ROOT / 'test' / 'robots' / 'planar_2r.urdf')
WRONG_LENGTH = """\
#include <cstdio>
#include "arm_dynamics/arm.hpp"

template <class Vector>
static void give(const Vector &q) {
  const arm::Robot robot;
  Eigen::VectorXd g(2);
  try {
    g = robot.gravity_vector(q);
    std::puts(g == robot.gravity_vector(Eigen::Vector2d(q[0], q[1])) ? "right" : "wrong");
  } catch (const std::invalid_argument &) {
    std::puts("refused");
  }
}

int main() {
  const Eigen::VectorXd q = Eigen::VectorXd::Constant(5, 0.3);
  give(Eigen::VectorXd(q.head(2)));
  give(Eigen::VectorXd(q.head(1)));
  give(q.segment(1, 3));
  give(2.0 * q);
}
"""
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


def test_the_header_tells_of_loads_where_they_can_be_given():
    """Each has ten numbers of the payload, in the order of the links."""
    about = []
    for links in ((), ('upper_arm', 'hand')):
        library = export_library(
            ROBOT, prefix='arm', quantities=['gravity_vector'], payload_links=links
        )
        about.append(library.files()[f'{PLACE}.h'].partition('#ifndef')[0])
    bare, carrying = about
    assert 'payload' not in bare
    assert 'payload: ten inertial parameters' in carrying
    places = re.findall(r'^ \*   (\d+)\.\.(\d+)  (\w+)', carrying, re.MULTILINE)
    assert [(int(a), int(b)) for a, b, _ in places] == [(0, 9), (10, 19)]
    assert [link for *_, link in places] == ['upper_arm', 'forearm']
    assert '10..19  forearm, also for hand, fixed to it' in carrying


@pytest.mark.parametrize('has_loops', [False, True])
def test_where_closed_loops_are_solved_is_told(has_loops):
    """In the header and on the first page: beyond, wrong numbers look like right ones."""
    loops = ROOT / 'config' / 'four_bar_constraints.yaml' if has_loops else None
    robot = kd.load(ROOT / 'urdf' / 'four_bar.urdf', constraints=loops) if has_loops else ROBOT
    library = export_library(robot, prefix='arm', quantities=['gravity_vector'])
    files = library.files()
    for name in (f'{PLACE}.h', 'README.md'):
        about = ' '.join(files[name].partition('#ifndef')[0].replace('\n * ', '\n').split())
        assert ('solved for positions from position_lower to position_upper' in about) == has_loops


@pytest.mark.long
def test_the_wrapper_takes_no_vector_of_another_length(tmp_path):
    """Also without assertions, where the function would read what is behind it."""
    library = export_library(ROBOT, prefix='arm', quantities=['gravity_vector', 'mass_matrix'])
    write_export(library, tmp_path)
    main = tmp_path / 'main.cpp'
    main.write_text(WRONG_LENGTH, encoding='utf-8')
    eigen = EIGEN_PREFIX / 'include' / 'eigen3'
    include = ('-I', tmp_path / 'include', '-isystem', eigen, '-DNDEBUG')
    run('cc', '-c', *include[:2], tmp_path / 'src' / 'arm.c', '-o', tmp_path / 'arm.o')
    run('c++', '-std=c++17', *include, main, tmp_path / 'arm.o', '-lm', '-o', tmp_path / 'main')
    assert run(tmp_path / 'main').split() == ['right', 'refused', 'refused', 'refused']


def test_the_wrapper_declares_the_types_that_it_returns(files):
    text = files[f'{PLACE}.hpp']
    returned = set(re.findall(r'^  ([A-Z]\w*)(?:<.*>)? \w+\(.*\{$', text, re.MULTILINE))
    assert set(re.findall(r'^struct (\w+) \{', text, re.MULTILINE)) == {'HandControlStep'}
    assert returned == {'HandControlStep', 'Matrix', 'Vector'}


def test_links_that_differ_in_little_have_structures_of_their_own(tmp_path):
    """In any order of the links; others are called as they are alone."""
    links = ('a_1', 'a1', 'b', 'Tool', 'tool', 'tool2')
    text = (Path(__file__).parents[1] / 'robots' / 'planar_2r.urdf').read_text(encoding='utf-8')
    more = ''.join(
        f'<link name="{link}"/><joint name="to {link}" type="fixed"><parent link="hand"/>'
        f'<child link="{link}"/></joint>'
        for link in links
    )
    robot = kd.loads(text.replace('</robot>', f'{more}</robot>'))

    def structures(frames):
        library = export_library(robot, prefix='arm', quantities=['control_step'], frames=frames)
        files = library.files()
        return files, re.findall(r'^struct (\w+) \{', files[f'{PLACE}.hpp'], re.MULTILINE)

    files, names = structures(links)
    assert len(set(names)) == len(links)
    assert structures(links)[0] == files
    assert structures(['a_1'])[1] == ['A1ControlStep'] and {'BControlStep'} < set(names)
    assert {*structures(['b', 'a1', 'a_1'])[1]} < set(names)
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content, encoding='utf-8')
    run(
        *('c++', '-std=c++17', '-fsyntax-only', '-I', tmp_path / 'include'),
        *('-I', EIGEN_PREFIX / 'include' / 'eigen3', tmp_path / 'test' / 'wrapper_test.cpp'),
    )


@pytest.mark.parametrize('joints', [2, 16])
def test_the_wrapper_has_memory_if_functions_need_some(joints):
    robot = kd.loads(chain_urdf(joints))
    library = export_library(robot, prefix='arm', quantities=['mass_matrix'])
    text = library.files()[f'{PLACE}.hpp']
    for part in ('ARM_WORKSPACE> workspace_;', ', workspace_.data());'):
        assert (part in text) == (joints == 16)


def test_the_test_of_the_wrapper_compares_both_forms_of_every_method(files):
    """Results in given arrays, and the returned ones, which nothing else would call."""
    wrapper, test = files[f'{PLACE}.hpp'], files['test/wrapper_test.cpp']
    methods = set(re.findall(r'^    arm_(\w+)\(', wrapper, re.MULTILINE))
    assert methods == set(re.findall(r'^    robot\.(\w+)\(', test, re.MULTILINE))
    returned = set(re.findall(r'^  (?!void)[A-Z][\w<>:, ]* (\w+)\(.*\{$', wrapper, re.MULTILINE))
    compared = re.findall(r'same\("(\w+)", robot\.(\w+)\(', test)
    compared += re.findall(r'(const auto) all = robot\.(\w+)\(', test)
    assert returned and returned == {name for _, name in compared}

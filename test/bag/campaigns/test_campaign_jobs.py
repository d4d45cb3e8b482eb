# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The key of a bag's results: it changes with everything that they depend on."""

from __future__ import annotations

import pytest

from kron_dynamics.bag.campaigns.campaign import make_jobs
from kron_dynamics.bag.campaigns.found_bags import FoundBag
from kron_dynamics.bag.campaigns.jobs import Job, run_job
from kron_dynamics.exceptions import ModelError

XACRO = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'
# Files of a description, of which the second one is included or named by the first.
DESCRIPTIONS = {
    'xacro': {
        'robot.urdf.xacro': f'<robot name="r" {XACRO}><xacro:include filename="mass.xacro"/>'
        '<link name="${mass}"/></robot>',
        'mass.xacro': f'<robot {XACRO}><xacro:property name="mass" value="NUMBER"/></robot>',
    },
    'MJCF': {
        'loops.xml': '<mujoco><include file="equality.xml"/></mujoco>',
        'equality.xml': '<mujoco><equality><joint name="NUMBER"/></equality></mujoco>',
    },
    'MJCF that a YAML complements': {
        'start.yaml': 'from: loops.xml\nstart: {a: 1}',
        'loops.xml': '<mujoco><include file="equality.xml"/></mujoco>',
        'equality.xml': '<mujoco><equality><joint name="NUMBER"/></equality></mujoco>',
    },
    'YAML that another complements': {
        'start.yaml': 'from: loops.yaml\nstart: {a: 1}',
        'loops.yaml': 'constraints: {loop: NUMBER}',
    },
}


@pytest.mark.parametrize('kind', DESCRIPTIONS)
def test_bags_are_analysed_again_if_a_part_of_a_description_changes(tmp_path, kind):
    (tmp_path / 'x.mcap').touch()
    bags = [FoundBag('x.mcap', tmp_path / 'x.mcap')]
    main, *_ = DESCRIPTIONS[kind]

    def key(number):
        for name, text in DESCRIPTIONS[kind].items():
            (tmp_path / name).write_text(text.replace('NUMBER', number))
        options = {'urdf': str(tmp_path / main)}
        (job,) = make_jobs(bags, 'module', options, [tmp_path / main], tmp_path / 'out')
        return job.key

    assert key('1') == key('1') != key('2')


WARNING = "kron_dynamics: warning: link 'tool' has no mass"
SAY = f'import os, sys; print({WARNING!r}, file=sys.stderr, flush=True)'


@pytest.mark.parametrize(
    ('end', 'reason'),
    [
        ('os.kill(os.getpid(), 9)', 'the process was killed by SIGKILL'),
        ('os._exit(3)', f'the process ended with 3, saying last: {WARNING}'),
        ('sys.exit("kron_dynamics: error: no bag")', 'kron_dynamics: error: no bag'),
        ('1 / 0', 'ZeroDivisionError: division by zero'),
    ],
)
def test_the_reason_of_a_failure_is_no_warning(end, reason, tmp_path, monkeypatch):
    (tmp_path / 'failing_analysis.py').write_text(f'{SAY}\n{end}\n')
    monkeypatch.setenv('PYTHONPATH', str(tmp_path))
    job = Job('x', 'key', 'failing_analysis', {}, str(tmp_path / 'out'))
    assert run_job(job).error == reason


def test_a_bag_that_is_gone_keeps_no_other_back(tmp_path):
    (tmp_path / 'x.mcap').touch()
    names = ('gone.mcap', 'x.mcap')
    bags = [FoundBag(name, tmp_path / name) for name in names]
    assert [job.name for job in make_jobs(bags, 'module', {}, [], tmp_path)] == [*names]


@pytest.mark.parametrize('kind', ['xacro', 'MJCF', 'YAML that another complements'])
def test_a_part_that_is_missing_is_told_before_any_bag_is_analysed(tmp_path, kind):
    (tmp_path / 'x.mcap').touch()
    main, part = DESCRIPTIONS[kind]
    (tmp_path / main).write_text(DESCRIPTIONS[kind][main])
    with pytest.raises(ModelError, match=part):
        make_jobs(
            [FoundBag('x.mcap', tmp_path / 'x.mcap')], 'module', {}, [tmp_path / main], tmp_path
        )

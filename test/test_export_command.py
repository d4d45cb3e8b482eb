# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`kron_dynamics export`: what it writes, what it says, what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import kron_dynamics as kd
from kron_dynamics.cli import main
from kron_dynamics.export import export_library

ROOT = Path(__file__).parents[1]
STACKER = ROOT / 'urdf' / 'stacker_reclaimer.urdf'
BOOM = ROOT / 'config' / 'stacker_reclaimer_flexible.yaml'
FOUR_BAR = ROOT / 'urdf' / 'four_bar.urdf'
LOOPS = ROOT / 'config' / 'four_bar_constraints.yaml'


def export(folder, *options, urdf=STACKER):
    return main(['export', str(urdf), '--output', str(folder), *options])


def manifest(folder):
    return json.loads((folder / 'kron_dynamics_export.json').read_text())


def test_it_writes_what_the_library_is(tmp_path, capsys):
    folder = tmp_path / 'new' / 'folder'
    assert export(folder, '--frame', 'bucket_wheel') == 0
    said = capsys.readouterr().out
    library = export_library(kd.load(STACKER), frames=['bucket_wheel'])
    for name, text in library.files().items():
        assert (folder / name).read_text() == text
    for function in library.functions:
        assert f'stacker_reclaimer_{function.name}: {function.operations} operations' in said
    assert library.model.fingerprint in said


@pytest.mark.parametrize(
    ('options', 'robot', 'links'),
    [
        (['--flexible', str(BOOM)], {'path': STACKER, 'flexible': BOOM}, 5),
        (['--constraints', str(LOOPS)], {'path': FOUR_BAR, 'constraints': LOOPS}, 1),
    ],
    ids=['flexible', 'closed loops'],
)
def test_machines_with_more_than_a_description(options, robot, links, tmp_path):
    options = [*options, '--quantity', 'gravity_vector', '--prefix', 'machine']
    assert export(tmp_path, *options, urdf=robot['path']) == 0
    assert manifest(tmp_path)['fingerprint'] == kd.load(**robot).model.fingerprint
    header = (tmp_path / 'include' / 'machine_dynamics' / 'machine.h').read_text()
    assert f'#define MACHINE_N {links}\n' in header


@pytest.mark.parametrize(
    ('options', 'carrier'),
    [
        (['--payload-inputs'], 'boom, also for bucket_wheel, fixed to it'),
        (['--payload-inputs', 'boom'], 'boom'),
        (['--frame', 'boom', '--payload-inputs'], 'boom'),
    ],
)
def test_payloads_are_those_of_the_links_named_or_of_frames_or_the_tip(options, carrier, tmp_path):
    assert kd.load(STACKER).model.tip_link == 'bucket_wheel'
    assert export(tmp_path, *options, '--quantity', 'mass_matrix') == 0
    header = (tmp_path / 'include/stacker_reclaimer_dynamics/stacker_reclaimer.h').read_text()
    assert 'mass_matrix(const double *q, const double *payload, double *result)' in header
    assert f'\n *   0..9  {carrier}\n' in header


@pytest.mark.parametrize(
    ('options', 'told'),
    [
        (['--frame', 'hook'], "link 'hook' does not exist"),
        (['--quantity', 'speed'], "quantity 'speed' does not exist, expected one of the robot: "),
        (['--quantity', 'pose'], "quantity 'pose' needs a link, and no frame is named"),
        (['--prefix', 'Stacker'], "prefix is 'Stacker', expected"),
        (['--payload-inputs', 'rail'], "link 'rail' does not move"),
    ],
)
def test_what_is_not_there_is_one_line_and_nothing_is_written(options, told, tmp_path, capsys):
    assert export(tmp_path / 'folder', *options) == 1
    error = capsys.readouterr().err
    assert told in error and error.count('\n') == 1
    assert not (tmp_path / 'folder').exists()


def test_a_folder_of_others_is_refused(tmp_path, capsys):
    (tmp_path / 'notes.txt').write_text('mine')
    assert export(tmp_path) == 1
    assert 'nothing is overwritten' in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ['notes.txt']

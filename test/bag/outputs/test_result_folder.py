# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Every bag of a folder has a folder of its own for its results."""

from __future__ import annotations

from dataclasses import dataclass

from kron_dynamics.bag.outputs import identification_files
from kron_dynamics.bag.outputs.result_folder import beside


def test_the_folder_is_named_after_the_bag(tmp_path):
    (tmp_path / 'run').mkdir()
    (tmp_path / 'log.mcap').touch()
    for name, folder in (('run', 'run_analysis'), ('log.mcap', 'log_analysis')):
        assert beside(tmp_path / name, 'analysis') == tmp_path / folder


def test_bags_whose_names_differ_by_the_suffix_only_have_folders_of_their_own(tmp_path):
    (tmp_path / 'run').mkdir()
    names = 'run', 'run.mcap', 'run.db3', 'log.mcap', 'log.db3'
    for name in names[1:]:
        (tmp_path / name).touch()
    folders = {beside(tmp_path / name, 'analysis').name for name in names}
    assert len(folders) == len(names)
    assert 'run_analysis' in folders


@dataclass
class Found:
    notes: tuple[str, ...] = ()


def test_an_identified_robot_is_kept_from_that_of_another_recording(tmp_path, monkeypatch):
    monkeypatch.setattr(identification_files, 'identified_urdf', lambda text, *_: (text, ()))
    monkeypatch.setattr(identification_files, 'beside_the_urdf', lambda _: {})
    urdf, results = tmp_path / 'arm.urdf', tmp_path / 'results'
    urdf.touch()
    for name in ('run', 'run.mcap'):
        (tmp_path / name).write_text(name)
    for names, kept in ((['run'], 0), (['run', 'run.mcap'], 0), (['run'], 0), (['run.mcap'], 3)):
        bags = [tmp_path / name for name in names]
        _, _, notes = identification_files.write_identification(
            Found(), None, urdf, str(names), bags, {}, results
        )
        assert len(notes) == kept

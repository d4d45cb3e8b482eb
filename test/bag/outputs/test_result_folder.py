# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Every bag of a folder has a folder of its own for its results."""

from __future__ import annotations

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

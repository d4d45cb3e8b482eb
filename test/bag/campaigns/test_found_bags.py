# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What counts as a bag below a folder, and what it is called."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from kron_dynamics.bag.campaigns.found_bags import find_bags
from kron_dynamics.bag.reading.storage_files import files_of
from kron_dynamics.exceptions import BagError


def lay_out(root, *files):
    for file in files:
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).touch()


def names(*places, **options):
    return [bag.name for bag in find_bags(places, **options)]


def test_a_folder_that_a_recorder_made_is_one_bag(tmp_path):
    lay_out(tmp_path, 'run/metadata.yaml', 'run/run_0.mcap', 'run/run_1.mcap')
    lay_out(tmp_path, 'unclosed/unclosed_0.db3', 'unclosed/unclosed_1.db3')
    lay_out(tmp_path, 'collected/monday.mcap', 'collected/tuesday.mcap', 'collected/readme.txt')
    expected = ['collected/monday.mcap', 'collected/tuesday.mcap', 'run', 'unclosed']
    assert names(tmp_path) == expected
    assert [len(files_of(bag.path)) for bag in find_bags([tmp_path])] == [1, 1, 3, 2]


def test_names_of_bags_may_have_dots(tmp_path):
    lay_out(tmp_path, 'v1.2/v1.2_0.mcap', 'v1.2/v1.2_1.mcap.zstd', 'v1.2.db3/v1.2.db3_0.db3.zstd')
    lay_out(tmp_path, 'v1/v1.2_0.mcap', 'v1/v1.3_0.mcap')
    assert names(tmp_path) == ['v1.2', 'v1.2.db3', 'v1/v1.2_0.mcap', 'v1/v1.3_0.mcap']


def test_names_do_not_depend_on_where_the_folder_is_or_how_it_is_named(tmp_path):
    for place in ('here', 'far/away'):
        lay_out(tmp_path / place, 'a/x.mcap', 'b/x.mcap')
    assert names(tmp_path / 'here') == names(tmp_path / 'far' / 'away') == ['a/x.mcap', 'b/x.mcap']
    assert names(tmp_path / 'here' / 'a', tmp_path / 'here' / 'b') == ['a/x.mcap', 'b/x.mcap']
    assert names(tmp_path / 'here' / 'a' / 'x.mcap', tmp_path / 'here' / 'a') == ['x.mcap']


def test_a_bag_that_is_added_changes_no_other_name(tmp_path):
    lay_out(tmp_path, 'monday/run/metadata.yaml', 'monday/x.mcap')
    before = names(tmp_path)
    lay_out(tmp_path, 'tuesday/y.mcap', 'z.mcap')
    assert before == ['monday/run', 'monday/x.mcap']
    assert names(tmp_path) == [*before, 'tuesday/y.mcap', 'z.mcap']


def lay_out_result(folder, bag_maker):
    """Make a file with such topics as results have; that of an analysis: test_enriched_bag.py."""
    with bag_maker(folder / 'analysis', 'mcap') as bag:
        bag.text('/analysis/joint_states/phase', 'moving')
    (bag.path / 'analysis.mcap').rename(folder / 'analysis.mcap')
    shutil.rmtree(bag.path)


def test_results_and_hidden_files_are_no_recordings(tmp_path, bag_maker):
    lay_out(tmp_path, 'x.mcap', 'x_analysis/report.html', '.trash/y.mcap', 'out/bags/x/x.mcap')
    lay_out_result(tmp_path / 'x_analysis', bag_maker)
    assert names(tmp_path, besides=tmp_path / 'out') == ['x.mcap']


def test_a_circle_of_links_ends(tmp_path):
    lay_out(tmp_path, 'a/x.mcap')
    (tmp_path / 'a' / 'again').symlink_to(tmp_path)
    assert names(tmp_path) == ['a/x.mcap']


def test_links_lead_to_bags_elsewhere(tmp_path):
    lay_out(tmp_path, 'disk/run/run_0.mcap', 'disk/deep/down/y.mcap', 'recordings/x.mcap')
    here = tmp_path / 'recordings'
    for link, target in (('last', 'run'), ('more', 'deep'), ('gone', 'nothing')):
        (here / link).symlink_to(tmp_path / 'disk' / target)
    assert names(here) == ['last', 'more/down/y.mcap', 'x.mcap']
    assert names(here, besides=tmp_path / 'disk' / 'run') == ['more/down/y.mcap', 'x.mcap']
    # Where a bag itself is searched, too, links to it change nothing.
    found = ['disk/deep/down/y.mcap', 'disk/run', 'recordings/x.mcap']
    assert names(tmp_path) == found == names(here, tmp_path / 'disk')


def test_no_recording_is_taken_twice(tmp_path):
    lay_out(tmp_path, 'run/metadata.yaml', 'run/run_0.mcap', 'x.mcap')
    (tmp_path / 'again').symlink_to('run')
    (tmp_path / 'first.mcap').symlink_to('run/run_0.mcap')
    (tmp_path / 'last.mcap').symlink_to('x.mcap')
    assert names(tmp_path) == ['run', 'x.mcap']
    assert names(*tmp_path.rglob('*')) == names(tmp_path, tmp_path / 'run') == ['run', 'x.mcap']
    assert names(tmp_path / 'run', tmp_path / 'run' / 'run_0.mcap') == ['run']


@contextmanager
def nobody():
    """Context of a user without rights; root may look into every folder."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.parametrize('rights', [0o000, 0o444])
def test_a_folder_of_another_user_keeps_nothing_else_back(rights):
    unsearched = {}
    with TemporaryDirectory() as created:  # pytest's own folders are only for their user
        disk, closed = Path(created), Path(created, 'lost+found')
        lay_out(disk, 'lost+found/x.mcap', 'a/y.mcap', 'z/run/metadata.yaml')
        (disk / 'link').symlink_to('lost+found/x.mcap')
        disk.chmod(0o755)
        closed.chmod(rights)
        with nobody():
            assert names(disk, unsearched=unsearched) == ['a/y.mcap', 'z/run']
            with pytest.raises(BagError, match=r'found cannot be searched: Permission denied$'):
                names(closed)
        closed.chmod(0o755)
    reason = 'cannot be searched: Permission denied'
    assert unsearched == {'link': reason, 'lost+found': reason}


def test_the_folder_of_the_results_may_be_that_of_the_recordings(tmp_path, bag_maker):
    lay_out(tmp_path, 'x.mcap', 'bags/x.mcap/report.html')
    lay_out_result(tmp_path / 'bags' / 'x.mcap', bag_maker)
    assert names(tmp_path, besides=tmp_path) == ['x.mcap']

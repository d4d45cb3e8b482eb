# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Where exports are written: new folders, and over exports that nobody has changed."""

from __future__ import annotations

import json
import os
import re
import resource
from pathlib import Path

import pytest

import kron_dynamics as kd
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.export import export_library, write_export
from kron_dynamics.export.library import MANIFEST

ROBOT = kd.load(Path(__file__).parents[1] / 'robots' / 'planar_2r.urdf')
LIBRARY = export_library(ROBOT, prefix='arm', quantities=['gravity_vector'])
OTHER = export_library(ROBOT, prefix='arm', quantities=['mass_matrix'])
RENAMED = export_library(ROBOT, prefix='leg', quantities=['gravity_vector'])


def contents(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob('*')
        if path.is_file()
    }


def test_a_changed_model_takes_the_place_of_an_earlier_one(tmp_path):
    write_export(LIBRARY, tmp_path / 'arm')
    (tmp_path / 'arm' / 'build').mkdir()
    (tmp_path / 'arm' / 'build' / 'made').write_text('by a compiler')

    write_export(OTHER, tmp_path / 'arm')

    expected = {name: text.encode() for name, text in OTHER.files().items()}
    assert contents(tmp_path / 'arm') == {**expected, 'build/made': b'by a compiler'}


def test_files_that_are_no_longer_needed_are_removed(tmp_path):
    write_export(LIBRARY, tmp_path)
    write_export(RENAMED, tmp_path)
    assert set(contents(tmp_path)) == set(RENAMED.files())


def refused(folder, match):
    before = contents(folder)
    with pytest.raises(ParameterError, match=match) as refusal:
        write_export(OTHER, folder)
    assert '\n' not in str(refusal.value)
    assert contents(folder) == before


def test_what_cannot_be_written_whole_leaves_nothing(tmp_path):
    write_export(LIBRARY, tmp_path / 'arm')
    before = contents(tmp_path)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    longest = sorted(len(text) for text in OTHER.files().values())[-2]
    resource.setrlimit(resource.RLIMIT_FSIZE, (longest, hard))
    try:
        for folder in ('arm', 'new/folder'):
            with pytest.raises(kd.KronDynamicsError, match='cannot be written: File too large'):
                write_export(OTHER, tmp_path / folder)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert contents(tmp_path) == before
    assert [path.name for path in tmp_path.iterdir()] == ['arm']


def failing(monkeypatch, count, error):
    """Let the renaming of a file fail, after so many that work."""
    replace, done = os.replace, []

    def refuse(source, target):
        done.append(target)
        if len(done) == count:
            raise error
        replace(source, target)

    monkeypatch.setattr(os, 'replace', refuse)


@pytest.mark.parametrize('count', [1, 2, 5, 8])
@pytest.mark.parametrize('library', [OTHER, RENAMED], ids=['same names', 'other names'])
def test_an_error_in_the_middle_leaves_the_earlier_export(tmp_path, monkeypatch, library, count):
    write_export(LIBRARY, tmp_path / 'arm')
    before = contents(tmp_path)
    with monkeypatch.context() as failures:
        failing(failures, count, OSError(5, 'Input/output error', 'a file'))
        for folder in ('arm', 'new'):
            with pytest.raises(kd.KronDynamicsError, match='Input/output error'):
                write_export(library, tmp_path / folder)
            failing(failures, count, OSError(5, 'Input/output error', 'a file'))
    assert contents(tmp_path) == before
    assert [path.name for path in tmp_path.iterdir()] == ['arm']
    write_export(library, tmp_path / 'arm')
    assert set(contents(tmp_path / 'arm')) == set(library.files())


@pytest.mark.parametrize('has_hard_links', [True, False])
def test_every_file_is_there_at_every_moment(tmp_path, monkeypatch, has_hard_links):
    """As for a build that reads meanwhile, or after the program is killed."""
    write_export(LIBRARY, tmp_path)
    here, replace, missing = set(contents(tmp_path)), os.replace, []

    def watched(source, target):
        for call in (lambda: None, lambda: replace(source, target)):
            call()
            missing.extend(here - set(contents(tmp_path)))

    def refused_link(*names):
        raise PermissionError(1, 'Operation not permitted')

    monkeypatch.setattr(os, 'replace', watched)
    if not has_hard_links:
        monkeypatch.setattr(os, 'link', refused_link)
    write_export(OTHER, tmp_path)
    assert missing == []
    assert contents(tmp_path) == {n: text.encode() for n, text in OTHER.files().items()}


def test_what_an_export_that_was_killed_has_left_is_no_edit(tmp_path):
    write_export(LIBRARY, tmp_path)
    (tmp_path / 'src' / 'arm.c').write_text(OTHER.files()['src/arm.c'])
    (tmp_path / 'test' / 'self_test.c').unlink()
    write_export(OTHER, tmp_path)
    assert contents(tmp_path) == {n: text.encode() for n, text in OTHER.files().items()}


def test_other_folders_are_left_alone(tmp_path):
    (tmp_path / 'thesis.tex').write_text('years of work')
    refused(tmp_path, 'holds other files')


@pytest.mark.parametrize('name', [f'src/{LIBRARY.prefix}.c', 'CMakeLists.txt'])
def test_an_edited_file_is_not_overwritten(name, tmp_path):
    write_export(LIBRARY, tmp_path)
    (tmp_path / name).write_text('edited')
    refused(tmp_path, re.escape(f"'{name}', which was changed"))


def test_a_file_in_the_way_is_not_overwritten(tmp_path):
    write_export(RENAMED, tmp_path)
    (tmp_path / 'src' / 'arm.c').write_text('mine')
    refused(tmp_path, re.escape("'src/arm.c', which is not from an export"))


def test_a_link_is_not_followed(tmp_path):
    folder, elsewhere = tmp_path / 'arm', tmp_path / 'elsewhere.c'
    write_export(LIBRARY, folder)
    place = folder / 'src' / 'arm.c'
    place.rename(elsewhere)
    place.symlink_to(elsewhere)
    refused(folder, re.escape("'src/arm.c', which was changed"))


@pytest.mark.parametrize(
    'manifest',
    [
        *('', '[]', '{"files": 3}', json.dumps({'files': {'../elsewhere': '0'}})),
        *(json.dumps({'files': {'src/arm.c': '0', name: '0'}}) for name in ('../a', '/tmp/a')),
    ],
)
def test_a_manifest_that_is_none_is_refused(manifest, tmp_path):
    (tmp_path / MANIFEST).write_text(manifest)
    refused(tmp_path, 'not from an export')


def test_a_manifest_elsewhere_is_no_manifest(tmp_path):
    folder, elsewhere = tmp_path / 'arm', tmp_path / 'elsewhere.json'
    write_export(LIBRARY, folder)
    (folder / MANIFEST).rename(elsewhere)
    (folder / MANIFEST).symlink_to(elsewhere)
    refused(folder, 'not from an export')
    assert (folder / MANIFEST).is_symlink()


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / 'arm').write_text('mine')
    with pytest.raises(ParameterError, match='is a file'):
        write_export(LIBRARY, tmp_path / 'arm')
    assert (tmp_path / 'arm').read_text() == 'mine'


@pytest.mark.parametrize(
    ('folder', 'error'), [('arm\0', ParameterError), (5, kd.ArgumentTypeError)]
)
def test_what_is_no_path_is_refused_by_name(folder, error):
    with pytest.raises(error, match='^folder is .*expected the path of a folder'):
        write_export(LIBRARY, folder)

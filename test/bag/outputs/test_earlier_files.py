# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""New results replace those of an earlier run, and nothing that somebody else has made."""

from __future__ import annotations

import json
import shutil
from contextlib import ExitStack

import pytest

from kron_dynamics.bag.outputs.earlier_files import (
    INPUTS,
    OUTPUTS,
    move_others,
    new_results,
    outputs_of,
)
from kron_dynamics.bag.outputs.provenance import hashed

RECORD = 'record.json'


def write(folder, *, options=None, **texts):
    """Write results as a command does; return the notes."""
    notes = []
    with new_results(folder, RECORD, notes, **options or {}) as work:
        for name, text in texts.items():
            (work / name).write_text(text)
        record = {OUTPUTS: outputs_of(work, texts)}
        (work / RECORD).write_text(json.dumps(record))
    return notes


def texts_in(folder, hidden=True):
    return {
        path.name: path.read_text()
        for path in sorted(folder.rglob('*') if hidden else folder.iterdir())
        if path.is_file() and path.name != RECORD
    }


def test_results_replace_those_of_an_earlier_run(tmp_path):
    folder = tmp_path / 'deep' / 'out'
    assert write(folder, report='1', table='1') == []
    assert write(folder, report='2', series='2') == []
    assert texts_in(folder) == {'report': '2', 'series': '2'}
    assert [path for path in folder.iterdir() if path.is_dir()] == []


def test_what_was_edited_or_is_of_somebody_else_is_kept_and_told(tmp_path):
    (tmp_path / 'table').write_text('of somebody else')
    (tmp_path / RECORD).write_text('no record of a run')
    notes = write(tmp_path, report='1', table='1')
    assert [note.split()[0] for note in notes] == ['table', RECORD]
    (tmp_path / 'report').write_text('annotated')
    (note,) = write(tmp_path, report='2', table='2')
    why = 'was edited, is not from the last run or is an input'
    assert note == f'report {why}: kept as report~'
    (tmp_path / 'report').write_text('annotated again')
    assert write(tmp_path, report='3')[0].endswith('kept as report~2')
    found = texts_in(tmp_path)
    assert found.pop(f'{RECORD}~') == 'no record of a run'
    assert found == {
        'report': '3',
        'report~': 'annotated',
        'report~2': 'annotated again',
        'table~': 'of somebody else',
    }


def test_links_are_not_followed(tmp_path):
    other, folder = tmp_path / 'other', tmp_path / 'out'
    write(folder, report='1')
    (folder / 'report').rename(other)
    (folder / 'report').symlink_to(other)
    assert len(write(folder, report='2')) == 1
    assert other.read_text() == '1' and (folder / 'report').read_text() == '2'
    assert (folder / 'report~').is_symlink()


def test_after_an_error_everything_is_as_it_was(tmp_path):
    write(tmp_path, report='1')
    (tmp_path / 'table').write_text('of somebody else')
    before = texts_in(tmp_path), (tmp_path / RECORD).read_bytes()
    for error in (OSError, KeyboardInterrupt):
        with pytest.raises(error), new_results(tmp_path, RECORD, []) as work:
            for name in ('report', 'table'):
                (work / name).write_text('2')
            raise error
        assert (texts_in(tmp_path), (tmp_path / RECORD).read_bytes()) == before
        assert len(list(tmp_path.iterdir())) == 3


def test_inputs_are_neither_removed_nor_replaced(tmp_path):
    folder, link = tmp_path / 'out', tmp_path / 'link'
    write(folder, report='1', table='1', series='1')
    link.symlink_to(folder / 'report')
    inputs = [link, folder / 'table', tmp_path / 'nothing']
    (note,) = write(folder, options={'inputs': inputs}, report='2')
    assert note.endswith('kept as report~')
    assert texts_in(folder) == {'report': '2', 'report~': '1', 'table': '1'}


def test_results_of_other_names_stay_where_names_depend_on_the_inputs(tmp_path):
    write(tmp_path, a_report='1', a_table='1')
    assert write(tmp_path, options={'removes': False}, a_report='2', b_report='2') == []
    assert texts_in(tmp_path) == {'a_report': '2', 'a_table': '1', 'b_report': '2'}


def test_results_of_another_recording_are_kept_and_told(tmp_path):
    for name in ('one', 'other'):
        (tmp_path / name).write_text(name)
    shared = {'name': 'robot.urdf', 'sha256': 'of both'}

    def write_of(name, text):
        (path, notes), recording = (tmp_path / name, []), [hashed(tmp_path / name)]
        options = {'recording': recording}
        with new_results(tmp_path / 'out', RECORD, notes, **options) as work:
            (work / 'report').write_text(text)
            inputs = [{'name': str(path), 'sha256': recording[0].sha256}, shared]
            record = {INPUTS: inputs, OUTPUTS: outputs_of(work, ['report'])}
            (work / RECORD).write_text(json.dumps(record))
        return [note for note in notes if 'is of another recording: kept as' in note]

    assert write_of('one', '1') == []
    assert len(write_of('other', '2')) == 2  # with the record
    assert (tmp_path / 'out' / 'report~').read_text() == '1'
    (tmp_path / 'other').write_text('recorded again')
    assert write_of('other', '3') == []
    (tmp_path / 'other').rename(tmp_path / 'moved')
    assert write_of('moved', '4') == []
    assert texts_in(tmp_path / 'out').keys() == {'report', 'report~', f'{RECORD}~'}


@pytest.mark.parametrize('last', [0, 1])
def test_of_runs_at_the_same_time_the_last_one_has_its_results_whole(tmp_path, last):
    write(tmp_path, report='before', table='before')
    runs = [ExitStack(), ExitStack()]
    notes = []
    works = [run.enter_context(new_results(tmp_path, RECORD, notes)) for run in runs]
    for text, work in enumerate(works):
        (work / 'report').write_text(str(text))
    for text in (1 - last, last):
        with runs[text]:
            (works[text] / 'series').write_text(str(text))
            record = {OUTPUTS: outputs_of(works[text], ('report', 'series'))}
            (works[text] / RECORD).write_text(json.dumps(record))
        assert texts_in(tmp_path, hidden=False) == {'report': str(text), 'series': str(text)}
    assert len(list(tmp_path.iterdir())) == 3 and notes == []


def test_what_a_killed_run_has_left_goes(tmp_path):
    with new_results(tmp_path, RECORD, []) as work:
        (work / 'half').touch()
        left = work.with_name(f'{work.name[:-1]}{"ab"[work.name[-1] == "a"]}')
        shutil.copytree(work, left)  # nobody has locked the copy
    (tmp_path / 'half').unlink()
    assert write(tmp_path, report='1') == []
    assert texts_in(tmp_path) == {'report': '1'} and not left.exists()


def test_a_folder_that_is_replaced_passes_on_what_is_not_its_own(tmp_path):
    old, new = tmp_path / 'old', tmp_path / 'new'
    write(old, report='1', table='1', series='1')
    write(new, report='2', table='2')
    (old / 'job').touch()
    (old / 'report').write_text('annotated')
    (old / 'mine').mkdir()
    (old / 'mine' / 'notes').write_text('mine')
    move_others(old, new, RECORD, 'job')
    assert texts_in(new) == {'report': '2', 'report~': 'annotated', 'table': '2', 'notes': 'mine'}
    move_others(tmp_path / 'nothing', new, RECORD, 'job')

# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""New results of a bag replace its folder; files of others in it are never lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kron_dynamics.bag.campaigns import jobs
from kron_dynamics.bag.campaigns.jobs import Job, finished, run_job, sweep
from kron_dynamics.bag.outputs.earlier_files import new_results, outputs_of

MINE = ('a_notes.txt', 'plots', 'z_notes.txt')


@pytest.fixture
def output(tmp_path, monkeypatch) -> Path:
    """The folder of a bag that was analysed once, with other files in it."""

    def analyse(job, work, started):
        with new_results(work, jobs.SUMMARY, []) as folder:
            (folder / 'report.html').write_text(job.key)
            record = {'outputs': outputs_of(folder, ['report.html'])}
            (folder / jobs.SUMMARY).write_text(json.dumps(record))

    monkeypatch.setattr(jobs, '_run', analyse)
    output = tmp_path / 'bags' / 'B'
    assert run_job(job(output, 'first')).error is None
    (output / 'plots').mkdir()
    for place in (output / 'a_notes.txt', output / 'plots' / 'plot', output / 'z_notes.txt'):
        place.write_text('mine')
    return output


def job(output: Path, key: str) -> Job:
    return Job('B', key, 'module', {}, str(output))


def let_renames(monkeypatch, act) -> None:
    """Have a function called with both paths before each renaming."""
    rename = Path.rename

    def watched(path, target):
        act(path, Path(target), rename)
        return rename(path, target)

    monkeypatch.setattr(Path, 'rename', watched)


def is_complete(output: Path, key: str) -> bool:
    """Return whether a folder has results of a job and all other files, and is alone."""
    names = {'job.json', jobs.SUMMARY, 'report.html', *MINE}
    return (
        (output / 'report.html').read_text() == key
        and {path.name for path in output.iterdir()} == names
        and [path.name for path in output.parent.iterdir()] == [output.name]
    )


def test_files_of_others_move_to_the_new_results(output):
    assert run_job(job(output, 'second')).error is None
    assert is_complete(output, 'second')


@pytest.mark.parametrize('name', ['job.json', jobs.SUMMARY, 'report.html'])
def test_a_job_is_finished_while_all_its_results_are_there(name, output):
    assert finished(job(output, 'first')) is not None and finished(job(output, 'second')) is None
    (output / name).rename(output / 'elsewhere')
    assert finished(job(output, 'first')) is None
    for text in ('', '[]', '{}', '{"outputs": [{}]}', '{"outputs": 1}'):
        (output / name).write_text(text)
        is_record = name.endswith('.json')
        assert (finished(job(output, 'first')) is None) == is_record


def test_a_file_that_cannot_be_moved_is_told_and_stays(output, monkeypatch):
    def refuse(path, target, rename):
        if path.name == 'plots':
            raise PermissionError(13, 'Permission denied', str(path))

    with monkeypatch.context() as patch:
        let_renames(patch, refuse)
        assert 'plots' in (run_job(job(output, 'second')).error or '')
        sweep(output.parent)
        assert (output / 'report.html').read_text() == 'second'
        mine = [path for path in output.parent.rglob('*') if path.is_file()]
        assert {path.name for path in mine} >= {'a_notes.txt', 'plot', 'z_notes.txt'}
        assert {path.name for path in output.iterdir()} >= {'a_notes.txt', 'z_notes.txt'}
    sweep(output.parent)
    assert is_complete(output, 'second')


@pytest.mark.parametrize('error', [KeyboardInterrupt, OSError])
def test_results_that_cannot_be_put_in_place_leave_the_earlier_ones(output, monkeypatch, error):
    def stop(path, target, rename):
        if target == output and not path.name.endswith('.old'):
            raise error

    let_renames(monkeypatch, stop)
    if error is OSError:
        assert 'cannot write results' in (run_job(job(output, 'second')).error or '')
    else:
        with pytest.raises(KeyboardInterrupt):
            run_job(job(output, 'second'))
    assert is_complete(output, 'first')


@pytest.mark.parametrize('count', range(8))
def test_a_process_may_be_killed_at_any_renaming(output, monkeypatch, count):
    class KilledError(BaseException):
        """Nothing is renamed or removed after it, as in a process that is gone."""

    renamed = []

    def kill(path, target, rename):
        renamed.append(path)
        if len(renamed) > count:
            patch.setattr(jobs.shutil, 'rmtree', lambda *_, **__: None)
            raise KilledError

    with monkeypatch.context() as patch:
        let_renames(patch, kill)
        try:
            run_job(job(output, 'second'))
        except KilledError:
            assert len(renamed) > count
    sweep(output.parent)
    assert is_complete(output, (output / 'report.html').read_text())


def test_files_find_their_place_though_another_process_replaces_the_results(output, monkeypatch):
    away = output.with_name('away')

    def interfere(path, target, rename):
        if path.name == MINE[0]:
            rename(output, away)

    with monkeypatch.context() as patch:
        let_renames(patch, interfere)
        assert run_job(job(output, 'second')).error is None
    away.rename(output)
    sweep(output.parent)
    assert is_complete(output, 'second')

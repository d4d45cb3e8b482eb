# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The files of an analysis: summary, CSV, Parquet."""

from __future__ import annotations

import csv
import hashlib
import json
import shutil
from dataclasses import replace
from html import escape
from importlib import metadata

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics.bag import analyze_bag
from kron_dynamics.bag.outputs.earlier_files import foreign_results
from kron_dynamics.bag.outputs.files import FORMATS, run_file_names, write_files
from kron_dynamics.bag.outputs.series import quantities_of, series_blocks


def read_strictly(path):
    def refuse(constant):
        raise AssertionError(f'{constant} is no JSON')

    return json.loads(path.read_text(), parse_constant=refuse)


def rows_of(path):
    with path.open(newline='') as file:
        return list(csv.DictReader(file))


def test_summary_holds_all_results(analysis, tmp_path):
    assert write_files(analysis, tmp_path, ['json']) == ['summary.json']
    (run,) = read_strictly(tmp_path / 'summary.json')['runs']
    assert run['robot']['joints'] == ['turn', 'lift', 'reach']
    fingerprint = analysis.runs[0].replay.robot.model.fingerprint
    assert run['robot']['fingerprint'] == fingerprint
    for found, expected in zip(run['joints'], analysis.runs[0].joints, strict=True):
        assert found['residual_rms'] == expected.residual_rms
        assert found['ratio'] == expected.ratio < 1e-3
        assert set(found['term_rms']) == {'inertia', 'coriolis', 'gravity', 'friction'}
    assert [segment['epoch'] for segment in run['segments']] == [0, 1]
    assert run['dropped']['/joint_states']['non_finite'] == {'turn position': 1}
    assert [tip['kind'] for tip in run['tip']] == ['linear', 'angular']


def test_summary_says_what_was_analysed_and_how(analysis, arm_urdf, tmp_path):
    urdf = tmp_path / 'arm.urdf'
    urdf.write_text(arm_urdf)
    options = {'urdf': urdf, 'window': 0.1, 'gravity': (0.0, 0.0, -9.8), 'frame': None}
    write_files(analysis, tmp_path, ['json'], options)
    summary = read_strictly(tmp_path / 'summary.json')
    bag = sorted(analysis.contents.path.iterdir())
    hashes = {file['name']: file['sha256'] for file in summary['files']}
    assert set(hashes) == {*map(str, bag), str(urdf), '/robot_description'}
    for path in (*bag, urdf):
        assert hashes[str(path)] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert hashes['/robot_description'] == hashes[str(urdf)]
    assert summary['options'] == {
        'urdf': str(urdf),
        'window': 0.1,
        'gravity': [0.0, 0.0, -9.8],
        'frame': None,
    }
    assert summary['schema'] == 1
    assert summary['versions']['kron_dynamics'] == kd.__version__
    assert summary['versions']['rosbags'] == metadata.version('rosbags')


def test_results_in_the_folder_of_the_bag_are_no_inputs(analysis, tmp_path):
    bag = shutil.copytree(analysis.contents.path, tmp_path / 'bag')
    recorded = [str(path) for path in sorted(bag.iterdir())]
    of_bag = replace(analysis, contents=replace(analysis.contents, path=bag))
    summaries = []
    for folder in (bag, bag / 'results', bag, bag / 'results'):
        write_files(of_bag, folder, ['mcap'])
        summaries.append((folder / 'summary.json').read_bytes())
    assert len(set(summaries)) == 1
    files = json.loads(summaries[0])['files']
    assert [file['name'] for file in files] == [*recorded, '/robot_description']


def test_summary_lists_what_was_written_with_it(analysis, tmp_path):
    names = write_files(analysis, tmp_path, ['csv', 'html'])
    outputs = read_strictly(tmp_path / 'summary.json')['outputs']
    assert ['summary.json', *(each['name'] for each in outputs)] == names
    for each in outputs:
        content = (tmp_path / each['name']).read_bytes()
        assert each['sha256'] == hashlib.sha256(content).hexdigest()
        assert each['size'] == len(content)


def test_files_of_an_earlier_analysis_go_unless_somebody_changed_them(analysis, tmp_path):
    folder = tmp_path / 'out'
    write_files(analysis, folder, ['csv', 'html', 'mcap'])
    (folder / 'notes.csv').write_text('of somebody else')
    (folder / 'report.html').write_text('changed')
    assert write_files(analysis, folder, ['parquet']) == ['summary.json', 'joint_states.parquet']
    left = sorted(path.name for path in folder.iterdir())
    assert left == ['joint_states.parquet', 'notes.csv', 'report.html', 'summary.json']
    assert foreign_results(folder, ['joint_states.parquet']) == ['notes.csv', 'report.html']
    (named,) = read_strictly(folder / 'summary.json')['outputs']
    assert named['name'] == 'joint_states.parquet'


def test_files_that_an_analysis_would_overwrite_are_kept_if_they_are_not_its_own(
    analysis, tmp_path
):
    (tmp_path / 'joint_states.csv').write_text('of somebody else')
    notes = []
    names = write_files(analysis, tmp_path, ['csv', 'html'], notes=notes)
    written = {name: (tmp_path / name).read_bytes() for name in names}
    (tmp_path / 'report.html').write_text('annotated')
    assert write_files(analysis, tmp_path, ['csv', 'html'], notes=notes) == names
    assert [note.split()[-1] for note in notes] == ['joint_states.csv~', 'report.html~']
    assert {name: (tmp_path / name).read_bytes() for name in names} == written
    assert (tmp_path / 'joint_states.csv~').read_text() == 'of somebody else'
    assert (tmp_path / 'report.html~').read_text() == 'annotated'
    assert len(list(tmp_path.iterdir())) == len(names) + 2


def test_the_analysed_bag_is_kept_though_an_earlier_analysis_has_written_it(analysis, tmp_path):
    for kind, name in (('json', 'analysis.mcap'), ('mcap', 'analysis.mcap~')):
        bag = tmp_path / kind / 'analysis.mcap'
        write_files(analysis, bag.parent, ['mcap'])
        place = bag.stat().st_ino
        of_bag = replace(analysis, contents=replace(analysis.contents, path=bag))
        notes = []
        write_files(of_bag, bag.parent, [kind], notes=notes)
        assert bag.with_name(name).stat().st_ino == place
        assert len(notes) == 1 + name.count('~')  # the summary is of another recording


def test_a_summary_cannot_have_files_elsewhere_removed(analysis, tmp_path):
    folder, other = tmp_path / 'out', tmp_path / 'other.csv'
    folder.mkdir()
    other.write_text('not ours')
    (folder / 'link.csv').symlink_to(other)
    digest = hashlib.sha256(other.read_bytes()).hexdigest()
    names = ['../other.csv', str(other), 'link.csv', '.']
    listed = [{'name': name, 'sha256': digest} for name in names]
    for text in (json.dumps({'outputs': listed}), '{"outputs": 3}', 'no JSON', '[]'):
        (folder / 'summary.json').write_text(text)
        write_files(analysis, folder, ['json'])
        assert other.exists() and (folder / 'link.csv').is_symlink()


def test_doubts_are_in_the_summary_and_warn_on_the_page(make_bag, arm_urdf, arm_motion, tmp_path):
    motion = arm_motion(duration=3.0)
    motion.effort[:, 1] *= -1.0
    with make_bag() as bag:
        bag.text('/robot_description', arm_urdf)
        bag.motion('/joint_states', motion)
    write_files(analyze_bag(bag.path), tmp_path, ['html'])
    (doubt,) = read_strictly(tmp_path / 'summary.json')['runs'][0]['doubts']
    assert 'larger than the effort itself: lift (2 times)' in doubt
    page = (tmp_path / 'report.html').read_text()
    assert '<li><b>doubt</b> the residual is larger' in page


def test_warnings_about_the_description_are_in_the_results(
    make_bag, arm_urdf, arm_motion, tmp_path
):
    with make_bag() as bag:
        bag.text('/robot_description', arm_urdf.replace('velocity="2"', 'velocity="-2"'))
        bag.motion('/joint_states', arm_motion(duration=2.0))
    with pytest.warns(kd.ModelWarning):
        found = analyze_bag(bag.path)
    write_files(found, tmp_path, ['html'])
    (run,) = read_strictly(tmp_path / 'summary.json')['runs']
    assert [text.split(':')[0] for text in run['robot']['warnings']] == [
        "joint 'turn'",
        "joint 'lift'",
    ]
    page = (tmp_path / 'report.html').read_text()
    assert all(f'<li><b>note</b> {escape(text)}</li>' in page for text in run['robot']['warnings'])


def test_same_bag_gives_the_same_bytes(analysis, tmp_path):
    again = analyze_bag(analysis.contents.path)
    formats = ['html', 'csv', 'mcap']
    names = write_files(analysis, tmp_path / 'one', formats)
    assert write_files(again, tmp_path / 'other', formats) == names
    assert sorted(names) == sorted(path.name for path in (tmp_path / 'one').iterdir())
    for name in names:
        one, other = (tmp_path / folder / name for folder in ('one', 'other'))
        assert one.read_bytes() == other.read_bytes(), name


def test_effort_that_was_not_recorded_is_null_empty_and_not_drawn(
    make_bag, arm_urdf, arm_motion, tmp_path
):
    with make_bag() as bag:
        bag.text('/robot_description', arm_urdf)
        bag.motion('/joint_states', arm_motion(duration=3.0), 'pv')
    write_files(analyze_bag(bag.path), tmp_path, ['csv', 'html'])
    (run,) = read_strictly(tmp_path / 'summary.json')['runs']
    assert run['joints'][0]['effort_rms'] is None
    assert run['joints'][0]['recomputed_rms'] > 0
    assert {row['lift.recorded'] for row in rows_of(tmp_path / 'joint_states.csv')} == {''}
    page = (tmp_path / 'report.html').read_text()
    assert '"label":"recomputed"' in page
    assert '"label":"recorded"' not in page and '"label":"residual"' not in page


def test_csv_has_the_series(analysis, tmp_path):
    replay = analysis.runs[0].replay
    write_files(analysis, tmp_path, ['csv'])
    rows = rows_of(tmp_path / 'joint_states.csv')
    blocks = list(series_blocks(analysis.runs[0]))
    assert len(rows) == sum(len(block.time) for block in blocks)
    assert {row['segment'] for row in rows} == {'1', '2'}
    compared = [row for row in rows if row['compared'] == '1']
    assert len(compared) == analysis.runs[0].joints[0].sample_count
    for quantity in quantities_of(replay):
        table = np.concatenate([block.values[quantity.key] for block in blocks])
        for k, column in enumerate(quantity.columns):
            name = f'{column}.{quantity.key}'
            if quantity.owner == 'tip':
                name = f'tool.{quantity.key.removeprefix("tip_")}.{column}'
            found = np.array([float(row[name] or 'nan') for row in rows])
            np.testing.assert_allclose(found, table[:, k], rtol=1e-9, err_msg=name)


def test_parquet_has_what_csv_has(analysis, tmp_path):
    import pyarrow.parquet as parquet

    write_files(analysis, tmp_path, ['csv', 'parquet'])
    table = parquet.read_table(tmp_path / 'joint_states.parquet')
    rows = rows_of(tmp_path / 'joint_states.csv')
    assert table.column_names == list(rows[0])
    assert table['phase'].to_pylist() == [row['phase'] or None for row in rows]
    assert {row['phase'] for row in rows if row['compared'] == '1'} >= {'moving'}
    for name in set(table.column_names) - {'phase'}:
        found = table[name].to_numpy(zero_copy_only=False).astype(float)
        expected = [float(row[name] or 'nan') for row in rows]
        np.testing.assert_allclose(found, expected, rtol=1e-9, err_msg=name)
    assert table['turn.recorded'].null_count == sum(row['turn.recorded'] == '' for row in rows)
    units = {
        field.name: field.metadata[b'unit'] for field in table.schema if field.metadata is not None
    }
    assert units['lift.recorded_rate'] == b'N m/s' and units['reach.jerk'] == b'm/s^3'
    assert units['tool.jerk.angular_x'] == b'rad/s^3' and units['time'] == b's'


def test_runs_have_files_of_their_own(analysis):
    def named(topic):
        run = analysis.runs[0]
        recorded = replace(run.replay.run, topic=topic)
        return replace(run, replay=replace(run.replay, run=recorded))

    topics = ('/pd/joint_states', '/pd.joint_states', '/', '/../../etc', '/pd/joint/states')
    names = run_file_names(replace(analysis, runs=tuple(map(named, topics))))
    assert names[0] == 'pd.joint_states'
    assert len(set(names)) == len(topics)
    assert not any('/' in name for name in names)
    # File systems have a limit, in bytes; the suffix counts, too.
    topics = [f'/{"ö" * k}/{end}/joint_states' for k in (100, 120, 250) for end in 'ab']
    names = run_file_names(replace(analysis, runs=tuple(map(named, topics * 2))))
    assert len(set(names)) == 12
    assert max(len(f'{name}.parquet'.encode()) for name in names) <= 255
    assert names[:2] == [f'{"ö" * 100}.{end}.joint_states' for end in 'ab']
    assert names[4].startswith('ö' * 50)


def test_formats_say_what_they_are(analysis, tmp_path):
    for name in set(FORMATS) - {'parquet'}:
        (file,) = write_files(analysis, tmp_path / name, [name])[-1:]
        suffix = '.json' if name == 'json' else f'.{name}'
        assert file.endswith(suffix) and (tmp_path / name / file).stat().st_size > 100

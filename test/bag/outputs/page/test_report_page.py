# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The page of an analysis: what it holds, that it needs nothing else, and that it is safe."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from kron_dynamics.bag import analyze_bag
from kron_dynamics.bag.outputs.files import write_files
from kron_dynamics.bag.outputs.page import plot_data
from kron_dynamics.bag.outputs.result_tables import result_tables
from kron_dynamics.bag.outputs.series import series_blocks

pytestmark = pytest.mark.interpreted

HOSTILE = '</script><script>alert("1")</script><img src=http://x.example/ onerror=alert(2)>'


class Page(HTMLParser):
    """Elements with their attributes, and the text of some of them."""

    def __init__(self, path):
        super().__init__()
        self.text = path.read_text(encoding='utf-8')
        self.elements, self.cells, self.scripts, self.styles = [], [], [], []
        self.feed(self.text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_data(self, data):
        kind = self.elements[-1][0] if self.elements else ''
        {'script': self.scripts, 'style': self.styles}.get(kind, self.cells).append(data)

    @property
    def runs(self):
        return json.loads(self.scripts[0])


@pytest.fixture
def page(analysis, tmp_path):
    write_files(analysis, tmp_path, ['html'])
    return Page(tmp_path / 'report.html')


def decoded(text, kind):
    return np.frombuffer(base64.b64decode(text), dtype=kind)


def drawn(run, key, column):
    (series,) = (each for each in run['series'] if (each['key'], each['column']) == (key, column))
    return decoded(series['low'], '<f4'), decoded(series.get('high', series['low']), '<f4')


def segment_of(analysis, number):
    """Return the times of a segment, and its series without rows that are not compared."""
    blocks = [b for b in series_blocks(analysis.runs[0]) if b.segment == number]
    values = {
        key: np.concatenate([np.where(b.compared[:, None], b.values[key], np.nan) for b in blocks])
        for key in blocks[0].values
    }
    return np.concatenate([b.time for b in blocks]), values


def assert_alone(page):
    """Nothing on a page is loaded from elsewhere, and only its own scripts run."""
    tags = [tag for tag, _ in page.elements]
    assert tags.count('script') == 3
    assert not set(tags) & {'link', 'img', 'iframe', 'object', 'embed', 'base', 'form', 'video'}
    for tag, attributes in page.elements:
        assert not any(name.startswith('on') for name in attributes), (tag, attributes)
        assert 'src' not in attributes
        assert attributes.get('href', '#').startswith('#')
    assert not re.search(r'url\(|@import', ''.join(page.styles))
    assert not re.search(r'\bfetch\(|XMLHttpRequest|WebSocket|import\(', page.scripts[-1])
    policies = [a['content'] for tag, a in page.elements if 'http-equiv' in a]
    assert len(policies) == 1 and policies[0].startswith("default-src 'none';")


def test_page_needs_nothing_else(page):
    assert_alone(page)


def test_plots_have_every_compared_sample(analysis, page):
    (run,) = page.runs
    assert run['samplesPerPoint'] == 1
    parts = [segment_of(analysis, number) for number in (0, 1)]
    (first, _), (second, _) = parts
    time = decoded(run['time'], '<f8')
    assert len(time) == len(first) + 1 + len(second) + 1  # with a gap behind each segment
    assert np.all(np.diff(time) >= 0.0)
    assert np.array_equal(time[: len(first)], first)
    # The clock was set back: what came after is drawn after.
    assert second[0] < first[-1]
    shift = time[len(first) + 1] - second[0]
    assert np.allclose(time[len(first) + 1 : -1], second + shift)
    for series in run['series']:
        key, column = series['key'], series['column']
        low, high = drawn(run, key, column)
        expected = np.concatenate(
            [np.append(values[key][:, column], np.nan) for _, values in parts]
        )
        assert np.array_equal(low, high, equal_nan=True)
        np.testing.assert_allclose(low, expected, rtol=1e-6, atol=1e-12, err_msg=key)


def test_panels_show_every_quantity_with_its_unit(analysis, page):
    (run,) = page.runs
    places = {attributes.get('id') for _, attributes in page.elements}
    assert {f'panel-0-{k}' for k in range(len(run['panels']))} <= places
    keys = {(each['key'], each['column']) for each in run['series']}
    joints = ('position', 'velocity', 'acceleration', 'jerk', 'recorded', 'recomputed')
    joints += ('uncertainty', 'residual', 'inertia', 'coriolis', 'gravity', 'friction')
    joints += ('external', 'recorded_rate', 'recomputed_rate')
    tip = ('tip_velocity', 'tip_recorded', 'tip_recomputed', 'tip_uncertainty', 'tip_jerk')
    assert keys == {(key, k) for key in joints for k in range(3)} | {
        (key, k) for key in tip for k in range(6)
    }
    for panel in run['panels']:
        assert panel['unit'] and panel['quantity'] and panel['lines']
    bands = [
        line for panel in run['panels'] for line in panel['lines'] if line['band'] is not None
    ]
    assert len(bands) == 3 * 2 + 6  # efforts, residuals, acceleration of the tip


def test_phases_are_drawn_at_the_times_of_their_segments(analysis, page):
    (run,) = page.runs
    kinds = [phase.kind for phase in analysis.runs[0].phases]
    assert [phase['kind'] for phase in run['phases']] == kinds == ['moving', 'moving']
    for phase, segment, told in zip(
        run['phases'], run['segments'], analysis.runs[0].phases, strict=True
    ):
        assert segment['start'] <= phase['start'] < phase['end'] <= segment['end']
        length = told.end - told.start
        assert phase['end'] - phase['start'] == pytest.approx(length, abs=0.1)


def test_tables_are_those_of_the_report(analysis, page):
    text = '\n'.join(page.cells)
    for table in result_tables(analysis.runs[0]):
        assert table.title in text
        for row in table.rows:
            for cell in row:
                assert cell.replace('^2', '²').replace('^3', '³').replace('+/-', '±') in text
    assert 'clock jumped back 1 times' in text


def test_names_that_look_like_units_stay_as_they_are(analysis, tmp_path):
    run = analysis.runs[0]
    names = ('um', 'arm^2 lift', 'a+/-b')
    joints = [replace(joint, name=name) for joint, name in zip(run.joints, names, strict=True)]
    joints[0] = replace(joints[0], effort_rms=1e-5, recomputed_rms=1e-5)
    named = replace(analysis, runs=(replace(run, joints=tuple(joints)),))
    write_files(named, tmp_path, ['html'])
    cells = Page(tmp_path / 'report.html').cells
    rows = [cells[k : k + 2] for k, cell in enumerate(cells) if cell in names]
    # Efforts, their terms and external efforts; the units of the first joint are set.
    assert rows == [['um', 'µN m'], ['arm^2 lift', 'N m'], ['a+/-b', 'N']] * 3


def test_names_are_text_whatever_they_are(make_bag, arm_motion, arm_urdf, tmp_path):
    quoted = HOSTILE.replace('&', '&amp;').replace('<', '&lt;').replace('"', '&quot;')
    motion = arm_motion(duration=3.0)
    with make_bag() as bag:
        bag.text('/robot_description', arm_urdf.replace('"turn"', f'"{quoted}"'))
        names = [HOSTILE, 'lift', 'reach']
        for k, time in enumerate(motion.time):
            state = (motion.q[k], motion.qd[k], motion.effort[k])
            bag.joint_state(f'/{HOSTILE}/joint_states', time, names, *state)
    write_files(analyze_bag(bag.path), tmp_path, ['html'])
    page = Page(tmp_path / 'report.html')
    assert_alone(page)
    assert any(HOSTILE in cell for cell in page.cells)
    (run,) = page.runs
    assert run['topic'] == f'/{HOSTILE}/joint_states'
    assert run['panels'][0]['lines'][0]['label'] == HOSTILE


def test_long_series_are_drawn_by_their_extremes(analysis, tmp_path, monkeypatch):
    monkeypatch.setattr(plot_data, 'LEAST_POINTS', 100)
    monkeypatch.setattr(plot_data, 'MOST_NUMBERS', 0)
    write_files(analysis, tmp_path, ['html'])
    page = Page(tmp_path / 'report.html')
    (run,) = page.runs
    width = run['samplesPerPoint']
    assert width > 10 and f'maximum of {width} samples' in page.text
    low, high = drawn(run, 'residual', 1)
    blocks = list(series_blocks(analysis.runs[0]))
    residuals = np.concatenate([b.values['residual'][b.compared, 1] for b in blocks])
    assert np.nanmin(low) == np.float32(residuals.min())
    assert np.nanmax(high) == np.float32(residuals.max())
    assert np.nanmax(high - low) > 0.0 and len(low) <= 102

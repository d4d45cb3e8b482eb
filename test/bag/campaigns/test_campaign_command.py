# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The command `kron_dynamics campaign`: every bag once, whatever happens to some of them."""

from __future__ import annotations

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from html.parser import HTMLParser
from io import StringIO
from types import SimpleNamespace
from urllib.parse import unquote, urlsplit

import numpy as np
import pytest

from kron_dynamics.bag.campaigns.campaign_page import write_campaign_page
from kron_dynamics.bag.campaigns.campaign_summary import format_campaign
from kron_dynamics.cli import campaign as command
from kron_dynamics.cli import main

pytestmark = pytest.mark.interpreted

# Name of a bag that is no name of a column, is text wherever it stands, and has a byte that is no
# UTF-8.
HOSTILE = os.fsdecode(b'100 % <b>&#?"x" \xfc')
SHOWN = HOSTILE.encode(errors='backslashreplace').decode()


@pytest.fixture(scope='module')
def recordings(bag_maker, arm, arm_urdf, make_motion, tmp_path_factory):
    """Return a folder of three bags, one that is damaged, and a file that is none; read only."""
    folder = tmp_path_factory.mktemp('recordings')
    time = 5.0 + np.arange(201) / 100
    motion = make_motion(arm, time, (0.3, 0.2, 0.4), (0.8, 0.5, 0.2), (2.1, 1.7, 2.6))
    for place, scale in (('monday/a', 1.0), ('monday/b', 0.9), (HOSTILE, 1.1)):
        with bag_maker(folder / 'made', 'mcap') as bag:
            bag.text('/robot_description', arm_urdf)
            for k, stamp in enumerate(motion.time):
                state = (motion.q[k], motion.qd[k], scale * motion.effort[k])
                bag.joint_state('/joint_states', stamp, arm.joint_names, *state)
        (folder / place).parent.mkdir(exist_ok=True)
        bag.path.rename(folder / place)
    (folder / 'broken.db3').write_bytes(b'SQLite format 3\0' + bytes(range(256)) * 20)
    (folder / 'notes.txt').write_text('no recording')
    return folder


def campaign(recordings, output, *options):
    return main(
        ['campaign', str(recordings), '--output', str(output), '--format', 'csv', *options]
    )


@pytest.fixture(scope='module')
def of_all(recordings, tmp_path_factory):
    """Return a campaign's exit code, what it printed to both streams, and its folder."""
    output = tmp_path_factory.mktemp('campaign') / 'out'
    with redirect_stdout(StringIO()) as told, redirect_stderr(StringIO()) as errors:
        code = campaign(recordings, output, '--format', 'html', '--jobs', '2')
    return SimpleNamespace(code=code, out=told.getvalue(), err=errors.getvalue(), output=output)


def test_what_fails_stops_no_other(of_all):
    assert of_all.code == 1
    assert of_all.err == ''
    assert 'failed' in of_all.out and 'broken.db3: kron_dynamics: error: cannot read bag' in (
        of_all.out
    )
    found = json.loads((of_all.output / 'campaign.json').read_text())
    names = [HOSTILE, 'broken.db3', 'monday/a', 'monday/b']
    assert [bag['name'] for bag in found['bags']] == names
    assert [bag['error'] is None for bag in found['bags']] == [True, False, True, True]
    for bag in found['bags']:
        if bag['error'] is None:
            own = of_all.output / 'bags' / bag['name']
            assert bag['summary'] == json.loads((own / 'summary.json').read_text())
            assert (own / 'joint_states.csv').exists()
    # The scale of the efforts is the residual: 0.1 of 1.1 and of 0.9.
    lift = next(joint for joint in found['joints'] if joint['joint'] == 'lift')
    assert lift['runs'] == 3 and lift['largest_in'] == 'monday/b'
    assert lift['largest_ratio'] == pytest.approx(0.1 / 0.9, rel=1e-3)
    assert lift['median_ratio'] == pytest.approx(0.1 / 1.1, rel=1e-3)
    with open(of_all.output / 'campaign.csv', newline='') as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 9 and {row['bag'] for row in rows} == {SHOWN, 'monday/a', 'monday/b'}
    assert not [path for path in (of_all.output / 'bags').rglob('.*')], 'a work folder is left'


class Rows(HTMLParser):
    """Rows of a page's tables as lists of their cells' texts and values, links, and all text."""

    def __init__(self, path):
        super().__init__()
        self.rows, self.values, self.links, self.text = [], [], [], []
        self.inside = False
        self.feed(path.read_text(encoding='utf-8'))

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        assert 'src' not in found
        if tag == 'tr':
            self.inside = True
            self.rows.append([])
            self.values.append([])
        elif tag in ('td', 'th'):
            self.rows[-1].append('')
            self.values[-1].append(found.get('data-value'))
        elif tag == 'a':
            self.links.append(found['href'])

    def handle_endtag(self, tag):
        self.inside = self.inside and tag != 'table'

    def handle_data(self, data):
        self.text.append(data)
        if self.inside and self.rows[-1]:
            self.rows[-1][-1] += data


def test_the_page_leads_to_the_page_of_each_bag(of_all):
    page = Rows(of_all.output / 'campaign.html')
    head, *rows = page.rows
    assert head == ['bag', 'topic', 'time s', 'doubts', 'turn', 'lift', 'reach']
    assert [row[0] for row in rows] == [SHOWN, 'monday/a', 'monday/b']
    for link, name in zip(page.links, (HOSTILE, 'monday/a', 'monday/b'), strict=True):
        assert link.startswith('./bags/') and not urlsplit(link).fragment
        found = of_all.output / unquote(urlsplit(link).path, errors='surrogateescape')
        assert found == of_all.output / 'bags' / name / 'report.html' and found.is_file()
    assert any('cannot read bag' in text for text in page.text)
    # Sorted by numbers: 0.1 of 0.9 is the residual of the last.
    lift = head.index('lift')
    assert rows[2][lift] == '11.1 %'
    assert float(page.values[3][lift]) == pytest.approx(0.1 / 0.9, rel=1e-3)
    text = (of_all.output / 'campaign.html').read_text(encoding='utf-8')
    assert text.count('<script') == 1 and "default-src 'none'" in text
    assert len(text) < 30_000


def test_the_page_has_frequencies_doubts_and_what_is_not_known(tmp_path):
    def run(topic, ratio, frequency, notes, doubts):
        joint = {'name': 'boom', 'source': 'measured', 'ratio': ratio, 'noise_dominates': False}
        other = joint | {'noise_dominates': True}
        mode = {'name': 'boom/w1', 'frequency': frequency, 'frequency_interval': 0.01}
        return {
            'topic': topic,
            'robot': {'name': 'machine', 'joints': ['boom', 'slew'], 'warnings': ['no <mass>']},
            'joints': [joint, other],
            'segments': [{'start': 1.0, 'end': 3.0}, {'start': 4.0, 'end': 9.0}],
            'vibrations': {'modes': [mode]},
            'notes': notes,
            'doubts': doubts,
        }

    runs = [
        run('/a', 0.25, 0.81, ['<i>effort</i> is 0'], ['another robot?']),
        run('/b', None, None, [], []),
    ]
    bag = {'name': 'one', 'error': None, 'summary': {'notes': ['cut off'], 'runs': runs}}
    path = tmp_path / 'campaign.html'
    write_campaign_page({'bags': [bag], 'joints': []}, tmp_path, path)
    page = Rows(path)
    assert page.links == []  # there is none
    _, first, second = page.rows
    assert first[1:4] == ['/a', '7', '4another robot?cut off<i>effort</i> is 0no <mass>']
    assert first[4:] == ['25 %', 'noise', '0.81 ± 0.01']
    assert second[3:] == ['2cut offno <mass>', 'noise', 'noise', 'not seen']
    assert page.values[2][4] == page.values[2][6] == '' and page.values[1][6] == '0.81'
    told = format_campaign({'bags': [bag, bag], 'joints': []}).splitlines()
    assert [line for line in told if 'warning' in line] == [
        'warning  description of machine: no <mass>'
    ]


@pytest.fixture
def done(of_all, tmp_path):
    """Return a function that makes the folder of a campaign in which bags are done already.

    They are those of some names in a folder of recordings; each analysis is a process.
    """

    def copy(place, *names):
        output = tmp_path / 'out'
        for name in names:
            shutil.copytree(of_all.output / 'bags' / place / name, output / 'bags' / name)
        return output

    return copy


def test_what_is_done_is_not_done_again(recordings, of_all, done, capsys):
    folder, output = recordings / 'monday', done('monday', 'a', 'b')

    def told(place, *options):
        assert campaign(place, output, '--format', 'html', *options) == 0
        lines = capsys.readouterr().out.splitlines()
        return sorted(line.split()[0] for line in lines[: lines.index('')])

    assert told(folder) == ['before'] * 2
    assert [path.name for path in output.glob('*~')] == []
    first = (output / 'campaign.json').read_bytes()
    found = [bag['summary'] for bag in json.loads(first)['bags']]
    known = json.loads((of_all.output / 'campaign.json').read_bytes())['bags']
    assert found == [bag['summary'] for bag in known[-2:]]
    # Another bag, another option: what depends on it is done anew.
    (bag,) = (folder / 'b').glob('*.mcap')
    recorded = bag.stat().st_mtime_ns
    os.utime(bag, ns=(1, 1))
    annotated = [output / 'campaign.html', output / 'bags' / 'b' / 'report.html']
    for page in annotated:
        page.write_text('annotated')
    assert told(folder) == ['before', 'done']
    for page in annotated:
        assert page.with_name(f'{page.name}~').read_text() == 'annotated' != page.read_text()
    assert (output / 'campaign.json').read_bytes() == first
    os.utime(bag, ns=(recorded, recorded))
    assert told(folder / 'a', '--window', '0.2') == ['done']
    (other,) = json.loads((output / 'campaign.json').read_bytes())['bags']
    before = json.loads(first)['bags'][0]
    assert other['name'] == before['name'] and other['summary'] != before['summary']


def test_what_killed_campaigns_have_left_goes_at_the_next_start(recordings, tmp_path, capsys):
    output = tmp_path / 'out'
    work = [
        output / 'bags' / 'monday' / f'.a.{32 * "0"}',
        output / 'bags' / f'.gone.db3.{32 * "f"}.old',
    ]
    for folder in (*work, output / 'bags' / '.notes'):
        folder.mkdir(parents=True)
        (folder / 'summary.json').touch()
    # Killed again as soon as the next has begun: what was left is gone already.
    command = [
        sys.executable,
        '-c',
        'import sys; from kron_dynamics.cli import main; sys.exit(main(sys.argv[1:]))',
        'campaign',
        str(recordings),
        '--output',
        str(output),
        '--jobs',
        '1',
    ]
    environment = {**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    first = time.monotonic()
    while any(map(os.path.exists, work)) and time.monotonic() < first + 120:
        assert process.poll() is None
        time.sleep(0.01)
    assert not any(map(os.path.exists, work))
    # Another at the same time is refused.
    assert campaign(recordings, output) == 1
    assert 'another campaign is at work in' in capsys.readouterr().err
    process.kill()
    process.wait()
    assert campaign(recordings / 'monday' / 'a', output) == 0
    assert [path.name for path in output.rglob('.*')] == ['.notes']


def test_no_bags_and_no_scheduler_are_told(tmp_path, recordings, capsys):
    (tmp_path / 'empty').mkdir()
    assert campaign(tmp_path / 'empty', tmp_path / 'out') == 1
    assert f'no bag in {tmp_path}' in capsys.readouterr().err
    assert campaign(tmp_path / 'gone', tmp_path / 'out') == 1
    assert 'no bag or folder at' in capsys.readouterr().err
    assert campaign(recordings, tmp_path / 'out', '--scheduler', 'nowhere') == 1
    assert "no Dask scheduler answers at 'nowhere'" in capsys.readouterr().err


def test_what_cannot_be_searched_counts_as_failed(tmp_path, monkeypatch, capsys):
    why = 'cannot be searched: Permission denied'

    def found(places, besides, unsearched):
        unsearched['lost+found'] = why
        return []

    monkeypatch.setattr(command, 'find_bags', found)
    assert campaign(tmp_path, tmp_path / 'out') == 1
    assert f'failed   lost+found: {why}' in capsys.readouterr().out.splitlines()
    (bag,) = json.loads((tmp_path / 'out' / 'campaign.json').read_text())['bags']
    assert (bag['name'], bag['error'], bag['summary']) == ('lost+found', why, None)
    assert why in (tmp_path / 'out' / 'campaign.html').read_text()


# A scheduler with a worker; the other one is a process of its own, as on another computer.
SCHEDULER = """
import asyncio, sys
from distributed import Scheduler, Worker

async def serve():
    async with Scheduler(host='127.0.0.1', port=0, dashboard=False) as scheduler:
        async with Worker(scheduler.address, nthreads=1, dashboard=False):
            print(scheduler.address, flush=True)
            await scheduler.finished()

asyncio.run(serve())
"""


@contextmanager
def cluster():
    """A scheduler and two workers; yields its address and the process of a worker."""
    running = []
    environment = {**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))}

    def start(*command, **pipes):
        command = [sys.executable, *command]
        running.append(subprocess.Popen(command, env=environment, text=True, **pipes))
        return running[-1]

    try:
        address = start('-c', SCHEDULER, stdout=subprocess.PIPE).stdout.readline().strip()
        alone = ['--nthreads', '1', '--no-nanny', '--no-dashboard']
        worker = start(
            '-m', 'distributed.cli.dask_worker', address, *alone, stderr=subprocess.PIPE
        )
        assert any('Registered to:' in line for line in worker.stderr)
        yield address, worker
    finally:
        for process in running:
            process.kill()
            process.communicate()


def test_a_cluster_gives_the_same_and_loses_nothing(recordings, of_all, done, capsys):
    # What is left is one for each worker, of which one fails.
    output = done('.', HOSTILE, 'monday/a')
    with cluster() as (address, worker):

        def kill_one() -> None:
            """Kill one of the two as soon as something is being worked on."""
            until = time.monotonic() + 120
            while not list(output.glob('bags/.*')) and time.monotonic() < until:
                time.sleep(0.01)
            worker.send_signal(signal.SIGKILL)

        killer = threading.Thread(target=kill_one)
        killer.start()
        code = campaign(recordings, output, '--format', 'html', '--scheduler', address)
        killer.join()
        assert worker.wait() == -signal.SIGKILL
    assert code == 1, capsys.readouterr().out
    here, there = (folder / 'campaign.json' for folder in (of_all.output, output))
    assert there.read_bytes() == here.read_bytes()
    assert not list(output.rglob('.*'))

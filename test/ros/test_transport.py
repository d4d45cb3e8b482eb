# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""How nodes are connected: in tests without shared memory, and without asking for types."""

from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.ros,
    pytest.mark.skipif(
        not Path('/proc/self/maps').exists(), reason='Linux alone tells of memory and threads'
    ),
]

SHIPPED = Path(__file__).parents[2] / 'config' / 'fastdds.xml'


def asks_for_types(process):
    """Whether Fast DDS has threads that ask other participants for types."""
    threads = Path(f'/proc/{process.pid}/task').glob('*/comm')
    return any(thread.read_text().startswith('dds.tls') for thread in threads)


def test_nodes_ask_nobody_for_types_with_the_shipped_profile(start, connect, tmp_path):
    """Where an answer was lost, the services of a node were never found."""
    asking = tmp_path / 'asking.xml'
    asking.write_text(SHIPPED.read_text().replace('>disabled<', '>enabled<'))
    for profile, asked in ((asking, True), (SHIPPED, False)):
        environment = {
            'FASTDDS_DEFAULT_PROFILES_FILE': str(profile),
            'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST',
        }
        process = start('simulator_node', profile.stem, environment=environment)
        waits = connect(profile.stem).wait_for
        waits(lambda process=process: 'waiting for' in process.output, 'node that waits')
        assert asks_for_types(process) == asked
        assert 'XMLPARSER' not in process.output


def test_nodes_talk_without_shared_memory(start, connect):
    process = start('dynamics_node', 'alone', autostart=False)
    client = connect('alone')
    assert client.lifecycle_state() == 'unconfigured'
    assert not asks_for_types(process)
    for pid in ('self', process.pid):
        mapped = Path(f'/proc/{pid}/maps').read_text(encoding='utf-8')
        assert 'librmw_fastrtps' in mapped
        assert [line for line in mapped.splitlines() if '/dev/shm/fastdds' in line] == []

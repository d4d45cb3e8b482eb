# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The nodes of the tests share no memory, whose locks killed processes would leave behind."""

from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = pytest.mark.ros


@pytest.mark.skipif(not Path('/proc/self/maps').exists(), reason='tells of memory on Linux only')
def test_nodes_talk_without_shared_memory(start, connect):
    process = start('dynamics_node', 'alone', autostart=False)
    client = connect('alone')
    assert client.lifecycle_state() == 'unconfigured'
    for pid in ('self', process.pid):
        mapped = Path(f'/proc/{pid}/maps').read_text(encoding='utf-8')
        assert 'librmw_fastrtps' in mapped
        assert [line for line in mapped.splitlines() if '/dev/shm/fastdds' in line] == []

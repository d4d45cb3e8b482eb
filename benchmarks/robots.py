# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The measured robots, one URDF text each, the same for all libraries."""

from __future__ import annotations

import functools
import importlib.metadata
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from lxml import etree

from benchmarks.chain import chain_urdf
from kron_dynamics.typing import FloatArray, IntArray

ROOT = Path(__file__).parents[1]
ROBOTS = ('stacker', 'ur5', 'panda')
CHAIN = 'chain30'
_COMPARED = 1000  # states of a batch
GRAVITY = (0.0, 0.0, -9.81)  # m/s^2; set explicitly, as the libraries' defaults differ


@dataclass(frozen=True)
class Description:
    """A robot as URDF text, and the link of the control step."""

    text: str
    tip: str


@dataclass(frozen=True)
class State:
    """Coordinates, rates and accelerations: shape (n,), or (N, n) for a batch."""

    q: FloatArray
    qd: FloatArray
    qdd: FloatArray


@functools.cache
def description(name: str) -> Description:
    """Return a robot by name: one of `ROBOTS`, or `chain<n>`."""
    if name == 'stacker':
        file = ROOT / 'urdf' / 'stacker_reclaimer.urdf'
        return Description(file.read_text(encoding='utf-8'), 'bucket_wheel')
    if name == 'ur5':
        return Description(_example('ur5_robot.urdf'), 'tool0')
    if name == 'panda':
        # Some libraries give a mimic joint a coordinate of its own, others do not.
        return Description(without_fingers(_example('panda.urdf')), 'panda_hand')
    length = int(name.removeprefix('chain'))
    return Description(chain_urdf(length), f'link_{length}')


def without_fingers(text: str) -> str:
    """Return the Panda's text with both finger joints fixed, which leaves seven arm joints."""
    root = etree.fromstring(text.encode())
    for joint in root.iter('joint'):
        if 'finger_joint' in joint.get('name', ''):
            joint.set('type', 'fixed')
            for child in list(joint):
                if child.tag in ('axis', 'limit', 'mimic'):
                    joint.remove(child)
    return str(etree.tostring(root, encoding='unicode'))


def state(n: int, count: int | None = None) -> State:
    """Return a state, or a batch of `count` states, drawn from one seed."""
    shape = (3, n) if count is None else (3, count, n)
    return State(*np.random.default_rng(7).uniform(-3.0, 3.0, shape))


def compared_states(count: int) -> IntArray:
    """Return the numbers of those states of a batch whose results are compared, at random."""
    return np.random.default_rng(11).choice(count, min(count, _COMPARED), replace=False)


def _example(file_name: str) -> str:
    # The wheel with these robots has no importable module.
    files = importlib.metadata.files('example-robot-data') or []
    (file,) = (file for file in files if file.name == file_name)
    return Path(str(file.locate())).read_text(encoding='utf-8')

# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Damaged recordings: truncated at each per cent of their length, and with flipped bytes.

python test/fuzz/bag_damage.py [--flips 200] [--seed 1]

The analysis of each must end with a report or with a one-line error, and need at most a few times
the memory of the file. Prints all findings; the exit code is 1 if there are any.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / 'test' / 'support')]

import kron_dynamics as kd  # noqa: E402
from kron_dynamics.bag import analyze_bag  # noqa: E402
from kron_dynamics.bag.outputs.text_report import format_report  # noqa: E402
from kron_dynamics.exceptions import KronDynamicsError  # noqa: E402

_STORE = get_typestore(Stores.LATEST)
_KIND = 'sensor_msgs/msg/JointState'
_SLOW = 10.0  # most processor time per file, s
_MUCH = 400_000  # most growth of memory over all files, kB
STORAGES = ('mcap-zstd', 'mcap', 'sqlite3')


class Damage(NamedTuple):
    """A damaged recording: a description of the damage, and the bytes."""

    what: str
    data: bytes


def write_bag(folder: Path, robot: kd.Robot, storage: str, count: int = 1500) -> Path:
    """Write a synthetic recording of a robot, and return its file."""
    types, rng = _STORE.types, np.random.default_rng(2)
    writer = Writer(
        folder, version=9, storage_plugin=StoragePlugin[storage.partition('-')[0].upper()]
    )
    if storage.endswith('zstd'):
        writer.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
    names = list(robot.joint_names)
    with writer:
        topic = writer.add_connection('/joint_states', _KIND, typestore=_STORE)
        for k in range(count):
            angle = 0.01 * k * (1.0 + 0.2 * np.arange(robot.n))
            values = (0.3 * np.sin(angle), 0.3 * np.cos(angle), rng.normal(0.0, 5.0, robot.n))
            sec, nanosec = divmod(k * 10_000_000, 1_000_000_000)
            stamp = types['builtin_interfaces/msg/Time'](sec=sec, nanosec=nanosec)
            header = types['std_msgs/msg/Header'](stamp=stamp, frame_id='')
            message = types[_KIND](header, names, *values)
            writer.write(topic, k * 10_000_000, _STORE.serialize_cdr(message, _KIND))
    (file,) = (each for each in folder.iterdir() if each.suffix in ('.mcap', '.db3'))
    return file


def damages(data: bytes, flips: int, seed: int, step: int = 1) -> Iterator[Damage]:
    """Yield a recording truncated at every `step` per cent, and with single bytes flipped."""
    for percent in range(0, 100, step):
        yield Damage(f'cut at {percent} %', data[: len(data) * percent // 100])
    rng = np.random.default_rng(seed)
    for number in range(flips):
        changed = bytearray(data)
        # Every second flip is near an end of the file, where headers and indices are.
        place = int(rng.integers(len(data)))
        if number % 2:
            near = min(2000, len(data) // 2)
            place = int(rng.integers(near)) * (1 if number % 4 == 1 else -1)
        changed[place] ^= int(rng.integers(1, 256))
        yield Damage(f'byte {place % len(data)} flipped (number {number})', bytes(changed))


def finding(path: Path, urdf: Path) -> str | None:
    """Return what is wrong with the handling of a damaged file; None if nothing is."""
    started = time.process_time()
    try:
        report = format_report(analyze_bag(path, urdf=urdf))
        if 'messages' not in report:
            return 'a report without counts'
    except KronDynamicsError as error:
        if '\n' in str(error) or len(str(error)) > 1000:
            return f'an error of more than a line: {error}'
    except Exception as error:
        return f'{type(error).__name__}: {error}'
    seconds = time.process_time() - started
    return f'{seconds:.1f} s of processor time' if seconds > _SLOW else None


def check(
    urdf: Path, storage: str, flips: int, seed: int, step: int = 1, count: int = 1500
) -> list[str]:
    """Return all findings for a robot's recording of `count` messages in one storage format."""
    robot, found = kd.load(urdf), []
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with tempfile.TemporaryDirectory() as place:
        file = write_bag(Path(place) / 'bag', robot, storage, count)
        damaged = Path(place) / f'damaged{file.suffix}'
        for damage in damages(file.read_bytes(), flips, seed, step):
            damaged.write_bytes(damage.data)
            problem = finding(damaged, urdf)
            grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
            if problem is None and grown > _MUCH:
                problem, before = f'{grown / 1e3:.0f} MB of memory', before + grown
            if problem is not None:
                found.append(f'{urdf.stem}, {storage}, {damage.what}: {problem}')
    return found


def robots() -> list[Path]:
    """Return the descriptions of a stacker-reclaimer, a UR5 and a Panda."""
    import pinocchio

    share = Path(pinocchio.__file__).parents[4] / 'share' / 'example-robot-data' / 'robots'
    return [
        ROOT / 'urdf' / 'stacker_reclaimer.urdf',
        share / 'ur_description' / 'urdf' / 'ur5_robot.urdf',
        share / 'panda_description' / 'urdf' / 'panda.urdf',
    ]


def main() -> int:
    """Run all cases and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or '').split('\n')[0])
    parser.add_argument(
        '--flips', type=int, default=200, help='flipped bytes per file (default: 200)'
    )
    parser.add_argument('--seed', type=int, default=1, help='random seed (default: 1)')
    arguments = parser.parse_args()
    sorts: Counter[str] = Counter()
    for urdf, storage in zip(robots(), STORAGES, strict=True):
        started = time.monotonic()
        found = check(urdf, storage, arguments.flips, arguments.seed)
        for text in found:
            sorts[text.split(': ')[1]] += 1
            print(text)
        seconds = time.monotonic() - started
        print(
            f'{urdf.stem}, {storage}: {100 + arguments.flips} files, {len(found)} findings, '
            f'{seconds:.0f} s',
            flush=True,
        )
    return 1 if sorts else 0


if __name__ == '__main__':
    sys.exit(main())

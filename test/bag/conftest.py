# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Bags written on the spot, and an arm whose motion they hold."""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

import numpy as np
import pytest
import yaml
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

import kron_dynamics as kd

STORE = get_typestore(Stores.ROS2_HUMBLE)
TYPES = STORE.types
JOINT_STATE = 'sensor_msgs/msg/JointState'
# Where the stamp is in a serialized message that begins with a header.
STAMP = 4
# Receive times start here: another clock than the stamps, as on a robot.
LOG_START = 1_700_000_000_000_000_000

ARM = """<robot name="arm">
  <link name="base"/>
  <joint name="turn" type="continuous">
    <parent link="base"/><child link="column"/>
    <origin xyz="0 0 0.3" rpy="0 0 0.2"/><axis xyz="0 0 1"/>
    <limit velocity="2" effort="300"/><dynamics damping="1.5" friction="2"/>
  </joint>
  <link name="column"><inertial><origin xyz="0.05 0.02 0.1"/><mass value="8"/>
    <inertia ixx="0.2" iyy="0.25" izz="0.15" ixy="0.01" ixz="0.02" iyz="0"/></inertial></link>
  <joint name="lift" type="revolute">
    <parent link="column"/><child link="arm"/>
    <origin xyz="0.1 0 0.2" rpy="0.1 0 0"/><axis xyz="0 -1 0"/>
    <limit lower="-2" upper="2" velocity="2" effort="300"/><dynamics damping="1"/>
  </joint>
  <link name="arm"><inertial><origin xyz="0.4 0 0.03"/><mass value="5"/>
    <inertia ixx="0.02" iyy="0.3" izz="0.3" ixy="0" ixz="0.01" iyz="0"/></inertial></link>
  <joint name="reach" type="prismatic">
    <parent link="arm"/><child link="tool"/>
    <origin xyz="0.5 0 0" rpy="0 0.1 0"/><axis xyz="1 0 0"/>
    <limit lower="0" upper="1" velocity="1" effort="200"/><dynamics damping="5"/>
  </joint>
  <link name="tool"><inertial><origin xyz="0.1 0 0"/><mass value="2"/>
    <inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
</robot>"""


class BagMaker:
    """A bag being written; messages are recorded 1 us after one another unless told otherwise."""

    def __init__(self, path: Path, storage: str) -> None:
        plugin = StoragePlugin.MCAP if storage == 'mcap' else StoragePlugin.SQLITE3
        self.path = path
        self._writer = Writer(path, version=9, storage_plugin=plugin)
        self._connections: dict[str, Any] = {}
        self._log_time = LOG_START

    def __enter__(self) -> BagMaker:
        self._writer.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr('rosbags.rosbag2.writer.YAML', Emitter)
            self._writer.close()

    def raw(self, topic: str, kind: str, data: bytes, log_time: int | None = None) -> None:
        self.declare(topic, kind)
        self._log_time = self._log_time + 1000 if log_time is None else log_time
        self._writer.write(self._connections[topic], self._log_time, data)

    def declare(self, topic: str, kind: str) -> None:
        if topic not in self._connections:
            self._connections[topic] = self._writer.add_connection(topic, kind, typestore=STORE)

    def message(self, topic: str, message: Any, log_time: int | None = None) -> None:
        kind = message.__msgtype__
        self.raw(topic, kind, bytes(STORE.serialize_cdr(message, kind)), log_time)

    def text(self, topic: str, text: str) -> None:
        self.message(topic, TYPES['std_msgs/msg/String'](data=text))

    def joint_state(
        self,
        topic: str,
        time: float,
        names: Sequence[str],
        position: Sequence[float] = (),
        velocity: Sequence[float] = (),
        effort: Sequence[float] = (),
        log_time: int | None = None,
    ) -> None:
        arrays = [np.array(values, dtype='<f8') for values in (position, velocity, effort)]
        message, places = joint_state_layout(tuple(names), tuple(map(len, arrays)))
        data = bytearray(message)
        struct.pack_into('<iI', data, STAMP, *split_time(time))
        for place, values in zip(places, arrays, strict=True):
            data[place : place + values.nbytes] = values.tobytes()
        self.raw(topic, JOINT_STATE, bytes(data), log_time)

    def acceleration(
        self,
        topic: str,
        time: float,
        values: Sequence[float],
        frame_id: str = 'base',
        log_time: int | None = None,
    ) -> None:
        vector = TYPES['geometry_msgs/msg/Vector3']
        accel = TYPES['geometry_msgs/msg/Accel'](
            linear=vector(*(float(v) for v in values[:3])),
            angular=vector(*(float(v) for v in values[3:])),
        )
        message = TYPES['geometry_msgs/msg/AccelStamped'](
            header=make_header(time, frame_id), accel=accel
        )
        self.message(topic, message, log_time)

    def motion(self, topic: str, motion: Motion, fields: str = 'pve') -> None:
        """Record every sample of a motion; fields of p, v, e are filled."""
        for k, time in enumerate(motion.time):
            self.joint_state(
                topic,
                time,
                motion.robot.joint_names,
                motion.q[k] if 'p' in fields else (),
                motion.qd[k] if 'v' in fields else (),
                motion.effort[k] if 'e' in fields else (),
            )


@functools.cache
def joint_state_layout(
    names: tuple[str, ...], lengths: tuple[int, ...]
) -> tuple[bytes, tuple[int, ...]]:
    """Return a serialized message, and where its positions, velocities and efforts begin.

    Messages of the same joints differ in nothing but numbers, and rosbags takes five times as
    long for each as it takes to put those in.
    """
    marks = 1.25e-101, 1.25e-102, 1.25e-103
    message = TYPES[JOINT_STATE](make_header(0.0), list(names), *map(np.full, lengths, marks))
    data = bytes(STORE.serialize_cdr(message, JOINT_STATE))
    return data, tuple(
        data.find(struct.pack('<d', mark)) if n else 0
        for mark, n in zip(marks, lengths, strict=True)
    )


class Emitter:
    """Writes metadata for rosbags, which takes several times as long for it without libyaml."""

    default_flow_style = False

    def __init__(self, typ: str) -> None:
        assert typ == 'safe'

    def dump(self, data: Any, stream: TextIO) -> None:
        dumper = yaml.CSafeDumper
        style = self.default_flow_style
        yaml.dump(data, stream, dumper, default_flow_style=style, allow_unicode=True)


def split_time(time: float) -> tuple[int, int]:
    """Return whole seconds and nanoseconds."""
    return divmod(round(time * 1e9), 1_000_000_000)


def make_header(time: float, frame_id: str = '') -> Any:
    seconds, nanoseconds = split_time(time)
    stamp = TYPES['builtin_interfaces/msg/Time'](sec=seconds, nanosec=nanoseconds)
    return TYPES['std_msgs/msg/Header'](stamp=stamp, frame_id=frame_id)


class Motion:
    """Analytic motion q = centre + amplitude sin(frequency t + phase) with its exact efforts."""

    def __init__(
        self,
        robot: kd.Robot,
        time: np.ndarray,
        centre: Sequence[float],
        amplitude: Sequence[float],
        frequency: Sequence[float],
    ) -> None:
        angle = np.outer(time, frequency) + np.arange(robot.n)
        self.robot, self.time = robot, time
        self.q = centre + amplitude * np.sin(angle)
        self.qd = np.multiply(amplitude, frequency) * np.cos(angle)
        self.qdd = -np.multiply(amplitude, np.square(frequency)) * np.sin(angle)
        self.effort = robot.inverse_dynamics(self.q, self.qd, self.qdd) + robot.joint_friction(
            self.qd
        )


@pytest.fixture
def make_bag(tmp_path: Path) -> Callable[..., BagMaker]:
    """Return a function that starts a bag: make_bag(name='bag', storage='mcap')."""

    def make(name: str = 'bag', storage: str = 'mcap') -> BagMaker:
        return BagMaker(tmp_path / name, storage)

    return make


@pytest.fixture(scope='session')
def bag_maker() -> type[BagMaker]:
    return BagMaker


@pytest.fixture(scope='session')
def arm() -> kd.Robot:
    """Return an arm with a continuous, a revolute and a prismatic joint."""
    return kd.loads(ARM)


@pytest.fixture(scope='session')
def arm_urdf() -> str:
    return ARM


@pytest.fixture(scope='session')
def make_motion() -> type[Motion]:
    return Motion


@pytest.fixture(scope='session')
def arm_motion(arm: kd.Robot) -> Callable[..., Motion]:
    """Return a function that moves the arm: arm_motion(duration=10, rate=100, start=5)."""

    def move(duration: float = 10.0, rate: float = 100.0, start: float = 5.0) -> Motion:
        time = start + np.arange(round(duration * rate) + 1) / rate
        return Motion(arm, time, (0.3, 0.2, 0.4), (0.8, 0.5, 0.2), (2.1, 1.7, 2.6))

    return move

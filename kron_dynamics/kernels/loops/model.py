# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Staged robot model: one joint represents every iteration of a loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from kron_dynamics.kernels.loops.indices import Index, Number, Numbers, look_up
from kron_dynamics.kernels.loops.program import Program
from kron_dynamics.kernels.loops.tables import ConstantTable, PathTable, Table
from kron_dynamics.model.joint_kinds import Motion
from kron_dynamics.model.rigid_model import RigidModel
from kron_dynamics.model.robot_model import Frame
from kron_dynamics.typing import IntArray, ScalarArray


class StagedJoint:
    """The joint in a loop, which represents all joints of the loop; attributes as in `Joint`."""

    def __init__(self, model: StagedModel, number: Number) -> None:
        """Represent the joint with an index that the loop determines."""
        self._model = model
        self._number = number

    @property
    def parent(self) -> Number:
        """Index of the body it is mounted on."""
        return look_up(self._model.parents, self._number)

    @property
    def coordinate(self) -> Number:
        """Index of the coordinate that moves it."""
        return look_up(self._model.coordinate_of, self._number)

    @property
    def rotation(self) -> ScalarArray:
        """As in `Joint`, shape (3, 3)."""
        return self._array('rotation')

    @property
    def translation(self) -> ScalarArray:
        """As in `Joint`, shape (3,)."""
        return self._array('translation')

    @property
    def axis(self) -> ScalarArray:
        """As in `Joint`, shape (3,)."""
        return self._array('axis')

    @property
    def pitch(self) -> Any:
        """As in `Joint`."""
        return self._model.of_joint('pitch', self._number)

    @property
    def multiplier(self) -> Any:
        """As in `Joint`."""
        return self._model.of_joint('multiplier', self._number)

    @property
    def offset(self) -> Any:
        """As in `Joint`."""
        return self._model.of_joint('offset', self._number)

    def _array(self, attribute: str) -> ScalarArray:
        array: ScalarArray = self._model.of_joint(attribute, self._number)
        return array


class StagedModel:
    """The interface of `RigidModel` that the equations use; tree traversals record loops.

    Attributes:
        joints: joints of the model.
        n: number of coordinates.
        gravity: gravity of the model.
        root_link: root link of the model.
        is_flexible: False, as only rigid trees are recorded with loops.
        has_closed_loops: False, likewise.
        armature: table of armatures by coordinate.
        parents: table of parent bodies by joint.
        coordinate_of: table of coordinates by joint.
    """

    def __init__(self, program: Program, model: RigidModel) -> None:
        """Represent a model whose traversals are recorded in a program."""
        self._program = program
        self._model = model
        self._static: dict[Any, Numbers] = {}
        self.joints = model.joints
        self.n = model.n
        self.gravity = model.gravity
        self.root_link = model.root_link
        self.is_flexible = self.has_closed_loops = False
        self.armature = ConstantTable(program, list(model.armature))
        self.parents = self._numbers([joint.parent for joint in model.joints])
        self.coordinate_of = self._numbers([joint.coordinate for joint in model.joints])
        depths = [len(path) - 1 for path in model.paths]
        self._positions = max(depths) + 1
        self._depths = self._numbers(depths)
        self._paths = self._numbers(
            [path + (-1,) * (self._positions - len(path)) for path in model.paths]
        )
        self._carried = [
            [j for j, path in enumerate(model.paths) if k in path[:-1]]
            for k in range(len(model.joints))
        ]
        self._tables: dict[str, ConstantTable] = {}

    def of_joint(self, attribute: str, number: Number) -> Any:
        """Return an attribute of the joint with an index."""
        if attribute not in self._tables:
            rows = [getattr(joint, attribute) for joint in self.joints]
            self._tables[attribute] = ConstantTable(self._program, rows)
        return self._tables[attribute][number]

    def frame(self, link: str) -> Frame:
        """Return the frame of a link."""
        return self._model.frame(link)

    def path(self, body: int) -> tuple[int, ...]:
        """Return the joints from the base to a body."""
        return self._model.path(body)

    def table(self, base: Any = None) -> Table:
        """Return a table for a value of every body, with the base's value filled in if given."""
        table = Table(self._program, (len(self.joints) + 1,), offset=1)
        if base is not None:
            table[-1] = base
        return table

    def path_table(self) -> PathTable:
        """Return a table by position on a path, or by body and position on its path."""
        return PathTable(self._program, len(self.joints), self._positions)

    def per_body(self, function: Callable[[RigidModel], Sequence[Any]]) -> ConstantTable:
        """Return a table of the constants of every body that a function of the model returns."""
        return ConstantTable(self._program, function(self._model))

    def per_coordinate(self, function: Callable[[RigidModel], Any]) -> ConstantTable:
        """Return a table of the constants of every coordinate that a function returns."""
        return ConstantTable(self._program, list(function(self._model)))

    def coordinates(self) -> Iterator[Number]:
        """Yield the index of the coordinate in a loop over all coordinates."""
        return self._program.loop(0, self.n)

    def outward(self) -> Iterator[tuple[Number, StagedJoint]]:
        """Yield index and joint of a loop over all joints, parents first."""
        return self._joints(self._program.loop(0, len(self.joints)))

    def inward(self) -> Iterator[tuple[Number, StagedJoint]]:
        """Yield index and joint of a loop over all joints, children first."""
        return self._joints(self._program.loop(len(self.joints) - 1, -1, -1))

    def moving_by(self, motion: Motion) -> Iterator[tuple[Number, StagedJoint]]:
        """Yield index and joint of a loop over the joints with one kind of motion."""
        return self._among([k for k, joint in enumerate(self.joints) if joint.motion == motion])

    def descendants(self, k: Number) -> Iterator[tuple[Number, StagedJoint]]:
        """Yield index and joint of a loop over the descendants of joint k."""
        lengths = np.array([len(carried) for carried in self._carried])
        listed = self._numbers([j for carried in self._carried for j in carried])
        ends = np.cumsum(lengths)
        if all(c == list(range(j + 1, j + 1 + len(c))) for j, c in enumerate(self._carried)):
            # Joints are numbered depth first: descendants are a range and need no list.
            stop = look_up(self._numbers(np.arange(len(lengths)) + 1 + lengths), k)
            return self._joints(self._program.loop(k + 1, stop))
        starts = look_up(self._numbers(ends - lengths), k), look_up(self._numbers(ends), k)
        return self._joints(look_up(listed, p) for p in self._program.loop(*starts))

    def depth(self, k: Number) -> Number:
        """Return the position of joint k on its path."""
        return look_up(self._depths, k)

    def path_to(self, k: Number) -> Iterator[tuple[Number, Number, StagedJoint]]:
        """Yield position, index and joint of a loop along the path from the base to joint k."""
        return self._on_path(k, 0, self.depth(k) + 1)

    def ancestors(
        self, k: Number, first: Number = 0
    ) -> Iterator[tuple[Number, Number, StagedJoint]]:
        """Yield position, index and joint of a loop over joint k's ancestors, from a position."""
        return self._on_path(k, first, self.depth(k))

    def _on_path(
        self, k: Number, first: Number, stop: Number
    ) -> Iterator[tuple[Number, Number, StagedJoint]]:
        for d in self._program.loop(first, stop):
            number = look_up(self._paths, k, d)
            yield d, number, StagedJoint(self, number)

    def each(
        self, chain: Sequence[int], first: Number = 0
    ) -> Iterator[tuple[Number, Number, StagedJoint]]:
        """Yield position, index and joint of a loop along a chain, from a position on."""
        return self._on_chain(chain, self._program.loop(first, len(chain)))

    def back(self, chain: Sequence[int]) -> Iterator[tuple[Number, Number, StagedJoint]]:
        """Yield position, index and joint of a loop along a chain, last joint first."""
        return self._on_chain(chain, self._program.loop(len(chain) - 1, -1, -1))

    def _on_chain(
        self, chain: Sequence[int], loop: Iterator[Index]
    ) -> Iterator[tuple[Number, Number, StagedJoint]]:
        for d in loop:
            number = look_up(self._numbers(chain), d)
            yield d, number, StagedJoint(self, number)

    def _among(self, numbers: Sequence[int]) -> Iterator[tuple[Number, StagedJoint]]:
        listed = self._numbers(numbers)
        return self._joints(look_up(listed, p) for p in self._program.loop(0, len(numbers)))

    def _joints(self, numbers: Iterator[Number]) -> Iterator[tuple[Number, StagedJoint]]:
        for k in numbers:
            yield k, StagedJoint(self, k)

    def _numbers(self, values: Sequence[Any] | IntArray) -> Numbers:
        """Return the static table of these values; equal values share a table."""
        array = np.array(values, dtype=int)
        return self._static.setdefault((array.shape, array.tobytes()), Numbers(array))

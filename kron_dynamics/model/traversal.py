# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Traversal of the tree of joints.

The equations traverse the tree only by these methods and store their results in tables. A kernel
for a large robot can therefore be recorded with loops: another class with the same methods yields
one symbolic joint that represents all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from kron_dynamics.model.joint_kinds import Motion
    from kron_dynamics.model.robot_model import Joint

T = TypeVar('T')


class Traversal:
    """The tree of a robot model.

    Joint k carries body k; the base is body -1. Parents come before their children.

    Attributes:
        joints: every moving joint.
    """

    __slots__ = ()

    joints: tuple[Joint, ...]

    @property
    def paths(self) -> tuple[tuple[int, ...], ...]:
        """Joints from the base to each body, the body's own joint last."""
        return tuple(self.path(k) for k in range(len(self.joints)))

    def table(self, base: Any = None) -> list[Any]:
        """Return a list for one value per body, filled with None, with the base's value last."""
        return [*[None] * len(self.joints), base]

    def path_table(self) -> dict[Any, Any]:
        """Return a dictionary for values by position on a path, or by body and position."""
        return {}

    def per_body(self, function: Callable[..., list[T]]) -> list[T]:
        """Return the constants of every body that `function` computes from the model."""
        return function(self)

    def outward(self) -> Iterator[tuple[int, Joint]]:
        """Yield (index, joint) of every joint, parents first."""
        return iter(enumerate(self.joints))

    def inward(self) -> Iterator[tuple[int, Joint]]:
        """Yield (index, joint) of every joint, children first."""
        return reversed(list(enumerate(self.joints)))

    def moving_by(self, motion: Motion) -> Iterator[tuple[int, Joint]]:
        """Yield (index, joint) of the joints with the given motion."""
        return ((k, joint) for k, joint in enumerate(self.joints) if joint.motion == motion)

    def descendants(self, k: int) -> Iterator[tuple[int, Joint]]:
        """Yield (index, joint) of the descendants of joint k, without itself."""
        carried = {k}
        for j in range(k + 1, len(self.joints)):
            if self.joints[j].parent in carried:
                carried.add(j)
                yield j, self.joints[j]

    def depth(self, k: int) -> int:
        """Return the position of joint k on its path: the number of its ancestors."""
        return len(self.path(k)) - 1

    def path_to(self, k: int) -> Iterator[tuple[int, int, Joint]]:
        """Yield (position, index, joint) of the joints on the path to joint k, itself last."""
        return self.each(self.path(k))

    def ancestors(self, k: int, first: int = 0) -> Iterator[tuple[int, int, Joint]]:
        """Yield (position, index, joint) of joint k's ancestors, from position `first` on."""
        return self.each(self.path(k)[:-1], first)

    def each(self, chain: Sequence[int], first: int = 0) -> Iterator[tuple[int, int, Joint]]:
        """Yield (position, index, joint) of the joints of a chain, from position `first` on."""
        return ((d, chain[d], self.joints[chain[d]]) for d in range(first, len(chain)))

    def back(self, chain: Sequence[int]) -> Iterator[tuple[int, int, Joint]]:
        """Yield (position, index, joint) of the joints of a chain in reverse order."""
        return reversed(list(self.each(chain)))

    def path(self, body: int) -> tuple[int, ...]:
        """Return the indices of the joints from the base to a body; empty for the base."""
        path = []
        while body >= 0:
            path.append(body)
            body = self.joints[body].parent
        return tuple(reversed(path))


def paths_apart(tree: Traversal, body: int, other: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the paths to two bodies from their lowest common ancestor, or from the base."""
    ways = tree.path(body), tree.path(other)
    shared = 0
    while shared < min(map(len, ways)) and ways[0][shared] == ways[1][shared]:
        shared += 1
    return ways[0][shared:], ways[1][shared:]

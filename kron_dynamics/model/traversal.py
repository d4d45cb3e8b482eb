# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Ways through the tree of joints, for the equations.

The equations go through the tree by these methods alone and keep what they find in tables. So a
kernel for a large robot can be recorded with its loops: another class with the same methods
answers with one joint that stands for all.
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

    joints: tuple[Joint, ...]

    @property
    def paths(self) -> tuple[tuple[int, ...], ...]:
        """Joints from the base to each body, the last being its own."""
        return tuple(self.path(k) for k in range(len(self.joints)))

    def table(self, base: Any = None) -> list[Any]:
        """Return a place for a value of every body, the base's filled in."""
        return [*[None] * len(self.joints), base]

    def path_table(self) -> dict[Any, Any]:
        """Return places for values by position on a path, or by body and position on its path."""
        return {}

    def per_body(self, function: Callable[..., list[T]]) -> list[T]:
        """Return the constants of every body that a function of the model gives."""
        return function(self)

    def outward(self) -> Iterator[tuple[int, Joint]]:
        """Yield every joint with its number, parents first."""
        return iter(enumerate(self.joints))

    def inward(self) -> Iterator[tuple[int, Joint]]:
        """Yield every joint with its number, children first."""
        return reversed(list(enumerate(self.joints)))

    def moving_by(self, motion: Motion) -> Iterator[tuple[int, Joint]]:
        """Yield the joints that move in one way with their numbers."""
        return ((k, joint) for k, joint in enumerate(self.joints) if joint.motion == motion)

    def descendants(self, k: int) -> Iterator[tuple[int, Joint]]:
        """Yield the joints that joint k carries, itself left out, with their numbers."""
        carried = {k}
        for j in range(k + 1, len(self.joints)):
            if self.joints[j].parent in carried:
                carried.add(j)
                yield j, self.joints[j]

    def depth(self, k: int) -> int:
        """Return the position of joint k on its path: how many joints carry it."""
        return len(self.path(k)) - 1

    def path_to(self, k: int) -> Iterator[tuple[int, int, Joint]]:
        """Yield (position, number, joint) of the joints on the path to joint k, itself last."""
        return self.each(self.path(k))

    def ancestors(self, k: int, first: int = 0) -> Iterator[tuple[int, int, Joint]]:
        """Yield (position, number, joint) of the joints that carry joint k, from a position on."""
        return self.each(self.path(k)[:-1], first)

    def each(self, chain: Sequence[int], first: int = 0) -> Iterator[tuple[int, int, Joint]]:
        """Yield (position, number, joint) of the joints of a chain, from a position on."""
        return ((d, chain[d], self.joints[chain[d]]) for d in range(first, len(chain)))

    def back(self, chain: Sequence[int]) -> Iterator[tuple[int, int, Joint]]:
        """Yield (position, number, joint) of the joints of a chain, the last first."""
        return reversed(list(self.each(chain)))

    def path(self, body: int) -> tuple[int, ...]:
        """Return the joints from the base to a body, the base's path being empty."""
        path = []
        while body >= 0:
            path.append(body)
            body = self.joints[body].parent
        return tuple(reversed(path))


def paths_apart(tree: Traversal, body: int, other: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the joints to each of two bodies from the last one that carries both, or the base."""
    ways = tree.path(body), tree.path(other)
    shared = 0
    while shared < min(map(len, ways)) and ways[0][shared] == ways[1][shared]:
        shared += 1
    return ways[0][shared:], ways[1][shared:]

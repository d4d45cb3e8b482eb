# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Ways in which publishers corrupt joint states, and the expected reaction of a node."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import NamedTuple

from machine import Spoiler
from sensor_msgs.msg import JointState

NUMBERS = (float('nan'), float('inf'), float('-inf'), 1e300, -1e300, 1e-300, 0.0, 7.0, -3.1)


class Case(NamedTuple):
    """A way to corrupt states.

    Attributes:
        make: returns the spoiler for a random number generator.
        fault: part of the reason of the expected fault; None if there must be no fault; empty if
            both are allowed.
    """

    make: Callable[[random.Random], Spoiler]
    fault: str | None


def _order(state: JointState, order: list[int]) -> JointState:
    other = copy.deepcopy(state)
    other.name = [state.name[k] for k in order]
    for field in ('position', 'velocity', 'effort'):
        values = getattr(state, field)
        setattr(other, field, [values[k] for k in order])
    return other


def _shuffled(random_: random.Random) -> Spoiler:
    def spoil(state: JointState) -> list[JointState]:
        order = list(range(len(state.name)))
        random_.shuffle(order)
        return [_order(state, order)]

    return spoil


def _in_parts(random_: random.Random) -> Spoiler:
    def spoil(state: JointState) -> list[JointState]:
        middle = random_.randint(0, len(state.name))
        every = range(len(state.name))
        parts = [_order(state, [k for k in every if (k < middle) == first]) for first in (1, 0)]
        random_.shuffle(parts)
        return [part for part in parts if part.name]

    return spoil


def _twice(random_: random.Random) -> Spoiler:
    return lambda state: [state] * random_.randint(1, 3)


def _sometimes(
    share: float, change: Callable[[random.Random, JointState], None]
) -> Callable[[random.Random], Spoiler]:
    def make(random_: random.Random) -> Spoiler:
        def spoil(state: JointState) -> list[JointState]:
            if random_.random() < share:
                change(random_, state)
            return [state]

        return spoil

    return make


def _number(random_: random.Random, state: JointState) -> None:
    values = getattr(state, random_.choice(('position', 'velocity')))
    values[random_.randrange(len(values))] = random_.choice(NUMBERS)


def _length(random_: random.Random, state: JointState) -> None:
    field = random_.choice(('position', 'velocity', 'effort'))
    setattr(state, field, [0.0] * random_.choice((1, 2, 40)))


def _turned(random_: random.Random, state: JointState) -> None:
    k = random_.randrange(len(state.name))
    state.position[k] += random_.choice((-6.283185307179586, 6.283185307179586))


def _lost(random_: random.Random) -> Spoiler:
    return lambda state: [state] if random_.random() < 0.7 else []


def _clock(seconds: float) -> Callable[[random.Random], Spoiler]:
    def make(random_: random.Random) -> Spoiler:
        count = 0

        def spoil(state: JointState) -> list[JointState]:
            nonlocal count
            count += 1
            if count > 50:
                state.header.stamp.sec += round(seconds)
            return [state]

        return spoil

    return make


def _anything(random_: random.Random) -> Spoiler:
    """Add twenty random messages to each state."""

    def message(state: JointState) -> JointState:
        made = JointState()
        names = [*state.name, '', 'zz', state.name[0]]
        made.name = random_.sample(names, random_.randrange(len(names) + 1))
        for field in ('position', 'velocity', 'effort'):
            count = random_.choice((0, len(made.name), random_.randrange(9)))
            setattr(made, field, [random_.choice(NUMBERS) for _ in range(count)])
        made.header.stamp.sec = random_.choice((0, state.header.stamp.sec, 2**31 - 1, -5))
        made.header.stamp.nanosec = random_.choice((0, state.header.stamp.nanosec))
        return made

    return lambda state: [state, *(message(state) for _ in range(20))]


CASES = {
    'shuffled': Case(_shuffled, None),
    'in parts': Case(_in_parts, None),
    'twice': Case(_twice, None),
    'lost': Case(_lost, None),
    'numbers': Case(_sometimes(0.2, _number), ''),
    'lengths': Case(_sometimes(0.2, _length), None),
    'turned': Case(_sometimes(0.05, _turned), ''),
    'silence': Case(lambda random_: lambda state: [], 'not fresh'),
    'clock forward': Case(_clock(3600.0), 'jumped ahead'),
    'clock back': Case(_clock(-3600.0), 'stepped back'),
    'anything': Case(_anything, ''),
}

# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Converts batches of states from and to the flat arrays of service messages."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np

from kron_dynamics.control import reorder
from kron_dynamics.exceptions import NonFiniteError, ParameterError, ShapeError
from kron_dynamics.messages import named
from kron_dynamics.typing import FloatArray

# Names of the rows of a spatial quantity: translation, then rotation.
_COMPONENTS = ('x', 'y', 'z', 'about x', 'about y', 'about z')


def flat(values: FloatArray) -> array[float]:
    """Return an array's numbers, row-major, as an `array` that message fields accept fast."""
    numbers = array('d')
    numbers.frombytes(np.ascontiguousarray(values, dtype=np.float64).ravel().view(np.uint8).data)
    return numbers


def check_size(what: str, states: int, numbers: int, largest: int) -> None:
    """Check that a batch is not so large that converting it would delay commands.

    Args:
        what: 'request' or 'answer'.
        states: number of states.
        numbers: count of numbers per state.
        largest: largest allowed count of numbers.

    Raises:
        ParameterError: the batch is too large; the message has the largest number of states.
    """
    if states * numbers > largest:
        raise ParameterError(
            f'the {what} would hold {states * numbers} numbers, {numbers} for each of {states} '
            f'states, expected at most {largest} (parameter max_batch_size): send at most '
            f'{largest // numbers} states in one request'
        )


def table_of(field: str, values: Sequence[float], count: int, n: int) -> FloatArray:
    """Return one field of a request, shape (count, n).

    Args:
        field: name of the field.
        values: its numbers, row-major.
        count: number of points.
        n: number of joints.

    Raises:
        ShapeError: the field has another length.
    """
    table = np.asarray(values, dtype=np.float64)
    if table.size != count * n:
        raise ShapeError(
            f'{field} has {table.size} numbers, expected {count} x {n} (points x joints)'
        )
    return table.reshape(count, n)


def held_positions(request: Any) -> dict[str, float]:
    """Return the positions of the held joints by name, rad or m.

    Args:
        request: request with held_joint_names and held_position.

    Raises:
        ShapeError: these fields have different lengths.
    """
    names, positions = request.held_joint_names, request.held_position
    if len(names) != len(positions):
        raise ShapeError(
            f'held_position has {len(positions)} numbers, expected {len(names)} as there are '
            f'held_joint_names'
        )
    return dict(zip(names, positions, strict=True))


class Batch:
    """Converts states from a request's joint order to the robot's, and results back."""

    def __init__(
        self, coordinates: Sequence[str], joint_names: Sequence[str], largest: int
    ) -> None:
        """Start a batch.

        Args:
            coordinates: names in the robot's order.
            joint_names: names in the request's order; empty for the robot's order.
            largest: largest count of numbers in a request or an answer.

        Raises:
            JointNamesError: a name is unknown, repeated or missing.
        """
        self.names = list(joint_names) or list(coordinates)
        self._coordinates = coordinates
        self._to_model = reorder(self.names, coordinates)
        self.to_request = np.argsort(self._to_model)
        self._in_order = bool((self._to_model == np.arange(len(coordinates))).all())
        self._n = len(coordinates)
        self._fields = 0
        self._largest = largest
        self._count: int | None = None

    def states(self, field: str, values: Sequence[float]) -> FloatArray:
        """Return one field of the request, shape (N, n), in the robot's order.

        Raises:
            ShapeError: the field has another length than the fields before it.
            ParameterError: the request is too large.
            NonFiniteError: the field contains a NaN or an infinity.
        """
        table = np.asarray(values, dtype=np.float64)
        count = self._count if self._count is not None else max(1, table.size // self._n)
        if table.size != count * self._n:
            raise ShapeError(
                f'{field} has {table.size} numbers, expected {count} x {self._n} (states x joints)'
            )
        self._fields += 1
        check_size('request', count, self._fields * self._n, self._largest)
        if not np.isfinite(table).all():
            raise NonFiniteError(f'{field} holds a NaN or an infinity')
        self._count = count
        rows = table.reshape(count, self._n)
        return rows if self._in_order else rows[:, self._to_model]

    def optional(self, field: str, values: Sequence[float]) -> FloatArray | None:
        """Return one field as `states` does, or None if the request leaves it empty."""
        return self.states(field, values) if len(values) else None

    def expect(self, numbers: int) -> None:
        """Check the size of an answer with `numbers` per state, before it is computed.

        Raises:
            ParameterError: the answer would be too large.
        """
        check_size('answer', self._count or 0, numbers, self._largest)

    def by_joint(self, what: str, values: FloatArray, *others: int) -> array[float]:
        """Return results per joint, flat and row-major in the request's joint order.

        Args:
            what: name of the quantity, for error messages.
            values: shape (N, n, ...), in the robot's order.
            others: further axes that run over joints; an axis of length n*n runs over pairs.

        Raises:
            NonFiniteError: a result is beyond the range of float64; names joint and state.
        """
        if not np.isfinite(values).all():
            state, joint = np.argwhere(~np.isfinite(values))[0, :2]
            raise beyond_range(what, named('joint', self._coordinates[joint]), state)
        return self._ordered(values, 1, *others)

    def by_component(self, what: str, values: FloatArray, *axes: int) -> array[float]:
        """Return results of a frame, flat and row-major, in the request's joint order.

        Args:
            what: name of the quantity, for error messages.
            values: shape (N, 3 or more, ...), axis 1 has the components of a point's motion.
            axes: axes that run over joints, see `by_joint`.

        Raises:
            NonFiniteError: a result is beyond the range of float64; names component and state.
        """
        if not np.isfinite(values).all():
            state, component = np.argwhere(~np.isfinite(values))[0, :2]
            raise beyond_range(what, f'component {_COMPONENTS[component]}', state)
        return self._ordered(values, *axes)

    def _ordered(self, values: FloatArray, *axes: int) -> array[float]:
        if not self._in_order:
            for axis in axes:
                order = self.to_request
                if values.shape[axis] == self._n**2 and self._n > 1:
                    order = (order[:, None] * self._n + order).ravel()
                values = values.take(order, axis=axis)
        return flat(values)


def beyond_range(what: str, of: str, state: int) -> NonFiniteError:
    """Return the error for a result that float64 cannot represent."""
    return NonFiniteError(
        f'{what} of {of} in state {state} is beyond the range of float64: the state is out of all '
        f'proportion, or loops do not close there'
    )

# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Errors raised by kron_dynamics.

Each is a :class:`KronDynamicsError` and also the builtin a caller would expect, so that both
``except kd.KronDynamicsError`` and ``except ValueError`` work.
"""

from __future__ import annotations


class KronDynamicsError(Exception):
    """Base class of every error this package raises on purpose."""


class ModelError(KronDynamicsError, ValueError):
    """The robot description is missing, broken or physically impossible."""


class UnsupportedJointError(ModelError):
    """The robot description holds a joint of a kind that has no meaning here."""


class InvalidInertiaError(ModelError):
    """A link's mass or inertia could not belong to any real body."""


class UnknownFrameError(KronDynamicsError, LookupError):
    """A link was asked for that the model does not have."""


class ShapeError(KronDynamicsError, ValueError):
    """An array has another shape than the model needs."""


class NonFiniteError(KronDynamicsError, ValueError):
    """A NaN or an infinity stands where a number is needed."""


class KernelBuildError(KronDynamicsError, RuntimeError):
    """A kernel could not be compiled or loaded."""


class TrajectoryError(KronDynamicsError, ValueError):
    """A reference trajectory is malformed or leaves the machine's limits."""


class ParameterError(KronDynamicsError, ValueError):
    """A parameter or option has a value that cannot be used."""


class BagError(KronDynamicsError, OSError):
    """A recorded bag cannot be read or lacks what the analysis needs."""

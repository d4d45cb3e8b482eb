# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Findings: what is wrong with a description, collected while it is read.

An error leaves the equations without an answer. Everything else is a `ModelWarning`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kron_dynamics.exceptions import (
    InvalidInertiaError,
    ModelError,
    ModelWarning,
    ParameterError,
    UnsupportedJointError,
)
from kron_dynamics.messages import clipped

WARNING, HINT = 'warning', 'hint'


class Kind(NamedTuple):
    """A kind of finding: how serious it is, and which error it is where warnings are errors."""

    severity: str = WARNING
    error: type[ModelError] = ModelError


KINDS: Mapping[str, Kind] = {
    # The text.
    'missing_name': Kind(),
    'xml_declaration': Kind(),
    'robot_version': Kind(HINT),
    'control_character': Kind(),
    'repeated_element': Kind(),
    'misspelt': Kind(),
    'unknown_attribute': Kind(HINT),
    'duplicate_name': Kind(),
    'open_loops': Kind(HINT),
    'unused_xacro_argument': Kind(),
    # Joints.
    'joint_held': Kind(WARNING, UnsupportedJointError),
    'axis_not_unit': Kind(HINT),
    'missing_axis': Kind(),
    'missing_limit': Kind(),
    'limits_reversed': Kind(),
    'negative_limit': Kind(),
    'zero_limit': Kind(),
    'no_range': Kind(),
    'negative_friction': Kind(),
    'mimic_of_fixed': Kind(),
    'mimic_of_unknown': Kind(),
    'limit_in_degrees': Kind(HINT),
    'passive_friction': Kind(HINT),
    # Masses.
    'missing_mass': Kind(WARNING, InvalidInertiaError),
    'missing_inertia': Kind(WARNING, InvalidInertiaError),
    'not_positive_semidefinite': Kind(WARNING, InvalidInertiaError),
    'triangle_inequality': Kind(WARNING, InvalidInertiaError),
    'massless_joint': Kind(WARNING, InvalidInertiaError),
    'root_inertia': Kind(HINT, InvalidInertiaError),
    # Payloads that are set while the robot moves.
    'payload_far': Kind(WARNING, InvalidInertiaError),
    'payload_inertia': Kind(WARNING, InvalidInertiaError),
    # Magnitudes that look like other units than SI.
    'mass_magnitude': Kind(HINT, InvalidInertiaError),
    'inertia_magnitude': Kind(HINT, InvalidInertiaError),
    'length_magnitude': Kind(HINT),
    'density': Kind(HINT, InvalidInertiaError),
    'center_of_mass_far': Kind(HINT, InvalidInertiaError),
}


class Findings:
    """What has been found so far.

    Attributes:
        warnings: in the order of their finding.
        errors: those found and not raised yet.
    """

    def __init__(self, strict: bool = False, allow: Iterable[str] = ()) -> None:
        """Start without any.

        Args:
            strict: whether a warning of a kind that is not allowed is an error.
            allow: the kinds that are allowed.

        Raises:
            ParameterError: there is no such kind.
        """
        self._strict = strict
        self._allowed = allowed_kinds(allow)
        self._places: dict[str, int] = {}
        self.warnings: list[ModelWarning] = []
        self.errors: list[ModelError] = []

    def place(self, subject: str) -> None:
        """Note a subject's place in the document: findings are told in the order of places."""
        self._places.setdefault(subject, len(self._places))

    def warn(self, kind: str, subject: str, finding: str, cure: str) -> None:
        """Note a warning or a hint, as its kind says."""
        self.warnings.append(ModelWarning(kind, subject, finding, cure, KINDS[kind].severity))

    def refuse(self, error: ModelError) -> None:
        """Note an error: `settle` raises it, once more may have been found."""
        self.errors.append(error)

    def settle(self) -> None:
        """Raise the first error, if there is one.

        Raises:
            ModelError: there is an error.
        """
        if self.errors:
            raise self.errors[0]

    def in_order(self) -> tuple[ModelWarning, ...]:
        """Return the warnings in the order of the document."""
        return tuple(sorted(self.warnings, key=lambda found: self._places.get(found.subject, -1)))

    def finish(self) -> tuple[ModelWarning, ...]:
        """Return the warnings in the order of the document, or raise the first, if strict.

        Raises:
            ModelError: there is a warning of a kind that is not allowed; the error comes from it.
        """
        self.settle()
        found = self.in_order()
        if self._strict:
            for warning in found:
                if warning.severity == WARNING and warning.kind not in self._allowed:
                    raise KINDS[warning.kind].error(str(warning)) from warning
        return found


def allowed_kinds(allow: Iterable[str]) -> frozenset[str]:
    """Return kinds of findings that are allowed, checked.

    Raises:
        ParameterError: there is no such kind; the message lists those there are.
    """
    allowed = (allow,) if isinstance(allow, str) else tuple(allow)
    for kind in allowed:
        if kind not in KINDS:
            raise ParameterError(
                f"allow names '{clipped(str(kind))}', expected kinds of warnings: "
                f'{", ".join(KINDS)}'
            )
    return frozenset(allowed)

# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Findings: errors and warnings about a description, collected while it is read.

An error means that the equations cannot be evaluated. Everything else is a `ModelWarning`.
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
    """A kind of finding: its severity, and the error that `strict` raises for it."""

    severity: str = WARNING
    error: type[ModelError] = ModelError


KINDS: Mapping[str, Kind] = {
    # Text and elements.
    'missing_name': Kind(),
    'xml_declaration': Kind(),
    'undeclared_prefix': Kind(),
    'robot_version': Kind(HINT),
    'control_character': Kind(),
    'quaternion_not_read': Kind(),
    'other_gravity': Kind(),
    'repeated_element': Kind(),
    'misspelt': Kind(),
    'unknown_attribute': Kind(HINT),
    'duplicate_name': Kind(),
    'open_loops': Kind(HINT),
    'unused_xacro_argument': Kind(),
    'xacro_error': Kind(),
    'xacro_message': Kind(HINT),
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
    'limit_of_mimic': Kind(),
    'limit_in_degrees': Kind(HINT),
    'passive_friction': Kind(HINT),
    'coupled_rotors': Kind(),
    'rotor_of_fixed': Kind(),
    'missing_gear_ratio': Kind(),
    # Masses.
    'missing_mass': Kind(WARNING, InvalidInertiaError),
    'added_mass': Kind(),
    'missing_inertia': Kind(WARNING, InvalidInertiaError),
    'not_positive_semidefinite': Kind(WARNING, InvalidInertiaError),
    'triangle_inequality': Kind(WARNING, InvalidInertiaError),
    'massless_joint': Kind(WARNING, InvalidInertiaError),
    'singular_mass': Kind(HINT, InvalidInertiaError),  # found by `kron_dynamics check` alone
    'massless_inertia': Kind(WARNING, InvalidInertiaError),
    'root_inertia': Kind(HINT, InvalidInertiaError),
    # Payloads that are set at run time.
    'payload_far': Kind(WARNING, InvalidInertiaError),
    'payload_inertia': Kind(WARNING, InvalidInertiaError),
    # Magnitudes that look as if they were not in SI units.
    'mass_magnitude': Kind(HINT, InvalidInertiaError),
    'inertia_magnitude': Kind(HINT, InvalidInertiaError),
    'length_magnitude': Kind(HINT),
    'density': Kind(HINT, InvalidInertiaError),
    'center_of_mass_far': Kind(HINT, InvalidInertiaError),
}


class Findings:
    """Collector of errors and warnings.

    Attributes:
        warnings: warnings and hints in the order of detection.
        errors: errors that have not been raised yet.
    """

    def __init__(self, strict: bool = False, allow: Iterable[str] = ()) -> None:
        """Start without findings.

        Args:
            strict: whether a warning of a kind that is not allowed is an error.
            allow: kinds of warnings that are allowed.

        Raises:
            ParameterError: a kind is unknown.
        """
        self._strict = strict
        self._allowed = allowed_kinds(allow)
        self._places: dict[str, int] = {}
        self.warnings: list[ModelWarning] = []
        self.errors: list[ModelError] = []

    def place(self, subject: str) -> None:
        """Record a subject's place in the document; warnings are sorted by it."""
        self._places.setdefault(subject, len(self._places))

    def warn(self, kind: str, subject: str, finding: str, cure: str) -> None:
        """Record a warning or hint, depending on its kind."""
        self.warnings.append(ModelWarning(kind, subject, finding, cure, KINDS[kind].severity))

    def refuse(self, error: ModelError) -> None:
        """Record an error; `settle` raises the first one after more have been collected."""
        self.errors.append(error)

    def settle(self) -> None:
        """Raise the first error, if any.

        Raises:
            ModelError: an error has been recorded.
        """
        if self.errors:
            raise self.errors[0]

    def in_order(self) -> tuple[ModelWarning, ...]:
        """Return the warnings in the order of the document."""
        return tuple(sorted(self.warnings, key=lambda found: self._places.get(found.subject, -1)))

    def finish(self) -> tuple[ModelWarning, ...]:
        """Return the warnings in the order of the document; if strict, raise the first instead.

        Raises:
            ModelError: an error has been recorded, or, if strict, a warning of a kind that is not
                allowed, which is the error's cause.
        """
        self.settle()
        found = self.in_order()
        if self._strict:
            for warning in found:
                if warning.severity == WARNING and warning.kind not in self._allowed:
                    raise KINDS[warning.kind].error(str(warning)) from warning
        return found


def allowed_kinds(allow: Iterable[str]) -> frozenset[str]:
    """Return the allowed kinds of findings after checking that they exist.

    Raises:
        ParameterError: a kind is unknown; the message lists the known ones.
    """
    allowed = (allow,) if isinstance(allow, str) else tuple(allow)
    for kind in allowed:
        if kind not in KINDS:
            raise ParameterError(
                f"allow names '{clipped(str(kind))}', expected kinds of warnings: "
                f'{", ".join(KINDS)}'
            )
    return frozenset(allowed)

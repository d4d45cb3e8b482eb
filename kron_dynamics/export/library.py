# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Export of a robot's functions as a C library with a C++ wrapper and a CMake package."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from kron_dynamics import __version__
from kron_dynamics.export.c_header import CONSTANTS, header
from kron_dynamics.export.identifiers import checked_prefix, identifier
from kron_dynamics.export.quantities import Function, chosen_quantities, recorded
from kron_dynamics.export.request import check_request, links_by_carrier
from kron_dynamics.kernels.c_functions import foundation
from kron_dynamics.model import RobotModel
from kron_dynamics.robot import Robot

Real = Literal['double', 'float']
MANIFEST = 'kron_dynamics_export.json'


@dataclass(frozen=True)
class Library:
    """An exported library.

    Attributes:
        prefix: prefix of all names in C.
        model: the robot.
        functions: exported functions, in the requested order.
        carriers: links at whose frames payloads are arguments, each with the requested links
            that are fixed to it.
        real: type of numbers, 'double' or 'float'.
        foundation: C text of types and helpers that the functions use.
        digest: digest of all functions, which links header and source.
    """

    prefix: str
    model: RobotModel
    functions: tuple[Function, ...]
    carriers: Mapping[str, tuple[str, ...]]
    real: Real
    foundation: str
    digest: str

    @property
    def package(self) -> str:
        """Name of the CMake and ROS package."""
        return f'{self.prefix}_dynamics'

    @property
    def workspace(self) -> int:
        """Length of a workspace that is sufficient for every function, in numbers."""
        return max(function.code.workspace for function in self.functions)

    @property
    def stack(self) -> int:
        """Upper bound of the stack use of all functions, bytes."""
        return max(function.code.stack for function in self.functions)

    def files(self) -> dict[str, str]:
        """Return the texts of all files by their paths in the folder; they are reproducible."""
        from kron_dynamics.export.c_source import source
        from kron_dynamics.export.eigen_header import eigen_header, wrapper_test
        from kron_dynamics.export.package_files import package_files
        from kron_dynamics.export.self_test import self_test

        place = f'include/{self.package}/{self.prefix}'
        found = {
            f'{place}.h': header(self),
            f'{place}.hpp': eigen_header(self),
            f'src/{self.prefix}.c': source(self),
            'test/self_test.c': self_test(self),
            'test/wrapper_test.cpp': wrapper_test(self),
            **package_files(self),
        }
        return {**found, MANIFEST: self._manifest(found)}

    def _manifest(self, files: dict[str, str]) -> str:
        """Return the manifest: metadata, and digests by which edited files are recognised."""
        about = {
            'exported_by': f'kron_dynamics {__version__}',
            'robot': self.model.name,
            'fingerprint': self.model.fingerprint,
            'export': self.digest,
            'real': self.real,
            'functions': [f'{self.prefix}_{function.name}' for function in self.functions],
            'files': {
                name: hashlib.sha256(text.encode()).hexdigest()
                for name, text in sorted(files.items())
            },
        }
        return json.dumps(about, indent=2) + '\n'


def export_library(
    robot: Robot,
    *,
    prefix: str | None = None,
    frames: Sequence[str] = (),
    quantities: Sequence[str] = (),
    payload_links: Sequence[str] = (),
    real: Real = 'double',
) -> Library:
    """Return a robot's functions as a C library, to be written by `write_export`.

    Args:
        robot: the robot to export; nothing is compiled.
        prefix: prefix of all names; None derives it from the robot's name.
        frames: links whose frame quantities (kinematics, control steps) are exported.
        quantities: methods of `Robot` and `RobotFrame` by name; empty for the usual ones.
        payload_links: links that may carry payloads: functions that depend on inertia get one more
            argument, ten inertial parameters for each body that these links are fixed to.
        real: type of all numbers, 'double' or 'float'.

    Raises:
        ArgumentTypeError: an argument has a wrong type.
        ParameterError: a quantity or `real` is unknown, or the prefix is invalid.
        UnknownFrameError: the robot has no such link.
        ModelError: the robot has no coordinates, a payload's link does not move or is flexible, or
            the robot carries a payload on a link that is not among payload_links.
        InvalidInertiaError: a quantity needs the inverse of M, which is singular.
        KernelBuildError: a number of the model is too large for the type.
    """
    check_request(robot, prefix, frames, quantities, payload_links, real)
    model = robot.model
    prefix = identifier(model.name) if prefix is None else checked_prefix(prefix)
    links = tuple(dict.fromkeys(frames))
    for link in links:
        robot.frame(link)
    carriers = links_by_carrier(robot, payload_links)
    chosen = chosen_quantities(quantities, links)
    functions, traces = recorded(
        robot, chosen, links, tuple(carriers), prefix, real, usual=not quantities
    )
    text = foundation(traces, real)
    digest = hashlib.sha256()
    for part in (__version__, prefix, model.fingerprint, repr(carriers), text):
        digest.update(part.encode() + b'\0')
    for _, attribute, _ in CONSTANTS:
        digest.update(repr(getattr(model, attribute).tolist()).encode())
    for function in functions:
        digest.update(f'{function.name}\0{function.link}\0{function.code.text}\0'.encode())
    return Library(prefix, model, tuple(functions), carriers, real, text, digest.hexdigest()[:16])

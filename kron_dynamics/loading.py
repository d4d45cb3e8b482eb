# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`load` and `loads`: make a `Robot` from a robot description."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from kron_dynamics.arguments import instance
from kron_dynamics.exceptions import ModelError, ModelWarning, ParameterError
from kron_dynamics.load_arguments import check_options, check_path
from kron_dynamics.messages import clipped, shown
from kron_dynamics.model import RobotModel, load_model, read_urdf_file
from kron_dynamics.model.findings import Findings
from kron_dynamics.model.options import ModelOptions
from kron_dynamics.model.payload import Payload
from kron_dynamics.model.robot_model import STANDARD_GRAVITY
from kron_dynamics.model.xacro_arguments import warn_of_unused
from kron_dynamics.model.xacro_text import expanded, is_xacro
from kron_dynamics.robot import Robot
from kron_dynamics.typing import ArrayLike


def load(
    path: str | Path,
    *,
    gravity: ArrayLike = STANDARD_GRAVITY,
    joints: Sequence[str] | None = None,
    armature: Mapping[str, float] | None = None,
    flexible: str | Path | Mapping[str, object] | None = None,
    constraints: str | Path | Mapping[str, object] | None = None,
    payload: Mapping[str, Payload] | None = None,
    threads: int = 1,
    hold_base: bool = False,
    strict: bool = False,
    allow: Sequence[str] = (),
    xacro_args: Mapping[str, str] | None = None,
) -> Robot:
    """Return the robot that a URDF, SDF or xacro file describes.

    Questionable entries of the file that do not prevent computation are collected in
    `robot.model.warnings`, and announced by one Python warning.

    Args:
        path: the file: URDF, SDF (one model, whose loop-closing joints are left out) or xacro
            (`.xacro`, or a file with xacro elements).
        gravity: gravity acceleration in the root link's axes, shape (3,), m/s^2.
        joints: joint names in the order of the coordinates; None for the file's tree, depth
            first.
        armature: rotor inertia reflected to the joint, by joint name, kg m^2 or kg; None for the
            values in the transmissions of the URDF.
        flexible: description of flexible links, a YAML file or its contents as a mapping; their
            modal coordinates follow those of the joints.
        constraints: description of loop closures, couplings of joints and driven joints, a YAML
            file or its contents as a mapping. The coordinates are then those of the driven
            joints and the modal ones; `Robot.tree_coordinates` gives all joints.
        payload: payloads by link name: mass at the link's origin, kg; (mass, position in the
            link's frame, m); or a `RigidPayload`, which has an inertia, too.
        threads: number of threads that share a batch; 0 for all cores.
        hold_base: whether to fix a floating or planar joint at the root; otherwise such a robot
            is refused.
        strict: whether every warning is an error; hints are not warnings.
        allow: kinds of warnings that `strict` lets pass, such as 'massless_joint'.
        xacro_args: values of the xacro arguments by name, also for a `constraints` file.

    Raises:
        ArgumentTypeError: an argument is of another type.
        ModelError: a file or a description is unusable; the message says which entry. If `strict`
            turned a warning into it, the warning is the error's cause.
        ParameterError: threads is negative, a number is beyond the range of float64, or allow
            names an unknown kind of warning.
    """
    check_path(path, 'path')
    options = ModelOptions(
        gravity=gravity,
        joints=joints,
        armature=armature,
        payload=payload,
        hold_base=hold_base,
        strict=strict,
        allow=allow,
    )
    check_options(options, flexible, constraints, xacro_args)
    text = read_urdf_file(path)
    return _robot(text, path, flexible, constraints, options, xacro_args, threads)


def loads(
    text: str,
    *,
    gravity: ArrayLike = STANDARD_GRAVITY,
    joints: Sequence[str] | None = None,
    armature: Mapping[str, float] | None = None,
    flexible: str | Path | Mapping[str, object] | None = None,
    constraints: str | Path | Mapping[str, object] | None = None,
    payload: Mapping[str, Payload] | None = None,
    threads: int = 1,
    hold_base: bool = False,
    strict: bool = False,
    allow: Sequence[str] = (),
    xacro_args: Mapping[str, str] | None = None,
    expand_xacro: bool = True,
    path: str | Path | None = None,
) -> Robot:
    """Return the robot that a URDF string describes; see `load`.

    xacro evaluates expressions and reads files. For strings from untrusted sources, pass
    ``expand_xacro=False`` to refuse it. For a string that was read from a file, pass its `path`,
    which messages name and to which the includes of xacro are relative.
    """
    if path is not None:
        check_path(path, 'path')
    instance(text, str, 'text', 'the text of a URDF')
    instance(expand_xacro, (bool, np.bool_), 'expand_xacro', 'True or False')
    options = ModelOptions(
        gravity=gravity,
        joints=joints,
        armature=armature,
        payload=payload,
        hold_base=hold_base,
        strict=strict,
        allow=allow,
    )
    check_options(options, flexible, constraints, xacro_args)
    may_expand = bool(expand_xacro)
    return _robot(text, path, flexible, constraints, options, xacro_args, threads, may_expand)


def _robot(
    text: str,
    path: str | Path | None,
    flexible: str | Path | Mapping[str, object] | None,
    constraints: str | Path | Mapping[str, object] | None,
    options: ModelOptions,
    xacro_args: Mapping[str, str] | None,
    threads: int,
    may_expand: bool = True,
) -> Robot:
    """Return the robot that a text describes; errors name its file."""
    findings = Findings(options['strict'], options['allow'])
    try:
        text = expanded_description(text, path, constraints, xacro_args, findings, may_expand)
        model = _model(text, flexible, constraints, xacro_args, options, findings)
    except ModelError as error:
        if path is None:
            raise
        raise type(error)(f'{clipped(str(path))}: {error}') from error.__cause__
    _warn(model, options['strict'])
    return Robot(model, threads=threads)


def expanded_description(
    text: str,
    path: str | Path | None,
    constraints: str | Path | Mapping[str, object] | None,
    xacro_args: Mapping[str, str] | None,
    findings: Findings,
    may_expand: bool = True,
) -> str:
    """Return the text of a robot, expanded if it is xacro.

    Args:
        text: URDF, SDF or xacro.
        path: its file, if any.
        constraints: description of constraints, which may have arguments of its own.
        xacro_args: values of xacro arguments by name.
        findings: collects warnings, also about arguments that neither file has.
        may_expand: whether the text may be xacro.

    Raises:
        ModelError: a file cannot be read or expanded.
        ParameterError: there are arguments, and neither file is xacro.
    """
    others = None
    if xacro_args and constraints is not None:
        from kron_dynamics.constraints.formats.reading import xacro_arguments  # trees do without

        others = xacro_arguments(constraints, xacro_args)
    if may_expand and is_xacro(text, path):
        return expanded(text, path, xacro_args, findings, others or ())
    if xacro_args:
        if others is None:
            raise ParameterError(
                f'xacro_args is {shown(xacro_args)}, but the description is not xacro'
            )
        warn_of_unused(xacro_args, others, findings)
    return text


def _model(
    text: str,
    flexible: str | Path | Mapping[str, object] | None,
    constraints: str | Path | Mapping[str, object] | None,
    xacro_args: Mapping[str, str] | None,
    options: ModelOptions,
    findings: Findings,
) -> RobotModel:
    model: RobotModel
    if flexible is None:
        model = load_model(text, findings=findings, **options)
    else:
        from kron_dynamics.flexible import load_flexible_model  # rigid robots do not need it

        model = load_flexible_model(text, flexible, findings=findings, **options)
    if constraints is None:
        return model
    from kron_dynamics.closed_loops import close_loops  # trees do not need it

    return close_loops(model, constraints, xacro_args)


def _warn(model: RobotModel, strict: bool) -> None:
    """Issue one warning for all findings in a description, at the caller of `load` or `loads`."""
    found = [warning for warning in model.warnings if warning.severity == 'warning']
    if found and not strict:
        count = '1 warning' if len(found) == 1 else f'{len(found)} warnings, the first'
        summary = ModelWarning(
            found[0].kind,
            f"robot '{clipped(model.name)}'",
            f'{count}: {found[0].subject}: {found[0].finding}',
            'robot.model.warnings has them all, `kron_dynamics check` shows them',
        )
        warnings.warn(summary, stacklevel=4)

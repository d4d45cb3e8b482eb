# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""MuJoCo from Python: the fewest calls that compute the same quantities as ours."""

from __future__ import annotations

import copy
import functools
import re
from typing import Any

import numpy as np
from lxml import etree

from benchmarks.robots import GRAVITY, Description, description, state
from benchmarks.timing import MeasurementError, PythonTask

try:
    import mujoco
except ImportError:
    mujoco = None

NAME = 'MuJoCo'
_DRAWN = ('visual', 'collision', 'material', 'transmission', 'gazebo')

_MASS = """\
data.qpos = q
mj_kinematics(model, data)
mj_comPos(model, data)
mj_makeM(model, data)
mj_fullM(model, data, M)"""
_TAU = """\
data.qpos = q
data.qvel = v
data.qacc = a
mj_kinematics(model, data)
mj_comPos(model, data)
mj_comVel(model, data)
mj_rne(model, data, 1, tau)"""
# mj_rne computes c + g. To separate c, it is called again with a model without gravity.
_REST = """\
data.qvel = v
mj_comVel(model, data)
mj_rne(weightless, data, 0, c)
mj_rne(model, data, 0, g)
subtract(g, c, g)
mj_jacBody(model, data, J_t, J_r, body)"""
_STEPS = {
    'mj_jacDot': f"""\
{_MASS}
{_REST}
mj_jacDot(model, data, D_t, D_r, origin, body)
dot(D, v, Dv)""",
    # With qacc = 0 a body's acceleration is dJ/dt qd; its rotational part comes first.
    'mj_rnePostConstraint': f"""\
{_MASS}
{_REST}
mj_rnePostConstraint(weightless, data)
mj_objectAcceleration(weightless, data, XBODY, body, vD, 0)""",
}
_RESULTS = {
    'mj_jacDot': '[M, c, g, J, Dv]',
    'mj_rnePostConstraint': '[M, c, g, J, concatenate((vD[3:], vD[:3]))]',
}


@functools.cache
def model(name: str) -> Any:
    """Return MuJoCo's model of a robot.

    The measured calls do not include MuJoCo's damping, friction and armature.
    """
    return built(description(name))


def built(robot: Description) -> Any:
    """Return a model of a description, from its URDF text without visual and collision elements.

    Fixed links are lumped into one body, as by all peers.
    """
    if mujoco is None:
        raise MeasurementError('mujoco is not installed')
    root = etree.fromstring(robot.text.encode())
    for element in list(root.iter(*_DRAWN)):
        element.getparent().remove(element)
    compiler = {'discardvisual': 'true', 'balanceinertia': 'false', 'fusestatic': 'true'}
    etree.SubElement(etree.SubElement(root, 'mujoco'), 'compiler', **compiler)
    compiled = mujoco.MjModel.from_xml_string(etree.tostring(root, encoding='unicode'))
    compiled.opt.gravity = GRAVITY
    return compiled


def _task(name: str, label: str, statement: str, results: str) -> PythonTask:
    """Return a task; names in its statement that are not ours are functions of MuJoCo's module."""
    robot = model(name)
    n, s, data = robot.nv, state(robot.nv), mujoco.MjData(robot)
    weightless = copy.copy(robot)
    weightless.opt.gravity[:] = 0.0
    J, D = np.zeros((2, 6, n))
    body = robot.nbody - 1
    names = {
        **{'model': robot, 'weightless': weightless, 'data': data},
        **{'q': s.q, 'v': s.qd, 'a': s.qdd, 'body': body, 'origin': data.xpos[body]},
        **{'M': np.zeros((n, n)), 'tau': np.zeros(n), 'c': np.zeros(n), 'g': np.zeros(n)},
        **{'J': J, 'J_t': J[:3], 'J_r': J[3:], 'D': D, 'D_t': D[:3], 'D_r': D[3:]},
        **{'Dv': np.zeros(6), 'vD': np.zeros(6), 'XBODY': int(mujoco.mjtObj.mjOBJ_XBODY)},
        **{key: getattr(np, key) for key in ('subtract', 'dot', 'concatenate')},
    }
    words = set(re.findall(r'mj_\w+', statement))
    return PythonTask(
        label, statement, results, **names, **{word: getattr(mujoco, word) for word in words}
    )


def tau(name: str) -> PythonTask:
    """Return inverse dynamics."""
    return _task(name, NAME, _TAU, '[tau]')


def mass(name: str) -> PythonTask:
    """Return the mass matrix, converted to a dense one like ours."""
    return _task(name, NAME, _MASS, '[M]')


def steps(name: str) -> list[PythonTask]:
    """Return the control step, with two variants of dJ/dt qd; the last body must be the tip."""
    return [
        _task(name, f'{NAME}, {label}', statement, _RESULTS[label])
        for label, statement in _STEPS.items()
    ]

# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The shipped machine and machines that differ from the model, with the same controller."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
import yaml

import kron_dynamics as kd
from kron_dynamics.control import ControlSettings, assembled_controller
from kron_dynamics.demo.closed_loop import ClosedLoop, left_behind
from kron_dynamics.demo.controllers import AtOnce, read_settings
from kron_dynamics.resources import resource_path

URDF = resource_path('urdf', 'stacker_reclaimer.urdf')
FLEXIBLE = resource_path('config', 'stacker_reclaimer_flexible.yaml')
SETTINGS = resource_path('config', 'stacker_reclaimer.yaml')
# Positions of travel, slew and luff: m, rad, rad.
POSE = (100.0, 0.3, 0.0)
# Times simulated, s: long enough for the vibration to decay.
_BEFORE_GUST, _AFTER_GUST = 1.0, 20.0
_SHARE = 0.1


class Difference(NamedTuple):
    """Factors by which a machine differs from the model.

    Attributes:
        stiffness: factor of the bending stiffness of the boom.
        friction: factor of Coulomb and viscous friction of the joints slew and luff.
    """

    stiffness: float = 1.0
    friction: float = 1.0


@cache
def machine(difference: Difference) -> kd.Robot:
    """Return a machine that differs from the shipped one."""
    description = yaml.safe_load(FLEXIBLE.read_text(encoding='utf-8'))
    bending = description['flexible_links']['boom']['bending_stiffness']
    for plane in bending:
        bending[plane] *= difference.stiffness
    urdf = ElementTree.fromstring(URDF.read_bytes())
    for name in ('slew', 'luff'):
        dynamics = urdf.find(f"joint[@name='{name}']/dynamics")
        for key in ('damping', 'friction'):
            dynamics.set(key, repr(difference.friction * float(dynamics.get(key))))
    return kd.loads(ElementTree.tostring(urdf, encoding='unicode'), flexible=description)


@cache
def _shipped() -> tuple[kd.Robot, ControlSettings]:
    """Return the shipped machine with rigid links, and the settings of its controller."""
    rigid = kd.load(URDF)
    return rigid, read_settings(SETTINGS, rigid)


def closed_loop(
    difference: Difference, shaping: str = 'none', *, damping: bool = False, encoders: bool = False
) -> ClosedLoop:
    """Return a machine with the shipped controller, with exact or encoder positions."""
    rigid, settings = _shipped()
    controller = assembled_controller(
        settings._replace(shaping=shaping, damping=damping),
        rigid,
        machine(Difference()),
        np.array(POSE),
        AtOnce(),
    )
    return ClosedLoop(
        machine(difference),
        controller,
        POSE,
        period=settings.period,
        resolution=settings.resolution if encoders else 0.0,
    )


def ratios(difference: Difference, joint: str, shapings: tuple[str, ...]) -> list[float]:
    """Return the residual vibration of computed torque relative to each kind of shaping."""
    unshaped = left_behind(closed_loop(difference), joint)
    return [unshaped / left_behind(closed_loop(difference, kind), joint) for kind in shapings]


def settling_time(mode: str, impulse: float, *, damping: bool) -> float:
    """Return the time after a gust, s, until the deflection stays below a tenth of its peak.

    Args:
        mode: modal coordinate excited by the gust.
        impulse: impulse at the tip, N s.
        damping: with vibration damping, or with computed torque alone; with encoder positions.
    """
    loop = closed_loop(Difference(), damping=damping, encoders=True)
    loop.advance(_BEFORE_GUST)
    hit = loop.time
    loop.hit(mode, impulse)
    loop.advance(_AFTER_GUST)
    return loop.settling_time(mode, hit, _SHARE)

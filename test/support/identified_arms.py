# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""An arm of three joints with an obliquely mounted tool, for identification."""

from __future__ import annotations

_URDF = """<robot name="arm">
  <link name="base"/>
  <joint name="turn" type="revolute"><parent link="base"/><child link="upper"/>
    <axis xyz="0 0 1"/><limit lower="-3" upper="3" velocity="2" effort="300"/></joint>
  <link name="upper"><inertial><origin xyz="0.1 0 0"/><mass value="MASS"/>
    <inertia ixx="0.1" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="lift" type="revolute"><parent link="upper"/><child link="fore"/>
    <origin xyz="0.4 0 0"/><axis xyz="0 1 0"/>
    <limit lower="-3" upper="3" velocity="2" effort="300"/></joint>
  <link name="fore"><inertial><origin xyz="0.3 0 0"/><mass value="FORE"/>
    <inertia ixx="0.02" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="roll" type="revolute"><parent link="fore"/><child link="wrist"/>
    <origin xyz="0.6 0 0"/><axis xyz="1 0 0"/>
    <limit lower="-3" upper="3" velocity="2" effort="300"/></joint>
  <link name="wrist"><inertial><origin xyz="0.05 0 0"/><mass value="1"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="flange" type="fixed"><parent link="wrist"/><child link="tool"/>
    <origin xyz="0.1 0 0.02" rpy="0.3 0.2 0.1"/></joint>
  <link name="tool"/>
</robot>"""


def identified_arm(upper: float | str, fore: float | str = '4') -> str:
    """Return the URDF of the arm with the masses of its two long links, kg."""
    return _URDF.replace('MASS', str(upper)).replace('FORE', str(fore))

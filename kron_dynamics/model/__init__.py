# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The robot as data: reading and checking URDF."""

from kron_dynamics.model.load import load_model
from kron_dynamics.model.rigid_model import RigidModel
from kron_dynamics.model.robot_model import Body, Frame, Joint, RobotModel
from kron_dynamics.model.urdf_xml import read_urdf_file

__all__ = ['Body', 'Frame', 'Joint', 'RigidModel', 'RobotModel', 'load_model', 'read_urdf_file']

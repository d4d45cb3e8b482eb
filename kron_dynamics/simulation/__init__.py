# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Simulation of a machine from its URDF; knows no ROS."""

from kron_dynamics.simulation.plant import Plant, Recording
from kron_dynamics.simulation.sensors import JointSensors, Measurement

__all__ = ['JointSensors', 'Measurement', 'Plant', 'Recording']

# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""ROS 2 nodes: the only part of the package that depends on rclpy and messages."""

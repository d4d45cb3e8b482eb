# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The demonstration over ROS 2: simulator_node and dynamics_node as processes."""

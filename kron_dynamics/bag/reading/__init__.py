# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings as files: joint states, accelerations and descriptions out of rosbag2 storage."""

# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Reading of joint states, accelerations and robot descriptions from rosbag2 storage files.

`reader.py` reads a bag; damaged and truncated files are read by `mcap_recovery.py` and
`sqlite_recovery.py`. docs/map.md has the others.
"""

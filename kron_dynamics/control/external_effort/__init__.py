# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""External efforts on the robot: momentum observer, wrench at the tip, collision detection."""

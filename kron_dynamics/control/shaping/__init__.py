# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Input shaping: references that leave no residual vibration of flexible links."""

# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Damping of flexible links: feedforward, Kalman filter, LQG, and the law made of them."""

# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Vibration damping of flexible links: feedforward, Kalman filter, LQG and control laws."""

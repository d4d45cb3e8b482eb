# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Options of publishers other than that of the commands."""

from __future__ import annotations

from rclpy.event_handler import PublisherEventCallbacks

# Disables the event handlers of a publisher for subscribers with incompatible types or QoS. The
# executor polls both in each cycle before it delivers the joint state. Incompatible subscribers
# still log it on their side; only the publisher of the commands keeps the handlers.
WITHOUT_EVENTS = PublisherEventCallbacks(use_default_callbacks=False)

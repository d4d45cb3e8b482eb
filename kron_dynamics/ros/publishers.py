# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""How publishers are made that are there beside the commands."""

from __future__ import annotations

from rclpy.event_handler import PublisherEventCallbacks

# The executor asks each event handler in each cycle, before it hands over the joint state: two of
# every publisher, for subscribers of another type or quality of service. These are told so by
# their own side; of who should take the commands, this one hears it too.
WITHOUT_EVENTS = PublisherEventCallbacks(use_default_callbacks=False)

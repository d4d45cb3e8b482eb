# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether somebody subscribes to a topic, asked of the middleware not for every message."""

from __future__ import annotations

import time
from typing import Any

# How long an answer counts, s: asking takes two microseconds, and a cycle asks about six topics.
_COUNTS_FOR = 0.05


class Listeners:
    """Those who subscribe to one of some publishers."""

    def __init__(self, *publishers: Any) -> None:
        """Ask about these publishers."""
        self._publishers = publishers
        self._heard = False
        self._until = -float('inf')

    def __bool__(self) -> bool:
        """Whether there was a subscriber to one of them a moment ago."""
        now = time.monotonic()
        if now >= self._until:
            self._until = now + _COUNTS_FOR
            self._heard = any(
                publisher.get_subscription_count() > 0 for publisher in self._publishers
            )
        return self._heard

# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A node whose first responses are lost, as the middleware may do; it needs no network."""

from __future__ import annotations

from types import SimpleNamespace

from rclpy.task import Future
from std_srvs.srv import Trigger


class ForgetfulNode:
    """A node whose first responses are lost."""

    def __init__(self, lost):
        self.lost = lost
        self.requests = []

    def create_client(self, kind, name):
        return SimpleNamespace(
            srv_name=name, wait_for_service=lambda **options: True, call_async=self.call_async
        )

    def call_async(self, request):
        self.requests.append(request)
        future = Future()
        if len(self.requests) > self.lost:
            future.set_result(Trigger.Response(success=True, message='heard'))
        return future

# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The runs of the demonstration have settings that their control laws use."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import yaml

from kron_dynamics.control.law import unused_settings
from kron_dynamics.demo.scenarios import Setting, scenarios

SETTINGS = [setting for each in scenarios().values() for setting in each.settings]


@pytest.mark.parametrize('setting', SETTINGS, ids=[setting.name for setting in SETTINGS])
def test_no_setting_is_unused(setting: Setting) -> None:
    """dynamics_node would warn of it."""
    configured = yaml.safe_load(setting.machine.configuration.read_text(encoding='utf-8'))
    values: dict[str, Any] = configured['/**/dynamics_node']['ros__parameters']
    values |= {key: yaml.safe_load(text) for key, text in setting.controller.items()}
    ki = np.array([joint.get('ki', 0.0) for joint in values['gains'].values()])
    law = values.get('control_law', 'computed_torque')
    assert unused_settings(law, values.get('effort_lead', 0.0), ki) is None

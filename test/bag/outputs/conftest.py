# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""An analysed bag with losses of every usual kind, a restart of the clock and accelerations."""

from __future__ import annotations

import numpy as np
import pytest
from hurried_compiler import hurry

from kron_dynamics.bag import analyze_bag


@pytest.fixture(scope='session')
def analysis(bag_maker, arm, arm_urdf, make_motion, tmp_path_factory, request):
    """Return the analysis; no test changes it."""

    def move(duration, start):
        time = start + np.arange(round(duration * 100) + 1) / 100
        return make_motion(arm, time, (0.3, 0.2, 0.4), (0.8, 0.5, 0.2), (2.1, 1.7, 2.6))

    # Modules hurry the compiler, see test/conftest.py, but what lasts a session comes before.
    with pytest.MonkeyPatch.context() as patch:
        if not request.config.getoption('--long'):
            hurry(patch)
        first, second = move(10.0, 50.0), move(5.0, 3.0)
        first.q[100, 0] = np.nan
        with bag_maker(tmp_path_factory.mktemp('bags') / 'bag', 'mcap') as bag:
            bag.text('/robot_description', arm_urdf)
            for motion in (first, second):
                acceleration = arm.frame('tool').acceleration(motion.q, motion.qd, motion.qdd)
                for k, time in enumerate(motion.time):
                    state = (motion.q[k], motion.qd[k], motion.effort[k])
                    bag.joint_state('/joint_states', time, arm.joint_names, *state)
                    if not np.isnan(acceleration[k]).any():
                        bag.acceleration('/tip_acceleration', time, acceleration[k])
            bag.joint_state('/joint_states', second.time[-1], arm.joint_names, second.q[-1])
            bag.joint_state('/joint_states', second.time[-2], ('turn', 'lift'), (0.0,))
        return analyze_bag(bag.path)

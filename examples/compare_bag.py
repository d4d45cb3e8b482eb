# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A recording compared with the model: the share of the measured efforts that it explains.

python compare_bag.py BAG [robot.urdf]

To explain the remainder by a payload, see `kron_dynamics payload`.
"""

import sys

from kron_dynamics.bag import analyze_bag

urdf = sys.argv[2] if len(sys.argv) > 2 else None  # None: the description in the bag
for run in analyze_bag(sys.argv[1], urdf=urdf).runs:
    print(run.replay.run.topic)
    for joint in run.joints:
        if joint.noise_dominates:
            print(f'  {joint.name:<20} too noisy to say')
            continue
        largest = max(joint.term_rms, key=lambda name: joint.term_rms[name])
        print(
            f'  {joint.name:<20} {100 * joint.ratio:6.2f} % unexplained of {joint.effort_rms:.4g} '
            f'{joint.unit}, offset {joint.residual_mean:.3g}; mostly {largest}'
        )

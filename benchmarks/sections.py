# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The words of the report."""

from __future__ import annotations

from benchmarks.scaling import LENGTHS

NAMES = {
    'stacker': 'stacker-reclaimer (3)',
    'boom': 'stacker-reclaimer with a flexible boom (5)',
    'clamped': 'clamped boom',
    'ur5': 'UR5 (6)',
    'panda': 'Panda (7)',
    **{f'chain{n}': f'chain of {n}' for n in LENGTHS},
    'chain10000': 'chain of 10,000',
    'chains': 'chains',
    'four_bar': 'four-bar linkage (3)',
    'cylinder': 'stacker-reclaimer with cylinder (7)',
    'none': 'any',
}

HEAD = """\
# Benchmarks

`make bench` wrote this page: it measures this package and its peers in one run on one machine and
holds the ratios against what is required. Absolute times depend on the machine and on what else
it does; the ratios much less.

How it is measured. Two tasks are timed in turn, A B A B, in rounds of at least 2 ms each; a ratio
is the other's time divided by ours in the same round. Shown are the median over the rounds and,
in parentheses, the 10 % and 90 % quantiles. The measuring thread is held to one core and its
processor time is counted, so that other processes' share of the core is not; where several
threads or processes work, it is the time on the wall. Garbage collection is off. Everybody gets
the same URDF text, the same gravity and the same states, with every coordinate, rate and
acceleration drawn from -3 to 3; every pair is first seen to give equal numbers, to 1e-9 of the
largest. Ours are called as a control loop would: the kernel is fetched once, `out=` is a ready
float64 array. The peers are called by the quickest way found that gives the same results; where
there are several, all are tried and the quickest counts.

Robots: the stacker-reclaimer of this package; UR5 and Panda of example-robot-data, the Panda with
its two finger joints fixed; and serial chains of n revolute joints about x, y and z in turn, with
lengths, masses and inertias drawn from one seed. In parentheses: the number of coordinates.

A row without a requirement informs. `pass` and `short` say whether the median meets what is
required; a row that could not be measured says why."""

SECTIONS = {
    1: (
        'Control step',
        """
M, c = C qd, g, the Jacobian J of a frame and dJ/dt qd, which is what computed torque in task
space needs: one call here, a sequence of calls there. The frames: bucket wheel, tool flange,
hand, last link. Of Pinocchio's quickest sequences, c comes from a second model without gravity
and J from what crba in world axes leaves behind; MuJoCo's leaves out collisions, actuators and
everything else a step of its simulation would do.""",
    ),
    2: (
        'C*: all Christoffel symbols',
        """
All symbols of the first kind, free of rates, in one call. Pinocchio gives them from Python by n
Coriolis matrices for unit rates. Its C++ function `ComputeRNEASecondOrderDerivatives` has them
among all second derivatives of tau, and nothing smaller does; Python cannot call it, so it is
compiled from the headers of Pinocchio's wheel with `-O3 -march=native` and timed inside C++, while
our time includes the call from Python.""",
    ),
    3: (
        'Inverse dynamics and mass matrix',
        """
One call from Python, and one call in a loop in C. For CasADi, Newton and Euler's recursion and
the composite rigid body algorithm are written with its symbols on the numbers of the same robot,
common subexpressions are removed, and the generated C is compiled with `-O3 -march=native`. It is
called like our kernels, in one C loop for both and through the extension that calls our kernels
from Python; its own quickest call from Python, with buffers set before, informs. 0.95x is
a tie. d(tau)/dt of a motion with jerk: Pinocchio's are `computeRNEADerivatives` and the products
of its matrices with qd, qdd and qddd. The peer of the rows over tau is our own tau.""",
    ),
    4: (
        'Batches',
        """
100,000 states, shape (100000, n), random. Pinocchio's `rneaInParallel` gets them as columns of
column-major arrays with a ready result, so that it copies nothing. For M and the control step it
has no parallel call: there a Python loop over its quickest single calls is the comparison.""",
    ),
    5: (
        'From URDF to ready',
        """
`kron_dynamics.load` and `robot.prepare(tip)`, which make all kernels of the dynamics and of the
tip's kinematics, in fresh processes with all cores; imports are not counted. Once with an empty
cache, where everything is derived and compiled, and once with the cache that this left. The last
rows read and check a URDF only, with garbage collection, as users have it. Rows that are a time
over another give ours divided by the other's: with CasADi, the same quantities are derived from
textbook recursions, generated as C and compiled with the same compiler and options, one function
a file (for single states only: ours have code for batches too); and whole processes, by their
processor time, for imports, the command line and a node on the stacker-reclaimer.""",
    ),
    6: (
        'Without a C compiler',
        """
The same in a process whose `CC` names no compiler: kernels then are NumPy code.""",
    ),
    7: (
        'Growth with the number of joints',
        """
One call on chains of several lengths, taken in turn in every round; the exponent is the slope of
a line through the logarithms of time and length, fitted round by round. C* has n^3 entries.""",
    ),
    8: (
        'Linear models',
        """
M_L, D_L, K_L and tau about a motion, in one call. Rigid robots against Pinocchio's
`computeRNEADerivatives`; and the stacker-reclaimer with its boom flexible, two modes of it, where
the peers have nothing to compare: there the time is what is required, and without bending M and
tau of the joints are seen to be those of the rigid machine.""",
    ),
    9: (
        'Simulation',
        """
`Plant.advance` with friction, stops and effort limits, in steps of 2 ms (chain: 0.2 ms), against
the same equations in Python on the same compiled kernels, as the plant moves where there is no
compiler; states agree to 1e-9. MuJoCo: a robot falls freely from a state in motion, the stacker
for 5 s, the UR5 for 0.5 s and the chain for 0.3 s, without friction, limits and contacts; both
take the fewest steps, to 5 %, that end within 1e-3 rad or m of what an integrator of eighth order
finds with a tolerance of 1e-12. exudyn: a clamped boom with a mass at its tip rings for 20
periods without damping; both take the fewest steps whose phase is off by at most 1 % of what has
passed, by the exact frequency of the beam, and whose amplitude is off by at most 10 %. Ours has
one mode and brakes that hold it; exudyn's has one to three ANCF cables, of which the quickest
counts, and its implicit solver without numerical damping, which keeps Newton's matrix as long as
it does.""",
    ),
    10: (
        'Services',
        """
What `dynamics_node` does for a request of 1000 states, from the bytes that come to those that go,
without the transport between processes; ratios are the service's time over that of
~/equations_of_motion. And the time between commands at 200 Hz, seen by the process that sends the
joint states, while a third process asks a service again and again: its 99 % quantile over that of
the seconds between, in which nobody asks; the same while references of 20,000 points come, three
in a second. On a computer with two cores the planner itself takes
one of them.""",
    ),
    11: (
        'Closed loops',
        """
One call of a constrained robot in its independent speeds: the efforts of the actuated joints, and
accelerations with multipliers of all conditions, against `pinocchio.constraintDynamics` with
three conditions for every loop, which gives the same accelerations. Four-bar linkage: 3
coordinates, 1 degree of freedom. Stacker-reclaimer with luffing cylinder and levelled cab: 7
coordinates, 3 degrees of freedom, 10 conditions of which 4 are independent. And the efforts in the
coordinates of the drives, where the same call closes the loops.""",
    ),
    12: (
        'Retiming',
        """
Random paths, splines through 2 to 5 waypoints: 20 of the UR5, 20 of the Panda, 5 of the
stacker-reclaimer; velocity and effort limits of their descriptions, and effort rates of 1000 N m/s
(Panda), full effort in 0.1 s (UR5) and in 2 s (stacker-reclaimer). Spreads are over the paths. The
dense search is a sequence of linear programs on intervals a third as long, and asks for nothing
between them. toppra has no limits of effort rates: it gets the same splines without them and
chooses its grid points itself. Between these its efforts leave the limits: by 2 to 3 % on the two
paths where it is the quicker, by up to half on others. The same splines are also timed with its
option to keep limits between them (`DiscretizationType.Interpolation`). Of 120 such paths of each
robot toppra's default is the quicker on 6 of the UR5 and 7 of the Panda, by at most 0.09 % with
efforts 0.4 to 11 % beyond their limits; where it keeps them, on 16 times as many points, on none
of these.""",
    ),
    13: (
        'Bags',
        """
`read_bag` of one file that was just written: stamps, positions, velocities and efforts as arrays.
The peer deserializes each message of the same file to an object and builds no arrays. The numbers
are seen to be the same. Series are written from the same arrays: 19 topics, compressed; both files
have the same messages.""",
    ),
    14: (
        'Exported C',
        """
What `kron_dynamics export` writes, compiled with the options of CasADi's C (`-O3 -march=native`)
and called in the same loop in C; for the control step CasADi gets one function of all five
results. And against Pinocchio's functions in a loop in C++, compiled from the headers of its
wheel with the same options: M with both triangles, by the quicker convention; the control step by
the quickest of the sequences that are tried from Python.""",
    ),
    15: (
        'Operations',
        """
Additions, multiplications, divisions, sines and cosines of one state, by kernel; `frame` is the
tip's. Of the chain, the kernels that the measurements above have needed.""",
    ),
}

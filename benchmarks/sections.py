# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Texts of the report docs/benchmarks.md."""

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

`make bench` wrote this page: it measures this package and its peers in one run on one machine
and compares the ratios with their targets. Absolute times depend on the machine and its load;
the ratios much less.

Method: two tasks are timed alternately, A B A B, in rounds of at least 2 ms each; a ratio is
the peer's time divided by ours in the same round. Shown are the median over the rounds and, in
parentheses, the 10 % and 90 % quantiles. The measuring thread is pinned to one core and its
processor time is counted, so that other processes on this core have little influence; for
several threads or processes it is wall time. Garbage collection is off. All get the same URDF
text, the same gravity and the same states, with every coordinate, rate and acceleration drawn
from -3 to 3. Where a peer computes the same as we do, the results are first checked to be
equal, to 1e-9 of the largest number; sections where something else is compared or checked say
so. Our kernels are called as in a control loop: the kernel is fetched once, and `out=` is a
preallocated float64 array. The peers are called in the fastest way found that gives the same
results; if there are several ways, all are tried and the fastest counts.

Robots: the stacker-reclaimer of this package; UR5 and Panda of example-robot-data, the Panda
with its two finger joints fixed; and serial chains of n revolute joints about x, y and z in
turn, with lengths, masses and inertias drawn from one seed. In parentheses: the number of
coordinates.

A row without a requirement is for information. `pass` and `short` say whether the median meets
the requirement; a row that could not be measured gives the reason."""

SECTIONS = {
    1: (
        'Control step',
        """
M, c = C qd, g, the Jacobian J of a frame and dJ/dt qd, as needed for computed torque in task
space: one call of our kernel, a sequence of calls of the peer. The frames: bucket wheel, tool
flange, hand, last link. In Pinocchio's fastest sequences c is computed with a second model
without gravity, and J is the by-product of crba in the world convention; MuJoCo's sequence
omits collisions, actuators and all other parts of a simulation step.""",
    ),
    2: (
        'C*: all Christoffel symbols',
        """
All Christoffel symbols of the first kind, which depend on q alone, in one call. From Python,
Pinocchio gives them by n Coriolis matrices for unit rates. In C++ the smallest function that
has them is `ComputeRNEASecondOrderDerivatives`, for all second derivatives of tau; it has no
Python binding, so it is compiled from the headers of Pinocchio's wheel with
`-O3 -march=native` and timed inside C++, while our time includes the call from Python.""",
    ),
    3: (
        'Inverse dynamics and mass matrix',
        """
One call from Python, and one call in a loop in C. For CasADi, the recursive Newton-Euler
algorithm and the composite-rigid-body algorithm are written with its symbols and the numbers
of the same robot, common subexpressions are eliminated, and the generated C is compiled with
`-O3 -march=native`. It is called like our kernels, in one C loop for both and through the
extension that calls our kernels from Python; its own fastest call from Python, with preset
buffers, is given for information. 0.95x is a tie. d(tau)/dt of a motion with jerk: for
Pinocchio, `computeRNEADerivatives` and the products of its matrices with qd, qdd and qddd. In
rows relative to tau the peer is our own tau; only times are compared, and d(tau)/dt is the one
that is checked against Pinocchio.""",
    ),
    4: (
        'Batches',
        """
100,000 random states, shape (100000, n). Pinocchio's `rneaInParallel` gets them as columns of
column-major arrays with a preallocated result, so that it copies nothing. For M and the
control step it has no parallel call: the peer is a Python loop over its fastest single calls,
and the results of 1000 states, chosen at random, are checked to be equal; for tau, those of
all.""",
    ),
    5: (
        'From URDF to ready',
        """
`kron_dynamics.load` and `robot.prepare(tip)`, which make all kernels of the dynamics and of
the tip's kinematics, in new processes with all cores; imports are not counted there. Once with
an empty cache, where everything is derived and compiled, and once with the resulting cache.
The last rows only read and check a URDF, with garbage collection, as for users. Rows that are
a ratio of times give ours divided by the peer's: with CasADi, the same quantities are derived
from textbook recursions, generated as C and compiled with the same compiler and options, one
function per file (for single states only: ours have batch code, too; only times are compared);
and whole processes, by their processor time, for imports, the command line and a node on the
stacker-reclaimer. `import kron_dynamics` loads most modules of the package at their first use,
so that row is the time until a script can begin, without the modules it then needs. From a
joint state to its command: 12 s at each rate, dynamics_node and a node that answers with
constant numbers asked in turns; shown are the quantiles over all states, in parentheses those
over the quantiles of six parts. A state without an answer within 0.1 s counts as 0.1 s; with
more than 0.1 % of these the row is not measured.""",
    ),
    6: (
        'Without a C compiler',
        """
The same in a process whose `CC` names no compiler, so that kernels are NumPy code.""",
    ),
    7: (
        'Growth with the number of joints',
        """
One call on chains of several lengths, alternating in every round; the exponent is the slope of
time over length in a log-log fit, for each round. C* has n^3 entries.""",
    ),
    8: (
        'Linear models',
        """
M_L, D_L, K_L and tau about a motion, in one call. Rigid robots against Pinocchio's
`computeRNEADerivatives`; and the stacker-reclaimer with a flexible boom, two modes, for which
the peers have no equivalent: the requirement is then an absolute time, and M and tau of the
joints are checked to equal those of the rigid machine at zero deflection.""",
    ),
    9: (
        'Simulation',
        """
`Plant.advance` with friction, stops and effort limits, in steps of 2 ms (chain: 0.2 ms),
against the same equations in Python on the same compiled kernels, the integrator used without
a compiler; states agree to 1e-9. MuJoCo: a robot falls freely from a state in motion, the
stacker for 5 s, the UR5 for 0.5 s and the chain for 0.3 s, without friction, limits and
contacts; both use the smallest number of steps, to 5 %, with an error below 1e-3 rad or m at
the end, relative to an eighth-order integrator with a tolerance of 1e-12. exudyn: a clamped
boom with a mass at its tip vibrates for 20 periods without damping; both use the smallest
number of steps with a phase error of at most 1 % of the total phase, compared with the exact
frequency of the beam, and an amplitude error of at most 10 %. Ours has one mode and joints
held by brakes; exudyn's has one to three ANCF cables, of which the fastest counts, and its
implicit solver without numerical damping, with a modified Newton method that reuses the
Jacobian as long as it converges.""",
    ),
    10: (
        'Services',
        """
Time of `dynamics_node` for a request of 1000 states, from the received to the sent bytes,
without the transport between processes; ratios are the service's time divided by that of
~/equations_of_motion, and every answer is checked to have the numbers of the model's own
functions. And the intervals between commands at 200 Hz, measured in the process that sends the
joint states, while a third process calls a service continuously: their 99 % quantile by time
(99 % of the time lies in intervals that are not longer, so that one stall of more than 1 % of
the time counts) divided by that of the seconds in between without calls; the same while
references of 20,000 points, 3.7 MB each, arrive, three per second. Their transport alone delays
the commands of any node on a computer with two cores, so what is required there is relative to a
node, asked in turns, that answers every state with constant numbers and leaves the references
unread. An interval counts as silent only if no part of it is in a second with requests or 0.2 s
after it. In each second with requests one must be answered, or a reference followed, or the row
is not measured. On a computer with two cores the planner itself uses one of them.""",
    ),
    11: (
        'Closed loops',
        """
One call of a constrained robot in its independent speeds: the efforts of the actuated joints,
and accelerations with multipliers of all conditions, against `pinocchio.constraintDynamics`
with three conditions per loop. Four-bar linkage: 3 coordinates, 1 degree of freedom.
Stacker-reclaimer with luffing cylinder and levelled cab: 7 coordinates, 3 degrees of freedom,
10 conditions of which 4 are independent. And the efforts in actuated coordinates, where the
same call closes the loops. Checked to be equal to 1e-9 are the accelerations, those that
Pinocchio finds from the efforts of both inverse calls too, and the generalized forces of the
multipliers, which are not unique themselves.""",
    ),
    12: (
        'Retiming',
        """
Random paths, splines through 2 to 5 waypoints: 20 of the UR5, 20 of the Panda, 5 of the
stacker-reclaimer; velocity and effort limits of their descriptions, and effort rates of 1000 N
m/s (Panda), full effort in 0.1 s (UR5) and in 2 s (stacker-reclaimer). Quantiles are over the
paths. The dense search is a sequence of linear programs on intervals a third as long, without
constraints between their ends. toppra has no effort rate limits: it gets the same splines
without them and chooses its grid points itself. Between these its efforts violate the limits:
by 2 to 3 % on the two paths where its motion is faster, by up to half on others. With 200, 1000
and 5000 grid points it exceeds them less and less on these two, by 0.05 to 0.07 % in the end,
and its motions approach ours to 0.0015 %: faster ones within the limits do not exist. Required
is therefore what is compared with motions that keep the limits: all its times multiplied by the
least factor with which efforts keep theirs, and its option to satisfy limits between grid points
(`DiscretizationType.Interpolation`). Of 120 such paths of each robot, toppra's default gives
the faster motion on 6 of the UR5 and 7 of the Panda, by at most 0.09 %, with efforts 0.4 to 11
% beyond their limits; when it satisfies them, on 16 times as many points, on none of these.
Our motions are sampled every 1 ms: the last rows are the largest share of any limit that they
use.""",
    ),
    13: (
        'Bags',
        """
`read_bag` of one file that was just written: stamps, positions, velocities and efforts as
arrays. The peer deserializes each message of the same file to an object and builds no arrays.
The numbers are checked to be equal. In rows as a share of rosbags, our analysis computes in
two threads and rosbags, which only reads, in one; both are wall times, which is what a user
waits. Series are written from the same arrays: 19 topics, compressed; both files are checked
to have the same topics, times and bytes.""",
    ),
    14: (
        'Exported C',
        """
The output of `kron_dynamics export`, compiled with the options of CasADi's C
(`-O3 -march=native`) and called in the same loop in C; for the control step CasADi has one
function of all five results. And against Pinocchio's functions in a loop in C++, compiled from
the headers of its wheel with the same options: M with both triangles, in the faster
convention; the control step by the fastest of the sequences that are tried from Python.""",
    ),
    15: (
        'Operations',
        """
Additions, multiplications, divisions, sines and cosines of one state, by kernel; `frame` is the
tip's. For the chain, only the kernels used in the measurements above.""",
    ),
}

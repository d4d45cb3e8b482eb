// Copyright 2026 The kron_dynamics Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computed torque at 1 kHz on an exported stacker-reclaimer, against the plant of the same export.
// Seconds of the loop take turns with seconds of an empty loop, so that both meet the same load; at
// the end: how late their cycles began, when the worst one was done, what the loops took of a core
// with being woken, and what the work between two readings of the clock took.
//
// computed_torque [SECONDS [FINGERPRINT]]: of the model that the machine is to have.

#define _GNU_SOURCE
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "stacker_reclaimer_dynamics/stacker_reclaimer.h"

#define N STACKER_RECLAIMER_N
enum { PERIOD = 1000000, BLOCK = 1000, BINS = 12 }; /* ns; cycles */

static const double kp[N] = {4.0, 4.0, 9.0}, kd[N] = {4.0, 4.0, 6.0};             /* 1/s^2, 1/s */
static const double swing[N] = {1.0, 0.02, 0.002}, start[N] = {100.0, 0.0, 0.0};  /* m, rad */
static const double frequency[N] = {0.2, 0.3, 0.4};                               /* rad/s */
static const long edges[BINS - 1] = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000}; /* us */

typedef struct {
  double q[N], qd[N], error; /* of the plant; largest tracking error, m or rad */
} Machine;

typedef struct {
  long late[BINS], cycles, worst; /* cycles by lateness; ns from the planned start to the end */
  double used, work, wall;        /* s: of the processor, between waking and the end, in all */
} Loop;

static double seconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static long since(const struct timespec *planned) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (now.tv_sec - planned->tv_sec) * 1000000000L + (now.tv_nsec - planned->tv_nsec);
}

/* The loop's work: reference, control law, and one step of the plant in place of a machine. */
static void control(Machine *machine, double t, double step) {
  double command[N], reference_rate[N], tau[N], friction[N], qdd[N];
  for (int k = 0; k < N; ++k) {
    const double w = frequency[k], s = swing[k];
    const double error = start[k] + s * (1.0 - cos(w * t)) - machine->q[k];
    reference_rate[k] = s * w * sin(w * t);
    command[k] = s * w * w * cos(w * t) + kp[k] * error + kd[k] * (reference_rate[k] - machine->qd[k]);
    machine->error = fmax(machine->error, fabs(error));
  }
  stacker_reclaimer_inverse_dynamics(machine->q, machine->qd, command, tau);
  stacker_reclaimer_joint_friction(reference_rate, friction);
  for (int k = 0; k < N; ++k) {
    tau[k] = fmin(fmax(tau[k] + friction[k], -stacker_reclaimer_effort_limit[k]),
                  stacker_reclaimer_effort_limit[k]);
  }
  stacker_reclaimer_joint_friction(machine->qd, friction);
  for (int k = 0; k < N; ++k) tau[k] -= friction[k];
  stacker_reclaimer_forward_dynamics(machine->q, machine->qd, tau, qdd);
  for (int k = 0; k < N; ++k) {
    machine->qd[k] += step * qdd[k];
    machine->q[k] += step * machine->qd[k];
  }
}

/* Run so many cycles from a planned time on; no machine: an empty loop. */
static void run(Loop *loop, struct timespec *planned, Machine *machine, long *cycle) {
  const double wall = seconds(CLOCK_MONOTONIC), used = seconds(CLOCK_THREAD_CPUTIME_ID);
  for (int i = 0; i < BLOCK; ++i) {
    planned->tv_nsec += PERIOD;
    if (planned->tv_nsec >= 1000000000L) {
      planned->tv_nsec -= 1000000000L;
      ++planned->tv_sec;
    }
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, planned, NULL);
    const long late = since(planned);
    if (machine) control(machine, 1e-9 * PERIOD * (double)(*cycle)++, 1e-9 * PERIOD);
    const long done = since(planned);
    int bin = 0;
    while (bin < BINS - 1 && late > 1000 * edges[bin]) ++bin;
    ++loop->late[bin];
    ++loop->cycles;
    loop->work += 1e-9 * (double)(done - late);
    if (done > loop->worst) loop->worst = done;
  }
  loop->used += seconds(CLOCK_THREAD_CPUTIME_ID) - used;
  loop->wall += seconds(CLOCK_MONOTONIC) - wall;
}

int main(int count, char **arguments) {
  const double wanted = count > 1 ? atof(arguments[1]) : 10.0;
  const char *fingerprint = count > 2 ? arguments[2] : STACKER_RECLAIMER_FINGERPRINT;
  if (stacker_reclaimer_check(fingerprint, STACKER_RECLAIMER_EXPORT) != 0) {
    fprintf(stderr, "the library is not of the model %s\n", fingerprint);
    return 1;
  }
  /* What a real-time loop asks for before it starts; without the rights it runs as others do. */
  const struct sched_param priority = {.sched_priority = 80};
  const int is_real_time = sched_setscheduler(0, SCHED_FIFO, &priority) == 0;
  const int is_locked = mlockall(MCL_CURRENT | MCL_FUTURE) == 0;
  Loop loops[2] = {{.worst = 0}, {.worst = 0}};
  Machine machine = {.error = 0.0};
  memcpy(machine.q, start, sizeof start);
  long cycle = 0;
  struct timespec planned;
  clock_gettime(CLOCK_MONOTONIC, &planned);
  while (1e-9 * PERIOD * (double)cycle < wanted) {
    run(&loops[0], &planned, NULL, &cycle);
    run(&loops[1], &planned, &machine, &cycle);
  }
  printf("SCHED_FIFO %s, memory %s\n", is_real_time ? "yes" : "no", is_locked ? "locked" : "not locked");
  printf("%-16s %12s %12s\n", "late by up to", "empty loop", "control loop");
  for (int bin = 0; bin < BINS; ++bin) {
    char label[32] = "more";
    if (bin < BINS - 1) snprintf(label, sizeof label, "%ld us", edges[bin]);
    printf("%-16s %12ld %12ld\n", label, loops[0].late[bin], loops[1].late[bin]);
  }
  printf("%-16s %9.1f us %9.1f us\n", "worst cycle done", 1e-3 * (double)loops[0].worst,
         1e-3 * (double)loops[1].worst);
  printf("%-16s %10.3f %% %10.3f %%\n", "of a core", 100.0 * loops[0].used / loops[0].wall,
         100.0 * loops[1].used / loops[1].wall);
  printf("%-16s %10.4f %% %10.4f %%\n", "of that, work", 100.0 * loops[0].work / loops[0].wall,
         100.0 * loops[1].work / loops[1].wall);
  printf("largest error of %ld control cycles: %.2g m or rad\n", loops[1].cycles, machine.error);
  return 0;
}

// Copyright 2026 The kron_dynamics Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computed torque at 1 kHz on an exported stacker-reclaimer, with a plant simulated by the same export.
// The control loop alternates every second with an empty loop, so that both see the same load. At the
// end it prints the lateness of their cycles, the completion time of the worst cycle, the loops' share
// of a core including wake-ups, and the share of the computation between two clock readings.
//
// With SCHED_DEADLINE the kernel wakes the loop once per period and limits it to the declared runtime.
// If the kernel refuses that, or with `timer`, the loop sleeps until an absolute time, with SCHED_FIFO if
// permitted.
//
// Usage: computed_torque [SECONDS [FINGERPRINT [timer]]]; FINGERPRINT of the machine's model.

#define _GNU_SOURCE
#include <math.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "stacker_reclaimer_dynamics/stacker_reclaimer.h"

#define N STACKER_RECLAIMER_N
enum { PERIOD = 1000000, BUDGET = 500000, BLOCK = 1000, BINS = 12 }; /* ns; ns; cycles */

static const double kp[N] = {4.0, 4.0, 9.0}, kd[N] = {4.0, 4.0, 6.0};             /* 1/s^2, 1/s */
static const double swing[N] = {1.0, 0.02, 0.002}, start[N] = {100.0, 0.0, 0.0};  /* m, rad */
static const double frequency[N] = {0.2, 0.3, 0.4};                               /* rad/s */
static const long edges[BINS - 1] = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000}; /* us */

typedef struct {
  double q[N], qd[N], error; /* of the plant; largest tracking error, m or rad */
  int faulty;                /* 1 once an effort was not finite */
} Machine;

typedef struct {
  long late[BINS], cycles, missed; /* histogram of lateness; periods without a cycle */
  int64_t worst;                   /* ns from the planned start to the end */
  double used, work, wall;         /* s: processor time, from wake-up to end, wall time */
} Loop;

static double seconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int64_t nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Request SCHED_DEADLINE, by the structure of linux/sched/types.h that older C libraries lack. */
static int is_woken_by_the_kernel(void) {
  const struct {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period; /* ns */
  } wanted = {.size = sizeof wanted, .policy = 6, .runtime = BUDGET, .deadline = PERIOD, .period = PERIOD};
  return syscall(SYS_sched_setattr, 0, &wanted, 0) == 0;
}

/* Saturate an effort. Comparisons leave NaN as it is; fmin and fmax would make a limit of it. */
static double limited(double effort, double limit) {
  if (effort > limit) return limit;
  return effort < -limit ? -limit : effort;
}

/* One cycle: reference, control law, and one step of the simulated plant. An effort that is not finite,
 * as from a NaN of an encoder, is a fault: from then on nothing is sent, also not to the other joints,
 * and the watchdog of the drives has to stop the machine. */
static void control(Machine *machine, double t, double step) {
  if (machine->faulty) return;
  double command[N], reference_rate[N], tau[N], friction[N], qdd[N];
  for (int k = 0; k < N; ++k) {
    const double w = frequency[k], s = swing[k];
    const double error = start[k] + s * (1.0 - cos(w * t)) - machine->q[k];
    reference_rate[k] = s * w * sin(w * t);
    command[k] = s * w * w * cos(w * t) + kp[k] * error + kd[k] * (reference_rate[k] - machine->qd[k]);
    if (fabs(error) > machine->error) machine->error = fabs(error);
  }
  stacker_reclaimer_inverse_dynamics(machine->q, machine->qd, command, tau);
  stacker_reclaimer_joint_friction(reference_rate, friction);
  for (int k = 0; k < N; ++k) {
    tau[k] += friction[k];
    if (!isfinite(tau[k])) machine->faulty = 1;
    tau[k] = limited(tau[k], stacker_reclaimer_effort_limit[k]);
  }
  if (machine->faulty) return;
  stacker_reclaimer_joint_friction(machine->qd, friction);
  for (int k = 0; k < N; ++k) tau[k] -= friction[k];
  stacker_reclaimer_forward_dynamics(machine->q, machine->qd, tau, qdd);
  for (int k = 0; k < N; ++k) {
    machine->qd[k] += step * qdd[k];
    machine->q[k] += step * machine->qd[k];
  }
}

/* Count a block of cycles, the first planned for a time; SCHED_DEADLINE: relative to the earliest. */
static void count(Loop *loop, const int64_t *woke, const int64_t *done, int64_t planned, int by_kernel) {
  int64_t slot[BLOCK];
  for (int i = 0; i < BLOCK; ++i) {
    slot[i] = by_kernel ? (woke[i] - woke[0] + PERIOD / 2) / PERIOD : i;
    if (by_kernel && (i == 0 || woke[i] - slot[i] * PERIOD < planned)) planned = woke[i] - slot[i] * PERIOD;
  }
  for (int i = 0; i < BLOCK; ++i) {
    const int64_t begun = planned + slot[i] * PERIOD;
    int bin = 0;
    while (bin < BINS - 1 && woke[i] - begun > 1000 * edges[bin]) ++bin;
    ++loop->late[bin];
    loop->work += 1e-9 * (double)(done[i] - woke[i]);
    if (done[i] - begun > loop->worst) loop->worst = done[i] - begun;
  }
  loop->cycles += BLOCK;
  loop->missed += slot[BLOCK - 1] - (BLOCK - 1);
}

/* Run a block of cycles, empty without a machine. For a planned time of 0 the kernel wakes the loop. */
static void run(Loop *loop, int64_t *planned, Machine *machine, long *cycle) {
  int64_t woke[BLOCK], done[BLOCK];
  const int64_t first = *planned + PERIOD;
  const int by_kernel = *planned == 0;
  const double wall = seconds(CLOCK_MONOTONIC), used = seconds(CLOCK_THREAD_CPUTIME_ID);
  for (int i = 0; i < BLOCK; ++i) {
    if (by_kernel) {
      sched_yield(); /* until the next period */
    } else {
      *planned += PERIOD;
      const struct timespec time = {*planned / 1000000000, *planned % 1000000000};
      clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
    }
    woke[i] = nanoseconds();
    if (machine) control(machine, 1e-9 * PERIOD * (double)(*cycle)++, 1e-9 * PERIOD);
    done[i] = nanoseconds();
  }
  loop->used += seconds(CLOCK_THREAD_CPUTIME_ID) - used;
  loop->wall += seconds(CLOCK_MONOTONIC) - wall;
  count(loop, woke, done, first, by_kernel);
}

int main(int argument_count, char **arguments) {
  char *rest = "";
  const double wanted = argument_count > 1 ? strtod(arguments[1], &rest) : 10.0;
  if (!isfinite(wanted) || wanted <= 0.0 || *rest != '\0') {
    fprintf(stderr, "SECONDS is '%s', expected a number above 0\n", arguments[1]);
    return 1;
  }
  const char *fingerprint = argument_count > 2 ? arguments[2] : STACKER_RECLAIMER_FINGERPRINT;
  if (stacker_reclaimer_check(fingerprint, STACKER_RECLAIMER_EXPORT) != 0) {
    fprintf(stderr, "the library is not of the model %s\n", fingerprint);
    return 1;
  }
  /* Real-time scheduling and locked memory; without the privileges it runs as a normal process. */
  const struct sched_param priority = {.sched_priority = 80};
  const char *policy = "no real-time policy";
  const int by_kernel = argument_count < 4 && is_woken_by_the_kernel();
  if (by_kernel) {
    policy = "SCHED_DEADLINE";
  } else if (sched_setscheduler(0, SCHED_FIFO, &priority) == 0) {
    policy = "SCHED_FIFO";
  }
  const int is_locked = mlockall(MCL_CURRENT | MCL_FUTURE) == 0;
  Loop loops[2] = {{.worst = 0}, {.worst = 0}};
  Machine machine = {.error = 0.0};
  memcpy(machine.q, start, sizeof start);
  long cycle = 0;
  int64_t planned = by_kernel ? 0 : nanoseconds();
  while (1e-9 * PERIOD * (double)cycle < wanted && !machine.faulty) {
    run(&loops[0], &planned, NULL, &cycle);
    run(&loops[1], &planned, &machine, &cycle);
  }
  if (machine.faulty) {
    fprintf(stderr, "an effort was not finite: nothing was sent from then on\n");
    return 1;
  }
  printf("%s, memory %s\n", policy, is_locked ? "locked" : "not locked");
  printf("%-16s %12s %12s\n", "late by up to", "empty loop", "control loop");
  for (int bin = 0; bin < BINS; ++bin) {
    char label[32] = "more";
    if (bin < BINS - 1) snprintf(label, sizeof label, "%ld us", edges[bin]);
    printf("%-16s %12ld %12ld\n", label, loops[0].late[bin], loops[1].late[bin]);
  }
  printf("%-16s %12ld %12ld\n", "periods missed", loops[0].missed, loops[1].missed);
  printf("%-16s %9.1f us %9.1f us\n", "worst cycle done", 1e-3 * (double)loops[0].worst,
         1e-3 * (double)loops[1].worst);
  printf("%-16s %10.3f %% %10.3f %%\n", "of a core", 100.0 * loops[0].used / loops[0].wall,
         100.0 * loops[1].used / loops[1].wall);
  printf("%-16s %10.4f %% %10.4f %%\n", "of that, work", 100.0 * loops[0].work / loops[0].wall,
         100.0 * loops[1].work / loops[1].wall);
  printf("largest error of %ld control cycles: %.2g m or rad\n", loops[1].cycles, machine.error);
  return 0;
}

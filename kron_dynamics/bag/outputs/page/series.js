// Copyright 2026 The kron_dynamics Authors
// SPDX-License-Identifier: Apache-2.0
'use strict';

// Computations for the plots, without access to the page.

const LEAST_RANGE = 0.02; // least range of the axis as a share of the values
const LEAST_POINTS = 4; // shortest visible time range, in distances between points

function numbers(text, Kind) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return Array.from(new Kind(bytes.buffer), (value) => (Number.isNaN(value) ? null : value));
}

// Values of a series in the unit of a panel; without `high`, a point is one sample: high = low.
function scaled(run, series, bound, factor) {
  const text = run.series[series][bound] ?? run.series[series].low;
  return numbers(text, Float32Array).map((value) => (value === null ? null : value / factor));
}

function sum(values, others, share) {
  return values.map((value, k) => {
    const other = others[k];
    return value === null || other === null ? null : value + share * other;
  });
}

function shown(value) {
  return value === null || value === undefined ? '–' : String(Number(value.toPrecision(5)));
}

// Range of an axis for the least and largest value of its lines.
function rangeOfValues(plot, low, high) {
  if (low === null || high === null) return [-1, 1];
  const size = Math.max(Math.abs(low), Math.abs(high)) || 1;
  const margin = 0.08 * (high - low) + Math.max(0, LEAST_RANGE * size - (high - low)) / 2;
  return [low - margin, high + margin];
}

// The visible time range for a requested one: within the run, and at least a few points long.
function within(run, low, high) {
  const [first, last] = [run.time[0], run.time[run.time.length - 1]];
  const width = Math.min(Math.max(high - low, run.step * LEAST_POINTS), last - first);
  const start = Math.min(Math.max(low, first), last - width);
  return { min: start, max: start + width };
}

function about({ min, max }, factor, centre) {
  const at = centre ?? (min + max) / 2;
  return [at - (at - min) * factor, at + (max - at) * factor];
}

// Kinds of phases of a run, each with its share of the total time of all phases.
function kindsOf(phases) {
  const total = phases.reduce((time, { start, end }) => time + end - start, 0) || 1;
  const shares = new Map();
  for (const { kind, start, end } of phases) {
    shares.set(kind, (shares.get(kind) ?? 0) + (end - start) / total);
  }
  return [...shares].map(([kind, share]) => ({ kind, share }));
}

function colourOf(kind) {
  return `--phase-${kind.replace(' ', '-')}`;
}

function phaseAt(phases, time) {
  return phases.find(({ start, end }) => start <= time && time <= end)?.kind ?? null;
}

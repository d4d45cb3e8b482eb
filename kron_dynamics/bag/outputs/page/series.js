// Copyright 2026 The kron_dynamics Authors
// SPDX-License-Identifier: Apache-2.0
'use strict';

// What the plots of a page compute: numbers in, numbers and texts out, nothing of the page.

const LEAST_RANGE = 0.02; // a constant signal is shown with at least this share of it as its range
const LEAST_POINTS = 4; // distances of points that are shown at least

function numbers(text, Kind) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return Array.from(new Kind(bytes.buffer), (value) => (Number.isNaN(value) ? null : value));
}

// Values of a series in the unit of a panel; the largest are the least where a point is a sample.
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

// Least and largest value of an axis for those of its lines.
function rangeOfValues(plot, low, high) {
  if (low === null || high === null) return [-1, 1];
  const size = Math.max(Math.abs(low), Math.abs(high)) || 1;
  const margin = 0.08 * (high - low) + Math.max(0, LEAST_RANGE * size - (high - low)) / 2;
  return [low - margin, high + margin];
}

// Times that are shown for wished ones: within the run, and no fewer than a few points.
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

// Kinds of phases that a run has, each with its share of the time that is in any.
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

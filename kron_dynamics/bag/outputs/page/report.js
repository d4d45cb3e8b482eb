// Copyright 2026 The kron_dynamics Authors
// SPDX-License-Identifier: Apache-2.0
'use strict';

// Draws the plots of a page. The element `data` holds the series of each run and the panels that
// combine them; computations are in series.js. The plots of a run share zoom and cursor. Nothing
// is loaded from the network.

const HEIGHT = 210; // of a plot, CSS pixels
const PRINT_WIDTH = 690; // of a plot on paper, CSS pixels
const DASHES = [[], [8, 4], [2, 3]];
const COLOURS = 8;
const STRIP = 4; // height of the strip of phases above a plot, CSS pixels
const runs = JSON.parse(document.getElementById('data').textContent);
const drawn = []; // functions that redraw a plot

function style(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function element(kind, className, text) {
  const made = document.createElement(kind);
  made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

// One plot -------------------------------------------------------------------------------------

function plan(run, panel) {
  const data = [run.time];
  const series = [{}];
  const bands = [];
  const entries = [];
  for (const line of panel.lines) {
    const colour = style(`--series-${line.colour % COLOURS}`);
    const dash = DASHES[(line.dash + Math.floor(line.colour / COLOURS)) % DASHES.length];
    const entry = { line, colour, dash, indices: [] };
    const add = (values, stroke) => {
      data.push(values);
      series.push({ stroke, width: stroke ? line.width : 0, dash, points: { show: false } });
      entry.indices.push(data.length - 1);
      return data.length - 1;
    };
    const between = (upper, lower, alpha) =>
      bands.push({ series: [upper, lower], fill: colour + alpha });
    const low = line.series === null ? null : scaled(run, line.series, 'low', panel.factor);
    const high = low && (run.samplesPerPoint > 1
      ? scaled(run, line.series, 'high', panel.factor) : low);
    if (line.band !== null) {
      const deviation = scaled(run, line.band, 'high', panel.factor);
      const zero = deviation.map((value) => (value === null ? null : 0));
      const lower = add(sum(low ?? zero, deviation, -2), null);
      between(add(sum(high ?? zero, deviation, 2), null), lower, '38');
    }
    if (low) {
      entry.low = add(low, colour);
      entry.high = high === low ? entry.low : add(high, colour);
      if (entry.high !== entry.low) between(entry.high, entry.low, 'c0');
    }
    entries.push(entry);
  }
  return { data, series, bands, entries };
}

function drawSegments(run) {
  return (plot) => {
    const { ctx, bbox } = plot;
    const ratio = window.devicePixelRatio;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top - 14 * ratio, bbox.width, bbox.height + 14 * ratio);
    ctx.clip();
    ctx.font = `${10 * ratio}px ${style('--font')}`;
    ctx.textAlign = 'center';
    ctx.textBaseline = 'bottom';
    run.segments.forEach((segment, k) => {
      const from = Math.max(plot.valToPos(segment.start, 'x', true), bbox.left);
      const to = Math.min(plot.valToPos(segment.end, 'x', true), bbox.left + bbox.width);
      if (to <= from) return;
      ctx.fillStyle = style(k % 2 ? '--segment-odd' : '--segment-even');
      ctx.fillRect(from, bbox.top, to - from, bbox.height);
      if (ctx.measureText(segment.label).width + 8 * ratio < to - from) {
        ctx.fillStyle = style('--faint');
        ctx.fillText(segment.label, (from + to) / 2, bbox.top - 2 * ratio);
      }
    });
    ctx.restore();
  };
}

function drawPhases(run) {
  return (plot) => {
    const { ctx, bbox } = plot;
    for (const { kind, start, end } of run.phases) {
      const from = Math.max(plot.valToPos(start, 'x', true), bbox.left);
      const to = Math.min(plot.valToPos(end, 'x', true), bbox.left + bbox.width);
      if (to <= from) continue;
      ctx.fillStyle = style(colourOf(kind));
      ctx.fillRect(from, bbox.top, to - from, STRIP * window.devicePixelRatio);
    }
  };
}

function options(run, panel, width, parts, update) {
  const axis = {
    stroke: style('--text'),
    font: `11px ${style('--font')}`,
    labelFont: `11px ${style('--font')}`,
    grid: { stroke: style('--grid'), width: 1 },
    ticks: { stroke: style('--grid'), width: 1, size: 4 },
  };
  return {
    width,
    height: HEIGHT,
    padding: [18, 12, 0, 0],
    legend: { show: false },
    scales: { x: { time: false, ...run.range }, y: { range: rangeOfValues } },
    axes: [
      { ...axis, label: 'time [s]', labelSize: 16, size: 26 },
      {
        ...axis,
        label: `${panel.quantity} [${panel.unit}]`,
        labelSize: 18,
        size: (plot, values) =>
          14 + 6.4 * Math.max(3, ...(values ?? []).map((value) => value.length)),
      },
    ],
    cursor: {
      sync: { key: run.topic, setSeries: false },
      drag: { x: true, y: false },
      y: false,
      bind: { mousedown: (plot, target, handler) => (event) => event.shiftKey || handler(event) },
      points: { size: 6 },
    },
    series: parts.series,
    bands: parts.bands,
    hooks: {
      drawClear: [drawSegments(run)],
      draw: [drawPhases(run)],
      setCursor: [update],
      setScale: [(plot, key) => key === 'x' && follow(run, plot.scales.x)],
    },
  };
}

function legend(run, parts, hidden) {
  const row = element('div', 'legend');
  const values = parts.entries.map((entry, k) => {
    const button = element('button', 'entry');
    const swatch = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    swatch.setAttribute('viewBox', '0 0 22 10');
    const stroke = document.createElementNS('http://www.w3.org/2000/svg', 'path');
    stroke.setAttribute('d', 'M0 5H22');
    stroke.setAttribute('stroke', entry.colour + (entry.low === undefined ? '60' : ''));
    stroke.setAttribute('stroke-width', entry.low === undefined ? 9 : entry.line.width + 0.5);
    stroke.setAttribute('stroke-dasharray', entry.dash.join(' '));
    swatch.append(stroke);
    const value = element('span', 'value');
    button.append(swatch, element('span', 'name', entry.line.label), value);
    button.type = 'button';
    button.title = 'Show or hide';
    button.setAttribute('aria-pressed', String(!hidden.has(k)));
    button.addEventListener('click', () => {
      if (!hidden.delete(k)) hidden.add(k);
      button.setAttribute('aria-pressed', String(!hidden.has(k)));
      for (const index of entry.indices) parts.plot.setSeries(index, { show: !hidden.has(k) });
    });
    row.append(button);
    return value;
  });
  const update = (plot) => {
    const at = plot.cursor.idx;
    const known = at !== null && at !== undefined;
    const phase = known ? phaseAt(run.phases, plot.data[0][at]) : null;
    run.moment.textContent = known
      ? `at ${shown(plot.data[0][at])} s${phase === null ? '' : `, ${phase}`}` : '';
    parts.entries.forEach((entry, k) => {
      if (entry.low === undefined) return;
      const low = known ? plot.data[entry.low][at] : null;
      const high = known ? plot.data[entry.high][at] : null;
      values[k].textContent = !known ? '' : low === high
        ? shown(low) : `${shown(low)} … ${shown(high)}`;
    });
  };
  return { row, update };
}

function draw(run, panel, place) {
  const hidden = new Set();
  let plot = null;
  const again = (width) => {
    plot?.destroy();
    run.plots.delete(plot);
    place.replaceChildren();
    const parts = plan(run, panel);
    const { row, update } = legend(run, parts, hidden);
    const space = element('div', 'plot');
    place.append(row, space);
    const wide = width ?? space.clientWidth;
    const seen = plot?.seen ?? true;
    plot = new uPlot(options(run, panel, wide, parts, update), parts.data, space);
    plot.seen = seen;
    parts.plot = plot;
    for (const k of hidden) {
      for (const index of parts.entries[k].indices) plot.setSeries(index, { show: false });
    }
    run.plots.add(plot);
    move(run, plot);
  };
  again();
  drawn.push(again);
  new IntersectionObserver(([entry]) => {
    plot.seen = entry.isIntersecting;
    catchUp(run, plot);
  }).observe(place);
  new ResizeObserver(() => {
    const width = place.clientWidth;
    if (width && width !== plot.width) plot.setSize({ width, height: HEIGHT });
  }).observe(place);
}

// Zoom and pan, shared by the plots of a run ------------------------------------------------------

function zoom(run, low, high) {
  follow(run, within(run, low, high));
}

function follow(run, { min, max }) {
  if (min === null || (run.range.min === min && run.range.max === max)) return;
  run.range = { min, max };
  run.readout.textContent = `${shown(min)} s to ${shown(max)} s`;
  for (const plot of run.plots) catchUp(run, plot);
}

// Plots out of sight are updated when they become visible: there may be a hundred of them.
function catchUp(run, plot) {
  const { min, max } = plot.scales.x;
  if (!plot.seen || (min === run.range.min && max === run.range.max)) return;
  plot.setScale('x', { ...run.range });
}

function scaleAbout(run, factor, centre) {
  zoom(run, ...about(run.range, factor, centre));
}

function shift(run, share) {
  const { min, max } = run.range;
  zoom(run, min + share * (max - min), max + share * (max - min));
}

function move(run, plot) {
  const pointed = (event) =>
    plot.posToVal(event.clientX - plot.over.getBoundingClientRect().left, 'x');
  plot.over.addEventListener('wheel', (event) => {
    if (!event.ctrlKey && !event.shiftKey) return; // scrolls the page
    event.preventDefault();
    scaleAbout(run, (event.deltaY || event.deltaX) > 0 ? 1.25 : 0.8, pointed(event));
  }, { passive: false });
  plot.over.addEventListener('mousedown', (event) => {
    if (!event.shiftKey) return;
    event.preventDefault();
    const { min, max } = run.range;
    const perPixel = (max - min) / plot.over.clientWidth;
    const begin = event.clientX;
    const drag = (moved) => {
      const by = (begin - moved.clientX) * perPixel;
      zoom(run, min + by, max + by);
    };
    const end = () => document.removeEventListener('mousemove', drag);
    document.addEventListener('mousemove', drag);
    document.addEventListener('mouseup', end, { once: true });
  });
}

function controls(run, place) {
  const whole = () => zoom(run, run.time[0], run.time[run.time.length - 1]);
  const actions = [
    ['−', 'Zoom out', () => scaleAbout(run, 2)],
    ['+', 'Zoom in', () => scaleAbout(run, 0.5)],
    ['←', 'Earlier', () => shift(run, -0.5)],
    ['→', 'Later', () => shift(run, 0.5)],
    ['All', 'The whole run', whole],
  ];
  for (const [sign, meaning, action] of actions) {
    const button = element('button', 'control', sign);
    button.type = 'button';
    button.title = meaning;
    button.setAttribute('aria-label', meaning);
    button.addEventListener('click', action);
    place.append(button);
  }
  run.readout = element('span', 'moment');
  run.moment = element('span', 'moment');
  const kinds = kindsOf(run.phases).map(({ kind, share }) => {
    const entry = element('span', 'phase', `${kind} ${shown(Number((100 * share).toPrecision(2)))} %`);
    entry.style.setProperty('--kind', `var(${colourOf(kind)})`);
    return entry;
  });
  place.append(run.readout, ...kinds, run.moment);
}

// The page ----------------------------------------------------------------------------------------

const waiting = new Map(); // elements of plots that have not been visible yet, with run and panel
const watcher = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) if (isIntersecting) start(target);
}, { rootMargin: '500px' });

function start(place) {
  if (!waiting.has(place)) return;
  watcher.unobserve(place);
  const [run, panel] = waiting.get(place);
  waiting.delete(place);
  draw(run, panel, place);
}

runs.forEach((run, number) => {
  run.time = numbers(run.time, Float64Array);
  run.step = run.time[1] - run.time[0];
  run.range = { min: run.time[0], max: run.time[run.time.length - 1] };
  run.plots = new Set();
  controls(run, document.getElementById(`controls-${number}`));
  run.panels.forEach((panel, k) => {
    const place = document.getElementById(`panel-${number}-${k}`);
    waiting.set(place, [run, panel]);
    watcher.observe(place);
  });
});

const redraw = (width) => drawn.forEach((again) => again(width));
window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => redraw());
window.addEventListener('beforeprint', () => {
  document.documentElement.classList.add('printed');
  [...waiting.keys()].forEach(start);
  redraw(PRINT_WIDTH);
});
window.addEventListener('afterprint', () => {
  document.documentElement.classList.remove('printed');
  redraw();
});

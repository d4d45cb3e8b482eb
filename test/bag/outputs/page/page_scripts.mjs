// Copyright 2026 The kron_dynamics Authors
// SPDX-License-Identifier: Apache-2.0

// Tests of the scripts of pages, run by Node: `node --test page_scripts.mjs`. PAGE_SCRIPTS is the
// folder of the scripts, PAGE a page of an analysis, SAMPLES what is to be drawn on it.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import vm from 'node:vm';

const script = (name) => readFileSync(`${process.env.PAGE_SCRIPTS}/${name}`, 'utf8');

// Values of another realm have other prototypes.
const plain = (value) => JSON.parse(JSON.stringify(value));

function functionsOf(name, names, scope = {}) {
  const context = vm.createContext({ atob, ...scope });
  return vm.runInContext(`${script(name)}\n;({ ${names.join(', ')} })`, context);
}

const series = functionsOf('series.js', [
  'numbers', 'scaled', 'sum', 'shown', 'rangeOfValues', 'within', 'about', 'kindsOf', 'phaseAt',
]);

const encoded = (values, Kind) => Buffer.from(new Kind(values).buffer).toString('base64');

test('numbers come back from base64, gaps as null', () => {
  const text = encoded([1.5, NaN, -2e300], Float64Array);
  const context = vm.createContext({ atob });
  const found = vm.runInContext(
    `${script('series.js')}; numbers(${JSON.stringify(text)}, Float64Array)`, context);
  assert.deepEqual(plain(found), [1.5, null, -2e300]);
});

test('a series is in the unit of its panel; without largest values the least are these', () => {
  const context = vm.createContext({ atob });
  const run = { series: [
    { low: encoded([2000, NaN], Float32Array), high: encoded([4000, NaN], Float32Array) },
    { low: encoded([500], Float32Array) },
  ] };
  context.run = run;
  const found = vm.runInContext(`${script('series.js')};
    [scaled(run, 0, 'low', 1000), scaled(run, 0, 'high', 1000), scaled(run, 1, 'high', 1000)]`,
  context);
  assert.deepEqual(plain(found), [[2, null], [4, null], [0.5]]);
});

test('bands are about their line, and unknown where either is', () => {
  assert.deepEqual(plain(series.sum([1, null, 3, 4], [0.5, 1, null, 2], -2)), [0, null, null, 0]);
});

test('numbers are shown with five digits', () => {
  assert.equal(series.shown(123456.7), '123460');
  assert.equal(series.shown(-0.00123456), '-0.0012346');
  assert.equal(series.shown(null), '–');
  assert.equal(series.shown(undefined), '–');
});

test('axes have room about their values, and a range where these are constant', () => {
  assert.deepEqual(plain(series.rangeOfValues(null, null, null)), [-1, 1]);
  const [low, high] = series.rangeOfValues(null, -1, 3);
  assert.ok(low < -1.2 && low > -1.5 && high > 3.2 && high < 3.5);
  const [least, largest] = series.rangeOfValues(null, 1000, 1000);
  assert.ok(least < 1000 && largest > 1000 && largest - least >= 0.02 * 1000);
  const [below, above] = series.rangeOfValues(null, 0, 0);
  assert.ok(below < 0 && above > 0);
});

test('zooming stays within the run, and shows a few points at least', () => {
  const run = { time: [10, 10.1, 20], step: 0.1 };
  assert.deepEqual(plain(series.within(run, 12, 14)), { min: 12, max: 14 });
  assert.deepEqual(plain(series.within(run, 5, 9)), { min: 10, max: 14 }); // panned beyond the start
  assert.deepEqual(plain(series.within(run, 19, 23)), { min: 16, max: 20 });
  assert.deepEqual(plain(series.within(run, -100, 100)), { min: 10, max: 20 });
  const { min, max } = series.within(run, 15, 15.01);
  assert.ok(Math.abs(max - min - 0.4) < 1e-12 && min === 15);
});

test('what is pointed at stays where it is when zoomed', () => {
  const [low, high] = series.about({ min: 0, max: 8 }, 0.5, 2);
  assert.deepEqual([low, high], [1, 5]);
  assert.equal((2 - low) / (high - low), 2 / 8);
  assert.deepEqual(plain(series.about({ min: 0, max: 8 }, 2)), [-4, 12]);
});

test('phases have shares of the time that is in any, and are found by time', () => {
  const phases = [
    { kind: 'moving', start: 0, end: 3 },
    { kind: 'holding', start: 3, end: 4 },
    { kind: 'moving', start: 10, end: 14 },
  ];
  assert.deepEqual(plain(series.kindsOf(phases)), [
    { kind: 'moving', share: 7 / 8 }, { kind: 'holding', share: 1 / 8 }]);
  assert.deepEqual(plain(series.kindsOf([])), []);
  assert.equal(series.phaseAt(phases, 3.5), 'holding');
  assert.equal(series.phaseAt(phases, 5), null);
});

test('tables of a campaign sort numbers as numbers, with what is not known last', () => {
  const { orderOf } = functionsOf('campaign.js', ['orderOf'], {
    document: { querySelectorAll: () => [] },
  });
  const sorted = (values, descending = false) =>
    plain(orderOf(values, descending)).map((k) => values[k]);
  assert.deepEqual(sorted(['0.1', '', '9e-3', '10', '-2']), ['-2', '9e-3', '0.1', '10', '']);
  assert.deepEqual(sorted(['0.1', '', '10'], true), ['10', '0.1', '']);
  assert.deepEqual(sorted(['run10', 'run9', 'b']), ['b', 'run9', 'run10']);
  assert.deepEqual(plain(orderOf(['1', '1', '0'], true)), [0, 1, 2]); // equal ones as they were
});

// The whole page, with a document that has what the script asks of it ----------------------------

class Fake {
  constructor(kind) {
    Object.assign(this, { kind, children: [], attributes: {}, handlers: {}, clientWidth: 500 });
    this.style = { setProperty: () => {} };
  }

  append(...parts) { this.children.push(...parts); }
  replaceChildren(...parts) { this.children = parts; }
  setAttribute(name, value) { this.attributes[name] = value; }
  addEventListener(name, handler) { this.handlers[name] = handler; }
  getBoundingClientRect() { return { left: 0 }; }
  all(kind) {
    return this.children.flatMap((child) => [
      ...(child.kind === kind ? [child] : []), ...child.all(kind)]);
  }
}

function openedPage() {
  const text = readFileSync(process.env.PAGE, 'utf8');
  const data = text.match(/<script type="application\/json" id="data">(.*?)<\/script>/s)[1];
  const scripts = [...text.matchAll(/<script>(.*?)<\/script>/gs)].map((match) => match[1]);
  const places = new Map([...text.matchAll(/id="((?:panel|controls)-[\d-]+)"/g)]
    .map((match) => [match[1], new Fake('div')]));
  const plots = [];
  class Plot {
    constructor(options, values, place) {
      Object.assign(this, { options, data: values, place, shownSeries: {}, cursor: { idx: null } });
      this.scales = { x: { min: options.scales.x.min, max: options.scales.x.max } };
      this.over = new Fake('div');
      this.width = options.width;
      plots.push(this);
    }

    setSeries(index, { show }) { this.shownSeries[index] = show; }
    setScale(key, range) { this.scales[key] = range; }
    destroy() { plots.splice(plots.indexOf(this), 1); }
  }
  class Observer {
    constructor(seen) { this.seen = seen; }
    observe(target) { this.seen([{ target, isIntersecting: true }]); }
    unobserve() {}
  }
  const media = new Fake('media');
  const window = new Fake('window');
  window.matchMedia = () => media;
  window.devicePixelRatio = 1;
  const document = {
    documentElement: { classList: { add() {}, remove() {} } },
    getElementById: (id) => (id === 'data' ? { textContent: data } : places.get(id)),
    createElement: (kind) => new Fake(kind),
    createElementNS: (_, kind) => new Fake(kind),
  };
  class Sizes { observe() {} }
  const context = vm.createContext({
    atob, document, window, uPlot: Plot, IntersectionObserver: Observer, ResizeObserver: Sizes,
    getComputedStyle: () => ({ getPropertyValue: (name) => ` ${name} ` }),
  });
  vm.runInContext(scripts.at(-1), context); // the one before is uPlot itself
  return { data: JSON.parse(data), places, plots, window };
}

test('every panel of a page is drawn with the samples of its series', () => {
  const { data, plots } = openedPage();
  const samples = JSON.parse(readFileSync(process.env.SAMPLES, 'utf8'));
  const [run] = data;
  assert.equal(plots.length, run.panels.length);
  let compared = 0;
  run.panels.forEach((panel, k) => {
    const { data: [time, ...lines], options } = plots[k];
    assert.equal(options.series.length, lines.length + 1);
    for (const line of lines) assert.equal(line.length, time.length);
    for (const { series: [upper, lower] } of options.bands) {
      lines[upper - 1].forEach((value, at) => {
        if (value !== null) assert.ok(value >= lines[lower - 1][at]);
      });
    }
    assert.match(options.axes[1].label, new RegExp(`\\[${panel.unit.replace('/', '\\/')}\\]$`));
    for (const line of panel.lines.filter((each) => each.series !== null)) {
      const { key, column } = run.series[line.series];
      const expected = samples[`${key} ${column}`];
      if (expected === undefined) continue;
      const found = lines.find((values) => expected.every((value, at) => value === null
        || (values[at] !== null
          && Math.abs(values[at] * panel.factor - value) <= 1e-6 * Math.abs(value) + 1e-12)));
      assert.ok(found, `${key} ${column} is not in '${panel.title}'`);
      compared += 1;
    }
  });
  assert.ok(compared >= 6);
});

test('a click on a name hides its line and shows it again', () => {
  const { plots, places } = openedPage();
  const [button] = places.get('panel-0-0').all('button');
  assert.equal(button.attributes['aria-pressed'], 'true');
  button.handlers.click();
  assert.equal(button.attributes['aria-pressed'], 'false');
  assert.deepEqual(Object.values(plots[0].shownSeries), [false]);
  button.handlers.click();
  assert.deepEqual(Object.values(plots[0].shownSeries), [true]);
});

test('buttons zoom and move all plots of a run together', () => {
  const { data: [run], plots, places } = openedPage();
  const buttons = Object.fromEntries(places.get('controls-0').all('button')
    .map((button) => [button.attributes['aria-label'], button.handlers.click]));
  const whole = { ...plots[0].scales.x };
  const ranges = () => new Set(plots.map(({ scales: { x } }) => `${x.min} ${x.max}`));
  buttons['Zoom in']();
  assert.equal(ranges().size, 1);
  const { min, max } = plots[0].scales.x;
  assert.ok(Math.abs((max - min) - (whole.max - whole.min) / 2) < 1e-9);
  buttons.Later();
  assert.ok(plots[0].scales.x.min > min && plots.at(-1).scales.x.max > max);
  buttons['The whole run']();
  assert.deepEqual(plain(plots.at(-1).scales.x), plain(whole));
  assert.ok(run.segments[0].start >= whole.min);
});

test('times under the cursor are told with the phase', () => {
  const { data: [run], plots, places } = openedPage();
  const plot = plots[0];
  const { kind, start, end } = run.phases[0];
  const time = [...plot.data[0]];
  plot.cursor.idx = time.findIndex((t) => t >= (start + end) / 2);
  plot.options.hooks.setCursor[0](plot);
  const texts = places.get('controls-0').all('span').map((span) => span.textContent);
  assert.ok(texts.some((text) => text?.startsWith('at ') && text.endsWith(` s, ${kind}`)), texts);
  const value = places.get('panel-0-0').all('span').find((span) => span.className === 'value');
  assert.equal(value.textContent, String(Number(plot.data[1][plot.cursor.idx].toPrecision(5))));
});

test('pages are drawn as wide as paper when they are printed, and as before afterwards', () => {
  const { plots, window } = openedPage();
  window.handlers.beforeprint();
  assert.deepEqual([...new Set(plots.map(({ width }) => width))], [690]);
  window.handlers.afterprint();
  assert.deepEqual([...new Set(plots.map(({ width }) => width))], [500]);
});

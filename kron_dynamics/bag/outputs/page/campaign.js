// Copyright 2026 The kron_dynamics Authors
// SPDX-License-Identifier: Apache-2.0
'use strict';

// Sorts the tables of a campaign when the name of a column is clicked.

// Row indices sorted by a column's values: numbers before texts, unknown values last.
function orderOf(values, descending) {
  const sign = descending ? -1 : 1;
  const kind = (value) => (value === '' ? 2 : Number.isNaN(Number(value)) ? 1 : 0);
  const compare = (one, other) => {
    const by = kind(one) - kind(other);
    if (by) return by;
    const difference = kind(one) ? one.localeCompare(other, undefined, { numeric: true })
      : Number(one) - Number(other);
    return sign * difference;
  };
  return values.map((_, k) => k).sort((a, b) => compare(values[a], values[b]) || a - b);
}

function sortBy(table, column) {
  const heads = [...table.tHead.rows[0].cells];
  const descending = heads[column].getAttribute('aria-sort') === 'ascending';
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const values = rows.map(({ cells }) => cells[column].dataset.value ?? cells[column].textContent);
  heads.forEach((head) => head.removeAttribute('aria-sort'));
  heads[column].setAttribute('aria-sort', descending ? 'descending' : 'ascending');
  body.append(...orderOf(values, descending).map((k) => rows[k]));
}

for (const table of document.querySelectorAll('table.sorted')) {
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    head.firstElementChild.addEventListener('click', () => sortBy(table, column));
  });
}

// A table that becomes a list of cards on a narrow screen.

import { make } from "./dom.js";
import { formatCount } from "./words.js";
import { redraw } from "./router.js";

const rowsMax = 500;

// The sorted column and direction of each table by its label, once an operator has sorted the table.
const sorting = new Map();

// `columns`: objects with the members `name`, `cell(row)`, and optionally `isNumber`, `sort(row)`, `isFirst`,
// which sorts the table by the column at first, and `wide`, which hides the column below 1000 px. The first column is
// the header of its row. `keyOf(row)` identifies a row.
export function table(label, columns, rows, keyOf) {
  const shown = sorted(label, columns, rows).slice(0, rowsMax);
  return [
    make("div", { class: "table", key: `table-${label}`, role: "region", "aria-label": label, tabindex: "0" },
      make("table", {},
        make("thead", {}, make("tr", {}, columns.map((column) => headCell(label, columns, column)))),
        make("tbody", {}, shown.map((row) =>
          make("tr", { key: keyOf(row), "data-item": true, tabindex: "-1" },
            columns.map((column, index) => cell(column, index, row))))))),
    shown.length < rows.length && make("p", { class: "note", key: `rest-${label}` },
      `The first ${formatCount(rowsMax)} of ${formatCount(rows.length)} rows. Filter the list to see others.`),
  ];
}

// Numbers begin with the largest, texts with the first.
const orderBy = (column) => ({ name: column.name, isDescending: Boolean(column.isNumber) });

function orderOf(label, columns) {
  const first = columns.find((column) => column.isFirst);
  return sorting.get(label) ?? (first && orderBy(first));
}

const classOf = (column) => [column.isNumber && "number", column.wide && "wide"].filter(Boolean).join(" ") || null;

function headCell(label, columns, column) {
  const current = orderOf(label, columns);
  const isSorted = current?.name === column.name;
  return make("th", {
    scope: "col", class: classOf(column), key: column.name,
    "aria-sort": isSorted ? current.isDescending ? "descending" : "ascending" : null,
  }, column.sort ? make("button", {
    type: "button", class: "sorter", onclick: () => sort(label, columns, column),
  }, column.name) : column.name);
}

const cell = (column, index, row) => make(index === 0 ? "th" : "td", {
  scope: index === 0 ? "row" : null, class: classOf(column), "data-label": column.name,
}, column.cell(row));

function sort(label, columns, column) {
  const current = orderOf(label, columns);
  sorting.set(label, current?.name === column.name ? { ...current, isDescending: !current.isDescending }
    : orderBy(column));
  redraw();
}

function sorted(label, columns, rows) {
  const current = orderOf(label, columns);
  const column = columns.find(({ name }) => name === current?.name);
  if (!column) return rows;
  const sign = current.isDescending ? -1 : 1;
  return [...rows].sort((left, right) => sign * compare(column.sort(left), column.sort(right)));
}

function compare(left, right) {
  if (typeof left === "string" && typeof right === "string") return left.localeCompare(right, "en", { numeric: true });
  return (left ?? -1) - (right ?? -1);
}

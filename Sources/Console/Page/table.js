// A table that becomes a list of cards on a narrow screen.

import { make } from "./dom.js";
import { formatCount } from "./words.js";
import { redraw } from "./router.js";

const rowsMax = 500;

// The sorted column and direction of each table by its label.
const sorting = new Map();

// `columns`: objects with the members `name`, `cell(row)`, and optionally `isNumber`, `sort(row)` and `wide`, which
// hides the column below 1000 px. The first column is the header of its row. `keyOf(row)` identifies a row.
export function table(label, columns, rows, keyOf) {
  const shown = sorted(label, columns, rows).slice(0, rowsMax);
  return [
    make("div", { class: "table", key: `table-${label}`, role: "region", "aria-label": label, tabindex: "0" },
      make("table", {},
        make("thead", {}, make("tr", {}, columns.map((column) => headCell(label, column)))),
        make("tbody", {}, shown.map((row) =>
          make("tr", { key: keyOf(row), "data-item": true, tabindex: "-1" },
            columns.map((column, index) => cell(column, index, row))))))),
    shown.length < rows.length && make("p", { class: "note", key: `rest-${label}` },
      `The first ${formatCount(rowsMax)} of ${formatCount(rows.length)} rows. Filter the list to see others.`),
  ];
}

const classOf = (column) => [column.isNumber && "number", column.wide && "wide"].filter(Boolean).join(" ") || null;

function headCell(label, column) {
  const current = sorting.get(label);
  const isSorted = current?.name === column.name;
  return make("th", {
    scope: "col", class: classOf(column), key: column.name,
    "aria-sort": isSorted ? current.isDescending ? "descending" : "ascending" : null,
  }, column.sort ? make("button", { type: "button", class: "sorter", onclick: () => sort(label, column) }, column.name)
    : column.name);
}

const cell = (column, index, row) => make(index === 0 ? "th" : "td", {
  scope: index === 0 ? "row" : null, class: classOf(column), "data-label": column.name,
}, column.cell(row));

// Numbers begin with the largest, texts with the first.
function sort(label, column) {
  const current = sorting.get(label);
  const isDescending = current?.name === column.name ? !current.isDescending : Boolean(column.isNumber);
  sorting.set(label, { name: column.name, isDescending });
  redraw();
}

function sorted(label, columns, rows) {
  const current = sorting.get(label);
  const column = columns.find(({ name }) => name === current?.name);
  if (!column) return rows;
  const sign = current.isDescending ? -1 : 1;
  return [...rows].sort((left, right) => sign * compare(column.sort(left), column.sort(right)));
}

function compare(left, right) {
  if (typeof left === "string" && typeof right === "string") return left.localeCompare(right, "en", { numeric: true });
  return (left ?? -1) - (right ?? -1);
}

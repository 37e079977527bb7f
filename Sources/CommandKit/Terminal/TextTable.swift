import Text

/// A table for operators. The widths are given in advance, so that rows can be printed one at a time.
package struct TextTable: Sendable {
    package struct Column: Sendable {
        package var title: String
        /// Width in terminal columns. Longer cells are cut with `…`, unless `isWhole` is set or the column is the last.
        package var width: Int
        /// Whether longer cells are kept. Cells after a longer cell move to the right.
        package var isWhole: Bool

        package init(title: String, width: Int, isWhole: Bool = false) {
            self.title = title
            self.width = width
            self.isWhole = isWhole
        }
    }

    package let columns: [Column]

    /// Creates columns as wide as their title or widest cell, for a complete table.
    package init(titles: [String], fitting rows: [[String]]) {
        columns = titles.enumerated().map { index, title in
            let cells = rows.compactMap { index < $0.count ? $0[index].printable.columns : nil }
            return Column(title: title, width: max(title.columns, cells.max() ?? 0))
        }
    }

    package init(columns: [Column]) { self.columns = columns }

    package var header: String { line(columns.map(\.title)) }

    package func line(_ cells: [String]) -> String {
        var line = ""
        for (index, column) in columns.enumerated() {
            let cell = (index < cells.count ? cells[index] : "").printable
            if index == columns.count - 1 {
                line += cell
            } else {
                line += (column.isWhole ? cell : cell.shortened(to: column.width)).padded(to: column.width) + "  "
            }
        }
        while line.last == " " { line.removeLast() }
        return line
    }
}

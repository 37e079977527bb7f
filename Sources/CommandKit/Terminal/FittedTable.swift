import Text

/// A table that fits a window. If the window is too narrow, columns are narrowed or omitted in a given order.
package struct FittedTable {
    /// A column, with the width to which it may be narrowed; 0 if the column may be omitted.
    package typealias Economy = (title: String, widthMin: Int)

    private let shown: [(index: Int, width: Int)]
    private let isCut: Bool
    private let table: TextTable

    /// Creates a table for a window.
    ///
    /// - Parameter width: columns of the window; nil for no limit.
    package init(titles: [String], fitting rows: [[String]], width: Int?, _ economies: [Economy]) {
        let whole = TextTable(titles: titles, fitting: rows)
        var widths: [Int?] = whole.columns.map(\.width)
        Self.shrink(
            &widths, to: width,
            economies.compactMap { economy in
                titles.firstIndex(of: economy.title).map { ($0, economy.widthMin) }
            })
        shown = widths.enumerated().compactMap { index, width in width.map { (index, $0) } }
        isCut = width != nil
        table = TextTable(columns: shown.map { TextTable.Column(title: titles[$0.index], width: $0.width) })
    }

    /// Narrows or omits columns, in the given order, until the table fits.
    ///
    /// - Parameter widths: widths of the columns, which are separated by two spaces; nil for an omitted column.
    package static func shrink(_ widths: inout [Int?], to width: Int?, _ economies: [(column: Int, widthMin: Int)]) {
        for (column, widthMin) in economies {
            let known = widths.compactMap(\.self)
            let tooWide = known.reduce(0, +) + 2 * (known.count - 1) - (width ?? .max)
            guard tooWide > 0, let current = widths[column] else { continue }
            widths[column] = widthMin == 0 ? nil : min(current, max(widthMin, current - tooWide))
        }
    }

    package var header: String { table.header }

    package func line(_ cells: [String]) -> String {
        table.line(
            shown.map { index, width in
                let cell = index < cells.count ? cells[index].printable : ""
                return isCut ? cell.shortened(to: width) : cell
            })
    }
}

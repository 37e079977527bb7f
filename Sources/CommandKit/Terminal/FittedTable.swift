import Text

/// A table for a window: if it is too wide, columns become narrower or are left out, in a given order.
package struct FittedTable {
    /// A column may shrink to so many columns of the terminal; 0: it may be left out.
    package typealias Economy = (title: String, widthMin: Int)

    private let shown: [(index: Int, width: Int)]
    private let isCut: Bool
    private let table: TextTable

    /// - Parameter width: of the window; nil: nothing is cut.
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

    /// - Parameter widths: of columns with two spaces between them; nil: left out.
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

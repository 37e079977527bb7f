import CommandKit

/// The columns that fit a terminal, and their widths.
struct WatchLayout {
    enum Column: String, CaseIterable {
        case kind, id, app, outcome, status, code, token, age
    }

    let columns: [Column]
    let table: TextTable

    /// Widths that usually fit the content.
    private static let widths: [Column: Int] = [
        .kind: 6, .id: 36, .app: 24, .outcome: 8, .status: 6, .code: 27, .token: 9, .age: 8,
    ]

    /// Columns that a narrow terminal shortens to a width or omits (0), in this order.
    private static let economies: [(column: Column, widthMin: Int)] = [
        (.app, 12), (.token, 0), (.status, 0), (.age, 0), (.app, 0), (.code, 16), (.id, 9),
    ]

    /// Creates the layout for a terminal.
    ///
    /// - Parameter width: columns of the terminal; nil for no limit.
    init(width: Int?) {
        let all = Column.allCases
        var widths = all.map { Self.widths[$0] }
        FittedTable.shrink(
            &widths, to: width,
            Self.economies.compactMap { economy in
                all.firstIndex(of: economy.column).map { ($0, economy.widthMin) }
            })
        let shown = zip(all, widths).compactMap { column, width in width.map { (column, $0) } }
        columns = shown.map(\.0)
        table = TextTable(
            columns: shown.map { column, columnWidth in
                TextTable.Column(title: column.rawValue.uppercased(), width: columnWidth, isWhole: width == nil)
            })
    }
}

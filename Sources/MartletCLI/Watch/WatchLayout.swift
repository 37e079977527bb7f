import CommandKit

/// Which columns there is room for, and how wide they are.
struct WatchLayout {
    enum Column: String, CaseIterable {
        case kind, id, app, outcome, status, code, token, age
    }

    let columns: [Column]
    let table: TextTable

    /// As wide as what they hold, as a rule.
    private static let widths: [Column: Int] = [
        .kind: 6, .id: 36, .app: 24, .outcome: 8, .status: 6, .code: 27, .token: 9, .age: 8,
    ]

    /// What a narrow terminal does without: all of a column, or what is beyond so many characters; in this order, the
    /// ids last.
    private static let economies: [(column: Column, widthMin: Int)] = [
        (.app, 12), (.token, 0), (.status, 0), (.age, 0), (.app, 0), (.code, 16), (.id, 9),
    ]

    /// - Parameter width: of the terminal; nil: nothing is cut.
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

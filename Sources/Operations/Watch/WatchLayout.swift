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
        var widths = Self.widths
        for (column, widthMin) in Self.economies {
            let tooWide = Self.total(widths) - (width ?? .max)
            guard tooWide > 0, let current = widths[column] else { continue }
            widths[column] = widthMin == 0 ? nil : max(widthMin, current - tooWide)
        }
        columns = Column.allCases.filter { widths[$0] != nil }
        table = TextTable(
            columns: columns.map { column in
                TextTable.Column(
                    title: column.rawValue.uppercased(), width: widths[column] ?? 0, isWhole: width == nil)
            })
    }

    /// With two spaces between columns.
    private static func total(_ widths: [Column: Int]) -> Int {
        widths.values.reduce(0, +) + 2 * (widths.count - 1)
    }
}

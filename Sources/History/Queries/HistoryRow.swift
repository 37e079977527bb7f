/// A row of a page: a result, or a wait that is the newest line of its request.
package struct HistoryRow: Sendable, Hashable {
    package var position: HistoryPosition
    package var line: RequestLine
}

/// A page of rows, newest first.
package struct HistoryPage: Sendable, Hashable {
    package var rows: [HistoryRow] = []
    /// The position behind which the next page begins; nil for the last page.
    package var next: HistoryPosition?
}

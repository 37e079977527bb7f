/// A line with the keys of its token and user.
struct IndexedLine: Sendable, Hashable {
    var line: RequestLine
    var token: HistoryKey?
    var user: HistoryKey?
}

/// A message of the journal's stream.
package struct HistoryMessage: Sendable {
    package var offset: Int64
    package var body: [UInt8]

    package init(offset: Int64, body: [UInt8]) {
        self.offset = offset
        self.body = body
    }
}

import Crypto
package import JSON

/// A message of the journal, with lines of one worker.
package struct JournalBatch: Sendable, Hashable {
    package var head: JournalHead
    package var lines: [JournalLine]
    /// The number of lines that this program does not know, or that are malformed or too large.
    package private(set) var ignoredLines = 0

    package init(_ head: JournalHead, lines: [JournalLine]) {
        self.head = head
        self.lines = lines
    }

    /// The property `type` of the message, and its member of the same name.
    package static let type = "push.journal.v1"

    private static let format = FleetFormat(
        type: type, name: "a batch", bytesMax: JournalLimits.batchBytesMax,
        codec: ObjectCodec(
            "a batch",
            from: Self(
                JournalHead(worker: "-", bootID: UUIDValue(high: 0, low: 0), sequence: 1, sentAt: 0), lines: []),
            ignoresUnknown: true,
            [
                .group(
                    JournalHead.codec, isRequired: true, get: { $0.head },
                    set: { head, _, batch throws(InputError) in batch.head = head }),
                .list(
                    "lines", read: { json, batch throws(InputError) in batch.read(line: json) },
                    elements: { $0.lines }, write: { line, json in line.write(to: &json) }),
            ]))

    private mutating func read(line json: JSONValue) {
        if let line = JournalLine(json) { lines.append(line) } else { ignoredLines += 1 }
    }

    /// Reads a batch. Lines that this program does not know, or that are malformed or too large, are counted and
    /// ignored.
    ///
    /// - Throws: an error that states why the batch is invalid. The error contains no part of the text.
    package init(json bytes: [UInt8]) throws(InputError) { self = try Self.format.read(bytes) }

    package var json: [UInt8] { Self.format.write(self) }
}

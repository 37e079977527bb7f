package import Crypto
import JSON

/// The members of a batch that precede its lines.
package struct JournalHead: Sendable, Hashable {
    /// The name of the worker.
    package var worker: String
    /// A random identity of the worker's process.
    package var bootID: UUIDValue
    /// The number of the batch. The first batch of a process has number 1, and each batch has the next number.
    package var sequence: Int
    /// The worker's wall clock, in UNIX milliseconds.
    package var sentAt: Int64
    /// The number of lines that the worker has dropped since the previous batch.
    package var droppedLines: Int
    /// Whether this is the last batch of the process, after its drain.
    package var hasEnded: Bool

    package init(
        worker: String, bootID: UUIDValue, sequence: Int, sentAt: Int64, droppedLines: Int = 0, hasEnded: Bool = false
    ) {
        self.worker = worker
        self.bootID = bootID
        self.sequence = sequence
        self.sentAt = sentAt
        self.droppedLines = droppedLines
        self.hasEnded = hasEnded
    }

    static let codec = ObjectCodec(
        "a batch", from: Self(worker: "-", bootID: UUIDValue(high: 0, low: 0), sequence: 1, sentAt: 0),
        ignoresUnknown: true,
        [
            .required("worker", \.worker, .printable(bytesMax: FleetLimits.workerBytesMax)),
            .required("boot_id", \.bootID, .uuid),
            .required("sequence", \.sequence, .int(1...FleetLimits.numberMax)),
            .required("sent_at", \.sentAt, .int(FleetLimits.times)),
            .member("dropped", \.droppedLines, .int(0...FleetLimits.numberMax)),
            .member("ended", \.hasEnded, .bool, omitting: false),
        ])

    /// Returns a batch with lines that are already JSON.
    ///
    /// - Parameter lines: the lines as ``JournalLine/write(to:)`` writes them, separated by commas; empty for none.
    package func json(lines: [UInt8]) -> [UInt8] {
        var json = JSONWriter(capacity: lines.count + 512)
        json.beginObject()
        json.member("type", JournalBatch.type)
        Self.codec.writeMembers(self, to: &json)
        json.beginArray("lines")
        if !lines.isEmpty { json.raw(lines) }
        json.endArray()
        json.endObject()
        return json.bytes
    }
}

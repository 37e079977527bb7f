import History

/// The messages between the journal's stream and the index, and the position in the stream. It performs no I/O.
///
/// The reader continues at the last known message, which arrives immediately in the same stream. If another message or
/// none arrives, the stream was deleted and declared again.
struct JournalIntake {
    /// The number of waiting bytes at which the reader must be detached. A reader may receive further messages of
    /// its prefetch before.
    static let bytesMax = 8 << 20
    /// The number of waiting bytes at which a detached reader may be attached again.
    static let bytesResumed = 2 << 20
    /// Maximum size of the messages of one transaction, unless a single message is larger.
    static let transactionBytesMax = 4 << 20

    enum Arrival: Equatable {
        case added
        /// A message that is known.
        case repeated
        /// A message of another stream with the same name.
        case otherStream
    }

    /// The offset of the next message that is not known; nil at the start of the stream.
    private(set) var nextOffset: Int64?
    /// The last message that is known from this stream; nil after a start.
    private var last: HistoryMessage?
    private var waiting: [HistoryMessage] = []
    private(set) var waitingBytes = 0

    init(nextOffset: Int64?) { self.nextOffset = nextOffset.flatMap { $0 > 0 ? $0 : nil } }

    var isEmpty: Bool { waiting.isEmpty }
    var isFull: Bool { waitingBytes >= Self.bytesMax }
    var hasRoom: Bool { waitingBytes <= Self.bytesResumed }
    /// The offset of the last known message, at which a reader continues; nil at the start of the stream.
    var lastOffset: Int64? { nextOffset.map { $0 - 1 } }

    mutating func receive(_ message: HistoryMessage) -> Arrival {
        if let nextOffset, message.offset < nextOffset {
            guard let last, last.offset == message.offset else { return .repeated }
            return last.body == message.body ? .repeated : .otherStream
        }
        guard message.offset < .max else { return .repeated }
        waiting.append(message)
        waitingBytes += message.body.count
        nextOffset = message.offset + 1
        last = message
        return .added
    }

    /// The messages of the next transaction, which remain until ``removeFirst(_:)``.
    var transaction: [HistoryMessage] {
        var bytes = 0
        return Array(
            waiting.prefix(HistoryIndexer.messagesMax).prefix { message in
                let isFirst = bytes == 0
                bytes += max(1, message.body.count)
                return isFirst || bytes <= Self.transactionBytesMax
            })
    }

    /// Removes the messages of a transaction that was committed.
    mutating func removeFirst(_ count: Int) {
        waitingBytes -= waiting.prefix(count).reduce(0) { $0 + $1.body.count }
        waiting.removeFirst(count)
    }
}

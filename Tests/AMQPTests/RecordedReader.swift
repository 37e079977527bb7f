import AMQP
import TestKit

/// A stream reader and a record of its handler's calls. Used only on the reader's loop.
final class RecordedReader: @unchecked Sendable {
    let reader: StreamReader
    /// The calls of the handler, without the messages and without the states that follow from them.
    private(set) var events: [String] = []
    private(set) var messages: [StreamMessage] = []
    /// The position at each attach; nil to continue behind the last message.
    var position: StreamPosition?
    private let first: StreamPosition

    init(
        _ stream: String, on connection: BrokerConnection, from first: StreamPosition, prefetch: Int = 10,
        messageBytesMax: Int = 1 << 20
    ) {
        var configuration = StreamReaderConfiguration(stream: stream, prefetch: prefetch)
        configuration.messageBytesMax = messageBytesMax
        reader = StreamReader(on: connection, configuration: configuration)
        self.first = first
        let handler = TestStreamReaderHandler { [weak self] in self?.nextPosition() ?? .next }
        handler.onAttached = { [weak self] in self?.events.append("attached") }
        handler.onDetached = { [weak self] reason in self?.events.append("detached: \(reason.code)") }
        handler.onMessage = { [weak self] message in self?.messages.append(message) }
        handler.onStatus = { [weak self] status in
            if case .waiting(let error, _) = status { self?.events.append("waiting: \(error.code)") }
        }
        reader.start(handler)
    }

    var offsets: [Int64] { messages.map(\.offset) }
    var texts: [String] { messages.map { String(decoding: $0.body, as: UTF8.self) } }
    var isAttached: Bool { events.last == "attached" }

    func count(_ event: String) -> Int { events.count { $0 == event } }

    private func nextPosition() -> StreamPosition {
        let next = position ?? messages.last.map { .behind($0.offset) } ?? first
        events.append("position \(next)")
        return next
    }
}

/// The position in a stream from which a reader receives messages.
///
/// RabbitMQ documents the positions at https://www.rabbitmq.com/docs/streams#consuming.
public enum StreamPosition: Sendable, Hashable {
    /// The oldest message that the stream retains.
    case first
    /// The start of the last chunk. The broker writes messages in chunks and delivers the whole last chunk, which may
    /// contain several messages. The newest message is thus the last of them. An empty stream has no last chunk, so
    /// the reader receives only later messages.
    case last
    /// Behind the last message, so the reader receives only later messages.
    case next
    /// The message with this offset. If the stream no longer retains the message, the broker uses `first`.
    ///
    /// If the stream has not reached the offset, the reader receives nothing until then. A stream that was deleted and
    /// declared again starts with offset 0. A reader that continues in this stream with an offset of the earlier stream
    /// thus misses messages. The broker reports no error. To detect the new stream, the reader can request the last
    /// message that it knows. In the same stream, this message or a later one arrives at once.
    case offset(Int64)
    /// The chunk that contains the first message at or after this time, in UNIX seconds, or a neighboring chunk. Earlier
    /// messages may thus precede that message. If all messages are older, the broker uses `next`.
    case time(Int64)

    /// Returns the position behind the message with an offset.
    public static func behind(_ offset: Int64) -> StreamPosition {
        offset == .max ? .next : .offset(offset + 1)
    }

    /// The value of the argument `x-stream-offset` of `basic.consume`.
    var argument: FieldValue {
        switch self {
        case .first: "first"
        case .last: "last"
        case .next: "next"
        case .offset(let offset): .integer(max(0, offset))
        case .time(let seconds): .timestamp(seconds: UInt64(max(0, seconds)))
        }
    }
}

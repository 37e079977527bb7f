/// The retention of records in a stream. The broker drops the oldest segment beyond a bound, and always keeps the
/// newest one (https://www.rabbitmq.com/docs/streams#retention).
struct StreamRetention {
    let bytesMax: Int64
    /// The bytes after which the broker begins a segment. RabbitMQ's default, 500 MB, would exceed `bytesMax`.
    let segmentBytesMax: Int64
    /// The age at which the broker drops a segment, in days; nil for no limit.
    var ageDaysMax: Int?

    /// The retention of pauses. Each record contains all pauses in force, so only the newest one has a meaning.
    static let pauses = StreamRetention(bytesMax: 20_000_000, segmentBytesMax: 1_000_000)

    /// The retention of the commands to workers, and of the audit of operators.
    static let commands = StreamRetention(bytesMax: 256_000_000, segmentBytesMax: 16_000_000, ageDaysMax: 90)

    var arguments: [Topology.Argument] {
        [
            .integer("x-max-length-bytes", bytesMax),
            .integer("x-stream-max-segment-size-bytes", segmentBytesMax),
        ] + (ageDaysMax.map { [.text("x-max-age", "\($0)D")] } ?? [])
    }
}

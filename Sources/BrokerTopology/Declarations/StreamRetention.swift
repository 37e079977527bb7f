/// The retention of records in a stream. The broker drops the oldest segment beyond a bound, and always keeps the
/// newest one (https://www.rabbitmq.com/docs/streams#retention).
struct StreamRetention {
    let bytesMax: Int64
    /// The bytes after which the broker begins a segment. RabbitMQ's default, 500 MB, would exceed `bytesMax`.
    let segmentBytesMax: Int64
    /// The age at which the broker drops a segment, as RabbitMQ writes it; nil for no limit.
    var ageMax: String?

    /// The retention of pauses. Each record contains all pauses in force, so only the newest one has a meaning.
    static let pauses = StreamRetention(bytesMax: 20_000_000, segmentBytesMax: 1_000_000)

    /// The retention of the commands to workers, and of the audit of operators.
    static let commands = StreamRetention(bytesMax: 256_000_000, segmentBytesMax: 16_000_000, ageMax: "90D")

    /// The retention of the journal. Consoles that were away for a longer time have a gap.
    static let journal = StreamRetention(bytesMax: 10_000_000_000, segmentBytesMax: 100_000_000, ageMax: "72h")

    var arguments: [Topology.Argument] {
        [
            .integer("x-max-length-bytes", bytesMax),
            .integer("x-stream-max-segment-size-bytes", segmentBytesMax),
        ] + (ageMax.map { [.text("x-max-age", $0)] } ?? [])
    }
}

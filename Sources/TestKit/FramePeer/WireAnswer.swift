/// What came back on one stream, put together from its frames.
public struct WireAnswer: Sendable {
    /// In the order of the wire, with `:status`.
    public internal(set) var headers: [(name: String, value: String)] = []
    public internal(set) var body: [UInt8] = []
    /// Such as `["HEADERS", "DATA end_stream"]`: its frames in their order, without streams and sizes.
    public internal(set) var frames: [String] = []
    /// Whether END_STREAM or RST_STREAM came.
    public internal(set) var isComplete = false
    /// The code of RST_STREAM; nil unless that came.
    public internal(set) var resetCode: UInt32?

    public subscript(name: String) -> String? { headers.first { $0.name == name }?.value }

    public var status: Int? { self[":status"].flatMap { Int($0) } }

    public var bodyText: String { String(decoding: body, as: UTF8.self) }

    /// Status and body: `200`, or `400 {"reason":"BadMessageId"}`.
    public var line: String {
        if let resetCode, headers.isEmpty { return "RST_STREAM \(resetCode)" }
        return ([self[":status"] ?? "no status"] + (body.isEmpty ? [] : [bodyText])).joined(separator: " ")
    }
}

/// The response on one stream, assembled from its frames.
public struct WireAnswer: Sendable {
    /// The header fields in wire order, including `:status`.
    public internal(set) var headers: [(name: String, value: String)] = []
    public internal(set) var body: [UInt8] = []
    /// The frames except WINDOW_UPDATE, in order, without stream IDs and sizes. An example is
    /// `["HEADERS", "DATA end_stream"]`.
    public internal(set) var frames: [String] = []
    /// Whether END_STREAM or RST_STREAM was received.
    public internal(set) var isComplete = false
    /// The error code of RST_STREAM; nil if none was received.
    public internal(set) var resetCode: UInt32?

    public subscript(name: String) -> String? { headers.first { $0.name == name }?.value }

    public var status: Int? { self[":status"].flatMap { Int($0) } }

    public var bodyText: String { String(decoding: body, as: UTF8.self) }

    /// The status and the body, such as `200` or `400 {"reason":"BadMessageId"}`; for a reset stream without headers,
    /// `RST_STREAM` and the error code.
    public var line: String {
        if let resetCode, headers.isEmpty { return "RST_STREAM \(resetCode)" }
        return ([self[":status"] ?? "no status"] + (body.isEmpty ? [] : [bodyText])).joined(separator: " ")
    }
}

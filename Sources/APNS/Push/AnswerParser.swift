import APNSProtocol
import JSON

/// A parser of the body of an answer, or of the debug data of a GOAWAY. The usual form is
/// `{"reason":"…","timestamp":…}`. Empty bodies, plain text and HTML were observed, too. Parsing never fails.
struct AnswerParser {
    /// Maximum size of a body that is parsed as JSON.
    private static let bodyBytesMax = 16_384

    private let parser = JSONParser(limits: JSONLimits(bytesMax: bodyBytesMax, depthMax: 8))

    func read(_ body: UnsafeRawBufferPointer) -> Contents {
        guard !body.isEmpty else { return Contents() }
        guard let root = try? parser.parse(body), let reason = root["reason"]?.withUTF8({ Reason($0) }) else {
            return Contents(reason: Reason(body))
        }
        return Contents(
            reason: reason, timestampMilliseconds: root["timestamp"].flatMap(milliseconds), isOfAPNS: true)
    }

    struct Contents: Hashable {
        /// The reason of the refusal; nil for an empty body.
        var reason: Reason?
        var timestampMilliseconds: Int64?
        /// Whether the body is JSON with a `reason` that is a string, as APNs sends.
        var isOfAPNS = false
    }

    /// Returns the timestamp in a JSON value. Apple documents an integer. The parser also accepts fractions and
    /// strings, although none was observed.
    private func milliseconds(_ value: JSONValue) -> Int64? {
        switch value.kind {
        case .number: value.int64 ?? value.double.flatMap { Int64(exactly: $0.rounded(.down)) }
        case .string: value.withUTF8 { Self.decimal($0) } ?? nil
        case .null, .boolean, .array, .object: nil
        }
    }

    /// Returns the value of a decimal number of at most 18 digits; nil for any other text.
    static func decimal(_ text: UnsafeRawBufferPointer) -> Int64? {
        guard !text.isEmpty, text.count <= 18 else { return nil }
        var number: Int64 = 0
        for byte in text {
            guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte else { return nil }
            number = number * 10 + Int64(byte - UInt8(ascii: "0"))
        }
        return number
    }
}

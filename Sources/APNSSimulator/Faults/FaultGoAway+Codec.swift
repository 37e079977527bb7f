import JSON

extension FaultGoAway {
    static let codec = ObjectCodec(
        "a goaway", from: FaultGoAway(),
        [
            .member(
                "last_stream_id", \.lastStream, .lastStream,
                "`\"last_seen\"`, a stream ID, or `{\"first\": 3}`, which still serves the three oldest requests"),
            .member("code", \.code, .errorCode, "error code"),
            .group(
                DebugData.codec, get: { DebugData($0.debug) },
                set: { data, members, goAway throws(InputError) in goAway.debug = try data.bytes(members) }),
            .optional(
                "second_last_stream_id", \.second, .lastStream,
                "last stream of a second GOAWAY, which follows the first"),
            .member(
                "then", \.closing, .word, omitting: .drain,
                "when the simulator closes the connection: `drain` after the remaining responses, `close` immediately, "
                    + "`keep` never"),
        ])
}

/// Debug data, either as text or as bytes in hexadecimal.
private struct DebugData: Sendable {
    var text: String?
    var hex: [UInt8]?

    static let codec = ObjectCodec(
        "debug data", from: DebugData(),
        [
            .optional("debug", \.text, .text(1...FaultGoAway.debugBytesMax), "debug data as text"),
            .optional(
                "debug_hex", \.hex, .hex(FaultGoAway.debugBytesMax),
                "debug data in hexadecimal, for bytes that are not text"),
        ])
}

extension DebugData {
    init(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        text = String(validating: bytes, as: UTF8.self)
        hex = text == nil ? bytes : nil
    }

    func bytes(_ members: ObjectMembers) throws(InputError) -> [UInt8] {
        guard text == nil || hex == nil else { throw members.error("debug_hex", "and debug are mutually exclusive") }
        return hex ?? text.map { Array($0.utf8) } ?? []
    }
}

extension ValueCodec<[UInt8]> {
    /// Returns the codec of 1 to `bytesMax` bytes in hexadecimal digits.
    fileprivate static func hex(_ bytesMax: Int) -> Self {
        ValueCodec<String>.text(1...2 * bytesMax).mapped(
            "hexadecimal digits",
            read: { text in
                let digits = text.compactMap(\.hexDigitValue)
                guard digits.count == text.utf8.count, digits.count % 2 == 0 else { return nil }
                return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
            },
            write: { bytes in bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() })
    }
}

extension ValueCodec<FaultGoAway.LastStream> {
    fileprivate static var lastStream: Self {
        let form = #""last_seen", 0 or an odd stream ID, or {"first": N} for the N oldest open requests"#
        let first = ObjectCodec("a last stream", from: 0, [.required("first", \.self, .int(0...10_000))])
        return Self(
            form,
            reader: { json, name throws(InputError) in
                if json.kind == .object { return .first(try first.read(json)) }
                if json.isString("last_seen") { return .lastSeen }
                if let id = json.int.flatMap(Int32.init(exactly:)), id == 0 || id > 0 && id % 2 == 1 { return .id(id) }
                throw InputError("\(name) must be \(form)", node: json.nodeIndex)
            },
            writer: { stream, json in
                switch stream {
                case .lastSeen: json.string("last_seen")
                case .id(let id): json.int(Int64(id))
                case .first(let count): first.write(count, to: &json)
                }
            })
    }
}

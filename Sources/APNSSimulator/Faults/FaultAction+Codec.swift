import HTTP2
import JSON

extension FaultAction {
    /// The codec of an action: a word, or an object with one member. The word is the name of the member, and the
    /// details are its value.
    static let codec = VariantCodec<FaultAction>(
        [
            .details("latency", LatencyDistribution.codec, make: { .latency($0) }) {
                if case .latency(let distribution) = $0 { distribution } else { nil }
            },
            .word("silence", .silence),
            .details("answer", Answer.faultCodec, make: { .answer($0) }) {
                if case .answer(let answer) = $0 { answer } else { nil }
            },
            .details("reset_stream", .errorCode, alone: .resetStream(.refusedStream), make: { .resetStream($0) }) {
                if case .resetStream(let code) = $0 { code } else { nil }
            },
            .details("goaway", FaultGoAway.codec.value, alone: .goAway(FaultGoAway()), make: { .goAway($0) }) {
                if case .goAway(let goAway) = $0 { goAway } else { nil }
            },
            .word("reset_connection", .resetConnection),
            .word("close_connection", .closeConnection),
            .details(
                "stop_reading", stopCodec.value, alone: .stopReading(milliseconds: nil),
                make: { .stopReading(milliseconds: $0) }
            ) {
                if case .stopReading(let milliseconds?) = $0 { .some(milliseconds) } else { nil }
            },
            .word("resume_reading", .resumeReading),
            .details("settings", FaultSettings.codec.value, make: { .settings($0) }) {
                if case .settings(let settings) = $0 { settings } else { nil }
            },
            .word("stale_connection", .staleConnection),
        ], word: \.name)

    private static let stopCodec = ObjectCodec<Int?>(
        "stop_reading", from: nil,
        [
            .optional(
                "ms", \.self, .int(0...Int(LatencyDistribution.millisecondsMax)),
                "time for which the simulator does not read (default: until `resume_reading`)")
        ])
}

extension ValueCodec<HTTP2ErrorCode> {
    /// The codec of an HTTP/2 error code. Reads a name or a number. Writes the number only if the code has no name.
    static var errorCode: Self {
        Self(
            "a number or a name such as REFUSED_STREAM, CANCEL or NO_ERROR",
            read: { json in
                if let number = json.int { return UInt32(exactly: number).map { HTTP2ErrorCode(rawValue: $0) } }
                return json.string.flatMap { HTTP2ErrorCode(name: $0) }
            },
            write: { code, json in
                let name = code.description
                if HTTP2ErrorCode(name: name) == code { json.string(name) } else { json.int(Int64(code.rawValue)) }
            })
    }
}

extension FaultSettings {
    static let codec = ObjectCodec(
        "settings", from: FaultSettings(),
        [
            .member(
                "max_concurrent_streams", \.maxConcurrentStreams, .change(0...UInt32.max), omitting: .keep,
                "limit of open streams; null: the frame omits the setting"),
            .member(
                "header_table_bytes", \.headerTableBytes, .change(0...UInt32.max), omitting: .keep,
                "size of the HPACK table, or null"),
            .member(
                "initial_window_bytes", \.initialWindowBytes, .change(0...UInt32(Int32.max)), omitting: .keep,
                "flow-control window of new streams, or null"),
            .member(
                "max_header_list_bytes", \.maxHeaderListBytes, .change(0...UInt32.max), omitting: .keep,
                "maximum size of a request's headers, or null"),
        ],
        check: { settings, members throws(InputError) in
            guard settings != FaultSettings() else { throw members.error("settings must have at least one member") }
        })
}

extension ValueCodec<FaultSettings.Change> {
    /// Returns the codec of a change: a new value, or null for a frame without the setting.
    fileprivate static func change(_ range: ClosedRange<UInt32>) -> Self {
        ValueCodec<UInt32>.int(range).nullable.mapped(
            read: { value in value.map { .value($0) } ?? .omit },
            write: { change in if case .value(let value) = change { value } else { nil } })
    }
}

import APNSProtocol
import JSON

/// A fault in state files and in the admin API:
///
///     {"id": "slow", "match": {"topic": "com.example.app"}, "action": {"latency": {"median_ms": 20, "p99_ms": 200}},
///      "share": 0.5, "count_max": 100}
struct ReportedFault: Sendable {
    var fault: Fault
    /// The number of times that the fault has applied; nil if the number is not reported. The simulator ignores the
    /// number in requests.
    var struck: Int?

    static let codec = ObjectCodec(
        "a fault", from: ReportedFault(fault: Fault(id: "", action: .silence)),
        [
            .member(
                "id", \.fault.id, .faultID,
                "name of the fault (default: a new name); in the admin API, a new fault replaces a fault with the same "
                    + "`id`"),
            .member(
                "trigger", \.fault.trigger, .word, omitting: .request,
                "`\"trigger\": \"connection\"` applies the fault to connections when the simulator accepts them"),
            .member(
                "match", \.fault.match, FaultMatch.codec.value, omitting: FaultMatch(),
                "requests or connections to which the fault applies (default: all)"),
            .required("action", \.fault.action, FaultAction.codec.value, "the effect"),
            .member(
                "share", \.fault.share, .number(0...1), omitting: 1,
                "fraction of the matching requests or connections, from 0 to 1; `--fault-seed` determines the selection"
            ),
            .member(
                "skip_count", \.fault.skipCount, .int(0...Fault.strikesMax), omitting: 0,
                "number of matching requests or connections that the fault skips first"),
            .optional(
                "count_max", \.fault.countMax, .int(1...Fault.strikesMax),
                "maximum number of times that the fault applies: with `skip_count` 4 and `count_max` 1, only to the "
                    + "fifth matching request"),
            .optional(
                "struck", \.struck, .int(0...Int.max), "in responses: the number of times that the fault has applied"),
        ],
        check: { reported, members throws(InputError) in
            if let obstacle = reported.fault.obstacle { throw members.error(obstacle) }
        })
}

extension Fault {
    /// Maximum value of ``skipCount`` and ``countMax``.
    static let strikesMax = 1_000_000_000

    /// The codec of a fault without `struck`. The ID is empty if the text has none.
    static let codec = ReportedFault.codec.converted(
        read: { reported, _ throws(InputError) in reported.fault }, write: { ReportedFault(fault: $0) })

    /// The reason why the fault can never apply; nil if the fault can apply.
    fileprivate var obstacle: String? {
        switch (trigger, action) {
        case (.request, .resumeReading):
            "resume_reading cannot wait for a request: while reading is stopped, no request arrives; "
                + "POST the action to /v1/actions"
        case (.request, _): nil
        case (.connection, .resetStream), (.connection, .resumeReading):
            "\(action.name) has no effect on a new connection"
        case (.connection, let action):
            if !action.isForConnections {
                "\(action.name) applies to requests, not to connections"
            } else if match.needsRequest {
                "a fault with the trigger connection can match environment, service and connection only"
            } else {
                nil
            }
        }
    }
}

extension FaultMatch {
    private static let idleSecondsMax = 31_536_000

    static let codec = ObjectCodec(
        "a match", from: FaultMatch(),
        [
            .optional("environment", \.environment, .word, "`production` or `sandbox`"),
            .optional("service", \.service, .word, "`push` or `channel-management`"),
            .optional("topic", \.topic, .text(1...255), "topic; for broadcasts and channels: the bundle ID"),
            .optional("device_prefix", \.devicePrefix, .devicePrefix, "start of the device token"),
            .optional("push_type", \.pushType, .word, "push type"),
            .optional("connection", \.connection, .int(1...Int.max), "number of the connection"),
            .optional(
                "idle_seconds_min", \.idleSecondsMin, .int(0...idleSecondsMax),
                "minimum time without requests on the connection before the request"),
        ])
}

extension ValueCodec<String> {
    fileprivate static var faultID: Self {
        Self(
            "1 to \(Fault.idBytesMax) letters, digits, periods, hyphens or underscores",
            read: { json in json.string.flatMap { isFaultID($0) ? $0 : nil } },
            write: { id, json in json.string(id) })
    }

    private static func isFaultID(_ text: String) -> Bool {
        (1...Fault.idBytesMax).contains(text.utf8.count) && text.utf8.allSatisfy(isIDByte)
    }

    private static func isIDByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// The codec of the start of a device token.
    fileprivate static var devicePrefix: Self {
        text(1...DeviceToken.hexDigitsMax).checked("hexadecimal digits") { $0.utf8.allSatisfy(DeviceToken.isHexDigit) }
    }
}

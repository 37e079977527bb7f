import AMQP
import EventLoop
import JSON
import TestKit

/// An invalid message, with the reason that its result must contain. Unless the message is oversized, its dead letter
/// must contain the reason too.
struct BadMessage {
    /// A description of the defect, shown in test failures.
    var kind: String
    var body: [UInt8]
    var deadClass: String
    var code: String
    var properties = RawProperties()
    /// The expected attempt count of the dead letter: the value of a valid `push-attempt` header, at most 1,000,000, or
    /// else 0.
    var attempts = 0
    /// Whether the message exceeds the size limit. The worker rejects it, and the broker dead-letters it.
    var isOversized = false

    init(_ kind: String, _ body: [UInt8], _ deadClass: String, _ code: String) {
        self.kind = kind
        self.body = body
        self.deadClass = deadClass
        self.code = code
    }

    init(_ kind: String, _ text: String, _ deadClass: String, _ code: String) {
        self.init(kind, Array(text.utf8), deadClass, code)
    }

    static let bodyBytesMax = 1 << 20

    /// Returns `count` messages that cycle through all kinds and the examples. The large messages follow, and then the
    /// messages whose headers are nested to the limit.
    ///
    /// The same seed produces the same messages.
    static func make(_ count: Int, seed: UInt64) throws -> [BadMessage] {
        var random = SeededRandom(seed: seed)
        let examples = try BadExample.all()
        var messages = (0..<count).map { number in
            let slot = number % (kinds.count + 1)
            var message = slot < kinds.count ? kinds[slot](&random) : examples[random.below(examples.count)].message
            if message.properties.messageID == nil, message.code != "message-id", random.chance(percent: 50) {
                message.properties.messageID = random.bytes(random.below(256))
            }
            return message
        }
        messages += large(&random)
        messages += nestedToTheLimit()
        return messages
    }

    private static let kinds: [@Sendable (inout SeededRandom) -> BadMessage] = [
        // Bodies that the JSON parser rejects
        randomBytes, truncated, empty, trailing, deepArrays, deepObjects, badNumber, loneSurrogate, badUTF8, nul,
        controlCharacter, duplicateKey, badEscape, badSyntax,
        // JSON values that are not requests
        noObject, hugeNumber, missingProperty, unknownProperty, escapedNUL,
        // Requests beyond a limit, for an app that is not configured, or with an expiration that the channel cannot
        // store
        longPayload, longCollapseID, unknownApp, broadcast,
        // Messages with unusual properties
        contentEncoding, noIdentity, oddAttempts, oddHeaders, oddProperties, nestedHeaders,
    ]

    private static func randomBytes(_ random: inout SeededRandom) -> BadMessage {
        while true {
            let bytes = random.bytes(1 + random.below(300))
            do throws(JSONError) {
                _ = try JSONDocument(bytes)
            } catch {
                return BadMessage("random bytes", bytes, "json", error.code.rawValue)
            }
        }
    }

    private static func truncated(_ random: inout SeededRandom) -> BadMessage {
        let text = request(&random)
        return BadMessage(
            "truncated", Array(text.utf8.prefix(1 + random.below(text.utf8.count - 1))), "json", "truncated")
    }

    private static func empty(_ random: inout SeededRandom) -> BadMessage {
        let space = (0..<max(0, random.below(40) - 10)).map { _ in Array(" \t\r\n".utf8)[random.below(4)] }
        return BadMessage("empty", space, "json", "empty")
    }

    private static func trailing(_ random: inout SeededRandom) -> BadMessage {
        let more = ["x", "}", "\0", " {}", "\n[]", ",", "\u{FEFF}"]
        return BadMessage("trailing", request(&random) + random.one(of: more), "json", "trailing")
    }

    private static func deepArrays(_ random: inout SeededRandom) -> BadMessage {
        let depth = random.one(of: [127, 128, 129, 1000, 20_000])
        let nest = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        return BadMessage("deep arrays", request(&random, ["payload": #"{"aps":\#(nest)}"#]), "json", "depth")
    }

    private static func deepObjects(_ random: inout SeededRandom) -> BadMessage {
        let depth = random.one(of: [129, 130, 1000, 20_000])
        return BadMessage("deep objects", String(repeating: #"{"a":"#, count: depth), "json", "depth")
    }

    private static func badNumber(_ random: inout SeededRandom) -> BadMessage {
        let number = random.one(of: [
            "00", "01", "-01", "1.", "1.e3", "1e", "1e+", "-", "--1", "0x10", "1.2.3", "1e5e5", "1_0",
        ])
        // The underscore ends the number, and is then an unexpected character.
        return BadMessage(
            "number \(number)", request(&random, ["priority": number]), "json", number == "1_0" ? "syntax" : "number")
    }

    private static func loneSurrogate(_ random: inout SeededRandom) -> BadMessage {
        let half = random.one(of: [
            #"\ud800"#, #"\uDFFF"#, #"\ud83dx"#, #"\ud800\u0041"#, #"\udc00\ud800"#, #"\uD83D\n"#,
        ])
        return BadMessage("surrogate", request(&random, alert: "a\(half)b"), "json", "surrogate")
    }

    private static func badUTF8(_ random: inout SeededRandom) -> BadMessage {
        let bytes: [UInt8] = random.one(of: [
            [0xED, 0xA0, 0x80], [0xC0, 0x80], [0xFF], [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82], [0x80], [0xF8, 0x88],
        ])
        return BadMessage("UTF-8", request(&random, alert: "a", bytes, "b"), "json", "utf8")
    }

    private static func nul(_ random: inout SeededRandom) -> BadMessage {
        switch random.below(4) {
        case 0: return BadMessage("NUL in a string", request(&random, alert: "a\0b"), "json", "control_character")
        case 1: return BadMessage("NUL in front", "\0" + request(&random), "json", "syntax")
        case 2: return BadMessage("NUL between", request(&random, ["priority": "\0 10"]), "json", "syntax")
        default: return BadMessage("NULs only", [UInt8](repeating: 0, count: 1 + random.below(2000)), "json", "syntax")
        }
    }

    private static func controlCharacter(_ random: inout SeededRandom) -> BadMessage {
        let byte = UInt8(1 + random.below(31))
        return BadMessage("control", request(&random, alert: "a", [byte], "b"), "json", "control_character")
    }

    private static func duplicateKey(_ random: inout SeededRandom) -> BadMessage {
        let key = random.one(of: ["app", #"\u0061pp"#, "payload", #"payl\u006Fad"#])
        let text = request(&random).dropLast() + #","\#(key)":1}"#
        return BadMessage("duplicate key", String(text), "json", "duplicate_key")
    }

    private static func badEscape(_ random: inout SeededRandom) -> BadMessage {
        let escape = random.one(of: [#"\x41"#, #"\u12G4"#, #"\'"#, #"\0"#, #"\U0041"#, #"\ "#])
        return BadMessage("escape", request(&random, alert: "a\(escape)b"), "json", "escape")
    }

    private static func badSyntax(_ random: inout SeededRandom) -> BadMessage {
        let text = random.one(of: [
            #"{"app":"a",}"#, #"{'app':'a'}"#, #"{app:"a"}"#, "// {}", "/* */{}", "{\"a\" 1}", "[1 2]", "[1,]", "nul ",
            "True", "NaN", "\u{FEFF}{}", "{\0\"\0", "+1", ".5", "%PDF-1.4", "<?xml version='1.0'?>", "]",
        ])
        return BadMessage("syntax \(text)", text, "json", "syntax")
    }

    private static func noObject(_ random: inout SeededRandom) -> BadMessage {
        let text = random.one(of: ["[]", "0", "-1e-999999999", #""""#, "null", "true", "[{}]", " \n7 "])
        return BadMessage("no object", text, "schema", "type")
    }

    private static func hugeNumber(_ random: inout SeededRandom) -> BadMessage {
        let digits = "1" + String(repeating: "0", count: 30 + random.below(3000))
        switch random.below(5) {
        case 0: return BadMessage("huge number", request(&random, ["priority": digits]), "schema", "enum")
        case 1: return BadMessage("huge number", request(&random, ["expiration": digits]), "schema", "maximum")
        case 2: return BadMessage("huge number", request(&random, ["expiration": "1e999999999"]), "schema", "maximum")
        case 3: return BadMessage("huge number", request(&random, ["registered_at": "-\(digits)"]), "schema", "minimum")
        default: return BadMessage("tiny number", request(&random, ["expiration": "1e-999999999"]), "schema", "type")
        }
    }

    private static func missingProperty(_ random: inout SeededRandom) -> BadMessage {
        let key = random.one(of: ["app", "push_type", "payload"])
        return BadMessage("without \(key)", request(&random, without: key), "schema", "required")
    }

    private static func unknownProperty(_ random: inout SeededRandom) -> BadMessage {
        let key = "x" + String(random.next(), radix: 36)
        return BadMessage("unknown property", request(&random, [key: "null"]), "schema", "additionalProperties")
    }

    private static func escapedNUL(_ random: inout SeededRandom) -> BadMessage {
        let key = random.one(of: ["collapse_id", "device_token", "id"])
        let text = #""ab\u0000cd""#
        return BadMessage("escaped NUL in \(key)", request(&random, [key: text]), "schema", "pattern")
    }

    private static func longPayload(_ random: inout SeededRandom) -> BadMessage {
        // `{"aps":{"alert":""}}` has 20 bytes.
        let alert = String(repeating: "a", count: 4096 - 20 + 1 + random.below(random.one(of: [2, 5000])))
        return BadMessage("long payload", request(&random, alert: alert), "limit", "payload")
    }

    private static func longCollapseID(_ random: inout SeededRandom) -> BadMessage {
        let id = String(repeating: "é", count: 33 + random.below(32))
        return BadMessage("long collapse_id", request(&random, ["collapse_id": #""\#(id)""#]), "limit", "collapse_id")
    }

    private static func unknownApp(_ random: inout SeededRandom) -> BadMessage {
        let app = "com.example." + String(random.next(), radix: 36)
        return BadMessage("unknown app", request(&random, ["app": #""\#(app)""#]), "app", "unknown")
    }

    private static func broadcast(_ random: inout SeededRandom) -> BadMessage {
        let text = request(
            &random,
            [
                "push_type": #""liveactivity""#, "channel_id": #""dHN0LXNyY2gtY2hubA==""#,
                "storage_policy": #""none""#, "expiration": "\(1 + random.below(9_999_999_999))",
                "payload": #"{"aps":{"timestamp":1750000000,"event":"update","content-state":{}}}"#,
            ], without: "device_token")
        return BadMessage("broadcast that cannot be stored", text, "schema", "const")
    }

    private static func contentEncoding(_ random: inout SeededRandom) -> BadMessage {
        var message = BadMessage("content-encoding", request(&random), "property", "content-encoding")
        let words = ["gzip", "deflate", "br", "x-gzip", "identity, gzip", "ZSTD", "snappy"].map { Array($0.utf8) }
        message.properties.contentEncoding = random.one(of: words)
        return message
    }

    private static func noIdentity(_ random: inout SeededRandom) -> BadMessage {
        var message = BadMessage("no id", request(&random, without: "id"), "property", "message-id")
        message.properties.messageID = random.one(of: [nil, []])
        return message
    }

    private static func oddAttempts(_ random: inout SeededRandom) -> BadMessage {
        let (value, attempts): (FieldValue, Int) = random.one(of: [
            (-1, 0), (.integer(.min), 0), (.integer(.max), 1_000_000), (2_000_000, 1_000_000), (3, 3), ("3", 0),
            (.double(-1e308), 0), (.double(3), 0), (true, 0), (.void, 0), (.timestamp(seconds: 3), 0),
            (.table(["push-attempt": 3]), 0), (.array([3]), 0), (.bytes([3]), 0),
        ])
        var message = BadMessage("push-attempt \(value)", "?", "json", "syntax")
        message.properties.addHeader("push-attempt", value)
        message.attempts = attempts
        return message
    }

    private static func oddHeaders(_ random: inout SeededRandom) -> BadMessage {
        var message = BadMessage("headers", "?", "json", "syntax")
        var table = WireWriter()
        for _ in 0..<(1 + random.below(20)) {
            let name = random.one(of: [
                random.bytes(random.below(20)), Array("traceparent".utf8), Array("tracestate".utf8),
                Array("push-possible-duplicate".utf8), Array("push-first-failed-at".utf8), Array("content-type".utf8),
            ])
            table.octet(UInt8(name.count))
            table.raw(name)
            switch random.below(4) {
            case 0:
                table.octet(UInt8(ascii: random.one(of: ["S", "x"])))
                table.longString(random.bytes(random.below(2000)))
            case 1:
                let (type, count): (Unicode.Scalar, Int) = random.one(of: [
                    ("b", 1), ("s", 2), ("I", 4), ("l", 8), ("f", 4), ("d", 8), ("T", 8), ("D", 5), ("t", 1), ("V", 0),
                ])
                table.octet(UInt8(ascii: type))
                // Clear the highest bit of the exponent, because Erlang cannot represent infinity or NaN.
                table.raw(
                    random.bytes(count).enumerated().map { $0 == 0 && "fd".contains(Character(type)) ? $1 & 0xBF : $1 })
            case 2:
                table.octet(UInt8(ascii: "F"))
                table.table(["a": .table(["b": .array([1, "c", .void])]), "a": 1])
            default:
                table.octet(UInt8(ascii: "A"))
                table.longString([])
            }
        }
        message.properties.headers = table.bytes
        return message
    }

    private static func oddProperties(_ random: inout SeededRandom) -> BadMessage {
        var message = BadMessage("properties", "?", "json", "syntax")
        func odd() -> [UInt8]? { random.one(of: [nil, [], random.bytes(1 + random.below(255)), random.bytes(255)]) }
        message.properties.contentType = odd()
        message.properties.deliveryMode = random.one(of: [nil, 1, 2])
        message.properties.priority = random.one(of: [nil, 0, 9, 255])
        message.properties.correlationID = odd()
        message.properties.replyTo = odd()
        message.properties.messageID = odd()
        message.properties.timestamp = random.one(of: [nil, 0, .max, 1 << 63, random.next()])
        message.properties.type = odd()
        message.properties.appID = odd()
        message.properties.clusterID = odd()
        return message
    }

    private static func nestedHeaders(_ random: inout SeededRandom) -> BadMessage {
        var message = BadMessage("nested headers", "?", "json", "syntax")
        message.properties.addNest(bytes: 1 << (4 + random.below(12)), ofTables: random.chance(percent: 50))
        message.properties.addHeader("push-attempt", 2)
        message.attempts = 2
        return message
    }

    private static func nestedToTheLimit() -> [BadMessage] {
        (0..<2).map { number in
            var message = BadMessage("headers nested to the frame's limit", "?", "json", "syntax")
            message.properties.addNest(bytes: message.properties.headerRoom, ofTables: number.isMultiple(of: 2))
            return message
        }
    }

    private static func large(_ random: inout SeededRandom) -> [BadMessage] {
        let size = bodyBytesMax
        func filled(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }
        let request = request(&random)
        let alert = filled("a", size - Self.request(&random, alert: "").utf8.count)
        var random = random
        let whole: [BadMessage] = [
            BadMessage("1 MiB of spaces", filled(" ", size), "json", "empty"),
            BadMessage("1 MiB of brackets", filled("[", size), "json", "depth"),
            BadMessage("1 MiB of digits", filled("1", size), "schema", "type"),
            BadMessage("1 MiB of one string", "\"" + filled("a", size - 1), "json", "truncated"),
            BadMessage("1 MiB of NUL", [UInt8](repeating: 0, count: size), "json", "syntax"),
            BadMessage("1 MiB of request", Self.request(&random, alert: alert), "limit", "payload"),
        ]
        let larger = [
            filled(" ", size + 1), filled("[", size + 1), request + filled(" ", size + 1 - request.utf8.count),
        ]
        .map { text in
            var message = BadMessage("1 MiB + 1", text, "size", "message_bytes")
            message.isOversized = true
            return message
        }
        return whole + larger
    }

    /// Returns the JSON of a valid request with changes.
    ///
    /// - Parameters:
    ///   - changes: Values in JSON that replace or extend the members.
    ///   - missing: The member to leave out.
    private static func request(
        _ random: inout SeededRandom, _ changes: KeyValuePairs<String, String> = [:], without missing: String = ""
    ) -> String {
        var members: [(key: String, value: String)] = [
            ("id", #""\#(random.uuid())""#), ("app", #""com.example.app""#), ("device_token", #""\#(random.token())""#),
            ("push_type", #""alert""#), ("priority", "10"), ("payload", #"{"aps":{"alert":"Hello"}}"#),
        ]
        for (key, value) in changes {
            if let index = members.firstIndex(where: { $0.key == key }) {
                members[index].value = value
            } else {
                members.append((key, value))
            }
        }
        members.removeAll { $0.key == missing }
        return "{" + members.map { #""\#($0.key)":\#($0.value)"# }.joined(separator: ",") + "}"
    }

    private static func request(_ random: inout SeededRandom, alert: String) -> String {
        request(&random, ["payload": #"{"aps":{"alert":"\#(alert)"}}"#])
    }

    private static func request(
        _ random: inout SeededRandom, alert front: String, _ bytes: [UInt8], _ back: String
    ) -> [UInt8] {
        let halves = request(&random, alert: "\(front)|\(back)").split(separator: "|", maxSplits: 1)
        return Array(halves[0].utf8) + bytes + Array(halves[1].utf8)
    }
}

/// A request of `schemas/examples/invalid`, with the schema keyword that it violates.
private struct BadExample {
    let message: BadMessage

    static func all() throws -> [BadExample] {
        let folder = "schemas/examples/invalid"
        return try Files.names(in: Products.file(folder)).filter { !$0.hasSuffix(".expected.json") }.map { name in
            let path = Products.file("\(folder)/\(name)")
            let expected = try JSONDocument(Files.bytes(of: path.dropLast(5) + ".expected.json")).root
            return BadExample(
                message: BadMessage(
                    name, try Files.bytes(of: path), "schema", expected["keyword"]?.string ?? "-"))
        }
    }
}

extension SeededRandom {
    fileprivate mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
    }

    fileprivate mutating func one<Element>(of choices: [Element]) -> Element { choices[below(choices.count)] }

    fileprivate mutating func token() -> String { hex(next()) + hex(next()) }

    fileprivate mutating func uuid() -> String {
        let digits = token()
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { range in
            String(digits.dropFirst(range.lowerBound).prefix(range.count))
        }.joined(separator: "-")
    }

    private func hex(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

/// Routing keys of what the worker publishes. AMQP allows 255 bytes.
enum RoutingKey {
    static let bytesMax = 255
    private static let wordBytesMax = 64
    /// Stands for the app where it could not be read.
    static let unknownApp = "-"

    static func result(_ outcome: Outcome, app: String?) -> String {
        ending("result.\(outcome.rawValue).", app)
    }

    /// Of a reply that nobody waits for any more; what takes every result takes it, too.
    static func channelReply(app: String?) -> String { ending("result.channel.", app) }

    static func dead(_ reason: DeadLetterReason, app: String?) -> String {
        ending("dead.\(word(reason.deadClass)).\(word(reason.code)).", app)
    }

    /// `app` at the end, cut to what the key still holds.
    private static func ending(_ prefix: String, _ app: String?) -> String {
        guard let app, isBundleID(app) else { return prefix + unknownApp }
        return prefix + String(decoding: app.utf8.prefix(bytesMax - prefix.utf8.count), as: UTF8.self)
    }

    /// A bundle ID's characters; anything else could not be bound for.
    private static func isBundleID(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    /// One word of a key: no dots, nothing that a binding could not name, at most `wordBytesMax`.
    private static func word(_ text: String) -> String {
        let bytes = text.utf8.prefix(wordBytesMax).map { byte in
            switch byte {
            case UInt8(ascii: "."), 0...0x20, UInt8(ascii: "*"), UInt8(ascii: "#"), 0x7F...: UInt8(ascii: "-")
            default: byte
            }
        }
        return bytes.isEmpty ? unknownApp : String(decoding: bytes, as: UTF8.self)
    }
}

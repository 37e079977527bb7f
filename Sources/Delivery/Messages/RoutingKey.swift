/// The routing keys of results, replies, dead letters, and messages about registrations. AMQP allows 255 bytes.
enum RoutingKey {
    static let bytesMax = 255
    private static let wordBytesMax = 64
    /// The replacement for an app that could not be read or is not a bundle ID, and for an empty word.
    static let unknownApp = "-"

    static func result(_ outcome: Outcome, app: String?) -> String {
        key("result.\(outcome.rawValue).", app)
    }

    /// Returns the key of a reply that could not be delivered to the requester. Bindings for all results match this
    /// key.
    static func channelReply(app: String?) -> String { key("result.channel.", app) }

    /// Returns the key of an event about a registration, and of a reply that could not be delivered to the requester.
    static func registration(app: String?) -> String { key("result.registration.", app) }

    /// Returns the key of a command that a worker publishes to the registrations exchange.
    static func registrationCommand(app: String?) -> String { key("registration.", app) }

    static func dead(_ reason: DeadLetterReason, app: String?) -> String {
        key("dead.\(word(reason.deadClass)).\(word(reason.code)).", app)
    }

    /// Returns the prefix followed by the app. The app is truncated so that the key has at most `bytesMax` bytes.
    private static func key(_ prefix: String, _ app: String?) -> String {
        guard let app, isBundleID(app) else { return prefix + unknownApp }
        return prefix + String(decoding: app.utf8.prefix(bytesMax - prefix.utf8.count), as: UTF8.self)
    }

    /// Returns whether the text is nonempty and has only the characters of a bundle ID.
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

    /// Returns one word of a key, of at most `wordBytesMax` bytes. A hyphen replaces each dot, wildcard, space, control
    /// character and non-ASCII byte.
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

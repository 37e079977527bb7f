import EventLoop

/// Why something is not sent for now.
public struct HoldReason: Sendable, Hashable {
    /// One word for routing keys and headers: APNs' reason, `unreachable`, `certificate`, `failing`, `unanswered`,
    /// `token`, `certificate-refused` or `paused`; of a push that no connection took `no-connection`, `overloaded` or
    /// `refused-stream`; of one that its app's limits kept back `app-limit`.
    public var code: String
    /// For operators: what was seen, and what may mend it.
    public var sentence: String

    static let paused = HoldReason("paused", "An operator has paused it, until martlet resume or a restart.")

    static let appLimit = HoldReason(
        "app-limit",
        "Its app has more to push than limits of the configuration allow: publish less of it, raise them, or start more "
            + "workers.")

    init(_ code: String, _ sentence: String) {
        self.code = code
        self.sentence = sentence
    }
}

extension HoldReason {
    /// No connection could be opened.
    init(_ error: TransportError) {
        switch error.code {
        case .certificate:
            self.init(
                "certificate",
                "\(error.message): look who signed it (openssl s_client -showcerts), at ca-certificates and the clock")
        case .proxy:
            self.init(
                "unreachable", "\(error.message): look at apns.proxy or HTTPS_PROXY, and at what the proxy allows")
        default:
            self.init(
                "unreachable",
                "\(error.message): look at DNS and firewalls from here, and at https://developer.apple.com/system-status"
            )
        }
    }
}

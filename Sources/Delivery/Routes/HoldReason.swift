import EventLoop

/// The reason why pushes are held.
public struct HoldReason: Sendable, Hashable {
    /// The code for routing keys and headers:
    ///
    /// - For a breaker or a pause: APNs' reason, `unreachable`, `certificate`, `failing`, `unanswered`, `token`,
    ///   `certificate-refused` or `paused`.
    /// - For a push that no connection accepted: `no-connection`, `overloaded` or `refused-stream`.
    /// - For the limits of the app: `app-limit`.
    /// - For the store of registrations: `store-unreachable`, `store-refused`, `store-schema` or `store-keys`.
    /// - For a request queue that refuses requests: `fanout`.
    public var code: String
    /// The failure, with a remedy if one is known, for operators.
    public var sentence: String

    static let paused = HoldReason("paused", "Paused by an operator. For the command to resume, run: martlet status")

    static let appLimit = HoldReason(
        "app-limit",
        "The app has more to push than its configured limits allow: publish less, raise the limits, or start more "
            + "workers.")

    static let fanout = HoldReason(
        "fanout",
        "The request queue accepts no requests to the devices: the queue is full, or no binding leads to it. Consume "
            + "from the queue, raise its limit, or run: martlet topology apply")

    init(_ code: String, _ sentence: String) {
        self.code = code
        self.sentence = sentence
    }

    /// Returns the reason with completed commands in its remedy (`LaneConfiguration.completeRemedy`).
    func completed(by completeRemedy: (String) -> String) -> HoldReason {
        HoldReason(code, completeRemedy(sentence))
    }
}

extension HoldReason {
    /// Creates the reason for a connection that could not be opened.
    init(_ error: TransportError) {
        switch error.code {
        case .certificate:
            self.init(
                "certificate",
                "\(error.message): check the certificate's issuer (openssl s_client -showcerts), the package "
                    + "ca-certificates, and the clock of the worker's machine")
        case .proxy:
            self.init(
                "unreachable", "\(error.message): check apns.proxy or HTTPS_PROXY, and the rules of the proxy")
        default:
            self.init(
                "unreachable",
                "\(error.message): check DNS and firewalls on this host, and https://developer.apple.com/system-status"
            )
        }
    }
}

import APNS
import APNSProtocol
import EventLoop

/// The findings from one push's outcome about its endpoint, credential and topic.
struct RouteAttribution: Sendable, Hashable {
    enum Finding: Sendable, Hashable {
        /// Evidence that the scope works.
        case good
        /// Evidence that the scope fails, for this reason.
        case bad(HoldReason)
        /// No evidence about the scope.
        case nothing
    }

    var endpoint = Finding.nothing
    var credential = Finding.nothing
    var topic = Finding.nothing
    /// The number of the connection that carried the push, within its pool.
    var connection = 0

    static let allGood = RouteAttribution(endpoint: .good, credential: .good, topic: .good)

    init(_ outcome: PushOutcome) {
        switch outcome {
        case .answered(let answer):
            self.init(answer)
        case .notSent(.noToken):
            let cause = HoldReason(
                "token", "Cannot sign a provider token with this key: check the clock of the worker's machine.")
            self.init(endpoint: .nothing, credential: .bad(cause), topic: .nothing)
        case .notSent(.certificateRefused(let refusal)):
            self.init(endpoint: .nothing, credential: .bad(HoldReason(refusal)), topic: .nothing)
        case .unknown(.connectionLost, _):
            // The pool counts connections that end unanswered (`PoolEvent.endedUnanswered`).
            self.init(endpoint: .nothing, credential: .nothing, topic: .nothing)
        case .unknown(_, let connection?), .notSent(.notWritten(let connection?)):
            self.init(endpoint: .bad(.unanswered), credential: .nothing, topic: .nothing)
            self.connection = connection
        case .notSent, .unknown:
            self.init(endpoint: .nothing, credential: .nothing, topic: .nothing)
        }
    }

    private init(endpoint: Finding, credential: Finding, topic: Finding) {
        self.endpoint = endpoint
        self.credential = credential
        self.topic = topic
    }

    private init(_ answer: PushAnswer) {
        guard answer.status != 200 else {
            self = .allGood
            return
        }
        connection = answer.connection
        let verdict = AnswerVerdict(answer)
        switch verdict.scope {
        case .message:
            // APNs may not have checked the topic. A 403 whose reason is not about the credential proves nothing about
            // the credential.
            (endpoint, credential) = (.good, answer.status == 403 ? .nothing : .good)
        case .target:
            (endpoint, credential, topic) = (.good, .good, .good)
        case .topic:
            (endpoint, credential, topic) = (.good, .good, .bad(HoldReason(answer)))
        case .credential:
            (endpoint, credential) = (.good, .bad(HoldReason(answer)))
        case .connection:
            // The reason also occurs on new connections, so it concerns the key.
            if answer.reason == .unrelatedKeyIDInToken { credential = .bad(HoldReason(answer)) }
        case .endpoint:
            endpoint = .bad(HoldReason(failing: answer))
        }
    }
}

extension AnswerVerdict {
    init(_ answer: PushAnswer) {
        self.init(status: answer.status, reason: answer.reason, isFromAPNS: answer.isFromAPNS)
    }
}

extension HoldReason {
    init(_ refusal: CertificateRefusal) {
        switch refusal {
        case .handshake(let message): self.init("certificate-refused", "\(message). \(Self.certificateAdvice)")
        case .goAway(let reason):
            self.init(reason.text, "APNs ended the connection with \(reason.text). \(Self.certificateAdvice)")
        }
    }

    private static let certificateAdvice =
        "Check under Certificates in Apple's developer account that the certificate is for this environment, has not "
        + "expired and was not revoked."

    static let unansweredCode = "unanswered"

    fileprivate static let unanswered = HoldReason(
        unansweredCode,
        "Connections open, but no push is answered. Check that apns.endpoints names APNs, and "
            + "check any proxy or firewall on the path.")

    /// Creates the reason for several consecutive connections that ended with pushes in flight and without any answer.
    ///
    /// - Parameter error: The error of the last connection.
    init(endedUnanswered error: TransportError) {
        self.init(
            Self.unansweredCode,
            "Connections open, but end before a push is answered (\(error.message)). If another credential "
                + "works at this endpoint, check that this credential was not revoked and is for this environment. "
                + "Otherwise check that apns.endpoints names APNs, and check any proxy or firewall on the path.")
    }

    fileprivate init(_ answer: PushAnswer) {
        let sentence =
            switch answer.reason {
            case .expiredProviderToken:
                "APNs treats new provider tokens as expired: check the clock of the worker's machine."
            case .badEnvironmentKeyIDInToken:
                "The key is not for this environment: under apns.keys, set environments to the key's environment."
            case .badCertificate, .badCertificateEnvironment: Self.certificateAdvice
            case .featureNotEnabled:
                "Broadcasts are not enabled for the app: enable the capability at its identifier in Apple's developer "
                    + "account."
            case .topicDisallowed, .topicMismatch:
                "APNs refuses the topic, even for the first push of a new connection: check in Apple's developer "
                    + "account that the app belongs to the team and has push enabled."
            default:
                "APNs refuses the credential: check the key ID and team ID of a key, and in Apple's developer account "
                    + "that the credential was not revoked."
            }
        self.init(answer.code, "\(answer.summary) \(sentence)")
    }

    fileprivate init(failing answer: PushAnswer) {
        self.init(
            "failing",
            "\(answer.summary) Several requests over several connections received such answers: check "
                + "https://developer.apple.com/system-status, and any proxy on the path.")
    }
}

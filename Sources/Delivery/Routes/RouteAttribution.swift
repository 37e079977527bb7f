import APNS
import APNSProtocol
import EventLoop

/// What the outcome of one push says of the endpoint, the credential and the topic that it went by (design: scopes).
struct RouteAttribution: Sendable, Hashable {
    enum Finding: Sendable, Hashable {
        /// It works.
        case good
        case bad(HoldReason)
        case nothing
    }

    var endpoint = Finding.nothing
    var credential = Finding.nothing
    var topic = Finding.nothing
    /// Which connection of the pool answered, or did not.
    var connection = 0

    static let allGood = RouteAttribution(endpoint: .good, credential: .good, topic: .good)

    init(_ outcome: PushOutcome) {
        switch outcome {
        case .answered(let answer):
            self.init(answer)
        case .notSent(.noToken):
            let cause = HoldReason(
                "token", "No provider token can be signed with this key: is the machine's clock right?")
            self.init(endpoint: .nothing, credential: .bad(cause), topic: .nothing)
        case .notSent(.certificateRefused(let refusal)):
            self.init(endpoint: .nothing, credential: .bad(HoldReason(refusal)), topic: .nothing)
        case .unknown(.connectionLost, _):
            // The pool counts such connections (`PoolEvent.endedUnanswered`).
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
            // Whether the topic is allowed may not have been looked at.
            // A 403 without a word about the credential shows nothing of it either.
            (endpoint, credential) = (.good, answer.status == 403 ? .nothing : .good)
        case .target:
            (endpoint, credential, topic) = (.good, .good, .good)
        case .topic:
            (endpoint, credential, topic) = (.good, .good, .bad(HoldReason(answer)))
        case .credential:
            (endpoint, credential) = (.good, .bad(HoldReason(answer)))
        case .connection:
            // It comes on new connections, too: then it is about the key.
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
        "Was the certificate revoked, has it expired, is it for this environment? Look at Certificates in Apple's "
        + "developer account."

    static let unansweredCode = "unanswered"

    fileprivate static let unanswered = HoldReason(
        unansweredCode,
        "Connections open and stay silent: no push on them is answered. Check that apns.endpoints names APNs, and any "
            + "proxy or firewall on the path.")

    /// Several connections in a row ended with a push in flight, the last by this error, and none was answered.
    init(endedUnanswered error: TransportError) {
        self.init(
            Self.unansweredCode,
            "Connections open, and end before a push on them is answered (\(error.message)). If another credential works "
                + "there, check that this one was not revoked and is for this environment. Otherwise check that "
                + "apns.endpoints names APNs, and any proxy or firewall on the path.")
    }

    fileprivate init(_ answer: PushAnswer) {
        let sentence =
            switch answer.reason {
            case .expiredProviderToken:
                "APNs takes new provider tokens for expired: is the machine's clock right?"
            case .badEnvironmentKeyIDInToken:
                "The key is not for this environment: pin it to the one it is for."
            case .badCertificate, .badCertificateEnvironment: Self.certificateAdvice
            case .featureNotEnabled:
                "Broadcasts are not enabled for the app: switch the capability on at its identifier in Apple's developer "
                    + "account."
            case .topicDisallowed, .topicMismatch:
                "APNs refuses the topic, on a connection that begins with it too: is the app enabled for the team? Look at "
                    + "its identifier in Apple's developer account."
            default:
                "APNs refuses the credential: was it revoked, are its key ID and team ID right? Look at Keys in Apple's "
                    + "developer account."
            }
        self.init(answer.code, "\(answer.told) \(sentence)")
    }

    fileprivate init(failing answer: PushAnswer) {
        self.init("failing", "\(answer.told) So it was with several messages over several connections.")
    }
}

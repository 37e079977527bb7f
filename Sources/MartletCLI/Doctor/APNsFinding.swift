import APNS
import APNSProtocol
import EventLoop

/// What an answer to a push that nobody can get says of the way to APNs, the key and the app.
enum APNsFinding: Equatable {
    /// The key and the app are in order.
    case taken(String)
    /// A broadcast is judged; whether the app has any enabled is its own affair.
    case broadcastTaken(String)
    case takesAnyDevice
    case clock
    case credential(String)
    case environment(String)
    case topic(String)
    case tokensTooOften
    case troubled(String)
    case unanswered
    case stranger(Int)
    case unreachable(TransportError?)

    init(_ outcome: PushOutcome, reason: TransportError?, ofBroadcast: Bool = false) {
        switch outcome {
        case .notSent(.noConnection), .notSent(.draining), .notSent(.overloaded), .notSent(.expired):
            self = .unreachable(reason)
        case .notSent(.certificateRefused(.handshake(let message))): self = .credential(message)
        case .notSent(.certificateRefused(.goAway(let reason))): self = Self.finding(reason, ofBroadcast)
        case .notSent(let why): self = .troubled("\(why)")
        case .unknown(.timedOut, _): self = .unanswered
        case .unknown(let why, _): self = .troubled(why.description)
        case .answered(let answer): self = Self.finding(answer, ofBroadcast)
        }
    }

    private static func finding(_ answer: PushAnswer, _ isBroadcast: Bool) -> APNsFinding {
        guard answer.isFromAPNS else { return .stranger(answer.status) }
        guard let reason = answer.reason else {
            return answer.status == 200 ? .takesAnyDevice : .troubled("status \(answer.status)")
        }
        return finding(reason, isBroadcast, status: "\(answer.status) ")
    }

    private static func finding(_ reason: Reason, _ isBroadcast: Bool, status: String = "") -> APNsFinding {
        let text = reason.text
        return switch reason {
        case .badDeviceToken, .deviceTokenNotForTopic, .unregistered, .expiredToken: .taken(text)
        case .badChannelID, .channelNotRegistered: .broadcastTaken(text)
        case .featureNotEnabled where isBroadcast: .broadcastTaken(text)
        case .expiredProviderToken: .clock
        case .invalidProviderToken, .missingProviderToken, .forbidden, .unrelatedKeyIDInToken, .badCertificate:
            .credential(text)
        case .badEnvironmentKeyIDInToken, .badCertificateEnvironment: .environment(text)
        case .badTopic, .missingTopic, .topicDisallowed, .topicMismatch, .featureNotEnabled: .topic(text)
        case .tooManyProviderTokenUpdates: .tokensTooOften
        default: .troubled(status + text)
        }
    }

    /// Whether another app with the same key at the same place would hear the same.
    var isOfAllApps: Bool {
        switch self {
        case .clock, .credential, .environment, .tokensTooOften, .stranger, .unanswered, .unreachable: true
        case .taken, .broadcastTaken, .takesAnyDevice, .topic, .troubled: false
        }
    }

    func line(app: String, credential: Credential.Name, place: String) -> DoctorLine {
        let check = "apns"
        switch self {
        case .taken(let reason):
            return .ok(check, "\(app): \(place) takes \(credential), and refuses a device that no one has (\(reason))")
        case .broadcastTaken(let reason):
            return .ok(check, "\(app): \(place) takes \(credential), and refuses a channel that no one has (\(reason))")
        case .takesAnyDevice:
            return .warning(
                check, "\(app): \(place) takes \(credential), and a device that no one has as well",
                remedy: "what answers there is not Apple's, which is right for a simulator only")
        case .clock:
            return .failure(
                check, "\(place): the provider token of \(credential) is out of its time (ExpiredProviderToken)",
                remedy: "the clock of this machine is wrong: set it by NTP")
        case .credential(let reason):
            return .failure(
                check, "\(place): \(credential) is refused (\(reason))",
                remedy: credential.isKey
                    ? "do key_id, team_id and the .p8 file belong together, is the key not revoked, is the clock right?"
                    : "was it revoked, has it expired? Make a new one in Apple's developer account")
        case .environment(let reason):
            return .failure(
                check, "\(place): \(credential) is not of this environment (\(reason))",
                remedy: credential.isKey
                    ? "say so as environments of the key, or take a key that Apple made for both"
                    : "take the certificate that Apple made for this environment")
        case .topic(let reason):
            return .failure(
                check, "\(app): \(place) refuses this app with \(credential) (\(reason))",
                remedy:
                    "is the bundle ID right, is the credential of the team that owns the app, and may the app be pushed to?"
            )
        case .tokensTooOften:
            return .warning(
                check, "\(place): \(credential) has shown new tokens too often (TooManyProviderTokenUpdates)",
                remedy: "ask again in 20 minutes")
        case .unanswered:
            return .failure(
                check, "\(place): no answer in time, with \(credential)",
                remedy: "ask again; if it stays so, look at Apple's system status")
        case .troubled(let reason):
            return .failure(
                check, "\(app): \(place): \(reason)", remedy: "ask again; if it stays so, look at Apple's system status"
            )
        case .stranger(let status):
            return .failure(
                check, "\(place): what answers there (\(status)) is not APNs",
                remedy: "a proxy or firewall on the way? Ports 443 and 2197 must lead to Apple unchanged")
        case .unreachable(let error):
            return .failure(
                check, error?.message ?? "\(place): no connection",
                remedy: "is there a way from here to APNs at this port, and does its certificate verify?")
        }
    }
}

extension Credential.Name {
    fileprivate var isKey: Bool {
        switch self {
        case .key: true
        case .certificate: false
        }
    }
}

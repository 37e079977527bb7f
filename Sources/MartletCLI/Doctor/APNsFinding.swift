import APNS
import APNSProtocol
import EventLoop

/// The result of a test push to a nonexistent device or channel. It shows whether the network path, the credential
/// and the app are usable.
enum APNsFinding: Equatable {
    /// A refusal of only the nonexistent device. APNs accepts the credential and the topic.
    case accepted(String)
    /// The equivalent of `accepted` for a broadcast. It does not show whether the app has enabled broadcasts.
    case broadcastAccepted(String)
    case acceptsAnyDevice
    case clock
    case credential(String)
    case environment(String)
    case topic(String)
    case tokensTooOften
    case failed(String)
    case unanswered
    case foreignResponse(Int)
    case unreachable(TransportError?)

    init(_ outcome: PushOutcome, reason: TransportError?, ofBroadcast: Bool = false) {
        switch outcome {
        case .notSent(.noConnection), .notSent(.draining), .notSent(.overloaded), .notSent(.expired):
            self = .unreachable(reason)
        case .notSent(.certificateRefused(.handshake(let message))): self = .credential(message)
        case .notSent(.certificateRefused(.goAway(let reason))): self = Self.finding(reason, ofBroadcast)
        case .notSent(let why): self = .failed("\(why)")
        case .unknown(.timedOut, _): self = .unanswered
        case .unknown(let why, _): self = .failed(why.description)
        case .answered(let answer): self = Self.finding(answer, ofBroadcast)
        }
    }

    private static func finding(_ answer: PushAnswer, _ isBroadcast: Bool) -> APNsFinding {
        guard answer.isFromAPNS else { return .foreignResponse(answer.status) }
        guard let reason = answer.reason else {
            return answer.status == 200 ? .acceptsAnyDevice : .failed("status \(answer.status)")
        }
        return finding(reason, isBroadcast, status: "\(answer.status) ")
    }

    private static func finding(_ reason: Reason, _ isBroadcast: Bool, status: String = "") -> APNsFinding {
        let text = reason.text
        return switch reason {
        case .badDeviceToken, .deviceTokenNotForTopic, .unregistered, .expiredToken: .accepted(text)
        case .badChannelID, .channelNotRegistered: .broadcastAccepted(text)
        case .featureNotEnabled where isBroadcast: .broadcastAccepted(text)
        case .expiredProviderToken: .clock
        case .invalidProviderToken, .missingProviderToken, .forbidden, .unrelatedKeyIDInToken, .badCertificate:
            .credential(text)
        case .badEnvironmentKeyIDInToken, .badCertificateEnvironment: .environment(text)
        case .badTopic, .missingTopic, .topicDisallowed, .topicMismatch, .featureNotEnabled: .topic(text)
        case .tooManyProviderTokenUpdates: .tokensTooOften
        default: .failed(status + text)
        }
    }

    /// Whether every other app with the same credential and endpoint would get the same finding.
    var isOfAllApps: Bool {
        switch self {
        case .clock, .credential, .environment, .tokensTooOften, .foreignResponse, .unanswered, .unreachable: true
        case .accepted, .broadcastAccepted, .acceptsAnyDevice, .topic, .failed: false
        }
    }

    func line(app: String, credential: Credential.Name, place: String) -> DoctorLine {
        let check = "apns"
        switch self {
        case .accepted(let reason):
            return .ok(check, "\(app): \(place) accepts \(credential) and refuses a nonexistent device (\(reason))")
        case .broadcastAccepted(let reason):
            return .ok(check, "\(app): \(place) accepts \(credential) and refuses a nonexistent channel (\(reason))")
        case .acceptsAnyDevice:
            return .warning(
                check, "\(app): \(place) accepts \(credential), and also a nonexistent device",
                remedy: "expected only of a simulator; for Apple's servers, correct apns.endpoints")
        case .clock:
            return .failure(
                check, "\(place): the provider token of \(credential) is expired (ExpiredProviderToken)",
                remedy: "synchronize this machine's clock by NTP")
        case .credential(let reason):
            return .failure(
                check, "\(place): \(credential) refused (\(reason))",
                remedy: credential.isKey
                    ? "check that key_id and team_id match the .p8 file, that the key is not revoked, and that this "
                        + "machine's clock is correct"
                    : "if the certificate has expired or was revoked, create a new certificate in Apple's developer "
                        + "account")
        case .environment(let reason):
            return .failure(
                check, "\(place): \(credential) is not valid in this environment (\(reason))",
                remedy: credential.isKey
                    ? "under apns.keys, set environments to the environment of this key, or use a key for both environments"
                    : "use a certificate for this environment")
        case .topic(let reason):
            return .failure(
                check, "\(app): \(place) refuses this app with \(credential) (\(reason))",
                remedy:
                    "check the bundle ID, the team of the credential, and the app's push capability"
            )
        case .tokensTooOften:
            return .warning(
                check, "\(place): \(credential) has changed its token too often (TooManyProviderTokenUpdates)",
                remedy: "in 20 minutes, run: martlet doctor")
        case .unanswered:
            return .failure(
                check, "\(place): request with \(credential) timed out",
                remedy: "to check again, run: martlet doctor; if the check fails again, see Apple's system status")
        case .failed(let reason):
            return .failure(
                check, "\(app): \(place): \(reason)",
                remedy: "to check again, run: martlet doctor; if the check fails again, see Apple's system status"
            )
        case .foreignResponse(let status):
            return .failure(
                check, "\(place): the response (status \(status)) is not from APNs",
                remedy: "check that proxies and firewalls pass connections to ports 443 and 2197 unchanged")
        case .unreachable(let error):
            return .failure(
                check, error?.message ?? "\(place): no connection",
                remedy: "check that the network allows connections to this port, and that this machine trusts the "
                    + "server's certificate")
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

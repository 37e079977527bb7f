import APNS
import APNSProtocol

extension PushAnswer {
    /// The code for routing keys. It is the reason if the reason is known, and `status-<status>` otherwise. The code
    /// never contains text from a peer.
    var code: String {
        switch reason {
        case nil, .unknown: "status-\(status)"
        case let reason?: reason.knownText.description
        }
    }

    /// A sentence for operators. Undocumented reasons are redacted.
    var summary: String {
        switch reason {
        case nil: "The answer has status \(status) and no reason."
        case .unknown(let text):
            isFromAPNS
                ? "APNs answered \(status) \(RedactedText.sentence(text))."
                : "A server other than APNs answered \(status): \(RedactedText.sentence(text))."
        case let reason?: "APNs answered \(status) \(reason.knownText)."
        }
    }

    /// The summary, followed by the meaning and remedy of the reason if the reason is known.
    var explained: String { reason?.explanation.map { "\(summary) \($0)" } ?? summary }
}

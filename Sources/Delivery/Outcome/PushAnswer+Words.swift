import APNS
import APNSProtocol

extension PushAnswer {
    /// One word for routing keys: a reason that Apple lists, else the status; never foreign text.
    var code: String {
        switch reason {
        case nil, .unknown: "status-\(status)"
        case let reason?: reason.knownText.description
        }
    }

    /// A sentence for operators; what somebody between wrote is cleaned.
    var told: String {
        switch reason {
        case nil: "APNs answered \(status) without a reason."
        case .unknown(let text):
            isFromAPNS
                ? "APNs answered \(status) \(RedactedText.sentence(text))."
                : "Something that is not APNs answered \(status): \(RedactedText.sentence(text))."
        case let reason?: "APNs answered \(status) \(reason.knownText)."
        }
    }

    /// The same with what it means and what to do, where no cause of a breaker says so.
    var explained: String { reason?.explanation.map { "\(told) \($0)" } ?? told }
}

import AdminHTTP
import History
import JSON

/// The body of a request to reveal one value of the history.
struct RevealRequest: Sendable, Equatable {
    private static let depthMax = 4
    /// Maximum number of samples of a group that an answer contains.
    private static let samplesMax = 20

    enum Subject: Sendable, Equatable {
        /// The device token of a request.
        case token(HistoryPosition)
        /// The body of a dead letter's sample.
        ///
        /// - Parameters:
        ///   - index: the place among the samples of the group.
        ///   - at: the time of the sample, because a newer sample may have taken its place; nil for any.
        case payload(group: Int64, index: Int, at: Int64?)
    }

    var subject: Subject
    var why: String?

    init(_ body: [UInt8]) throws(AdminError) {
        let limits = JSONLimits(bytesMax: body.count, depthMax: Self.depthMax)
        guard let root = try? JSONDocument(body, limits: limits).root, root.kind == .object else {
            throw Self.invalid("the body must be a JSON object")
        }
        switch root["kind"]?.string {
        case "token":
            guard let key = root["request"]?.string.flatMap({ HistoryRequest.position($0) }) else {
                throw Self.invalid("request must be the member key of a request")
            }
            subject = .token(key)
        case "payload":
            guard let text = root["group"]?.string, let group = Int64(text), "\(group)" == text else {
                throw Self.invalid("group must be the member group of an answer")
            }
            guard let index = root["index"]?.int, 0..<Self.samplesMax ~= index else {
                throw Self.invalid("index must be a whole number from 0 to \(Self.samplesMax - 1)")
            }
            subject = .payload(group: group, index: index, at: root["at"]?.int64)
        default: throw Self.invalid("kind must be token or payload")
        }
        why = root["why"]?.string
    }

    private static func invalid(_ sentence: String) -> AdminError { AdminError(400, sentence, code: "invalid") }
}

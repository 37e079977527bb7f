import ControlProtocol
package import Crypto
import JSON

/// The members of a result message that the history keeps. A malformed member counts as missing.
package struct ResultRecord: Sendable, Hashable {
    /// The identity of the request; nil if it is unreadable.
    package var id: UUIDValue?
    package var app: String?
    package var deviceToken: String?
    package var user: String?
    package var outcome: String
    package var status: Int?
    /// The reason of APNs.
    package var reason: String?
    package var attempts: Int
    package var receivedAt: Int64?
    package var sentAt: Int64?
    package var finishedAt: Int64
    package var publishedAt: Int64?
    /// The request queue.
    package var queue: String?
    package var pushType: String?
    package var worker: String?
    package var isDuplicate = false
    package var isPossibleDuplicate = false
    package var failure: Failure?
    package var history: [ResultEvent] = []

    /// The member `error`.
    package struct Failure: Sendable, Hashable {
        package var failureClass: String
        package var code: String
        package var path: String?
        package var message: String?

        package init(failureClass: String, code: String, path: String? = nil, message: String? = nil) {
            self.failureClass = failureClass
            self.code = code
            self.path = path
            self.message = message
        }
    }

    package init(outcome: String, finishedAt: Int64, attempts: Int = 1) {
        self.outcome = outcome
        self.finishedAt = finishedAt
        self.attempts = attempts
    }

    /// The outcomes of results. Files contain the position of an outcome in this list.
    package static let outcomes = ["accepted", "rejected", "expired", "invalid", "unknown"]

    /// Reads the body of a result message. Returns nil if it is not JSON, or has no known outcome or completion time.
    ///
    /// - Parameter parser: its memory is used for the body.
    init?(_ body: [UInt8], _ parser: JSONParser) {
        guard let root = try? parser.parse(body) else { return nil }
        self.init(root)
    }

    /// Reads the body of a result message.
    package init?(_ body: [UInt8]) { self.init(body, JSONParser()) }

    private init?(_ json: JSONValue) {
        guard let outcome = json["outcome"]?.text(JournalLimits.codeBytesMax), Self.outcomes.contains(outcome),
            let finishedAt = json["finished_at"]?.time
        else { return nil }
        self.init(outcome: outcome, finishedAt: finishedAt, attempts: json["attempts"]?.count() ?? 0)
        id = json["id"]?.withUTF8 { UUIDValue($0) } ?? nil
        app = json["app"]?.text(JournalLimits.appBytesMax)
        deviceToken = json["device_token"]?.text(JournalLimits.tokenBytesMax)
        user = json["user"]?.text(JournalLimits.userBytesMax)
        status = json["status"]?.count(999)
        reason = json["reason"]?.text(JournalLimits.codeBytesMax)
        receivedAt = json["received_at"]?.time
        sentAt = json["sent_at"]?.time
        publishedAt = json["published_at"]?.time
        queue = json["queue"]?.text(FleetLimits.queueBytesMax)
        pushType = json["push_type"]?.text(JournalLimits.codeBytesMax)
        worker = json["worker"]?.text(FleetLimits.workerBytesMax)
        isDuplicate = json["duplicate"]?.bool ?? false
        isPossibleDuplicate = json["possible_duplicate"]?.bool ?? false
        if let error = json["error"] { failure = Failure(error) }
        if let entries = json["history"] { history = Self.events(entries) }
    }

    static func events(_ json: JSONValue) -> [ResultEvent] {
        json.elements.prefix(ResultEvent.eventsMax).compactMap { ResultEvent($0) }
    }

    /// The cause of a failure: the code of the error, or the reason of APNs; nil without a failure.
    package var code: String? { failure?.code ?? (outcome == "accepted" ? nil : reason) }
}

extension ResultRecord.Failure {
    private static let messageBytesMax = 2000

    init?(_ json: JSONValue) {
        guard let failureClass = json["class"]?.text(JournalLimits.codeBytesMax),
            let code = json["code"]?.text(JournalLimits.codeBytesMax)
        else { return nil }
        self.init(
            failureClass: failureClass, code: code, path: json["path"]?.text(JournalLimits.pathBytesMax),
            message: json["message"]?.text(Self.messageBytesMax))
    }
}

package import Crypto
import JSON

/// The line of a request that waits in a wait queue. It is the first wait, or has another reason than the previous one.
package struct JournalWait: Sendable, Hashable {
    /// The start of the wait, in UNIX milliseconds.
    package var at: Int64
    /// The identity of the request.
    package var id: UUIDValue
    package var app: String
    package var deviceToken: String?
    package var user: String?
    /// The reason for the wait, such as `InvalidProviderToken`.
    package var code: String
    package var sentence: String?
    package var attempts: Int
    /// The wait queue.
    package var queue: String
    /// The end of the wait, in UNIX milliseconds.
    package var until: Int64

    package init(
        at: Int64, id: UUIDValue, app: String, deviceToken: String? = nil, user: String? = nil, code: String,
        sentence: String? = nil, attempts: Int, queue: String, until: Int64
    ) {
        self.at = at
        self.id = id
        self.app = app
        self.deviceToken = deviceToken
        self.user = user
        self.code = code
        self.sentence = sentence
        self.attempts = attempts
        self.queue = queue
        self.until = until
    }

    static let codec = ObjectCodec(
        "a wait",
        from: Self(
            at: 0, id: UUIDValue(high: 0, low: 0), app: "", code: "", attempts: 0, queue: "", until: 0),
        ignoresUnknown: true,
        [
            .required("at", \.at, .int(FleetLimits.times)),
            .required("id", \.id, .uuid),
            .required("app", \.app, .text(1...JournalLimits.appBytesMax)),
            .optional("device_token", \.deviceToken, .text(1...JournalLimits.tokenBytesMax)),
            .optional("user", \.user, .text(1...JournalLimits.userBytesMax)),
            .required("code", \.code, .printable(bytesMax: JournalLimits.codeBytesMax)),
            .optional("sentence", \.sentence, .text(0...FleetLimits.sentenceBytesMax)),
            .required("attempts", \.attempts, .int(0...JournalLimits.attemptsMax)),
            .required("queue", \.queue, .text(1...FleetLimits.queueBytesMax)),
            .required("until", \.until, .int(FleetLimits.times)),
        ])
}

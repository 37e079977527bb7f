import APNSProtocol

/// What the rules make of a request.
struct Decision {
    var answer: Answer
    /// Whether it was given to somebody who proved who they are: by a valid provider token, or by a certificate.
    var isAuthenticated: Bool
    var detail: RefusalDetail?
}

extension Decision {
    /// To refuse.
    init(_ refusal: Refusal, _ options: RuleOptions) {
        answer = .refused(refusal.reason)
        if refusal.reason == .tooManyRequests { answer.retryAfterSeconds = options.retryAfterSeconds }
        isAuthenticated = refusal.isAuthenticated
        detail = refusal.detail
    }
}

/// Why the rules refuse a request.
struct Refusal: Error {
    var reason: Reason
    var detail: RefusalDetail?
    /// Whether whoever sent it had proved by then who they are.
    var isAuthenticated = false

    /// The same of somebody who had proved who they are.
    var ofAuthenticated: Refusal { Refusal(reason: reason, detail: detail, isAuthenticated: true) }
}

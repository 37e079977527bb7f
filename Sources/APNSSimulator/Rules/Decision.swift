import APNSProtocol

/// The decision of the rules about a request.
struct Decision {
    var answer: Answer
    /// Whether the request passed authentication: by a valid provider token, by a certificate, or without either if the
    /// rules accept that.
    var isAuthenticated: Bool
    var detail: RefusalDetail?
}

extension Decision {
    /// Creates the decision that refuses a request.
    init(_ refusal: Refusal, _ options: RuleOptions) {
        answer = .refused(refusal.reason)
        if refusal.reason == .tooManyRequests { answer.retryAfterSeconds = options.retryAfterSeconds }
        isAuthenticated = refusal.isAuthenticated
        detail = refusal.detail
    }
}

/// A refusal of a request by the rules.
struct Refusal: Error {
    var reason: Reason
    var detail: RefusalDetail?
    /// Whether the request was authenticated before the refusal.
    var isAuthenticated = false

    /// The same refusal for an authenticated request.
    var ofAuthenticated: Refusal { Refusal(reason: reason, detail: detail, isAuthenticated: true) }
}

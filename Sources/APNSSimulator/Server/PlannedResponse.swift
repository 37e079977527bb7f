import HTTP2

/// The planned response to a complete request.
enum PlannedResponse {
    /// An answer.
    ///
    /// - Parameters:
    ///   - isAuthenticated: whether the request passed authentication.
    ///   - detail: the exact cause of a refusal.
    case answer(Answer, isAuthenticated: Bool, detail: RefusalDetail? = nil)
    /// No answer.
    case silence
    /// A reset of the stream.
    case reset(HTTP2ErrorCode)

    var answer: Answer? {
        if case .answer(let answer, _, _) = self { answer } else { nil }
    }

    /// Whether the response is an answer to an authenticated request.
    var isAuthenticated: Bool {
        if case .answer(_, let isAuthenticated, _) = self { isAuthenticated } else { false }
    }

    var detail: RefusalDetail? {
        if case .answer(_, _, let detail) = self { detail } else { nil }
    }
}

/// A request that waits until its response is due.
struct WaitingRequest {
    var connection: SimulatorConnection
    var stream: HTTP2Stream
    var response: PlannedResponse
}

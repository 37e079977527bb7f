import HTTP2

/// What becomes of a request that has arrived whole.
enum RequestFate {
    /// - Parameters:
    ///   - isAuthenticated: whether whoever sent it has proved who they are.
    ///   - detail: what exactly the rules have against it.
    case answer(Answer, isAuthenticated: Bool, detail: RefusalDetail? = nil)
    /// Nothing, ever.
    case silence
    case reset(HTTP2ErrorCode)

    var answer: Answer? {
        if case .answer(let answer, _, _) = self { answer } else { nil }
    }

    /// Whether it is an answer to somebody who has proved who they are.
    var isAuthenticated: Bool {
        if case .answer(_, let isAuthenticated, _) = self { isAuthenticated } else { false }
    }

    var detail: RefusalDetail? {
        if case .answer(_, _, let detail) = self { detail } else { nil }
    }
}

/// A request that waits for the time at which its fate comes about.
struct WaitingRequest {
    var connection: SimulatorConnection
    var stream: HTTP2Stream
    var fate: RequestFate
}

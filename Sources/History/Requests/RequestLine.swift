package import ControlProtocol
package import Crypto

/// A line of the journal about one request.
package enum RequestLine: Sendable, Hashable {
    case result(ResultRecord)
    case wait(JournalWait, worker: String)

    package var id: UUIDValue? {
        switch self {
        case .result(let result): result.id
        case .wait(let wait, _): wait.id
        }
    }

    /// The time of the line, in UNIX milliseconds.
    package var at: Int64 {
        switch self {
        case .result(let result): result.finishedAt
        case .wait(let wait, _): wait.at
        }
    }

    package var app: String? {
        switch self {
        case .result(let result): result.app
        case .wait(let wait, _): wait.app
        }
    }

    package var deviceToken: String? {
        switch self {
        case .result(let result): result.deviceToken
        case .wait(let wait, _): wait.deviceToken
        }
    }

    package var user: String? {
        switch self {
        case .result(let result): result.user
        case .wait(let wait, _): wait.user
        }
    }

    package var code: String? {
        switch self {
        case .result(let result): result.code
        case .wait(let wait, _): wait.code
        }
    }

    package var worker: String? {
        switch self {
        case .result(let result): result.worker
        case .wait(_, let worker): worker
        }
    }
}

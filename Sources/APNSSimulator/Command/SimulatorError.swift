/// An error that terminates the command, with its exit status and a message for the user.
struct SimulatorError: Error, Hashable {
    /// Exit statuses of failures. After SIGTERM or SIGINT, the status is 0.
    enum Code: Int32, CaseIterable {
        case usage = 64
        case badInput = 65
        case noInput = 66
        case unavailable = 69
        case cannotWrite = 73

        var meaning: String {
            switch self {
            case .usage: "the command line is invalid"
            case .badInput: "a file has invalid content"
            case .noInput: "a file cannot be read"
            case .unavailable: "an address is not available, or the system lacks a resource"
            case .cannotWrite: "a file or directory cannot be written"
            }
        }
    }

    var code: Code
    var message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Calls `body` and converts its error to a `SimulatorError` whose message begins with `prefix`.
    static func converting<Result, Failure: Error>(
        _ code: Code, _ prefix: String = "", _ body: () throws(Failure) -> Result
    ) throws(SimulatorError) -> Result {
        do throws(Failure) {
            return try body()
        } catch {
            throw SimulatorError(code, "\(prefix)\(error)")
        }
    }
}

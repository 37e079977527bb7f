/// Why the command cannot go on, in words for whoever started it.
struct SimulatorError: Error, Hashable {
    /// Exit codes; 0 is an end by SIGTERM or SIGINT.
    enum Code: Int32, CaseIterable {
        case usage = 64
        case badInput = 65
        case noInput = 66
        case unavailable = 69
        case cannotWrite = 73

        var meaning: String {
            switch self {
            case .usage: "an option is unknown, misses its value, or has a bad one"
            case .badInput: "a file was read but what it says is wrong"
            case .noInput: "a file cannot be read"
            case .unavailable: "the address cannot be listened on, or the system is out of something"
            case .cannotWrite: "a file cannot be written"
            }
        }
    }

    var code: Code
    var message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Runs `body` and tells its error as one of the command's.
    static func telling<Result, Failure: Error>(
        _ code: Code, _ beginning: String = "", _ body: () throws(Failure) -> Result
    ) throws(SimulatorError) -> Result {
        do throws(Failure) {
            return try body()
        } catch {
            throw SimulatorError(code, "\(beginning)\(error)")
        }
    }
}

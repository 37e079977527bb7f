import APNSProtocol
import EventLoop
import Text

/// What the command line asks for.
struct Options {
    /// Whether a client has to say in TLS's ALPN that it speaks HTTP/2, or may say nothing.
    enum ApplicationProtocol: String, CaseIterable {
        case required, optional
    }

    var listeners = ListenerPlan()
    /// What was said of the admin port; a nil value turns it off.
    private var askedAdmin: Endpoint??
    var adminHostNames: [String] = []
    var configuration = SimulatorConfiguration()
    /// What was said of the rules; holds against the state file.
    private var ruleChanges: [@Sendable (inout RuleOptions) -> Void] = []
    var stateFile: String?
    var applicationProtocol = ApplicationProtocol.optional
    var certificateFile: String?
    var privateKeyFile: String?
    var demonstrationDirectory: String?
    var acceptsUnknownDevices = false
    var acceptsUnknownTopics = false
    var unregisteredPrefixes: [String] = []
    var recordFile: String?
    var recordDetail = LoggedRequest.Detail.summary
    var readyFile: String?
    var wantsHelp = false
    var wantsVersion = false

    init() {}

    /// Reads the arguments behind the command's name.
    ///
    /// - Throws: `usage`, naming the argument.
    init(_ arguments: [String]) throws(SimulatorError) {
        self.init()
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            // `--name=value` is the same as `--name value`.
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let option = Option.all.first(where: { $0.name == (parts[0] == "-h" ? "--help" : parts[0]) }) else {
                let meant = Suggestion.hint(for: String(parts[0]), among: Option.all.map(\.name))
                throw SimulatorError(
                    .usage, "there is no option \(parts[0])\(meant.isEmpty ? "; --help lists them" : meant)")
            }
            if option.placeholder == nil {
                guard parts.count == 1 else { throw SimulatorError(.usage, "\(option.name) takes no value") }
                try option.apply(&self, "")
            } else {
                guard let value = parts.count == 2 ? String(parts[1]) : rest.popFirst() else {
                    throw SimulatorError(.usage, "\(option.name) wants a value: \(option.help)")
                }
                try option.apply(&self, value)
            }
        }
        guard !listeners.endpoints.isEmpty else { throw SimulatorError(.usage, "every listener is turned off") }
        guard (certificateFile == nil) == (privateKeyFile == nil) else {
            throw SimulatorError(.usage, "--certificate and --private-key belong together")
        }
    }

    /// Where the admin port is; nil: nowhere. Like the listeners it is off unless asked for when one of them was.
    var admin: Endpoint? {
        if let askedAdmin { return askedAdmin }
        return listeners.areAtDefaults ? Endpoint(host: "127.0.0.1", port: Self.adminPort) : nil
    }

    static let adminPort: UInt16 = 2199

    mutating func askAdmin(at endpoint: Endpoint?) { askedAdmin = .some(endpoint) }

    /// Makes the switches that were named what they were said to be.
    func change(_ rules: inout RuleOptions) {
        for change in ruleChanges { change(&rules) }
    }

    mutating func setRule<Value: Sendable>(
        _ rule: any WritableKeyPath<RuleOptions, Value> & Sendable, _ value: Value
    ) {
        ruleChanges.append { $0[keyPath: rule] = value }
    }
}

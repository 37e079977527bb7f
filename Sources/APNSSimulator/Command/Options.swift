import APNSProtocol
import EventLoop

/// What the command line asks for.
struct Options {
    /// Whether a client has to say in TLS's ALPN that it speaks HTTP/2.
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
    var applicationProtocol = ApplicationProtocol.required
    var certificateFile: String?
    var privateKeyFile: String?
    var demonstrationDirectory: String?
    var acceptsUnknownDevices = false
    var acceptsUnknownTopics = false
    var unregisteredPrefixes: [String] = []
    var recordFile: String?
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
            guard let option = Option.all.first(where: { $0.name == parts[0] }) else {
                let meant = Spelling.suggestion(for: parts[0], among: Option.all.map(\.name))
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

    fileprivate mutating func askAdmin(at endpoint: Endpoint?) { askedAdmin = .some(endpoint) }

    /// Makes the switches that were named what they were said to be.
    func change(_ rules: inout RuleOptions) {
        for change in ruleChanges { change(&rules) }
    }

    fileprivate mutating func setRule<Value: Sendable>(
        _ rule: any WritableKeyPath<RuleOptions, Value> & Sendable, _ value: Value
    ) {
        ruleChanges.append { $0[keyPath: rule] = value }
    }
}

/// One option of the command: its name, what it means, and what it does. The help text is made of the same table.
struct Option: Sendable {
    var name: String
    /// What stands for the value in the help text; nil when the option takes none.
    var placeholder: String?
    var help: String
    var apply: @Sendable (inout Options, String) throws(SimulatorError) -> Void

    static let all: [Option] =
        Listener.allCases.map(listen) + [
            Option(
                name: "--admin", placeholder: "HOST:PORT",
                help: "web page and HTTP API; port 0: any; none: off (127.0.0.1:\(Options.adminPort))"
            ) {
                (options, value) throws(SimulatorError) in
                options.askAdmin(at: value == "none" ? nil : try endpoint("--admin", value))
            },
            Option(
                name: "--admin-host", placeholder: "NAME",
                help: "a name of this host for clients of --admin; may be repeated"
            ) {
                (options, value) throws(SimulatorError) in options.adminHostNames.append(value)
            },
            Option(
                name: "--state", placeholder: "FILE",
                help: "YAML: teams, keys, apps, devices; without it a demonstration team"
            ) {
                (options, value) throws(SimulatorError) in options.stateFile = value
            },
            Option(
                name: "--write-demo", placeholder: "DIR",
                help: "write the demonstration's key, certificates and state there"
            ) {
                (options, value) throws(SimulatorError) in options.demonstrationDirectory = value
            },
            Option(
                name: "--certificate", placeholder: "FILE",
                help: "PEM chain to serve TLS with; without it a made-up one"
            ) {
                (options, value) throws(SimulatorError) in options.certificateFile = value
            },
            Option(name: "--private-key", placeholder: "FILE", help: "PEM key that belongs to --certificate") {
                (options, value) throws(SimulatorError) in options.privateKeyFile = value
            },
            Option(name: "--accept-unknown-devices", help: "every device token that is not listed is good") {
                (options, value) throws(SimulatorError) in options.acceptsUnknownDevices = true
            },
            Option(name: "--accept-unknown-topics", help: "every team may push to every topic") {
                (options, value) throws(SimulatorError) in options.acceptsUnknownTopics = true
            },
            Option(name: "--accept-no-token", help: "serve pushes without provider token; those that come are checked")
            {
                (options, value) throws(SimulatorError) in options.setRule(\.servesWithoutToken, true)
            },
            Option(
                name: "--unregistered-prefix", placeholder: "HEX",
                help: "device tokens that begin so are unregistered; may be repeated"
            ) {
                (options, value) throws(SimulatorError) in
                guard !value.isEmpty, value.utf8.count <= DeviceToken.hexDigitsMax,
                    value.utf8.allSatisfy(DeviceToken.isHexDigit)
                else {
                    throw bad("--unregistered-prefix", value, "hexadecimal digits")
                }
                options.unregisteredPrefixes.append(value)
            },
            Option(name: "--delay-ms", placeholder: "N", help: "answer so long after a request was complete (0)") {
                (options, value) throws(SimulatorError) in
                guard let milliseconds = Double(value), (0...600_000).contains(milliseconds) else {
                    throw bad("--delay-ms", value, "a number from 0 to 600000")
                }
                options.configuration.answerDelay = .nanoseconds(Int64(milliseconds * 1_000_000))
            },
            Option(
                name: "--gate", placeholder: "MODE",
                help: "one stream until a good push was answered: enforce, announce, off (enforce)"
            ) {
                (options, value) throws(SimulatorError) in options.setRule(\.gate, try word("--gate", value))
            },
            Option(name: "--streams-max", placeholder: "N", help: "streams of a connection after that (1000)") {
                (options, value) throws(SimulatorError) in
                options.setRule(\.streamsMax, try number("--streams-max", value, 1...4096))
            },
            Option(name: "--connections-max", placeholder: "N", help: "connections served at once (10000)") {
                (options, value) throws(SimulatorError) in
                options.configuration.connectionsMax = try number("--connections-max", value, 1...1_000_000)
            },
            Option(
                name: "--alpn", placeholder: "MODE",
                help: "whether clients must offer h2 by ALPN: required, optional (required)"
            ) {
                (options, value) throws(SimulatorError) in options.applicationProtocol = try word("--alpn", value)
            },
            Option(
                name: "--check-order", placeholder: "ORDER",
                help: "headers-first or authentication-first (headers-first)"
            ) {
                (options, value) throws(SimulatorError) in
                options.setRule(\.order, try word("--check-order", value))
            },
            Option(
                name: "--token-updates", placeholder: "MODE",
                help: "new provider tokens of a connection in 20 minutes: lax, strict, off (lax)"
            ) {
                (options, value) throws(SimulatorError) in
                options.setRule(\.tokenUpdates, try word("--token-updates", value))
            },
            Option(
                name: "--device-requests-max", placeholder: "N",
                help: "pushes to one device in a second before TooManyRequests (no limit)"
            ) {
                (options, value) throws(SimulatorError) in
                options.setRule(\.requestsPerDeviceMax, try number("--device-requests-max", value, 1...1_000_000))
            },
            Option(name: "--requests-logged", placeholder: "N", help: "requests kept to be asked for (10000)") {
                (options, value) throws(SimulatorError) in
                options.configuration.requestsLoggedMax = try number("--requests-logged", value, 0...1_000_000)
            },
            Option(name: "--ids-remembered", placeholder: "N", help: "request ids kept to tell duplicates (1000000)") {
                (options, value) throws(SimulatorError) in
                options.configuration.idsRememberedMax = try number("--ids-remembered", value, 0...100_000_000)
            },
            Option(
                name: "--record", placeholder: "FILE",
                help: "write a JSON line for each request, with its payload's SHA-256"
            ) {
                (options, value) throws(SimulatorError) in
                options.recordFile = value
            },
            Option(name: "--ready-file", placeholder: "FILE", help: "write the ready line there, too, once it listens")
            {
                (options, value) throws(SimulatorError) in options.readyFile = value
            },
            Option(name: "--help", help: "print this") {
                (options, value) throws(SimulatorError) in options.wantsHelp = true
            },
            Option(name: "--version", help: "print the version") {
                (options, value) throws(SimulatorError) in options.wantsVersion = true
            },
        ]

    private static func listen(_ listener: Listener) -> Option {
        Option(
            name: listener.option, placeholder: "HOST:PORT",
            help: "\(listener.name); port 0: any; none: off (127.0.0.1:\(listener.defaultPort))"
        ) {
            (options, value) throws(SimulatorError) in
            guard value != "none" else { return options.listeners.ask(listener, at: nil) }
            options.listeners.ask(listener, at: try endpoint(listener.option, value))
        }
    }

    private static func endpoint(_ name: String, _ value: String) throws(SimulatorError) -> Endpoint {
        guard let colon = value.lastIndex(of: ":"), let port = UInt16(value[value.index(after: colon)...]),
            colon > value.startIndex
        else { throw bad(name, value, "HOST:PORT") }
        let host = value[..<colon].drop { $0 == "[" }
        return Endpoint(host: String(host.last == "]" ? host.dropLast() : host), port: port)
    }

    private static func bad(_ name: String, _ value: String, _ wanted: String) -> SimulatorError {
        SimulatorError(.usage, "\(name) wants \(wanted), not \(value)")
    }

    private static func word<Word: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ value: String
    ) throws(SimulatorError) -> Word {
        guard let word = Word(rawValue: value) else {
            throw bad(name, value, Word.allCases.map(\.rawValue).joined(separator: " or "))
        }
        return word
    }

    private static func number(
        _ name: String, _ value: String, _ range: ClosedRange<Int>
    ) throws(SimulatorError) -> Int {
        guard let number = Int(value), range.contains(number) else {
            throw bad(name, value, "a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}

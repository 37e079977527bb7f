import APNSProtocol
import CommandKit
import EventLoop

/// The options of the command line.
struct Options {
    /// The policy for clients that do not offer `h2` by ALPN.
    enum ApplicationProtocol: String, CaseIterable {
        case required, optional
    }

    var listeners = ListenerPlan()
    /// The admin port's address from the command line; nil without the option. An inner nil disables the port.
    private var specifiedAdmin: Endpoint??
    var adminHostNames: [String] = []
    var configuration = SimulatorConfiguration()
    /// Changes to the rules. The changes take precedence over the rules of the state file.
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

    /// The admin port's address; nil if the port is off. Without the option, the port has its default address if the
    /// command line has no listener's address. It is off if the command line has one.
    var admin: Endpoint? {
        if let specifiedAdmin { return specifiedAdmin }
        return listeners.areAtDefaults ? Endpoint(host: "127.0.0.1", port: Self.adminPort) : nil
    }

    static let adminPort: UInt16 = 2199

    mutating func specifyAdmin(_ endpoint: Endpoint?) { specifiedAdmin = .some(endpoint) }

    /// Applies the switches of the command line to `rules`.
    func change(_ rules: inout RuleOptions) {
        for change in ruleChanges { change(&rules) }
    }

    mutating func setRule<Value: Sendable>(
        _ rule: any WritableKeyPath<RuleOptions, Value> & Sendable, _ value: Value
    ) {
        ruleChanges.append { $0[keyPath: rule] = value }
    }
}

extension Options {
    /// Creates the options from the parsed command line.
    ///
    /// - Throws: `UsageError` if a value or a combination of options is invalid although the syntax allows it.
    init(_ parsed: ParsedArguments) throws(UsageError) {
        for listener in Listener.allCases {
            guard let value = parsed.options[listener.optionName] else { continue }
            listeners.specify(try Self.endpoint(listener.option, value), for: listener)
        }
        guard !listeners.endpoints.isEmpty else {
            throw UsageError("all listeners are disabled; pass HOST:PORT to a --listen option")
        }
        if let value = parsed.options["admin"] { specifyAdmin(try Self.endpoint("--admin", value)) }
        adminHostNames = parsed.lists["admin-host"] ?? []
        readFilesAndState(parsed)
        guard (certificateFile == nil) == (privateKeyFile == nil) else {
            throw UsageError("options --certificate and --private-key require each other")
        }
        unregisteredPrefixes = parsed.lists["unregistered-prefix"] ?? []
        if let wrong = unregisteredPrefixes.first(where: { !Self.isTokenPrefix($0) }) {
            let form = "at most \(DeviceToken.hexDigitsMax) hexadecimal digits"
            throw UsageError("option --unregistered-prefix: expected \(form), got '\(wrong)'")
        }
        try readRules(parsed)
        try readLimits(parsed)
    }

    private mutating func readFilesAndState(_ parsed: ParsedArguments) {
        stateFile = parsed.options["state"]
        demonstrationDirectory = parsed.options["write-demo"]
        certificateFile = parsed.options["certificate"]
        privateKeyFile = parsed.options["private-key"]
        acceptsUnknownDevices = parsed.has("accept-unknown-devices")
        acceptsUnknownTopics = parsed.has("accept-unknown-topics")
        applicationProtocol = parsed.word("alpn") ?? applicationProtocol
        recordFile = parsed.options["record"]
        recordDetail = parsed.word("record-detail") ?? recordDetail
        readyFile = parsed.options["ready-file"]
    }

    private mutating func readRules(_ parsed: ParsedArguments) throws(UsageError) {
        if let gate: ServerStreamGate.Mode = parsed.word("gate") { setRule(\.gate, gate) }
        if let order: RuleOptions.Order = parsed.word("check-order") { setRule(\.order, order) }
        if let updates: RuleOptions.TokenUpdates = parsed.word("token-updates") { setRule(\.tokenUpdates, updates) }
        if parsed.has("accept-no-token") { setRule(\.servesWithoutToken, true) }
        if let streams = try parsed.integer("streams-max", in: 1...4096) { setRule(\.streamsMax, streams) }
        if let requests = try parsed.integer("device-requests-max", in: 1...1_000_000) {
            setRule(\.requestsPerDeviceMax, requests)
        }
    }

    private mutating func readLimits(_ parsed: ParsedArguments) throws(UsageError) {
        func read(_ option: String, in range: ClosedRange<Int>, _ limit: inout Int) throws(UsageError) {
            limit = try parsed.integer(option, in: range) ?? limit
        }
        try read("connections-max", in: 1...1_000_000, &configuration.connectionsMax)
        try read("requests-logged", in: 0...1_000_000, &configuration.requestsLoggedMax)
        try read("ids-remembered", in: 0...100_000_000, &configuration.idsRememberedMax)
        if let seed = try parsed.integer("fault-seed", in: 0...Int.max) { configuration.faultSeed = UInt64(seed) }
        if let value = parsed.options["delay-ms"] {
            guard let milliseconds = Double(value), (0...Self.delayMillisecondsMax).contains(milliseconds) else {
                throw UsageError(
                    "option --delay-ms: expected a number from 0 to \(Int(Self.delayMillisecondsMax)), got '\(value)'")
            }
            configuration.answerDelay = .nanoseconds(Int64(milliseconds * 1_000_000))
        }
    }

    private static let delayMillisecondsMax = 600_000.0

    /// Parses an address. Returns nil for `none`, which disables the listener or the admin port.
    private static func endpoint(_ option: String, _ value: String) throws(UsageError) -> Endpoint? {
        guard value != "none" else { return nil }
        guard let endpoint = Endpoint(value) else {
            throw UsageError("option \(option): expected HOST:PORT or none, got '\(value)'")
        }
        return endpoint
    }

    private static func isTokenPrefix(_ text: String) -> Bool {
        text.utf8.count <= DeviceToken.hexDigitsMax && text.utf8.allSatisfy(DeviceToken.isHexDigit)
    }
}

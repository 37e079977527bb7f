import APNSProtocol
import EventLoop

/// One option of the command: its name, what it means, and what it does. The help text is made of the same table.
struct Option: Sendable {
    var name: String
    /// What stands for the value in the help text; nil when the option takes none.
    var placeholder: String?
    var help: String
    var apply: @Sendable (inout Options, String) throws(SimulatorError) -> Void

    static let all = sections.flatMap(\.options)

    /// As the help text has them.
    static let sections: [(title: String, options: [Option])] = [
        (
            "Where it listens; port 0 is any, none turns one off; once one is given, the others are off unless given, too",
            listeners
        ),
        ("What it knows of the world", worlds),
        ("How strict it is", strictness),
        ("What it remembers and tells", memories),
        ("About itself", itself),
    ]

    private static let listeners: [Option] =
        Listener.allCases.map(listen) + [
            Option(
                name: "--admin", placeholder: "HOST:PORT",
                help: "web page and HTTP API (127.0.0.1:\(Options.adminPort))"
            ) {
                (options, value) throws(SimulatorError) in
                options.askAdmin(at: value == "none" ? nil : try endpoint("--admin", value))
            },
            Option(
                name: "--admin-host", placeholder: "NAME",
                help: "a further name by which clients may call the admin port; may be repeated"
            ) {
                (options, value) throws(SimulatorError) in options.adminHostNames.append(value)
            },
        ]

    private static let worlds: [Option] = [
        Option(
            name: "--state", placeholder: "FILE",
            help: "YAML: teams, keys, devices, channels, faults, rules (a demonstration)"
        ) {
            (options, value) throws(SimulatorError) in options.stateFile = value
        },
        Option(
            name: "--write-demo", placeholder: "DIR",
            help: "write the demonstration there; with --state, its certificates only"
        ) {
            (options, value) throws(SimulatorError) in options.demonstrationDirectory = value
        },
        Option(
            name: "--certificate", placeholder: "FILE",
            help: "PEM chain to serve TLS with (one that is made up)"
        ) {
            (options, value) throws(SimulatorError) in options.certificateFile = value
        },
        Option(name: "--private-key", placeholder: "FILE", help: "PEM key that belongs to --certificate") {
            (options, value) throws(SimulatorError) in options.privateKeyFile = value
        },
        Option(name: "--accept-unknown-devices", help: "device tokens that are not listed are good") {
            (options, value) throws(SimulatorError) in options.acceptsUnknownDevices = true
        },
        Option(name: "--accept-unknown-topics", help: "every team may push to every topic") {
            (options, value) throws(SimulatorError) in options.acceptsUnknownTopics = true
        },
        Option(
            name: "--fault-seed", placeholder: "N",
            help: "which requests faults strike that strike a share (1)"
        ) {
            (options, value) throws(SimulatorError) in
            options.configuration.faultSeed = UInt64(try number("--fault-seed", value, 0...Int.max))
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
    ]

    private static let strictness: [Option] = [
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
        Option(
            name: "--alpn", placeholder: "MODE",
            help: "whether clients must offer h2 by ALPN: required, optional (optional)"
        ) {
            (options, value) throws(SimulatorError) in options.applicationProtocol = try word("--alpn", value)
        },
        Option(name: "--accept-no-token", help: "serve pushes without provider token; those that come are checked") {
            (options, value) throws(SimulatorError) in options.setRule(\.servesWithoutToken, true)
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
        Option(name: "--connections-max", placeholder: "N", help: "connections served at once (10000)") {
            (options, value) throws(SimulatorError) in
            options.configuration.connectionsMax = try number("--connections-max", value, 1...1_000_000)
        },
        Option(name: "--delay-ms", placeholder: "N", help: "answer so long after a request was complete (0)") {
            (options, value) throws(SimulatorError) in
            guard let milliseconds = Double(value), (0...600_000).contains(milliseconds) else {
                throw bad("--delay-ms", value, "a number from 0 to 600000")
            }
            options.configuration.answerDelay = .nanoseconds(Int64(milliseconds * 1_000_000))
        },
    ]

    private static let memories: [Option] = [
        Option(name: "--requests-logged", placeholder: "N", help: "requests kept to be asked for (10000)") {
            (options, value) throws(SimulatorError) in
            options.configuration.requestsLoggedMax = try number("--requests-logged", value, 0...1_000_000)
        },
        Option(name: "--ids-remembered", placeholder: "N", help: "request ids kept to tell duplicates (250000)") {
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
        Option(
            name: "--record-detail", placeholder: "DETAIL",
            help: "summary, or full: with headers and payload, for the web page to open (summary)"
        ) {
            (options, value) throws(SimulatorError) in options.recordDetail = try word("--record-detail", value)
        },
        Option(name: "--ready-file", placeholder: "FILE", help: "write the ready line there, too, once it listens") {
            (options, value) throws(SimulatorError) in options.readyFile = value
        },
    ]

    private static let itself: [Option] = [
        Option(name: "--help", help: "print this; -h, too") {
            (options, value) throws(SimulatorError) in options.wantsHelp = true
        },
        Option(name: "--version", help: "print the version") {
            (options, value) throws(SimulatorError) in options.wantsVersion = true
        },
    ]

    private static func listen(_ listener: Listener) -> Option {
        Option(
            name: listener.option, placeholder: "HOST:PORT",
            help: "\(listener.name) (127.0.0.1:\(listener.defaultPort))"
        ) {
            (options, value) throws(SimulatorError) in
            guard value != "none" else { return options.listeners.ask(listener, at: nil) }
            options.listeners.ask(listener, at: try endpoint(listener.option, value))
        }
    }

    private static func endpoint(_ name: String, _ value: String) throws(SimulatorError) -> Endpoint {
        guard let endpoint = Endpoint(value) else { throw bad(name, value, "HOST:PORT") }
        return endpoint
    }

    private static func bad(_ name: String, _ value: String, _ wanted: String) -> SimulatorError {
        SimulatorError(.usage, "\(name) wants \(wanted), not \(value)")
    }

    private static func word<Word: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ value: String
    ) throws(SimulatorError) -> Word {
        guard let word = Word(rawValue: value) else {
            throw bad(name, value, alternatives(Word.allCases.map(\.rawValue)))
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

    private static func alternatives(_ words: [String]) -> String {
        guard let last = words.last, words.count > 1 else { return words.joined() }
        return "\(words.dropLast().joined(separator: ", ")) or \(last)"
    }
}

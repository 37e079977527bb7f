import CommandKit

extension SimulatorCommand {
    static let syntax = CommandSyntax(
        path: [],
        summary: """
            An Apple Push Notification service for tests: device pushes, broadcasts and channels over HTTP/2 and TLS, \
            with provider tokens or certificates.
            """,
        discussion: """
            Without options it makes up a team, a key and certificates.

              apns-simulator --write-demo demo
                  listens at all ports, writes what a client needs to demo/, says how
              apns-simulator --listen 127.0.0.1:0 --admin 127.0.0.1:0 --ready-file ready
                  for a test
              apns-simulator --gate off --accept-unknown-devices --accept-unknown-topics
                  for a load test

            Standard output has JSON lines: {"event":"ready",...} with the ports once it listens, and
            {"event":"counters",...} on SIGUSR1 and at the end. SIGTERM and SIGINT end it: it accepts no more requests,
            answers those it has, and exits.

            Defaults are in parentheses.
            """,
        sections: [
            OptionSection(
                """
                Where it listens; port 0 is any, none turns one off; once one is given, the others are off unless given, \
                too
                """, listeners),
            OptionSection("What it knows of the world", worlds),
            OptionSection("How strict it is", strictness),
            OptionSection("What it remembers and tells", memories),
            OptionSection("About itself", []),
        ])

    private static let listeners: [OptionSyntax] =
        Listener.allCases.map { listener in
            option(listener.optionName, "HOST:PORT", "\(listener.name) (127.0.0.1:\(listener.defaultPort))")
        } + [
            option("admin", "HOST:PORT", "web page and HTTP API (127.0.0.1:\(Options.adminPort))"),
            option(
                "admin-host", "NAME", "a further name by which clients may call the admin port; may be repeated",
                repetition: .list),
        ]

    private static let worlds: [OptionSyntax] = [
        option("state", "FILE", "YAML: teams, keys, devices, channels, faults, rules (a demonstration)"),
        option(
            "write-demo", "DIR", "write the demonstration there; with --state, its certificates only", values: .folders),
        option("certificate", "FILE", "PEM chain to serve TLS with (one that is made up)"),
        option("private-key", "FILE", "PEM key that belongs to --certificate"),
        option("accept-unknown-devices", nil, "device tokens that are not listed are good"),
        option("accept-unknown-topics", nil, "every team may push to every topic"),
        option("fault-seed", "N", "which requests faults strike that strike a share (1)"),
        option(
            "unregistered-prefix", "HEX", "device tokens that begin so are unregistered; may be repeated",
            repetition: .list),
    ]

    private static let strictness: [OptionSyntax] = [
        option(
            "gate", "MODE", "one stream until a good push was answered: enforce, announce, off (enforce)",
            values: .cases(of: ServerStreamGate.Mode.self)),
        option("streams-max", "N", "streams of a connection after that (1000)"),
        option(
            "alpn", "MODE", "whether clients must offer h2 by ALPN: required, optional (optional)",
            values: .cases(of: Options.ApplicationProtocol.self)),
        option("accept-no-token", nil, "serve pushes without provider token; those that come are checked"),
        option(
            "check-order", "ORDER", "headers-first or authentication-first (headers-first)",
            values: .cases(of: RuleOptions.Order.self)),
        option(
            "token-updates", "MODE", "new provider tokens of a connection in 20 minutes: lax, strict, off (lax)",
            values: .cases(of: RuleOptions.TokenUpdates.self)),
        option(
            "device-requests-max", "N", "pushes to one device in a second before TooManyRequests (no limit)"),
        option("connections-max", "N", "connections served at once (10000)"),
        option("delay-ms", "N", "answer so long after a request was complete (0)"),
    ]

    private static let memories: [OptionSyntax] = [
        option("requests-logged", "N", "requests kept to be asked for (10000)"),
        option("ids-remembered", "N", "request ids kept to tell duplicates (250000)"),
        option("record", "FILE", "write a JSON line for each request, with its payload's SHA-256"),
        option(
            "record-detail", "DETAIL",
            "summary, or full: with headers and payload, for the web page to open (summary)",
            values: .cases(of: LoggedRequest.Detail.self)),
        option("ready-file", "FILE", "write the ready line there, too, once it listens"),
    ]

    /// The last of several values counts: a script may append options to those that it has.
    private static func option(
        _ name: String, _ value: String?, _ help: String, repetition: OptionSyntax.Repetition = .lastCounts,
        values: ValueSyntax? = nil
    ) -> OptionSyntax {
        OptionSyntax(name: name, value: value, help: help, repetition: repetition, values: values)
    }
}

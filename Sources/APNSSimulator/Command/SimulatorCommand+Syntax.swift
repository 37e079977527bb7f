import CommandKit

extension SimulatorCommand {
    static let syntax = CommandSyntax(
        path: [],
        summary: """
            Simulate the Apple Push Notification service for tests: device pushes, broadcasts and channels over HTTP/2 \
            and TLS, with provider tokens or certificates.
            """,
        discussion: """
            Without --state, the simulator creates a team, a key and certificates.

              apns-simulator --write-demo demo
                  listen on all ports, write the files for a client to demo/
              apns-simulator --listen 127.0.0.1:0 --admin 127.0.0.1:0 --ready-file ready
                  listen on free ports, for a test
              apns-simulator --gate off --accept-unknown-devices --accept-unknown-topics
                  accept valid pushes to all devices and topics, for a load test

            Standard output has JSON lines: {"event":"ready",...} with the ports when the simulator is ready, and
            {"event":"counters",...} on SIGUSR1 and at exit. On SIGTERM or SIGINT, the simulator refuses new requests,
            answers open requests, and exits.

            Defaults are in parentheses.
            """,
        sections: [
            OptionSection(
                """
                Addresses; port 0 selects a free port, none disables a port; if a --listen option sets an address, the \
                ports without an option are disabled
                """, listeners),
            OptionSection("State and certificates", states),
            OptionSection("Checks and limits", checks),
            OptionSection("Logs and records", logs),
            OptionSection("Help", []),
        ])

    private static let listeners: [OptionSyntax] =
        Listener.allCases.map { listener in
            option(listener.optionName, "HOST:PORT", "\(listener.name) (127.0.0.1:\(listener.defaultPort))")
        } + [
            option("admin", "HOST:PORT", "web page and HTTP API (127.0.0.1:\(Options.adminPort))"),
            option(
                "admin-host", "NAME", "another name that clients may use for the admin port; may be repeated",
                repetition: .list),
        ]

    private static let states: [OptionSyntax] = [
        option("state", "FILE", "YAML file with teams, keys, devices, channels, faults and rules (the demo state)"),
        option(
            "write-demo", "DIR",
            "write the demo state and its files to DIR; with --state, only the server's certificates and key",
            values: .folders),
        option("certificate", "FILE", "PEM file with the server's certificate chain (a new certificate)"),
        option("private-key", "FILE", "PEM file with the key of --certificate"),
        option("accept-unknown-devices", nil, "accept device tokens that are not listed"),
        option("accept-unknown-topics", nil, "accept pushes of every team to every topic"),
        option("fault-seed", "N", "seed of the random choices that faults make (1)"),
        option(
            "unregistered-prefix", "HEX",
            "treat unlisted device tokens that begin with HEX as unregistered; may be repeated",
            repetition: .list),
    ]

    private static let checks: [OptionSyntax] = [
        option(
            "gate", "MODE", "limit of one stream until the response to a valid push: enforce, announce, off (enforce)",
            values: .cases(of: ServerStreamGate.Mode.self)),
        option("streams-max", "N", "maximum number of streams of a connection after a valid push (1000)"),
        option(
            "alpn", "MODE", "whether clients must offer h2 by ALPN: required, optional (optional)",
            values: .cases(of: Options.ApplicationProtocol.self)),
        option(
            "accept-no-token", nil,
            "accept requests without a provider token; still check the tokens of other requests"),
        option(
            "check-order", "ORDER", "order of the checks: headers-first, authentication-first (headers-first)",
            values: .cases(of: RuleOptions.Order.self)),
        option(
            "token-updates", "MODE",
            "limit of one new provider token on a connection in 20 minutes: lax, strict, off (lax)",
            values: .cases(of: RuleOptions.TokenUpdates.self)),
        option(
            "device-requests-max", "N", "pushes to one device in a second before TooManyRequests (unlimited)"),
        option("connections-max", "N", "maximum number of open connections (10000)"),
        option("delay-ms", "N", "delay of each response in milliseconds (0)"),
    ]

    private static let logs: [OptionSyntax] = [
        option("requests-logged", "N", "number of newest requests in the log (10000)"),
        option("ids-remembered", "N", "number of request IDs kept to detect duplicates (250000)"),
        option("record", "FILE", "write a line of JSON for each request, with the SHA-256 of its payload"),
        option(
            "record-detail", "DETAIL",
            "detail of --record: summary, or full with headers and payload for the web page (summary)",
            values: .cases(of: LoggedRequest.Detail.self)),
        option("ready-file", "FILE", "also write the ready line to FILE"),
    ]

    /// Declares an option. By default, the last of several values counts, so a script can append options to override
    /// others.
    private static func option(
        _ name: String, _ value: String?, _ help: String, repetition: OptionSyntax.Repetition = .lastCounts,
        values: ValueSyntax? = nil
    ) -> OptionSyntax {
        OptionSyntax(name: name, value: value, help: help, repetition: repetition, values: values)
    }
}

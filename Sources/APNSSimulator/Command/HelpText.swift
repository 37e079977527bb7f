/// What `--help` prints, made of the table of options.
enum HelpText {
    static var text: String {
        let names = Option.all.map { option in option.placeholder.map { "\(option.name) \($0)" } ?? option.name }
        let width = (names.map(\.count).max() ?? 0) + 2
        let options = zip(Option.all, names).map { option, name in
            "  \(name)\(String(repeating: " ", count: width - name.count))\(option.help)"
        }
        let codes = SimulatorError.Code.allCases.map { "  \($0.rawValue)  \($0.meaning)" }
        return """
            Usage: apns-simulator [OPTION]...

            An Apple Push Notification service for tests: HTTP/2 over TLS, provider tokens, device pushes.
            Without options it makes up a team, a key and a certificate; --write-demo writes them down.

            Listeners that are given no address stay off once another is given one; given none, all listen.

            Options (default in parentheses):
            \(options.joined(separator: "\n"))

            Standard output has JSON lines: {"event":"ready",...} with the ports once it listens, and
            {"event":"counters",...} on SIGUSR1 and at the end. SIGTERM and SIGINT end it: it accepts no more
            requests, answers those it has, and exits.

            Exit codes:
              0   ended by SIGTERM or SIGINT
            \(codes.joined(separator: "\n"))
            """
    }
}

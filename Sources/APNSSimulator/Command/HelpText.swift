/// What `--help` prints, made of the table of options.
enum HelpText {
    static var text: String {
        let names = Option.all.map(\.nameAndPlaceholder)
        let width = (names.map(\.count).max() ?? 0) + 2
        let options = Option.sections.map { title, options in
            let lines = options.map { option in
                let name = option.nameAndPlaceholder
                return "  \(name)\(String(repeating: " ", count: width - name.count))\(option.help)"
            }
            return "\(title):\n\(lines.joined(separator: "\n"))"
        }
        let codes = SimulatorError.Code.allCases.map { "  \($0.rawValue)  \($0.meaning)" }
        return """
            Usage: apns-simulator [OPTION]...

            An Apple Push Notification service for tests: device pushes, broadcasts and channels over HTTP/2 and TLS, with
            provider tokens or certificates. Without options it makes up a team, a key and certificates.

              apns-simulator --write-demo demo     listens at all ports, writes what a client needs to demo/, says how
              apns-simulator --listen 127.0.0.1:0 --admin 127.0.0.1:0 --ready-file ready.json     for a test
              apns-simulator --gate off --accept-unknown-devices --accept-unknown-topics          for a load test

            Defaults are in parentheses.

            \(options.joined(separator: "\n\n"))

            Standard output has JSON lines: {"event":"ready",...} with the ports once it listens, and
            {"event":"counters",...} on SIGUSR1 and at the end. SIGTERM and SIGINT end it: it accepts no more
            requests, answers those it has, and exits.

            Exit codes:
              0   ended by SIGTERM or SIGINT
            \(codes.joined(separator: "\n"))
            """
    }
}

extension Option {
    fileprivate var nameAndPlaceholder: String { placeholder.map { "\(name) \($0)" } ?? name }
}

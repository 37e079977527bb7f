import APNSProtocol
import CommandKit
import EventLoop
import Testing

@testable import APNSSimulator

@Suite struct OptionsTests {
    @Test func defaults() throws {
        let options = try Options([])
        #expect(
            options.listeners.endpoints.map { "\($0.listener.service) \($0.endpoint)" } == [
                "sandbox push 127.0.0.1:2197", "production push 127.0.0.1:2198",
                "sandbox channel-management 127.0.0.1:2195", "production channel-management 127.0.0.1:2196",
            ])
        #expect(options.configuration.answerDelay == .zero)
    }

    @Test func valuesFollowASpaceOrAnEqualsSign() throws {
        let options = try Options([
            "--listen", "[::1]:0", "--gate=off", "--delay-ms", "0.5", "--streams-max=7",
            "--unregistered-prefix", "aB", "--unregistered-prefix=c", "--record", "/tmp/r=1", "--accept-no-token",
            "--check-order=authentication-first", "--connections-max=3", "--alpn=optional",
        ])
        #expect(options.listeners[.push] == Endpoint(host: "::1", port: 0))
        #expect(options.configuration.answerDelay == .microseconds(500))
        #expect(options.configuration.connectionsMax == 3)
        var rules = RuleOptions()
        rules.tokenUpdates = .strict
        options.change(&rules)
        #expect(rules.gate == .off && rules.streamsMax == 7 && rules.servesWithoutToken)
        #expect(rules.order == .authenticationFirst)
        #expect(rules.tokenUpdates == .strict, "another switch changed")
        #expect(options.applicationProtocol == .optional)
        #expect(options.unregisteredPrefixes == ["aB", "c"])
        #expect(options.recordFile == "/tmp/r=1")
    }

    @Test func anAddressDisablesTheOtherListeners() throws {
        func ports(_ arguments: String...) throws -> [String: UInt16] {
            Dictionary(
                uniqueKeysWithValues: try Options(arguments).listeners.endpoints.map {
                    ("\($0.listener.readyMember)", $0.endpoint.port)
                })
        }
        #expect(try ports("--listen", "127.0.0.1:5") == ["port": 5])
        #expect(
            try ports("--listen-production=127.0.0.1:5", "--listen-channels=127.0.0.1:6")
                == ["production_port": 5, "channel_port": 6])
        #expect(
            try ports("--listen-channels", "none", "--listen-production-channels", "none")
                == ["port": 2197, "production_port": 2198])
    }

    @Test func anAddressDisablesTheAdminPortUnlessSpecified() throws {
        func admin(_ arguments: String...) throws -> Endpoint? { try Options(arguments).admin }
        #expect(try admin() == Endpoint(host: "127.0.0.1", port: 2199))
        #expect(try admin("--admin=none") == nil)
        #expect(try admin("--listen-channels=none") == Endpoint(host: "127.0.0.1", port: 2199))
        #expect(try admin("--listen=127.0.0.1:0") == nil)
        #expect(try admin("--listen=127.0.0.1:0", "--admin=[::1]:0") == Endpoint(host: "::1", port: 0))
        #expect(try Options(["--admin-host=a", "--admin-host", "b"]).adminHostNames == ["a", "b"])
    }

    @Test(arguments: [
        (["--admin", "2199"], "option --admin: expected HOST:PORT or none, got '2199'"),
        (["--gat", "off"], "unknown option --gat; did you mean --gate?"),
        (["sandbox"], "unexpected argument 'sandbox'"),
        (["--gate"], "option --gate MODE needs a value"),
        (["--gate", "of"], "option --gate: expected enforce, announce or off, got 'of'; did you mean off?"),
        (["--listen", "127.0.0.1"], "option --listen: expected HOST:PORT or none, got '127.0.0.1'"),
        (["--listen", ":80"], "option --listen: expected HOST:PORT or none, got ':80'"),
        (["--listen", "a:65536"], "option --listen: expected HOST:PORT or none, got 'a:65536'"),
        (["--delay-ms", "-1"], "option --delay-ms: expected a number from 0 to 600000, got '-1'"),
        (["--delay-ms", "nan"], "option --delay-ms: expected a number from 0 to 600000, got 'nan'"),
        (["--streams-max", "0"], "option --streams-max: expected a whole number from 1 to 4096, got '0'"),
        (
            ["--unregistered-prefix", "xy"],
            "option --unregistered-prefix: expected at most 400 hexadecimal digits, got 'xy'"
        ),
        (["--help=yes"], "option --help accepts no value"),
        (
            Listener.allCases.flatMap { [$0.option, "none"] },
            "all listeners are disabled; pass HOST:PORT to a --listen option"
        ),
        (["--certificate", "a.pem"], "options --certificate and --private-key require each other"),
    ])
    func errorsNameTheOption(arguments: [String], message: String) {
        let error = #expect(throws: UsageError.self) { _ = try Options(arguments) }
        #expect(error?.message == message)
    }

    // Scripts can append options to override earlier options.
    @Test func theLastOfSeveralValuesCounts() throws {
        let options = try Options(["--listen=127.0.0.1:5", "--listen", "[::1]:6"])
        #expect(options.listeners[.push] == Endpoint(host: "::1", port: 6))
        #expect(throws: Never.self) { try Options(["--accept-no-token", "--accept-no-token"]) }
    }
}

extension Options {
    /// Parses a command line of `apns-simulator`.
    init(_ arguments: [String]) throws {
        guard case .command(let command as SimulatorCommand) = try Program.simulator.request(arguments) else {
            throw UsageError("\(arguments) prints a text")
        }
        self = command.options
    }
}

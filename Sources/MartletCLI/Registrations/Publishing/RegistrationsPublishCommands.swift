import APNSProtocol
import CommandKit
import Configuration
import Registrations

/// A command that publishes registration commands, and waits for the replies of workers.
protocol RegistrationsPublishCommand: ConfiguredCommand {
    var options: RegistrationCommandOptions { get }
}

extension RegistrationsPublishCommand {
    func execute() throws(ConfigurationError) -> ExitCode {
        RegistrationCommandSession(connector: try options.broker.connector(), options: options).run()
    }
}

/// The command that registers a device of a user.
struct RegistrationsRegisterCommand: RegistrationsPublishCommand {
    static let syntax = CommandSyntax(
        path: ["registrations", "register"],
        summary: "Register a device of a user at the workers, and wait for their reply.",
        discussion: """
            Publish the command `register` and print the outcome of the reply: stored, unchanged, moved (the token
            belonged to another user), superseded (a newer registration has precedence, or the user has too many
            devices), ended (a later end has precedence, or the registration has expired) or invalid. With several
            users, publish one command per user. The backend that authenticates users publishes the same command.

            \(PublishedCommandText.help) Exit code 0: the device is registered, 1: it is not, or the broker refused the
            command, 2: the command is invalid and was not published, 3: the broker is unreachable, 4: no reply in time.
            """,
        options: .broker + [
            .user("user of the device"), .userFile, .registrationsApp("the app", isRequired: true),
            .deviceToken("device token, in hexadecimal", isRequired: true),
        ] + .token + [
            OptionSyntax(name: "device-id", value: "ID", help: "the app's own name of its installation"),
            OptionSyntax(
                name: "platform", value: "NAME", help: "operating system of the device",
                values: .words(DevicePlatform.allCases.map(\.rawValue))),
            .registeredAt,
            OptionSyntax(
                name: "expires-at", value: "TIME",
                help: "end of the registration (default: by kind; most kinds do not expire)"),
            OptionSyntax(name: "shared", help: "other users may have the token at the same time"),
            .replyTimeout, .json,
        ])

    let options: RegistrationCommandOptions

    init(_ parsed: ParsedArguments) throws(UsageError) {
        options = try RegistrationCommandOptions(.register, parsed, requiresUser: true)
    }
}

/// The command that ends registrations of a user or of a token.
struct RegistrationsUnregisterCommand: RegistrationsPublishCommand {
    static let syntax = CommandSyntax(
        path: ["registrations", "unregister"],
        summary: "End registrations at the workers, and wait for their reply.",
        discussion: """
            With --user and --device-id, end the registrations of an installation, as at a sign-out. With --user alone,
            end all registrations of the user in the app. With --device-token, end the registrations of a token. Older
            registrations that arrive later have no effect. Print the outcome of the reply: ended, unchanged, not_found,
            superseded (a newer registration remains) or invalid.

            \(PublishedCommandText.help) Exit code 0: no registration remains that is older than the command, 1: a newer
            registration remains, or the broker refused the command, 2: the command is invalid and was not published,
            3: the broker is unreachable, 4: no reply in time.
            """,
        options: .broker + [
            .user("user whose registrations end"), .userFile,
            .registrationsApp("the app", isRequired: true),
            OptionSyntax(name: "device-id", value: "ID", help: "with --user: only this installation"),
            .deviceToken("token whose registrations end, instead of --user"),
        ] + .token + [.registeredAt, .replyTimeout, .json])

    let options: RegistrationCommandOptions

    init(_ parsed: ParsedArguments) throws(UsageError) {
        let hasToken = parsed.has("device-token")
        for option in ["user", "user-file"] where hasToken && parsed.has(option) {
            throw UsageError("options --device-token and --\(option) are mutually exclusive")
        }
        options = try RegistrationCommandOptions(.unregister, parsed, requiresUser: !hasToken)
    }
}

/// Help text that both commands share.
private enum PublishedCommandText {
    static let help = """
        The command needs neither the key file nor the store, but an AMQP user that may write to the exchange
        push.registrations, such as martlet-registrar of `martlet topology print`. Such a user can redirect the
        notifications of every user. A repeated command changes nothing. Without a reply, the command remains in the
        queue until a worker consumes it.
        """
}

extension OptionSyntax {
    fileprivate static func deviceToken(_ help: String, isRequired: Bool = false) -> OptionSyntax {
        OptionSyntax(name: "device-token", value: "TOKEN", help: help, isRequired: isRequired)
    }

    fileprivate static let registeredAt = OptionSyntax(
        name: "registered-at", value: "TIME",
        help: "time at which the app called the backend, in UNIX milliseconds or as 2026-11-29T17:00:00Z "
            + "(default: now)")

    fileprivate static let replyTimeout = OptionSyntax(
        name: "timeout", value: "SECONDS",
        help: "timeout for the broker, and for each reply "
            + "(default: \(RegistrationCommandOptions.timeoutSecondsDefault))")
}

extension [OptionSyntax] {
    /// The options for the environment, kind and scope of a device token.
    fileprivate static let token: [OptionSyntax] = [
        OptionSyntax(
            name: "environment", value: "NAME",
            help: "APNs environment of the token (default: the app's environment in the workers' configuration)",
            values: .words(APNSEnvironment.allCases.map(\.rawValue))),
        OptionSyntax(
            name: "kind", value: "KIND", help: "kind of the token (default: device)",
            values: .words(TokenKind.allCases.map(\.rawValue))),
        OptionSyntax(
            name: "scope", value: "SCOPE",
            help: "activity, attributes type, control or channel, for kinds that have one"),
    ]
}

import APNS
import CommandKit
import Configuration
import Delivery

/// A command that manages the broadcast channels of an app.
protocol ChannelsCommand: ConfiguredCommand {
    var options: ChannelCommandOptions { get }
}

extension ChannelsCommand {
    func execute() throws(ConfigurationError) -> ExitCode { try ChannelsSession(options: options).run() }
}

/// Creates a broadcast channel.
struct ChannelsCreateCommand: ChannelsCommand {
    static let syntax = CommandSyntax(
        path: ["channels", "create"],
        summary: "Make a broadcast channel of an app, and print its ID, which APNs chooses.",
        discussion: """
            With storage none nothing is kept for devices that are away, and more broadcasts are allowed; with newest the
            newest broadcast is, for at most 8 hours. It is never changed.

            A request that APNs does not answer is not made again, since it may have made a channel: the channels before
            and after it are compared, and what is new is told.

            \(ChannelsText.talk)
            """,
        options: .channels + [
            OptionSyntax(
                name: "storage", value: "POLICY",
                help: "none or newest", isRequired: true,
                values: .words(ChannelRequest.StoragePolicy.allCases.map(\.word)))
        ])

    let options: ChannelCommandOptions

    init(_ parsed: ParsedArguments) throws(UsageError) {
        guard let policy = ChannelRequest.StoragePolicy(word: parsed.required("storage")) else {
            throw UsageError("option --storage takes none or newest")
        }
        options = ChannelCommandOptions(.create(policy), parsed)
    }
}

/// Shows the storage policy of broadcast channels.
struct ChannelsReadCommand: ChannelsCommand {
    static let syntax = CommandSyntax(
        path: ["channels", "read"],
        summary: "Show the storage policy of broadcast channels.",
        discussion: ChannelsText.talk, operands: "CHANNEL…", operandValues: .text, options: .channels)

    let options: ChannelCommandOptions

    init(_ parsed: ParsedArguments) { options = ChannelCommandOptions(.read(parsed.operands), parsed) }
}

/// Deletes broadcast channels.
struct ChannelsDeleteCommand: ChannelsCommand {
    static let syntax = CommandSyntax(
        path: ["channels", "delete"],
        summary: "Delete broadcast channels, for good.",
        discussion: """
            An ID never comes back. Devices may still get what a channel has stored. A channel that is gone already
            counts as deleted.

            \(ChannelsText.talk)
            """,
        operands: "CHANNEL…", operandValues: .text, options: .channels)

    let options: ChannelCommandOptions

    init(_ parsed: ParsedArguments) { options = ChannelCommandOptions(.delete(parsed.operands), parsed) }
}

/// Lists the broadcast channels of an app.
struct ChannelsListCommand: ChannelsCommand {
    static let syntax = CommandSyntax(
        path: ["channels", "list"],
        summary: "List the broadcast channels of an app.",
        discussion: ChannelsText.talk, options: .channels)

    let options: ChannelCommandOptions

    init(_ parsed: ParsedArguments) { options = ChannelCommandOptions(.list, parsed) }
}

/// Text of several commands.
private enum ChannelsText {
    static let talk = """
        Asks the host of channel management with the app's key or certificate, straight and without a broker. Exit code 0:
        done, 1: APNs refused it, or did not answer what changes nothing, 3: there is no connection to APNs, 4: no answer
        came, and it may have been done.
        """
}

extension [OptionSyntax] {
    fileprivate static let channels: [OptionSyntax] = [
        .config(isRequired: true),
        OptionSyntax(name: "app", value: "BUNDLE-ID", help: "the app", isRequired: true),
        OptionSyntax(
            name: "environment", value: "NAME", help: "default that of the app in the configuration",
            values: .words(["production", "sandbox"])),
        .json,
    ]
}

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

/// The command that creates a broadcast channel.
struct ChannelsCreateCommand: ChannelsCommand {
    static let syntax = CommandSyntax(
        path: ["channels", "create"],
        summary: "Create a broadcast channel for an app and print the ID that APNs assigns.",
        discussion: """
            With storage none, APNs keeps no broadcast for offline devices and allows more broadcasts. With newest, it
            keeps the newest broadcast for at most 8 hours. The policy of a channel cannot be changed. A request without
            a response is not repeated, since it may have created a channel. Instead, the command compares the channels
            before and after the request and reports new channels.

            \(ChannelsText.exitCodes)
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
            throw UsageError("option --storage: expected none or newest, got '\(parsed.required("storage"))'")
        }
        options = ChannelCommandOptions(.create(policy), parsed)
    }
}

/// The command that shows the storage policy of broadcast channels.
struct ChannelsReadCommand: ChannelsCommand {
    static let syntax = CommandSyntax(
        path: ["channels", "read"],
        summary: "Show the storage policy of broadcast channels.",
        discussion: ChannelsText.exitCodes, operands: "CHANNEL…", operandValues: .text, options: .channels)

    let options: ChannelCommandOptions

    init(_ parsed: ParsedArguments) { options = ChannelCommandOptions(.read(parsed.operands), parsed) }
}

/// The command that deletes broadcast channels.
struct ChannelsDeleteCommand: ChannelsCommand {
    static let syntax = CommandSyntax(
        path: ["channels", "delete"],
        summary: "Delete broadcast channels permanently.",
        discussion: """
            A deleted ID is never assigned again. Devices may still receive a stored broadcast. A channel that does not
            exist counts as deleted.

            \(ChannelsText.exitCodes)
            """,
        operands: "CHANNEL…", operandValues: .text, options: .channels)

    let options: ChannelCommandOptions

    init(_ parsed: ParsedArguments) { options = ChannelCommandOptions(.delete(parsed.operands), parsed) }
}

/// The command that lists the broadcast channels of an app.
struct ChannelsListCommand: ChannelsCommand {
    static let syntax = CommandSyntax(
        path: ["channels", "list"],
        summary: "List the broadcast channels of an app.",
        discussion: ChannelsText.exitCodes, options: .channels)

    let options: ChannelCommandOptions

    init(_ parsed: ParsedArguments) { options = ChannelCommandOptions(.list, parsed) }
}

/// Help text that several commands share.
private enum ChannelsText {
    static let exitCodes = """
        Use the app's key or certificate with the channel management API of APNs, without a broker. Exit code 0: done,
        1: APNs refused the request, or did not respond to a request that changes nothing, 3: no connection to APNs,
        4: no response, and the request may have been executed.
        """
}

extension [OptionSyntax] {
    fileprivate static let channels: [OptionSyntax] = [
        .config(isRequired: true),
        OptionSyntax(name: "app", value: "BUNDLE-ID", help: "the app", isRequired: true),
        OptionSyntax(
            name: "environment", value: "NAME",
            help: "APNs environment (default: the app's environment in the configuration)",
            values: .words(["production", "sandbox"])),
        .json,
    ]
}

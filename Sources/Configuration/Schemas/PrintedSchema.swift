import Delivery

/// The files of `schemas/` that are part of the program, for editors, producers and tools beside it.
package enum PrintedSchema: String, CaseIterable, Sendable {
    case notification
    case result
    case deadLetter = "dead-letter"
    case channelCommand = "channel-command"
    case channelReply = "channel-reply"
    case config
    /// What is published where: YAML, which refers to the others by their file names.
    case asyncapi

    package var text: [UInt8] {
        switch self {
        case .notification: ContractSchemas.notificationText
        case .result: PackageResources.result_schema_json
        case .deadLetter: PackageResources.dead_letter_schema_json
        case .channelCommand: ContractSchemas.channelCommandText
        case .channelReply: PackageResources.channel_reply_schema_json
        case .config: PackageResources.config_schema_json
        case .asyncapi: PackageResources.asyncapi_yaml
        }
    }

    /// A configuration with a comment on every key.
    package static var exampleConfiguration: [UInt8] { PackageResources.martlet_yaml }
}

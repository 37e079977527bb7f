import Delivery
import Registrations

/// The schema files that are part of the program, for editors, producers and tools.
package enum PrintedSchema: String, CaseIterable, Sendable {
    case notification
    case result
    case fanout
    case deadLetter = "dead-letter"
    case channelCommand = "channel-command"
    case channelReply = "channel-reply"
    case registration
    case registrationEvent = "registration-event"
    case registrationReply = "registration-reply"
    case config
    /// An AsyncAPI document in YAML about exchanges, queues and messages. The document refers to other schemas by file
    /// name.
    case asyncapi

    package var text: [UInt8] {
        switch self {
        case .notification: ContractSchemas.notificationText
        case .result: PackageResources.result_schema_json
        case .fanout: PackageResources.fanout_schema_json
        case .deadLetter: PackageResources.dead_letter_schema_json
        case .channelCommand: ContractSchemas.channelCommandText
        case .channelReply: PackageResources.channel_reply_schema_json
        case .registration: RegistrationSchemas.commandText
        case .registrationEvent: RegistrationSchemas.eventText
        case .registrationReply: RegistrationSchemas.replyText
        case .config: PackageResources.config_schema_json
        case .asyncapi: PackageResources.asyncapi_yaml
        }
    }

    /// An example configuration with a comment on every key.
    package static var exampleConfiguration: [UInt8] { PackageResources.martlet_yaml }
}

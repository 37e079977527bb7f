import JSON
public import JSONSchema

/// The schemas by which a worker validates requests and channel commands.
public enum ContractSchemas {
    public static let notification = compile(notificationText, "notification.schema.json")

    static let channelCommand = compile(channelCommandText, "channel-command.schema.json")

    /// The text of `schemas/channel-command.schema.json`.
    public static var channelCommandText: [UInt8] { PackageResources.channel_command_schema_json }

    /// The text of `schemas/notification.schema.json`.
    public static var notificationText: [UInt8] { PackageResources.notification_schema_json }

    private static func compile(_ text: [UInt8], _ name: String) -> CompiledSchema {
        do {
            return try CompiledSchema(JSONDocument(text), uri: "https://martlet.dev/schemas/\(name)")
        } catch {
            preconditionFailure("cannot compile the embedded schema \(name): \(error)")
        }
    }
}

import JSON
public import JSONSchema

/// The schemas of `schemas/` that the worker carries in itself.
public enum ContractSchemas {
    public static let notification = compile(notificationText, "notification.schema.json")

    static let channelCommand = compile(channelCommandText, "channel-command.schema.json")

    /// As it stands in `schemas/`.
    public static var channelCommandText: [UInt8] { PackageResources.channel_command_schema_json }

    /// As it stands in `schemas/`.
    public static var notificationText: [UInt8] { PackageResources.notification_schema_json }

    private static func compile(_ text: [UInt8], _ name: String) -> CompiledSchema {
        do {
            return try CompiledSchema(JSONDocument(text), uri: "https://martlet.dev/schemas/\(name)")
        } catch {
            preconditionFailure("\(name), which is part of this program, does not compile: \(error)")
        }
    }
}

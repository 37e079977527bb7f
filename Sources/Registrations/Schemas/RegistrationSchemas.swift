/// The schemas from `schemas/` that are embedded in this target.
public enum RegistrationSchemas {
    /// The text of `registration.schema.json`.
    public static var commandText: [UInt8] { PackageResources.registration_schema_json }

    /// The text of `registration-event.schema.json`.
    public static var eventText: [UInt8] { PackageResources.registration_event_schema_json }

    /// The text of `registration-reply.schema.json`.
    public static var replyText: [UInt8] { PackageResources.registration_reply_schema_json }
}

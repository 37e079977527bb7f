package import Delivery
package import JSONSchema

/// The rules that a configuration adds to the contract. They concern apps and their environments, payload schemas,
/// requests to users, and the maximum message size.
package struct RequestRules: Sendable {
    package let messageBytesMax: Int
    /// Whether requests to users are valid, because device registrations are configured.
    private let hasRegistrations: Bool
    /// The environments of registration commands.
    package let commandEnvironments: CommandEnvironments
    private let apps: AppDirectory
    private let bundleIDs: [String]
    private let payloadSchemas: PayloadSchemaFiles

    init(_ configuration: WorkerConfiguration) {
        self.init(
            configuration.apps.map { AppDirectory.App($0) }, configuration.payloadSchemas,
            messageBytesMax: configuration.limits.messageBytesMax,
            hasRegistrations: configuration.registrations != nil)
    }

    init(
        _ apps: [AppDirectory.App], _ payloadSchemas: PayloadSchemaFiles, messageBytesMax: Int, hasRegistrations: Bool
    ) {
        self.apps = AppDirectory(apps)
        self.hasRegistrations = hasRegistrations
        commandEnvironments = CommandEnvironments(apps)
        bundleIDs = apps.map(\.bundleID)
        self.payloadSchemas = payloadSchemas
        self.messageBytesMax = messageBytesMax
    }

    package var checker: RequestChecker {
        RequestChecker(
            apps: apps, payloadSchemas: payloadSchemas.schemas(ofApps: bundleIDs), hasRegistrations: hasRegistrations,
            messageBytesMax: messageBytesMax)
    }

    /// Returns the schema for an app's payloads; nil if the configuration names no schema for the app.
    package func payloadSchema(ofApp bundleID: String) -> CompiledSchema? {
        payloadSchemas.index(ofApp: bundleID).map { payloadSchemas.files[$0].schema }
    }
}

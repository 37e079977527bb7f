public import JSONSchema

/// The payload schemas of the apps. The payloads of an app must satisfy its schema and the contract's schema.
public struct PayloadSchemas: Sendable {
    let schemas: [CompiledSchema]
    /// The index of each app's schema in `schemas`, in the order of the `AppDirectory`; nil for an app without a
    /// schema.
    let ofApps: [Int?]

    /// Creates the payload schemas of all apps.
    ///
    /// - Parameter ofApps: The index of each app's schema in `schemas`, in the order of the `AppDirectory`; nil for an
    ///   app without a schema.
    public init(_ schemas: [CompiledSchema] = [], ofApps: [Int?] = []) {
        self.schemas = schemas
        self.ofApps = ofApps.map { $0.flatMap { schemas.indices.contains($0) ? $0 : nil } }
    }
}

/// The validators of the payload schemas. Each lane has its own validators, since a validator reuses its memory.
struct PayloadValidators {
    private let validators: [SchemaValidator]
    private let ofApps: [Int?]

    init(_ payloadSchemas: PayloadSchemas) {
        validators = payloadSchemas.schemas.map { SchemaValidator($0) }
        ofApps = payloadSchemas.ofApps
    }

    /// The validator for the payloads of an app; nil if the app has no schema.
    subscript(app: AppDirectory.Index) -> SchemaValidator? {
        guard ofApps.indices.contains(app), let index = ofApps[app] else { return nil }
        return validators[index]
    }
}

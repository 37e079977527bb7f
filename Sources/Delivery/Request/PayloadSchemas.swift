public import JSONSchema

/// The schemas of the apps for their payloads, beyond the contract.
public struct PayloadSchemas: Sendable {
    let schemas: [CompiledSchema]
    /// The index into `schemas` of each app, in the order of the `AppDirectory`; nil without a schema.
    let ofApps: [Int?]

    /// - Parameter ofApps: The index into `schemas` of each app, in the order of the `AppDirectory`; nil without a
    ///   schema.
    public init(_ schemas: [CompiledSchema] = [], ofApps: [Int?] = []) {
        self.schemas = schemas
        self.ofApps = ofApps.map { $0.flatMap { schemas.indices.contains($0) ? $0 : nil } }
    }
}

/// The validators of payload schemas, with the memory of one lane.
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

public import JSONSchema

/// What apps demand of their payloads beyond the contract.
public struct PayloadSchemas: Sendable {
    let schemas: [CompiledSchema]
    /// By app, in the order of the `AppDirectory`: an index into `schemas`.
    let ofApps: [Int?]

    /// - Parameter ofApps: by app, in the order of the `AppDirectory`: which of the schemas its payloads have to obey.
    public init(_ schemas: [CompiledSchema] = [], ofApps: [Int?] = []) {
        self.schemas = schemas
        self.ofApps = ofApps.map { $0.flatMap { schemas.indices.contains($0) ? $0 : nil } }
    }
}

/// The same with one lane's memory for checking.
struct PayloadValidators {
    private let validators: [SchemaValidator]
    private let ofApps: [Int?]

    init(_ payloadSchemas: PayloadSchemas) {
        validators = payloadSchemas.schemas.map { SchemaValidator($0) }
        ofApps = payloadSchemas.ofApps
    }

    /// nil: the app demands nothing.
    subscript(app: AppDirectory.Index) -> SchemaValidator? {
        guard ofApps.indices.contains(app), let index = ofApps[app] else { return nil }
        return validators[index]
    }
}

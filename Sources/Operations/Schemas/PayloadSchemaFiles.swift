import Delivery
import JSONSchema

/// The files with payload schemas that a configuration names, and what they hold.
struct PayloadSchemaFiles: Sendable {
    struct File: Sendable {
        var pattern: AppPattern
        var path: String
        var schema: CompiledSchema
    }

    var files: [File] = []

    /// What each of the apps demands: by the file whose pattern means it most exactly.
    func schemas(ofApps bundleIDs: [String]) -> PayloadSchemas {
        PayloadSchemas(files.map(\.schema), ofApps: bundleIDs.map { index(ofApp: $0) })
    }

    private func index(ofApp bundleID: String) -> Int? {
        files.indices.filter { files[$0].pattern.matches(bundleID) }
            .max { files[$0].pattern.exactness < files[$1].pattern.exactness }
    }
}

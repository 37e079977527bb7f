package import Delivery
package import JSONSchema

/// The files with payload schemas that a configuration names, and what they hold.
package struct PayloadSchemaFiles: Sendable {
    package struct File: Sendable {
        package var pattern: AppPattern
        package var path: String
        package private(set) var schema: CompiledSchema
        /// What it was read from at the last attempt, as that was then.
        package private(set) var sources: [String: FileVersion]

        init(pattern: AppPattern, path: String) throws(SchemaFileProblem) {
            let sources = FileSources()
            self.pattern = pattern
            self.path = path
            schema = try SchemaFolder().compile(path, noting: sources)
            self.sources = sources.versions
        }

        /// - Throws: why the schema before stays.
        package mutating func readAgain() throws(SchemaFileProblem) {
            let sources = FileSources()
            defer { self.sources = sources.versions }
            schema = try SchemaFolder().compile(path, noting: sources)
        }
    }

    package var files: [File] = []

    /// Whether those are the same files, whatever they hold.
    package func areNamed(as other: PayloadSchemaFiles) -> Bool {
        files.elementsEqual(other.files) { $0.pattern == $1.pattern && $0.path == $1.path }
    }

    /// What each of the apps demands: by the file whose pattern means it most exactly.
    package func schemas(ofApps bundleIDs: [String]) -> PayloadSchemas {
        PayloadSchemas(files.map(\.schema), ofApps: bundleIDs.map { index(ofApp: $0) })
    }

    /// Of equally exact patterns the first one counts.
    package func index(ofApp bundleID: String) -> Int? {
        files.indices.filter { files[$0].pattern.matches(bundleID) }
            .max { files[$0].pattern.exactness < files[$1].pattern.exactness }
    }
}

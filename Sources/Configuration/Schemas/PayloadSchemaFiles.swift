package import Delivery
package import JSONSchema

/// The payload schema files of a configuration, with their compiled schemas.
package struct PayloadSchemaFiles: Sendable {
    package struct File: Sendable {
        package var pattern: AppPattern
        package var path: String
        package private(set) var schema: CompiledSchema
        /// The files that the last read opened or searched for, with their versions from before the read.
        package private(set) var sources: [String: FileVersion]

        init(pattern: AppPattern, path: String) throws(SchemaFileProblem) {
            let sources = FileSources()
            self.pattern = pattern
            self.path = path
            schema = try SchemaFolder().compile(path, noting: sources)
            self.sources = sources.versions
        }

        /// Reads and compiles the schema again.
        ///
        /// - Throws: if the schema is invalid or cannot be read. The previous schema stays in use.
        package mutating func readAgain() throws(SchemaFileProblem) {
            let sources = FileSources()
            defer { self.sources = sources.versions }
            schema = try SchemaFolder().compile(path, noting: sources)
        }
    }

    package var files: [File] = []

    /// Returns whether the patterns and paths are the same as those of `other`. The contents may differ.
    package func areNamed(as other: PayloadSchemaFiles) -> Bool {
        files.elementsEqual(other.files) { $0.pattern == $1.pattern && $0.path == $1.path }
    }

    /// Returns the payload schemas of the apps. The schema with the most specific matching pattern applies to an app.
    package func schemas(ofApps bundleIDs: [String]) -> PayloadSchemas {
        PayloadSchemas(files.map(\.schema), ofApps: bundleIDs.map { index(ofApp: $0) })
    }

    /// Returns the index of an app's schema. Among equally specific patterns, the first applies. Returns nil if no
    /// pattern matches.
    package func index(ofApp bundleID: String) -> Int? {
        files.indices.filter { files[$0].pattern.matches(bundleID) }
            .max { files[$0].pattern.exactness < files[$1].pattern.exactness }
    }
}

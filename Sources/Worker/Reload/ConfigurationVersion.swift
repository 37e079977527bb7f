package import Configuration

/// The configuration of a worker, and the files that the configuration names, at one point in time. Two versions
/// with equal contents are distinct.
package final class ConfigurationVersion: Sendable {
    let configuration: WorkerConfiguration
    /// Contents of the configuration's own file.
    let text: [UInt8]
    /// The files that the configuration names, except payload schemas, which have their own change detectors.
    let sources: [String: FileVersion]
    /// Digest of `text` and of the files in `sources`.
    let digest: [UInt8]

    /// Reads and validates the configuration.
    ///
    /// - Parameters:
    ///   - text: the text to use instead of the contents of the file at `path`; nil to read the file.
    ///   - payloadSchemas: the schemas to use instead of those that the text names; nil to read the named schemas.
    /// - Throws: an error if the file cannot be read, or an error with all mistakes if the configuration is invalid.
    package init(
        readFrom path: String, text: [UInt8]? = nil, payloadSchemas: PayloadSchemaFiles? = nil
    ) throws(ConfigurationError) {
        let sources = ConfigurationSources()
        let file = ConfigurationFile(path, noting: sources)
        let text = if let text { text } else { try file.text() }
        sources.note(text)
        configuration = try file.worker(text: text, payloadSchemas: payloadSchemas)
        self.text = text
        self.sources = sources.versions
        digest = sources.digest
    }
}

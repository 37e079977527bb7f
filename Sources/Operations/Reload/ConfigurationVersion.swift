/// A worker's configuration as its files were at one time. Two that say the same are two.
final class ConfigurationVersion: Sendable {
    let configuration: Configuration
    /// Of the configuration's own file.
    let text: [UInt8]
    /// The files that it refers to, but for payload schemas, which are followed one by one.
    let sources: [String: FileVersion]
    /// Of the text and of these files.
    let digest: [UInt8]

    /// - Parameters:
    ///   - text: taken instead of what the file at `path` holds.
    ///   - payloadSchemas: taken instead of those that the text names.
    /// - Throws: every mistake in it.
    init(
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

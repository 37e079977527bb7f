package import BrokerTopology
import JSON
import JSONSchema
import YAML

/// The configuration file. Its functions read and validate the file, and return the parts that commands need.
package struct ConfigurationFile: Sendable {
    package static let bytesMax = YAMLDocument.bytesMax
    /// Maximum size of a secret, or of another file that the configuration names, except payload schemas.
    package static let secretBytesMax = 1 << 20

    package let path: String
    private let resolver: ReferenceResolver

    /// Creates a configuration file whose references resolve to environment variables of this process, and to files
    /// relative to the configuration file.
    package init(_ path: String, noting sources: ConfigurationSources = ConfigurationSources()) {
        self.init(
            path,
            resolver: ReferenceResolver(
                environment: { Environment.value($0) },
                readFile: { name throws(ReferenceResolver.ReadFailure) in
                    try sources.read(FileReader.path(name, relativeTo: path))
                }))
    }

    package init(_ path: String, resolver: ReferenceResolver) {
        self.path = path
        self.resolver = resolver
    }

    /// Reads the whole configuration.
    ///
    /// - Throws: all mistakes in the configuration.
    package func worker() throws(ConfigurationError) -> WorkerConfiguration {
        try worker(text: try text())
    }

    /// Reads the whole configuration from a text.
    ///
    /// - Parameter payloadSchemas: replaces the schemas that the text names; nil to read these schemas.
    package func worker(
        text: [UInt8], payloadSchemas: PayloadSchemaFiles? = nil
    ) throws(ConfigurationError) -> WorkerConfiguration {
        try read(text) { reader, root in reader.readWorker(root, payloadSchemas: payloadSchemas) }
    }

    /// Reads only the settings of the broker and the topology, for commands that need no keys and run on machines
    /// without keys.
    ///
    /// - Throws: all mistakes in these settings, and all schema violations in the whole file.
    package func broker() throws(ConfigurationError) -> (broker: WorkerConfiguration.Broker, topology: Topology) {
        try read(try text()) { reader, root in reader.readBroker(root) }
    }

    /// Reads only the settings of a console, which needs no keys of APNs.
    ///
    /// - Throws: all mistakes in these settings, and all schema violations in the whole file.
    package func console() throws(ConfigurationError) -> ConsoleConfiguration {
        let text = try text()
        var configuration = try read(text) { reader, root in reader.readConsole(root) }
        do throws(ConfigurationError) {
            configuration.rules = .success(try requestRules(text: text))
        } catch {
            configuration.rules = .failure(error)
        }
        return configuration
    }

    /// Returns the path `console.socket`; nil if the configuration names none. Needs no secrets.
    ///
    /// - Throws: all schema violations in the whole file.
    package func consoleSocket() throws(ConfigurationError) -> String? { try consolePath("socket") }

    /// Returns the path `console.tokens_file`; nil if the configuration names none. Needs no secrets.
    ///
    /// - Throws: all schema violations in the whole file.
    package func consoleTokensFile() throws(ConfigurationError) -> String? { try consolePath("tokens_file") }

    private func consolePath(_ key: String) throws(ConfigurationError) -> String? {
        try read(try text()) { reader, root in .some(reader.readConsolePath(root, key)) }
    }

    /// Returns the rules for requests: apps, payload schemas and the maximum message size. Reads the whole
    /// configuration if it has no mistakes, and otherwise only the sections of these rules.
    ///
    /// On a machine without the keys and certificates, the credentials of an app may be unknown. Every app then counts
    /// as served in every environment. The credentials are unknown if `apns` lists a certificate, no key, or a key
    /// whose ID does not resolve.
    ///
    /// - Throws: all mistakes in these sections, and all schema violations in the whole file.
    package func requestRules() throws(ConfigurationError) -> RequestRules { try requestRules(text: try text()) }

    package func requestRules(text: [UInt8]) throws(ConfigurationError) -> RequestRules {
        if let configuration = try? worker(text: text) { return RequestRules(configuration) }
        return try read(text) { reader, root in reader.readRequestRules(root) }
    }

    /// Reads only the printed parts of the topology, for machines without the broker's secrets.
    ///
    /// - Throws: all mistakes in these parts, and all schema violations in the whole file.
    package func printedTopology() throws(ConfigurationError) -> PrintedTopology {
        try read(try text()) { reader, root in reader.readPrintedTopology(root) }
    }

    /// Returns the places of the configuration's secrets. Returns no places if the file cannot be read or is not YAML.
    /// Replaces variables in paths.
    package func secretPlaces() -> SecretPlaces {
        guard let text = try? text(), let document = try? YAMLDocument(text) else { return SecretPlaces() }
        return SecretPlaces(document.root) { try? resolver.replacingVariables($0) }
    }

    package func text() throws(ConfigurationError) -> [UInt8] {
        do {
            return try FileReader.bytes(of: path, bytesMax: Self.bytesMax)
        } catch {
            throw mistake("cannot read the file: \(error.reason)")
        }
    }

    private func read<Result>(
        _ text: [UInt8], _ make: (inout ConfigurationReader, JSONValue) -> Result?
    ) throws(ConfigurationError) -> Result {
        let document: YAMLDocument
        do {
            document = try YAMLDocument(text)
        } catch {
            throw mistake(error.message, at: error.position)
        }
        var reader = ConfigurationReader(path: path, resolver: resolver) { document.position(of: $0) }
        let broken = SchemaValidator(ConfigurationSchema.compiled()).violations(in: document.root).map { violation in
            ConfigurationError.Mistake(
                path: path, position: document.position(ofNode: violation.nodeIndex),
                message: ConfigurationSchema.text(violation, document.root.at(pointer: violation.instancePointer)))
        }
        let result = make(&reader, document.root)
        let mistakes = broken + reader.mistakes
        if let result, mistakes.isEmpty { return result }
        throw ConfigurationError(
            mistakes: mistakes.isEmpty ? mistake("the configuration is incomplete").mistakes : mistakes.inOrder)
    }

    private func mistake(_ message: String, at position: JSONPosition? = nil) -> ConfigurationError {
        ConfigurationError(mistakes: [.init(path: path, position: position, message: message)])
    }
}

extension [ConfigurationError.Mistake] {
    /// The mistakes in the order of the file.
    fileprivate var inOrder: Self {
        sorted { ($0.position?.offset ?? 0, $0.message) < ($1.position?.offset ?? 0, $1.message) }
    }
}

/// The schema `schemas/config.schema.json`, which is part of the program.
enum ConfigurationSchema {
    static func compiled() -> CompiledSchema {
        do {
            return try CompiledSchema(JSONDocument(PackageResources.config_schema_json))
        } catch {
            preconditionFailure("config.schema.json, which is part of this program, does not compile: \(error)")
        }
    }

    /// Keys of earlier versions, with their replacements.
    private static let replaced = [
        "/retry/delay_seconds": "use retry.delays, a list such as [30s, 2m, 10m]"
    ]

    /// Returns the message about a violation for authors of configuration files.
    ///
    /// - Parameter value: the value that violates the schema.
    static func text(_ violation: SchemaViolation, _ value: JSONValue?) -> String {
        let place = violation.instancePointer.split(separator: "/").map { part in
            part.replacing("~1", with: "/").replacing("~0", with: "~")
        }
        if violation.keyword == "additionalProperties", let key = place.last {
            let hint =
                Self.replaced[violation.instancePointer].map { "; \($0)" }
                ?? violation.suggestion.map { "; did you mean '\($0)'?" } ?? ""
            return "unknown key '\(key)'\(hint)"
        }
        let isTruth = violation.keyword == "type" && ["true", "false"].contains(violation.suggestion)
        return "\(place.isEmpty ? "the file" : place.joined(separator: ".")) \(violation.message)"
            + (isTruth ? "; yes, no, on and off are strings in YAML 1.2" : slip(violation, value))
    }

    /// Returns a hint for a value of the wrong type; an empty text if there is no hint.
    private static func slip(_ violation: SchemaViolation, _ value: JSONValue?) -> String {
        guard violation.keyword == "type", let value else { return "" }
        switch value.kind {
        case .null:
            return violation.message.hasPrefix("must be an object")
                ? "; the value is empty: write {} to use the defaults, or remove the key"
                : "; the value is empty: write a value, or remove the key"
        case .number, .boolean:
            return violation.message.hasPrefix("must be a string") ? "; use quotes: \"…\"" : ""
        case .string, .array, .object: return ""
        }
    }
}

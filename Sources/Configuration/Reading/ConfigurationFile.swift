package import BrokerTopology
import JSON
import JSONSchema
import YAML

/// The configuration file: read, checked, and made into what commands need of it.
package struct ConfigurationFile: Sendable {
    package static let bytesMax = YAMLDocument.bytesMax
    /// Larger secrets are none.
    package static let secretBytesMax = 1 << 20

    package let path: String
    private let resolver: ReferenceResolver

    /// References in the file are resolved from the process's environment and from files beside it.
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

    /// All of it.
    ///
    /// - Throws: every mistake in it.
    package func worker() throws(ConfigurationError) -> WorkerConfiguration {
        try worker(text: try text())
    }

    /// - Parameter payloadSchemas: taken instead of those that the text names.
    package func worker(
        text: [UInt8], payloadSchemas: PayloadSchemaFiles? = nil
    ) throws(ConfigurationError) -> WorkerConfiguration {
        try read(text) { reader, root in reader.readWorker(root, payloadSchemas: payloadSchemas) }
    }

    /// Only what concerns the broker: for commands that need no keys, on machines that have none.
    ///
    /// - Throws: every mistake in what concerns the broker, or that the schema finds anywhere.
    package func broker() throws(ConfigurationError) -> (broker: WorkerConfiguration.Broker, topology: Topology) {
        try read(try text()) { reader, root in reader.readBroker(root) }
    }

    /// Only what concerns requests: apps, payload schemas and limits.
    ///
    /// On a machine without the keys and certificates, apps with certificates, or with a key whose ID does not resolve,
    /// count as served in every environment.
    ///
    /// - Throws: every mistake in those sections, or that the schema finds anywhere.
    package func requestRules() throws(ConfigurationError) -> RequestRules { try requestRules(text: try text()) }

    package func requestRules(text: [UInt8]) throws(ConfigurationError) -> RequestRules {
        if let configuration = try? worker(text: text) { return RequestRules(configuration) }
        return try read(text) { reader, root in reader.readRequestRules(root) }
    }

    /// Only what is printed of the topology: for machines that have no secrets of the broker either.
    ///
    /// - Throws: every mistake in that, or that the schema finds anywhere.
    package func printedTopology() throws(ConfigurationError) -> PrintedTopology {
        try read(try text()) { reader, root in reader.readPrintedTopology(root) }
    }

    /// Where its secrets are, with the variables in paths replaced; none where it cannot be read.
    package func secretPlaces() -> SecretPlaces {
        guard let text = try? text(), let document = try? YAMLDocument(text) else { return SecretPlaces() }
        return SecretPlaces(document.root) { try? resolver.replacingVariables($0) }
    }

    package func text() throws(ConfigurationError) -> [UInt8] {
        do {
            return try FileReader.bytes(of: path, bytesMax: Self.bytesMax)
        } catch {
            throw mistake("cannot read it: \(error.reason)")
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
        throw ConfigurationError(mistakes: mistakes.isEmpty ? mistake("it is incomplete").mistakes : mistakes.inOrder)
    }

    private func mistake(_ message: String, at position: JSONPosition? = nil) -> ConfigurationError {
        ConfigurationError(mistakes: [.init(path: path, position: position, message: message)])
    }
}

extension [ConfigurationError.Mistake] {
    /// As they stand in the file.
    fileprivate var inOrder: Self {
        sorted { ($0.position?.offset ?? 0, $0.message) < ($1.position?.offset ?? 0, $1.message) }
    }
}

/// `schemas/config.schema.json`, which is part of the program.
enum ConfigurationSchema {
    static func compiled() -> CompiledSchema {
        do {
            return try CompiledSchema(JSONDocument(PackageResources.config_schema_json))
        } catch {
            preconditionFailure("config.schema.json, which is part of this program, does not compile: \(error)")
        }
    }

    /// Keys of earlier versions, and what took their place.
    private static let replaced = [
        "/retry/delay_seconds": "retry.delays takes its place, a list such as [30s, 2m, 10m]"
    ]

    /// A violation in the words of whoever writes configuration files.
    ///
    /// - Parameter value: the one that breaks the schema.
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
            + (isTruth ? "; yes, no, on and off are text in YAML 1.2" : slip(violation, value))
    }

    /// What a value of another type than the schema's was probably meant to be.
    private static func slip(_ violation: SchemaViolation, _ value: JSONValue?) -> String {
        guard violation.keyword == "type", let value else { return "" }
        switch value.kind {
        case .null:
            return violation.message.hasPrefix("must be an object")
                ? "; it is empty: write {} behind it to accept the defaults, or remove it"
                : "; it is empty: write a value behind it, or remove it"
        case .number, .boolean:
            return violation.message.hasPrefix("must be a string") ? "; put it in quotes: \"…\"" : ""
        case .string, .array, .object: return ""
        }
    }
}

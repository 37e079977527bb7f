import Crypto
import JSON
import JSONSchema
import TestKit
import Testing
import YAML

@testable import Configuration

/// The output of `martlet schema` and `martlet config example`.
@Suite struct PrintedSchemaTests {
    @Test func everyFileOfTheContractIsPrintedUnchanged() throws {
        let files = try Files.names(in: Products.file("schemas")).filter { $0.contains(".schema.") }
        #expect(PrintedSchema.allCases.count == files.count + 1)
        for schema in PrintedSchema.allCases {
            let name = schema == .asyncapi ? "asyncapi.yaml" : "\(schema.rawValue).schema.json"
            let file = try Files.bytes(of: Products.file("schemas/\(name)"))
            #expect(schema.text == file, "\(name)")
        }
    }

    @Test func theCommandsPrintThem() async throws {
        let martlet = try Products.executable("martlet")
        let schema = try await ChildProcess.run([martlet, "schema", "result"])
        #expect(schema.exit.status == .exited(0))
        let file = try Files.lines(of: Products.file("schemas/result.schema.json"))
        #expect(schema.output == file)
        let example = try await ChildProcess.run([martlet, "config", "example"])
        let commented = try Files.lines(of: Products.file("schemas/martlet.yaml"))
        #expect(example.output.filter { !$0.isEmpty } == commented)
        let unknown = try await ChildProcess.run([martlet, "schema", "deadletter"])
        #expect(unknown.exit.status == .exited(2) && unknown.output == [])
        #expect(unknown.errors.joined().contains("got 'deadletter'; did you mean dead-letter?"))
    }

    @Test func theExampleIsAValidConfiguration() throws {
        let key = try ES256PrivateKey.generate().pkcs8PEM()
        let file = ConfigurationFile(
            "martlet.yaml", resolver: ReferenceResolver(environment: { _ in "x" }, readFile: { _ in Array(key.utf8) }))
        let configuration = try file.worker(text: PrintedSchema.exampleConfiguration)
        #expect(configuration.apps.map(\.bundleID) == ["com.example.shop", "com.example.shop.beta"])
        #expect(lines.first == "# yaml-language-server: $schema=config.schema.json")
    }

    // Without comment signs, the example is valid, contains each key of the schema, and shows the
    // defaults of `limits` and `retry`.
    @Test func theExampleNamesEveryKeyWithItsDefault() throws {
        let example = try YAMLDocument(lines.map(Self.uncommented).joined(separator: "\n"))
        let schema = try JSONDocument(PrintedSchema.config.text)
        #expect(ConfigurationSchema.violations(in: example) == [])
        var known: [String: JSONValue] = [:]
        Self.collect(schema.root, of: schema.root, at: "", into: &known)
        #expect(known.count > 40)
        for (path, property) in known {
            let value = try #require(Self.value(at: path, in: example.root), "\(path) is missing")
            // The values of queues and apps are examples, not defaults.
            guard let usual = property["default"], path.hasPrefix("/limits") || path.hasPrefix("/retry") else {
                continue
            }
            #expect(value.sourceBytes == usual.sourceBytes.filter { $0 != UInt8(ascii: " ") }, "\(path)")
        }
    }

    private var lines: [String] {
        String(decoding: PrintedSchema.exampleConfiguration, as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// Removes a leading `#` that is not followed by a space.
    private static func uncommented(_ line: String) -> String {
        let text = line.drop { $0 == " " }
        guard text.first == "#", let next = text.dropFirst().first, next != " " else { return line }
        return String(line.prefix(line.count - text.count) + text.dropFirst())
    }

    /// Collects properties by path. In a path, `*` is any element or member.
    private static func collect(
        _ schema: JSONValue, of root: JSONValue, at path: String, into known: inout [String: JSONValue]
    ) {
        if let reference = schema["$ref"]?.string, let target = root.at(pointer: String(reference.dropFirst())) {
            collect(target, of: root, at: path, into: &known)
        }
        for (key, property) in schema["properties"]?.members.map({ $0 }) ?? [] {
            let place = "\(path)/\(key.string ?? "")"
            known[place] = property
            collect(property, of: root, at: place, into: &known)
        }
        for inner in [schema["items"], schema["additionalProperties"]].compactMap({ $0 }) where inner.kind == .object {
            collect(inner, of: root, at: "\(path)/*", into: &known)
        }
    }

    /// Returns the first value at a path, in which `*` is any element or member; nil if there is no value.
    private static func value(at path: String, in value: JSONValue) -> JSONValue? {
        guard let word = path.split(separator: "/").first else { return value }
        let rest = String(path.dropFirst(word.count + 1))
        guard word == "*" else { return value[key: String(word)].flatMap { self.value(at: rest, in: $0) } }
        let inner = value.kind == .array ? value.elements.map { $0 } : value.members.map(\.value)
        return inner.lazy.compactMap { self.value(at: rest, in: $0) }.first
    }
}

extension ConfigurationSchema {
    fileprivate static func violations(in document: YAMLDocument) -> [String] {
        SchemaValidator(compiled()).violations(in: document.root).map { text($0, nil) }
    }
}

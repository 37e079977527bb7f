import JSON
import TestKit
import Testing

/// A document of `schemas/examples`. Requests are in the folders `valid` and `invalid`. Each other schema has its own
/// folder, which contains the folders `valid` and `invalid`.
struct ContractExample: CustomTestStringConvertible {
    static let schemas = [
        "notification", "result", "fanout", "dead-letter", "channel-command", "channel-reply", "registration",
        "registration-event", "registration-reply", "config",
    ]

    var schema: String
    /// The path below `schemas/examples`, without `.json`.
    var path: String
    var testDescription: String { path }

    static func all(_ verdict: String) -> [ContractExample] {
        schemas.flatMap { schema in
            let folder = schema == "notification" ? verdict : "\(schema)/\(verdict)"
            let names = (try? Files.names(in: Products.file("schemas/examples/\(folder)"))) ?? []
            return names.filter { $0.hasSuffix(".json") && !$0.hasSuffix(".expected.json") }.map {
                ContractExample(schema: schema, path: "\(folder)/\($0.dropLast(".json".count))")
            }
        }
    }

    func document() throws -> JSONDocument { try Self.document("schemas/examples/\(path).json") }

    /// Returns the expected first error of an invalid example.
    func expected() throws -> JSONValue { try Self.document("schemas/examples/\(path).expected.json").root }

    static func document(of schema: String) throws -> JSONDocument { try document("schemas/\(schema).schema.json") }

    private static func document(_ path: String) throws -> JSONDocument {
        try JSONDocument(try Files.bytes(of: Products.file(path)))
    }
}

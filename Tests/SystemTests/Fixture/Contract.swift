import AMQP
import Delivery
import JSON
import JSONSchema
import TestKit

/// A schema of `schemas/` that results or dead letters must satisfy.
struct Contract {
    private let validator: SchemaValidator

    static func result() throws -> Contract { try Contract("result") }
    static func deadLetter() throws -> Contract { try Contract("dead-letter") }

    private init(_ name: String) throws {
        let text = try Files.bytes(of: Products.file("schemas/\(name).schema.json"))
        validator = SchemaValidator(try CompiledSchema(JSONDocument(text)))
    }

    /// Returns the first schema violation of a result's body, or nil if it is valid.
    func violation(ofBody message: IncomingMessage) throws -> String? {
        try violation(of: message.body)
    }

    func violation(of body: [UInt8]) throws -> String? {
        try validator.firstViolation(in: JSONDocument(body).root)?.description
    }

    /// Returns the first schema violation of the headers that a worker adds to a dead letter, or nil if they are valid.
    func violation(ofHeaders message: IncomingMessage) throws -> String? {
        var json = JSONWriter()
        json.beginObject()
        let entries = message.properties.headers?.entries ?? []
        for entry in entries where MessageHeaderName.all.contains(entry.name) {
            switch entry.value {
            case .string(let value): json.member(entry.name, value)
            case .integer(let value): json.member(entry.name, value)
            case .boolean(let value): json.member(entry.name, value)
            case .timestamp(let seconds): json.member(entry.name, Int64(truncatingIfNeeded: seconds))
            case .array(let values): json.member(entry.name, values.compactMap(\.stringValue))
            case .double, .decimal, .bytes, .table, .void, .unreadable:
                return "\(entry.name) has an unexpected type"
            }
        }
        json.endObject()
        return try validator.firstViolation(in: JSONDocument(json.bytes).root)?.description
    }
}

extension JSONWriter {
    fileprivate mutating func member(_ name: String, _ value: String) {
        key(name)
        string(value)
    }

    fileprivate mutating func member(_ name: String, _ value: Int64) {
        key(name)
        int(value)
    }

    fileprivate mutating func member(_ name: String, _ values: [String]) {
        key(name)
        beginArray()
        for value in values { string(value) }
        endArray()
    }

    fileprivate mutating func member(_ name: String, _ value: Bool) {
        key(name)
        bool(value)
    }
}

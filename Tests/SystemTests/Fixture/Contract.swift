import AMQP
import Delivery
import JSON
import JSONSchema
import TestKit

/// What `schemas/` promises to those who read results and dead letters.
struct Contract {
    private let validator: SchemaValidator

    static func result() throws -> Contract { try Contract("result") }
    static func deadLetter() throws -> Contract { try Contract("dead-letter") }

    private init(_ name: String) throws {
        let text = try Files.bytes(of: Products.file("schemas/\(name).schema.json"))
        validator = SchemaValidator(try CompiledSchema(JSONDocument(text)))
    }

    /// How a result's body breaks it; nil when it does not.
    func violation(ofBody message: IncomingMessage) throws -> String? {
        try violation(of: message.body)
    }

    func violation(of body: [UInt8]) throws -> String? {
        try validator.firstViolation(in: JSONDocument(body).root)?.description
    }

    /// How the headers that a worker wrote on a dead letter break it; nil when they do not.
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
            case .double, .decimal, .bytes, .table, .array, .void, .unreadable:
                return "\(entry.name) is of a strange type"
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

    fileprivate mutating func member(_ name: String, _ value: Bool) {
        key(name)
        bool(value)
    }
}

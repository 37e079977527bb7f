import JSON
import JSONSchema
import TestKit

/// What a message costs when the schema names more properties than the message has members, and when both grow.
struct SchemaGrowth {
    /// Members of the small message, properties of the small schema.
    static let few = 20
    static let many = 20_000
    /// Times that a member may cost more among many: memory that is out of the caches costs some, comparing with each
    /// property would cost a thousand.
    static let ratioMax = 8.0

    /// Nanoseconds for a member, parsed and validated.
    var fewOfFew: Double
    var fewOfMany: Double
    var manyOfMany: Double

    static func measure() throws -> SchemaGrowth {
        let small = try validator(properties: few)
        let large = try validator(properties: many)
        return SchemaGrowth(
            fewOfFew: try nanoseconds(members: few, rounds: 2000, small),
            fewOfMany: try nanoseconds(members: few, rounds: 2000, large),
            manyOfMany: try nanoseconds(members: many, rounds: 5, large))
    }

    var isWithinLimit: Bool { max(fewOfMany, manyOfMany) <= Self.ratioMax * fewOfFew }

    /// Alike at both ends, as reversed domain names with a common last word are.
    private static func name(_ number: Int) -> String { "com.example.\(100_000 + number).settings.enabled" }

    private static func validator(properties: Int) throws -> SchemaValidator {
        let declared = (0..<properties).map { #""\#(name($0))":{"type":"integer"}"# }
        let required = (0..<few).map { #""\#(name($0))""# }
        let dependent = (0..<properties - 1).map { #""\#(name($0 + 1))":["\#(name(0))"]"# }
        let schema = """
            {"properties":{\(declared.joined(separator: ","))},"required":[\(required.joined(separator: ","))],
            "dependentRequired":{\(dependent.joined(separator: ","))},"additionalProperties":false}
            """
        return SchemaValidator(try CompiledSchema(JSONDocument(schema, limits: JSONLimits(bytesMax: 16 << 20))))
    }

    private static func nanoseconds(members: Int, rounds: Int, _ validator: SchemaValidator) throws -> Double {
        let text = Array("{\((0..<members).map { #""\#(name($0))":\#($0)"# }.joined(separator: ","))}".utf8)
        let parser = JSONParser()
        let batches = try (0..<SchemaBenchOptions.batches).map { _ in
            try ProcessorClock.nanoseconds {
                for _ in 0..<rounds {
                    if let violation = validator.firstViolation(in: try parser.parse(text)) { throw violation }
                }
            }
        }
        return Figures.median(batches.dropFirst().map { Double($0) }) / Double(rounds * members)
    }
}

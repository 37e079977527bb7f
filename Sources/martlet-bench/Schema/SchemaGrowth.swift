import JSON
import JSONSchema
import TestKit

/// The cost per member of a message when the schema grows, and when schema and message grow.
struct SchemaGrowth {
    /// The members of the small message, and the properties of the small schema.
    static let few = 20
    static let many = 20_000
    /// The limit of the cost per member, as a multiple of that with the small schema. Cache misses cost some times as
    /// much; a comparison with each property would cost a thousand times as much.
    static let ratioMax = 8.0

    /// Nanoseconds per member, to parse and validate.
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

    /// Returns a name whose beginning and end are common to all, like a reversed domain name.
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

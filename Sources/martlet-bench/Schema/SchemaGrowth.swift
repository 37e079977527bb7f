import JSON
import JSONSchema
import TestKit

/// The cost per member of an object when the schema grows, and when schema and object grow.
struct SchemaGrowth {
    /// The number of members of the small object, and of properties of the small schema.
    static let few = 20
    /// The number of members of the large object, and of properties of the large schema.
    static let many = 20_000
    /// The limit of the cost per member, as a multiple of the cost with the small schema.
    ///
    /// Cache misses multiply the cost by a small factor. A comparison with each property would multiply it by 1000.
    static let ratioMax = 8.0

    /// The nanoseconds per member to parse and validate the small object with the small schema.
    var fewOfFew: Double
    /// The nanoseconds per member to parse and validate the small object with the large schema.
    var fewOfMany: Double
    /// The nanoseconds per member to parse and validate the large object with the large schema.
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

    /// Returns a property name. All names have the same beginning and end, like reversed domain names.
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

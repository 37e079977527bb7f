import JSON
import JSONSchema
import TestKit

/// The cost of compiling a part of a schema, in a small and in a large schema.
struct CompileGrowth {
    static let few = 1000
    static let many = 20_000
    /// The limit of the cost per part in the large schema, as a multiple of the cost in the small schema. A linear
    /// search per part would exceed the limit.
    static let ratioMax = 2.5

    /// The nanoseconds per part of the small schema.
    var ofFew: Double
    /// The nanoseconds per part of the large schema.
    var ofMany: Double

    static func measure() throws -> CompileGrowth {
        CompileGrowth(ofFew: try nanoseconds(parts: few), ofMany: try nanoseconds(parts: many))
    }

    var isWithinLimit: Bool { ofMany <= Self.ratioMax * ofFew }

    /// Returns the nanoseconds per part of a schema.
    ///
    /// Each part references one schema by name and one by index, and has an unknown keyword.
    private static func nanoseconds(parts: Int) throws -> Double {
        let properties = (0..<parts).map {
            ##""p\##($0)":{"anyOf":[{"$ref":"#/$defs/d\##($0)"},{"$ref":"#/prefixItems/\##($0)"}],"x-note":1}"##
        }
        let definitions = (0..<parts).map { #""d\#($0)":{"type":"null"}"# }
        let elements = Array(repeating: #"{"type":"null"}"#, count: parts)
        let document = try JSONDocument(
            """
            {"properties":{\(properties.joined(separator: ","))},"$defs":{\(definitions.joined(separator: ","))},
            "prefixItems":[\(elements.joined(separator: ","))]}
            """, limits: JSONLimits(bytesMax: 16 << 20))
        let batches = try (0..<SchemaBenchOptions.batches).map { _ in
            try ProcessorClock.nanoseconds { _ = try CompiledSchema(document) }
        }
        return Figures.median(batches.dropFirst().map { Double($0) }) / Double(parts)
    }
}

import JSON
import JSONSchema
import TestKit

/// What compiling costs for a part of a schema, in a small schema and in a large one.
struct CompileGrowth {
    static let few = 1000
    static let many = 20_000
    /// Times that a part may cost more among many: a search of all others for each would cost five times as much.
    static let ratioMax = 2.5

    /// Nanoseconds for a part.
    var ofFew: Double
    var ofMany: Double

    static func measure() throws -> CompileGrowth {
        CompileGrowth(ofFew: try nanoseconds(parts: few), ofMany: try nanoseconds(parts: many))
    }

    var isWithinLimit: Bool { ofMany <= Self.ratioMax * ofFew }

    /// Each part is referred to by name and by position, and has a keyword that is not known.
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

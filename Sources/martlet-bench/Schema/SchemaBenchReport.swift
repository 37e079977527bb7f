import JSON

/// What was measured, for people and for programs.
struct SchemaBenchReport {
    /// Of the yardstick, at most.
    static let shareMax = 0.6

    let options: SchemaBenchOptions
    let messageBytes: Int
    /// Nanoseconds a message, of each batch.
    var yardstick: [Double] = []
    var martlet: [Double] = []
    /// Of a thousand messages; nil: not counted.
    var allocations: Int?
    var growth: SchemaGrowth?
    var compileGrowth: CompileGrowth?
    var limits: [HostileCase.Cost] = []

    private var share: Double { Figures.median(martlet) / Figures.median(yardstick) }

    /// What is worse than it may be.
    var failures: [String] {
        limits.filter { !$0.isWithinLimit }.map { "\($0.name) takes too long" }
            + limits.filter { $0.answer != $0.expected }.map { "\($0.name) ends as \($0.answer), not \($0.expected)" }
            + (share > Self.shareMax ? ["a message costs over \(Self.shareMax) of the yardstick"] : [])
            + (allocations ?? 0 > 0 ? ["messages allocate"] : [])
            + (growth?.isWithinLimit == false ? ["the cost grows with the properties of the schema"] : [])
            + (compileGrowth?.isWithinLimit == false ? ["a larger schema costs more to compile for each part"] : [])
    }

    var table: String {
        let lines = limits.map { cost in
            Figures.cell(cost.p99Milliseconds, places: 2, width: 8)
                + Figures.cell(cost.parseP99Milliseconds, places: 2, width: 16)
                + "  \(cost.name): \(cost.answer)"
        }
        let grown = [growth?.fewOfFew, growth?.fewOfMany, growth?.manyOfMany].map {
            Figures.cell($0 ?? .nan, places: 0, width: 6)
        }
        let compiled = [compileGrowth?.ofFew, compileGrowth?.ofMany].map {
            Figures.cell(($0 ?? .nan) / 1000, places: 1, width: 6)
        }
        return """
            The sample alert, \(messageBytes) bytes, parsed and validated; processor time, median of \(martlet.count) batches

              json.loads and jsonschema-rs  \(Figures.cell(Figures.median(yardstick) / 1000, places: 2, width: 6)) µs
              Martlet                       \(Figures.cell(Figures.median(martlet) / 1000, places: 2, width: 6)) µs, \
            \(Figures.decimal(share, places: 2)) of it
              allocations of 1000 messages  \(allocations.map { "\($0)" } ?? "not counted: valgrind is missing")

            One member of an object, parsed and validated; processor time, ns

            \(grown[0])  of \(SchemaGrowth.few), the schema has \(SchemaGrowth.few) properties
            \(grown[1])  of \(SchemaGrowth.few), the schema has \(SchemaGrowth.many)
            \(grown[2])  of \(SchemaGrowth.many), the schema has \(SchemaGrowth.many)

            One part of a schema with references and unknown keywords, compiled; processor time, µs

            \(compiled[0])  of \(CompileGrowth.few)
            \(compiled[1])  of \(CompileGrowth.many)

            What is made to cost much, within 1 MiB; p99 of \(HostileCase.runs) runs, processor time

              p99 ms  of it parsing
            \(lines.joined(separator: "\n"))
            """
    }

    var json: String {
        var json = JSONWriter()
        json.beginObject()
        json.member("benchmark", "schema")
        json.member("message_bytes", messageBytes)
        for (name, batches) in [("yardstick_ns", yardstick), ("martlet_ns", martlet)] {
            json.key(name)
            json.beginArray()
            for batch in batches { json.double(batch) }
            json.endArray()
        }
        json.key("share")
        json.double(share)
        if let allocations { json.member("allocations_per_1000", allocations) }
        if let growth {
            for (name, nanoseconds) in [
                ("member_ns", growth.fewOfFew), ("member_of_larger_schema_ns", growth.fewOfMany),
                ("member_of_larger_message_ns", growth.manyOfMany),
            ] {
                json.key(name)
                json.double(nanoseconds)
            }
        }
        if let compileGrowth {
            for (name, nanoseconds) in [
                ("compiled_part_ns", compileGrowth.ofFew), ("compiled_part_of_larger_schema_ns", compileGrowth.ofMany),
            ] {
                json.key(name)
                json.double(nanoseconds)
            }
        }
        json.beginArray("limits")
        for cost in limits {
            json.beginObject()
            json.member("name", cost.name)
            json.member("bytes", cost.bytes)
            json.member("answer", cost.answer)
            json.key("parse_p99_ms")
            json.double(cost.parseP99Milliseconds)
            json.key("p99_ms")
            json.double(cost.p99Milliseconds)
            json.endObject()
        }
        json.endArray()
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }
}

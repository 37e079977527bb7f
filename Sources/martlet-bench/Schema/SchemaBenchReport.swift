import JSON

/// The measurements of parsing and validation, as tables and as JSON.
struct SchemaBenchReport {
    /// The limit of Martlet's processor time, as a share of the processor time of Python's libraries.
    static let shareMax = 0.6

    let options: SchemaBenchOptions
    let messageBytes: Int
    /// The nanoseconds per request of each batch, with Python's libraries.
    var python: [Double] = []
    /// The nanoseconds per request of each batch, with Martlet.
    var martlet: [Double] = []
    /// The number of allocations by a thousand requests; nil if valgrind is missing or reports no count.
    var allocations: Int?
    var growth: SchemaGrowth?
    var compileGrowth: CompileGrowth?
    var limits: [HostileCase.Cost] = []

    private var share: Double { Figures.median(martlet) / Figures.median(python) }

    /// Descriptions of the figures that exceed their limits, and of the unexpected answers.
    var failures: [String] {
        limits.filter { !$0.isWithinLimit }.map { "\($0.name): exceeds the time limit" }
            + limits.filter { $0.answer != $0.expected }.map { "\($0.name): \($0.answer) (expected \($0.expected))" }
            + (share > Self.shareMax ? ["processor time: over \(Self.shareMax) times that of Python's libraries"] : [])
            + (allocations ?? 0 > 0 ? ["requests allocate memory"] : [])
            + (growth?.isWithinLimit == false ? ["the cost per member grows with the properties of the schema"] : [])
            + (compileGrowth?.isWithinLimit == false ? ["the compile cost per part grows with the schema"] : [])
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

              json.loads and jsonschema-rs  \(Figures.cell(Figures.median(python) / 1000, places: 2, width: 6)) µs
              Martlet                       \(Figures.cell(Figures.median(martlet) / 1000, places: 2, width: 6)) µs \
            (\(Figures.decimal(share, places: 2)) times Python's time)
              allocations of 1000 requests  \(allocations.map { "\($0)" } ?? "not counted: valgrind missing or failed")

            Parsing and validation per member of an object; processor time, ns

            \(grown[0])  \(SchemaGrowth.few) members, schema with \(SchemaGrowth.few) properties
            \(grown[1])  \(SchemaGrowth.few) members, schema with \(SchemaGrowth.many) properties
            \(grown[2])  \(SchemaGrowth.many) members, schema with \(SchemaGrowth.many) properties

            Compilation per part of a schema with references and unknown keywords; processor time, µs

            \(compiled[0])  \(CompileGrowth.few) parts
            \(compiled[1])  \(CompileGrowth.many) parts

            Expensive schemas and texts of at most 1 MiB; p99 of \(HostileCase.runs) runs, processor time

              p99 ms  parsing only
            \(lines.joined(separator: "\n"))
            """
    }

    var json: String {
        var json = JSONWriter()
        json.beginObject()
        json.member("benchmark", "schema")
        json.member("message_bytes", messageBytes)
        for (name, batches) in [("yardstick_ns", python), ("martlet_ns", martlet)] {
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

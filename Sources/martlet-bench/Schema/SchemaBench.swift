import JSON
import JSONSchema
import TestKit

/// A measurement of parsing and validation, and of the hostile cases.
///
/// The measurement compares Martlet with Python's json and jsonschema-rs, which parse and validate the same alert.
struct SchemaBench {
    let options: SchemaBenchOptions
    private let schemaPath = Products.file("schemas/notification.schema.json")
    private let messagePath = Products.file("schemas/examples/valid/alert.json")
    private let folder = Products.file("Sources/martlet-bench/Schema/yardstick")

    func run() async throws -> SchemaBenchReport {
        let message = try Files.bytes(of: messagePath)
        var report = SchemaBenchReport(options: options, messageBytes: message.count)
        let python = try await PythonEnvironment(
            "schema-yardstick", requirements: "\(folder)/requirements.txt")
        for sample in 1...options.samples {
            MartletBench.log("sample \(sample) of \(options.samples)")
            report.python += try await python.run(
                "\(folder)/yardstick.py",
                [schemaPath, messagePath, "\(options.messages)", "\(SchemaBenchOptions.batches)"]
            ).compactMap { Double($0) }.dropFirst()
            report.martlet += try batches(message).dropFirst()
        }
        MartletBench.log("allocations")
        report.allocations = try await allocations()
        MartletBench.log("schemas with more properties")
        report.growth = try SchemaGrowth.measure()
        MartletBench.log("larger schemas")
        report.compileGrowth = try CompileGrowth.measure()
        for limit in HostileCase.all {
            MartletBench.log(limit.name)
            report.limits.append(try limit.measure())
        }
        return report
    }

    /// Parses and validates the sample alert `rounds` times (`--rounds`).
    func repeatRounds(_ rounds: Int) throws {
        let (parser, validator) = try tools()
        let message = try Files.bytes(of: messagePath)
        for _ in 0..<rounds { try check(message, parser, validator) }
    }

    private func tools() throws -> (JSONParser, SchemaValidator) {
        let schema = try CompiledSchema(JSONDocument(try Files.bytes(of: schemaPath)))
        return (JSONParser(), SchemaValidator(schema))
    }

    /// Returns the nanoseconds per request of each batch.
    private func batches(_ message: [UInt8]) throws -> [Double] {
        let (parser, validator) = try tools()
        return try (0..<SchemaBenchOptions.batches).map { _ in
            let time = try ProcessorClock.nanoseconds {
                for _ in 0..<options.messages { try check(message, parser, validator) }
            }
            return Double(time) / Double(options.messages)
        }
    }

    @inline(__always) private func check(
        _ message: [UInt8], _ parser: JSONParser, _ validator: SchemaValidator
    ) throws {
        if let violation = validator.firstViolation(in: try parser.parse(message)) { throw violation }
    }

    /// Returns the number of allocations by a thousand requests after the first request; nil if valgrind is missing
    /// or reports no count.
    private func allocations() async throws -> Int? {
        let folder = try TemporaryDirectory("bench")
        // Debian's valgrind cannot read this program's newer format of debug information.
        let program = folder.file("martlet-bench")
        _ = try await ChildProcess.run(["strip", "-o", program, Products.executable("martlet-bench")])
        var counts: [Int] = []
        for rounds in ["1", "1001"] {
            let run = try? await ChildProcess.run(["valgrind", program, "schema", "--rounds", rounds])
            // An example of the line: ==123==   total heap usage: 2,812 allocs, …
            let words = run?.errors.first { $0.contains("total heap usage:") }?.split(separator: " ") ?? []
            guard words.count > 4, let count = Int(words[4].filter { $0 != "," }) else { return nil }
            counts.append(count)
        }
        return counts[1] - counts[0]
    }
}

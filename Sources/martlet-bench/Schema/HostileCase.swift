import JSON
import JSONSchema

/// A schema and a text near the limit of a message that are made to cost much.
struct HostileCase {
    static let runs = 100

    var name: String
    var schema: String
    var text: String

    struct Cost {
        var name: String
        var bytes: Int
        /// The keyword of the error, or its code.
        var answer: String
        var parseP99Milliseconds: Double
        var p99Milliseconds: Double

        /// 10 ms, or where parsing takes longer three times that.
        var isWithinLimit: Bool { p99Milliseconds <= max(10, 3 * parseP99Milliseconds) }
    }

    func measure() throws -> Cost {
        let validator = SchemaValidator(try CompiledSchema(JSONDocument(schema)))
        let parser = JSONParser()
        let bytes = Array(text.utf8)
        var answer = ""
        var parsed: [Int] = []
        var all: [Int] = []
        for _ in 0..<Self.runs {
            let start = ProcessorClock.nanoseconds
            do throws(JSONError) {
                let value = try parser.parse(bytes)
                parsed.append(ProcessorClock.nanoseconds - start)
                answer = validator.firstViolation(in: value)?.keyword ?? "valid"
            } catch {
                parsed.append(ProcessorClock.nanoseconds - start)
                answer = error.code.rawValue
            }
            all.append(ProcessorClock.nanoseconds - start)
        }
        return Cost(
            name: name, bytes: bytes.count, answer: answer, parseP99Milliseconds: Self.p99(parsed),
            p99Milliseconds: Self.p99(all))
    }

    /// In milliseconds: of 100 the second largest.
    private static func p99(_ nanoseconds: [Int]) -> Double {
        Double(nanoseconds.sorted()[nanoseconds.count * 99 / 100 - 1]) / 1e6
    }

    static var all: [HostileCase] {
        let twice = ##"{"items":{"anyOf":[{"$ref":"#"},{"$ref":"#"}]},"minItems":1}"##
        return [
            HostileCase(
                name: "^(a+)+$ on 30,000 characters", schema: #"{"pattern":"^(a+)+$"}"#,
                text: "\"" + String(repeating: "a", count: 30_000) + "!\""),
            HostileCase(
                name: "a pattern on a megabyte", schema: #"{"pattern":"^([a-z]|[0-9])*$"}"#,
                text: "\"" + String(repeating: "a1", count: 500_000) + "\""),
            HostileCase(name: "10,000 levels", schema: "{}", text: nested(10_000)),
            HostileCase(name: "a schema in itself twice, 100 levels", schema: twice, text: nested(100)),
            HostileCase(
                name: "the same in a megabyte", schema: twice,
                text: "[" + [String](repeating: nested(99), count: 5200).joined(separator: ",") + "]"),
            HostileCase(name: "100,000 keys", schema: "{}", text: object(100_000) { String($0, radix: 36) }),
            HostileCase(
                name: "90,000 keys, patternProperties", schema: #"{"patternProperties":{"^a.*b$":{},"c(d|e)*f$":{}}}"#,
                text: object(90_000) { "k\($0)" }),
            HostileCase(
                name: "90,000 keys, unevaluatedProperties",
                schema: #"{"anyOf":[{"properties":{"k1":{}}},{}],"unevaluatedProperties":{"type":"integer"}}"#,
                text: object(90_000) { "k\($0)" }),
            HostileCase(
                name: "uniqueItems on 80,000 objects", schema: #"{"uniqueItems":true}"#,
                text: "[" + (0..<80_000).map { #"{"a":\#($0)}"# }.joined(separator: ",") + "]"),
            HostileCase(
                name: "multipleOf on 1e999999999", schema: #"{"items":{"multipleOf":5}}"#,
                text: "[" + [String](repeating: "1e999999999", count: 80_000).joined(separator: ",") + "]"),
        ]
    }

    private static func nested(_ levels: Int) -> String {
        String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
    }

    private static func object(_ count: Int, key: (Int) -> String) -> String {
        "{" + (0..<count).map { "\"\(key($0))\":0" }.joined(separator: ",") + "}"
    }
}

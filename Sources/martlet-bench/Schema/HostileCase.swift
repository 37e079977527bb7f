import JSON
import JSONSchema
import TestKit

/// A schema and a text that are designed to be expensive. Most texts are near the size limit of a request.
struct HostileCase {
    static let runs = 100

    var name: String
    var schema: String
    var text: String
    /// The expected answer: the keyword of the violation, the code of the error, or `valid`.
    var expected: String
    var depthMax = JSONLimits().depthMax

    struct Cost {
        var name: String
        var bytes: Int
        var answer: String
        var expected: String
        var parseP99Milliseconds: Double
        var p99Milliseconds: Double

        /// Whether parsing and validation together take at most 10 ms, or at most three times as long as parsing alone.
        /// Both times are 99th percentiles.
        var isWithinLimit: Bool { p99Milliseconds <= max(10, 3 * parseP99Milliseconds) }
    }

    func measure() throws -> Cost {
        let validator = SchemaValidator(try CompiledSchema(JSONDocument(schema)))
        let parser = JSONParser(limits: JSONLimits(depthMax: depthMax))
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
            name: name, bytes: bytes.count, answer: answer, expected: expected, parseP99Milliseconds: Self.p99(parsed),
            p99Milliseconds: Self.p99(all))
    }

    /// Returns the 99th percentile in milliseconds: the second largest of 100 values.
    private static func p99(_ nanoseconds: [Int]) -> Double {
        Double(nanoseconds.sorted()[nanoseconds.count * 99 / 100 - 1]) / 1e6
    }

    static var all: [HostileCase] { patterns + depths + objects + arrays + numbers }

    private static let patterns = [
        HostileCase(
            name: "^(a+)+$ on 30,000 characters", schema: #"{"pattern":"^(a+)+$"}"#,
            text: "\"" + String(repeating: "a", count: 30_000) + "!\"", expected: "pattern"),
        HostileCase(
            name: "a pattern on a megabyte", schema: #"{"pattern":"^([a-z]|[0-9])*$"}"#,
            text: "\"" + String(repeating: "a1", count: 500_000) + "\"", expected: "valid"),
        HostileCase(
            name: "^(?=a)(a+)+$ on 30,000 characters", schema: #"{"pattern":"^(?=a)(a+)+$"}"#,
            text: "\"" + String(repeating: "a", count: 30_000) + "!\"", expected: "pattern"),
        HostileCase(
            name: #"^(a*)\1$ on a megabyte"#, schema: #"{"pattern":"^(a*)\\1$"}"#,
            text: "\"" + String(repeating: "a", count: 500_000) + String(repeating: "c", count: 500_000) + "\"",
            expected: "pattern"),
        HostileCase(
            name: "lookahead over a megabyte", schema: #"{"pattern":"^(?=(?=(?=.*b).*b).*b).*c$"}"#,
            text: "\"" + String(repeating: "a", count: 500_000) + String(repeating: "b", count: 500_000) + "\"",
            expected: "pattern"),
        HostileCase(
            name: "a Unicode property that no character of a megabyte has", schema: #"{"pattern":"\\p{Lu}"}"#,
            text: "\"" + String(repeating: "a", count: 1_000_000) + "\"", expected: "pattern"),
        HostileCase(
            name: "base64 of a megabyte",
            schema: #"{"pattern":"^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"}"#,
            text: "\"" + String(repeating: "aGVs", count: 260_000) + "\"", expected: "valid"),
        HostileCase(
            name: "1,000 patterns on 90,000 keys", schema: manyPatterns, text: object(90_000) { "p\($0)" },
            expected: "stepsMax"),
        HostileCase(
            name: "1,000 patterns on two long keys", schema: manyPatterns,
            text: object(2) { "p" + String(repeating: "1", count: 500_000) + "\($0)" }, expected: "properties"),
        HostileCase(
            name: "lookahead in 250,000 strings", schema: #"{"items":{"pattern":"^(?=1)1$"}}"#,
            text: array(250_000) { _ in #""1""# }, expected: "pattern"),
    ]

    private static let manyPatterns =
        #"{"patternProperties":{\#((0..<1000).map { #""^p[0-9]+x\#($0)$":true"# }.joined(separator: ","))}}"#

    private static let twice = ##"{"items":{"anyOf":[{"$ref":"#"},{"$ref":"#"}]},"minItems":1}"##

    private static let depths = [
        HostileCase(name: "10,000 levels", schema: "{}", text: nested(10_000), expected: "depth"),
        HostileCase(
            name: "10,000 levels with depthMax 10,000", schema: ##"{"items":{"$ref":"#"},"type":"array"}"##,
            text: nested(10_000), expected: "valid", depthMax: 10_000),
        HostileCase(
            name: "a schema that references itself twice, 100 levels", schema: twice, text: nested(100),
            expected: "stepsMax"),
        HostileCase(
            name: "a schema that references itself twice, in a megabyte", schema: twice,
            text: "[" + [String](repeating: nested(99), count: 5200).joined(separator: ",") + "]",
            expected: "stepsMax"),
        HostileCase(
            name: "minLength of a megabyte, 1,024 times", schema: doubled(10, #"{"minLength":1000000}"#),
            text: "\"" + String(repeating: "é", count: 500_000) + "\"", expected: "stepsMax"),
    ]

    private static let objects = [
        HostileCase(
            name: "100,000 keys", schema: "{}", text: object(100_000) { String($0, radix: 36) }, expected: "valid"),
        HostileCase(
            name: "90,000 keys, patternProperties", schema: #"{"patternProperties":{"^a.*b$":{},"c(d|e)*f$":{}}}"#,
            text: object(90_000) { "k\($0)" }, expected: "valid"),
        HostileCase(
            name: "90,000 keys, unevaluatedProperties",
            schema: #"{"anyOf":[{"properties":{"k1":{}}},{}],"unevaluatedProperties":{"type":"integer"}}"#,
            text: object(90_000) { "k\($0)" }, expected: "valid"),
        HostileCase(
            name: "90,000 keys, required 65,536 times", schema: doubled(16, #"{"required":["absent"]}"#),
            text: object(90_000) { "k\($0)" }, expected: "stepsMax"),
        HostileCase(
            name: "90,000 keys, 200 alternatives",
            schema: alternatives(200) { #"{"properties":{"type":{"const":\#($0)}},"required":["type"]}"# },
            text: object(90_000) { $0 == 0 ? "type" : "k\($0)" }, expected: "stepsMax"),
        HostileCase(
            name: "25,000 keys with a common prefix and suffix",
            schema: #"{"properties":\#(object(25_000, value: "{}", key: similarKey))}"#,
            text: object(25_000, key: similarKey),
            expected: "valid"),
    ]

    private static let arrays = [
        HostileCase(
            name: "uniqueItems on 8 objects of 11,000 keys", schema: #"{"uniqueItems":true}"#,
            text: array(8) { last in object(11_000) { $0 == 10_999 ? "last\(last)" : "k\($0)" } }, expected: "valid"),
        HostileCase(
            name: "an enum on a megabyte of text, 1,024 times", schema: doubled(10, #"{"enum":["a"]}"#),
            text: "\"" + String(repeating: "x", count: 999_937) + "\"", expected: "anyOf"),
        HostileCase(
            name: "uniqueItems on 80,000 objects", schema: #"{"uniqueItems":true}"#,
            text: array(80_000) { #"{"a":\#($0)}"# }, expected: "valid"),
        HostileCase(
            name: "uniqueItems on 80,000 objects, 1,024 times",
            schema: doubled(10, #"{"uniqueItems":true,"maxItems":1}"#),
            text: array(80_000) { #"{"a":\#($0)}"# }, expected: "stepsMax"),
        HostileCase(
            name: "unevaluatedItems after contains, 256 times",
            schema: #"{"unevaluatedItems":false,"allOf":[\#(doubled(8, #"{"contains":true}"#))]}"#,
            text: array(500_000) { _ in "0" }, expected: "stepsMax"),
        HostileCase(
            name: "an enum of 1,000 numbers on 200,000 numbers",
            schema: #"{"items":{"enum":\#(array(1000) { "\($0)" })}}"#,
            text: array(200_000) { "\($0 % 1000)" }, expected: "valid"),
        HostileCase(
            name: "an enum of 3,000 objects on 30,000 objects",
            schema: #"{"items":{"enum":\#(array(3000) { #"{"a":\#($0),"b":0,"c":0}"# })}}"#,
            text: array(30_000) { _ in #"{"c":0,"b":0,"a":2999}"# }, expected: "stepsMax"),
    ]

    private static let numbers = [
        HostileCase(
            name: "multipleOf on 1e999999999", schema: #"{"items":{"multipleOf":5}}"#,
            text: array(80_000) { _ in "1e999999999" }, expected: "valid"),
        HostileCase(
            name: "multipleOf on a megabyte of digits, 100 times",
            schema: #"{"allOf":\#(array(100) { #"{"multipleOf":\#($0 + 1)}"# })}"#,
            text: "1" + String(repeating: "0", count: 1_000_000),
            expected: "stepsMax"),
    ]

    private static func nested(_ levels: Int) -> String {
        String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
    }

    private static func object(_ count: Int, value: String = "0", key: (Int) -> String) -> String {
        "{" + (0..<count).map { "\"\(key($0))\":\(value)" }.joined(separator: ",") + "}"
    }

    private static func similarKey(_ number: Int) -> String { "prefix__\(100_000 + number)__suffix_" }

    private static func array(_ count: Int, element: (Int) -> String) -> String {
        "[" + (0..<count).map(element).joined(separator: ",") + "]"
    }

    private static func alternatives(_ count: Int, schema: (Int) -> String) -> String {
        #"{"oneOf":\#(array(count, element: schema))}"#
    }

    /// Returns a schema in which each level applies the next level twice. The last level is `innermost`.
    ///
    /// The schema can be nested in another schema.
    private static func doubled(_ levels: Int, _ innermost: String) -> String {
        let names = (0..<levels).map { level in
            let below = ##"{"$ref":"#/$defs/n\##(level)"}"##
            return #""n\#(level + 1)":{"anyOf":[\#(below),\#(below)]}"#
        }
        let definitions = #""n0":\#(innermost),\#(names.joined(separator: ","))"#
        return ##"{"$id":"urn:doubled","$ref":"#/$defs/n\##(levels)","$defs":{\##(definitions)}}"##
    }
}

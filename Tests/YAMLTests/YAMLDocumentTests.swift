import JSON
import Testing
import YAML

struct YAMLDocumentTests {
    @Test func valuesHaveAPosition() throws {
        let text = """
            # A worker
            amqp:
              url: "amqp://löcal"   # quoted
              limits: {a: 1, b: [x, 'y']}
            apps:
              - com.example.app
              - |
                two
                lines
            ß: end
            """
        let document = try YAMLDocument(text)
        func place(_ pointer: String) -> String? {
            document.root.at(pointer: pointer).map { value in
                let position = document.position(of: value)
                let line = text.split(separator: "\n", omittingEmptySubsequences: false)[position.line - 1]
                let rest = String(line.unicodeScalars.dropFirst(position.column - 1))
                #expect(text.utf8.dropFirst(position.offset).starts(with: rest.utf8))
                return "\(position.line):\(position.column)"
            }
        }
        #expect(place("") == "2:1")
        #expect(place("/amqp") == "3:3")
        #expect(place("/amqp/url") == "3:8")
        #expect(place("/amqp/limits/b/1") == "4:25")
        #expect(place("/apps/0") == "6:5")
        #expect(place("/apps/1") == "7:5")
        #expect(place("/ß") == "10:4")
        #expect(document.root["amqp"]?["url"]?.string == "amqp://löcal")
        #expect(document.root["apps"]?.elements.map(\.string) == ["com.example.app", "two\nlines\n"])
        let keys = document.root.members.map { document.position(of: $0.key).line }
        #expect(keys == [2, 5, 10])
        #expect(document.position(ofNode: 1000) == document.position(of: document.root))
    }

    @Test(arguments: [
        ("~", "null"), ("null", "null"), ("NULL", "null"), ("a:", #"{"a":null}"#), ("true", "true"), ("False", "false"),
        ("yes", #""yes""#), ("on", #""on""#), ("nUll", #""nUll""#), ("tRue", #""tRue""#),
        ("0", "0"), ("-0", "-0"), ("+12", "12"), ("007", "7"), ("-08", "-8"), ("0o17", "15"), ("0x1fF", "511"),
        ("0x", #""0x""#), ("0o8", #""0o8""#), ("-0x1", #""-0x1""#), ("0x-1", #""0x-1""#), ("0b1", #""0b1""#),
        ("12_000", #""12_000""#), ("1:30", #""1:30""#), ("1.5", "1.5"), (".5", "0.5"), ("-.5e3", "-0.5e3"), ("1.", "1"),
        ("1e3", "1e3"), ("1.0E+05", "1.0e+05"), (".", #"".""#), ("+", #""+""#), ("e3", #""e3""#), ("1e", #""1e""#),
        ("1.2.3", #""1.2.3""#), ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("\"1\"", #""1""#), ("'null'", #""null""#), ("!!str 1", #""1""#), ("! 1", #""1""#), ("!!int 1", "1"),
        ("!!float 1", "1"), ("!!null ''", "null"), ("!!bool true", "true"), ("!!seq [1]", "[1]"),
        ("!!map {a: 1}", #"{"a":1}"#),
        ("1: a", #"{"1":"a"}"#), ("null: a", #"{"null":"a"}"#), ("? a\n: b", #"{"a":"b"}"#), ("[a, ]", #"["a"]"#),
        ("\"\\x01\\u00e9\\\"\\n\"", #""\u0001é\"\n""#), (">\n a\n b\n", #""a b\n""#), ("%YAML 1.2\n---\na", #""a""#),
        ("\u{FEFF}a", #""a""#), ("---\n1\n...\n", "1"), ("{\"a\": [1, {\"b\": null}]}", #"{"a":[1,{"b":null}]}"#),
        ("[]", "[]"), ("{}", "{}"), ("--- # nothing\n", "null"),
    ])
    func coreSchema(_ yaml: String, _ json: String) throws {
        #expect(String(decoding: try YAMLDocument(yaml).root.sourceBytes, as: UTF8.self) == json)
    }

    @Test(
        arguments: [
            ("", .empty, "1:1"), ("# nothing\n", .empty, "2:1"), ("a: [1", .syntax, "2:1"), ("a: b: c", .syntax, "1:5"),
            ("a: 1\n b: 2", .syntax, "2:3"), ("\ta: 1", .syntax, "1:1"), ("\"a", .syntax, "1:3"),
            ("@a", .syntax, "1:1"),
            ("a: 1\nb:\n  c: 1\n  c: 2\n", .duplicateKey, "4:3"), ("{a: 1, \"a\": 2}", .duplicateKey, "1:8"),
            ("a: &x 1\nb: *x", .unsupported, "1:4"), ("a: *x", .unsupported, "1:4"), ("&x [1]", .unsupported, "1:1"),
            ("&x {a: 1}", .unsupported, "1:1"), ("a: !mine 1", .unsupported, "1:4"), ("!!set {a}", .unsupported, "1:1"),
            ("!!int a", .unsupported, "1:1"), ("!!int 1.5", .unsupported, "1:1"),
            ("!!binary aGk=", .unsupported, "1:1"),
            ("!mine [1]", .unsupported, "1:1"), ("a: .inf", .unsupported, "1:4"), ("a: -.INF", .unsupported, "1:4"),
            ("a: .nan", .unsupported, "1:4"), ("[1, 2]: a", .unsupported, "1:1"), ("{{a: 1}: b}", .unsupported, "1:2"),
            ("a\n---\nb", .unsupported, "2:1"), ("a: \0", .syntax, "1:4"),
        ] as [(String, YAMLError.Code, String)])
    func refuses(_ yaml: String, _ code: YAMLError.Code, _ place: String) throws {
        let error = try #require(throws: YAMLError.self) { try YAMLDocument(yaml, file: "martlet.yaml") }
        #expect(error.code == code)
        #expect("\(error.position.line):\(error.position.column)" == place)
        #expect(error.description == "martlet.yaml:\(place): \(error.message)")
    }

    @Test(arguments: [
        ("\ta: 1", "1:1"), ("a:\n\tb: 1", "2:1"), ("a:\n  b: 1\n  \tc: 2", "3:3"), ("ä: 1\r\nb:\r\n\tc: 1", "3:1"),
        ("- a\n\t- b: 1\n- c", "2:1"),
    ])
    func aTabInTheIndentationIsReported(_ yaml: String, _ place: String) throws {
        let error = try #require(throws: YAMLError.self) { try YAMLDocument(yaml) }
        #expect(error.description == "\(place): a tab is not allowed in indentation; use spaces")
    }

    // Some editors on Windows write a byte order mark.
    @Test func aByteOrderMarkMayComeFirst() throws {
        let document = try YAMLDocument("\u{FEFF}amqp:\n  url: amqp://host\nlanes: 1\n")
        #expect(document.root["amqp"]?["url"]?.string == "amqp://host" && document.root["lanes"]?.int == 1)
        let places = document.root.members.map { document.position(of: $0.key) }
        #expect(places.map(\.column) == [1, 1] && places.map(\.line) == [1, 3])
        #expect(places.first?.offset == 3)
    }

    @Test(arguments: [
        ("\u{FEFF}a: b: c", "1:5"), ("\u{FEFF}a: 1\nb: {\n", "3:1"),
        ("\u{FEFF}\ta: 1", "1:1"),
    ])
    func mistakesAfterAByteOrderMarkHaveTheirPosition(_ yaml: String, _ place: String) throws {
        let error = try #require(throws: YAMLError.self) { try YAMLDocument(yaml) }
        let line = yaml.utf8.prefix(error.position.offset).count { $0 == UInt8(ascii: "\n") } + 1
        #expect(line == error.position.line, "the offset counts the mark")
        #expect("\(error.position.line):\(error.position.column)" == place)
    }

    @Test func bytesThatAreNotUTF8() throws {
        let error = try #require(throws: YAMLError.self) { try YAMLDocument(Array("a: b\nc: ".utf8) + [0xC3, 0x28]) }
        #expect(error.code == .syntax)
        #expect(error.position.line == 2)
    }

    @Test func limits() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(try YAMLDocument(nested(64)).root.count == 1)
        #expect(try #require(throws: YAMLError.self) { try YAMLDocument(nested(65)) }.code == .depth)
        let long = "a: " + String(repeating: "x", count: 1 << 20)
        #expect(try #require(throws: YAMLError.self) { try YAMLDocument(long) }.code == .size)
    }

    /// Every prefix of a text, and every change of one byte, results in a document or an error.
    @Test func survivesCutsAndChanges() {
        let text = Array("a: [1, {b: \"\\u00e9\"}]\nc: |\n  é\n? d\n: !!str 0x1F\n".utf8)
        for end in text.indices { _ = try? YAMLDocument(Array(text[..<end])) }
        for place in text.indices {
            for byte in UInt8.min...UInt8.max {
                var changed = text
                changed[place] = byte
                _ = try? YAMLDocument(changed)
            }
        }
    }
}

import JSON
import Testing

struct JSONValueTests {
    @Test func valuesHaveASourceRange() throws {
        let text = #" { "id" : "a\u00e9b" , "payload" : {"aps": {"badge":1.50 }} , "list":[ null,true ] } "#
        let root = try JSONDocument(text).root
        func source(_ value: JSONValue?) -> String? { value.map { String(decoding: $0.sourceBytes, as: UTF8.self) } }
        #expect(source(root["payload"]) == #"{"aps": {"badge":1.50 }}"#)
        #expect(source(root["payload"]?["aps"]?["badge"]) == "1.50")
        #expect(source(root["id"]) == #""a\u00e9b""#)
        #expect(source(root["list"]) == "[ null,true ]")
        #expect(source(root.members.first { _ in true }?.key) == #""id""#)
        #expect(root["list"].map { Array(text.utf8)[$0.sourceRange] } == Array("[ null,true ]".utf8)[...])
    }

    @Test func stringsAreDecoded() throws {
        let root = try JSONDocument(
            #"{"plain":"äö","all":"\"\\\/\b\f\n\r\t\u0000\u00e9\u20AC\uD83D\uDE00.","k\u0065y":"é\n€"}"#
        ).root
        #expect(root["plain"]?.string == "äö")
        #expect(root["all"]?.string == "\"\\/\u{8}\u{C}\n\r\t\u{0}é€😀.")
        #expect(root["key"]?.string == "é\n€")
        #expect(root["key"]?.withUTF8 { $0.count } == 6)
        #expect(root["plain"]?.isString("äö") == true)
        #expect(root["plain"]?.isString("äo") == false)
        #expect(root.isString("") == false)
        #expect(root.string == nil)
    }

    @Test func membersAreFoundByKey() throws {
        let root = try JSONDocument(#"{"a":{"b":1},"ab":2,"":3,"abcdefgh":4,"abcdefgi":[{"a":5}]}"#).root
        #expect(root["a"]?["b"]?.int == 1)
        #expect(root["ab"]?.int == 2)
        #expect(root[""]?.int == 3)
        #expect(root["abcdefgh"]?.int == 4)
        #expect(root[key: "abcdefgi"]?.count == 1)
        #expect(root[key: ""]?.int == 3)
        #expect(root["b"] == nil)
        #expect(root[key: "abc"] == nil)
        #expect(root["a"]?["b"]?["c"] == nil)
        #expect(root.members.map { $0.key.string } == ["a", "ab", "", "abcdefgh", "abcdefgi"])
        #expect(root.members.map { $0.value.count } == [1, 0, 0, 0, 1])
        #expect(root["abcdefgi"]?.members.map { $0.key.string }.isEmpty == true)
        #expect(root.elements.map { $0.kind }.isEmpty)
    }

    @Test func pointersWithABrokenEscapeFindNothing() throws {
        let root = try JSONDocument(#"{"a":1,"a2":2,"a~":3,"~":4}"#).root
        for pointer in ["/a~2", "/a~", "/~", "/~a"] { #expect(root.at(pointer: pointer) == nil) }
        #expect(root.at(pointer: "/a~0")?.int == 3)
        #expect(root.at(pointer: "/~0")?.int == 4)
    }

    @Test func scalars() throws {
        let list = try JSONDocument(#"[null,true,false,0,"",[],{}]"#).root
        #expect(list.elements.map(\.kind) == [.null, .boolean, .boolean, .number, .string, .array, .object])
        #expect(list.elements.map(\.isNull) == [true, false, false, false, false, false, false])
        #expect(list.elements.map(\.bool) == [nil, true, false, nil, nil, nil, nil])
        #expect(list.elements.map(\.int) == [nil, nil, nil, 0, nil, nil, nil])
    }

    @Test(
        arguments: [
            ("0", 0), ("-0", 0), ("0e99999999999999999999", 0), ("1", 1), ("-1", -1), ("1.0", 1), ("1e3", 1000),
            ("1.5e1", 15), ("150e-1", 15), ("0.015e3", 15), ("100", 100), ("9223372036854775807", .max),
            ("-9223372036854775808", .min), ("9007199254740993", 9_007_199_254_740_993), ("9223372036854775808", nil),
            ("-9223372036854775809", nil), ("1.5", nil), ("0.1", nil), ("1e-1", nil), ("1e19", nil), ("1e400", nil),
            ("1e99999999999999999999", nil), ("1e-99999999999999999999", nil), ("92233720368547758070e-1", .max),
        ] as [(String, Int64?)])
    func wholeNumbers(_ text: String, _ value: Int64?) throws {
        #expect(try JSONDocument(text).root.int64 == value)
    }

    @Test func doubles() throws {
        #expect(try JSONDocument("1.5").root.double == 1.5)
        #expect(try JSONDocument("1e400").root.double == .infinity)
        #expect(try JSONDocument("-0.1").root.double == -0.1)
        #expect(try JSONDocument("\"1\"").root.double == nil)
    }

    @Test func pointers() throws {
        let text = #"{"a":{"b":[10,{"c/d":11,"~":12,"":13}]},"e":14}"#
        let root = try JSONDocument(text).root
        #expect(root.at(pointer: "")?.count == 2)
        for (pointer, value) in [
            ("/a/b/0", 10), ("/a/b/1/c~1d", 11), ("/a/b/1/~0", 12), ("/a/b/1/", 13), ("/e", 14),
        ] {
            #expect(root.at(pointer: pointer)?.int == value)
            #expect(root.at(pointer: pointer)?.pointer == pointer)
        }
        for pointer in ["a", "/x", "/a/b/2", "/a/b/-", "/a/b/01", "/a/b/x", "/e/f", "/a/b/99999999999999999999"] {
            #expect(root.at(pointer: pointer)?.int == nil)
        }
        let key = root["a"]?.members.first { _ in true }?.key
        #expect(key?.pointer == "/a/b")
        #expect(root.pointer.isEmpty)
    }

    @Test func positions() throws {
        let document = try JSONDocument("{\n \"é\": [1,\n2]}")
        let list = try #require(document.root["é"])
        #expect(document.position(of: list) == JSONPosition(offset: 9, line: 2, column: 7))
        #expect(list.elements.map { document.position(of: $0).line } == [2, 3])
    }
}

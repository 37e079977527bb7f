import JSON
import Testing

struct JSONNamesTests {
    private static let names = JSONNames(["id", "identity", "sixteen-bytes-16", "push_type", "push_typo"])

    @Test func findsMembersByTheirWholeName() throws {
        let text = #"""
            {"i":0,"push_typo":1,"idx":{"id":2},"id":[3,{"id":4}],"sixteen-bytes-16":5,"sixteen-bytes-17":6,
             "a-name-of-more-than-sixteen-bytes-16":7,"\u0069dentity":8}
            """#
        let found = Self.names.find(in: try JSONDocument(Array(text.utf8)).root)
        #expect(found.value(0)?.elements.first { _ in true }?.int == 3)
        #expect(found[0]?.kind == .array)
        #expect(found[1]?.int64 == 8, "an escape in the name")
        #expect(found[2]?.int64 == 5)
        #expect(found[3] == nil && found.value(3) == nil)
        #expect(found[4]?.int64 == 1)
    }

    @Test func `The range of a member begins with its key`() throws {
        let text = Array(#" [{ "id" : 1, "\u0069dentity":[2, "x"] ,"other":3}]"#.utf8)
        let document = try JSONDocument(text)
        let found = Self.names.find(in: try #require(document.root.elements.first { _ in true }))
        func source(_ range: Range<Int>?) -> String? { range.map { String(decoding: text[$0], as: UTF8.self) } }
        #expect(source(found.memberRange(0)) == #""id" : 1"#)
        #expect(source(found.memberRange(1)) == #""\u0069dentity":[2, "x"]"#)
        #expect(found.memberRange(2) == nil)
    }

    @Test(arguments: ["{}", "[]", #"["id",1]"#, "1", #""id""#])
    func otherValuesHaveNoMembers(_ text: String) throws {
        let found = Self.names.find(in: try JSONDocument(Array(text.utf8)).root)
        #expect((0..<5).allSatisfy { found[$0] == nil })
    }
}

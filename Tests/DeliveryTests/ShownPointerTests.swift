import Testing

@testable import Delivery

@Suite struct ShownPointerTests {
    private static let token = String(repeating: "8f3a1c5e", count: 8)

    @Test(arguments: [
        ("", ""), ("/payload/aps/badge", "/payload/aps/badge"), ("/a~1b/~0/0", "/a~1b/~0/0"), ("//x/", "//x/"),
        ("/payload/\(token)/x", "/payload/8f3a1c5e…/x"), ("/device:\(token)", "/device:8…"),
        ("/6f1c7c1e-3c52-4a53-9c1b-0d6c0a4be1aa", "/6f1c7c1e-3c52-4a53-9c1b-0d6c0a4be1aa"),
        ("/\(String(repeating: "k", count: 64))", "/\(String(repeating: "k", count: 64))"),
        ("/\(String(repeating: "k", count: 65))", "/kkkkkkkk…"),
        ("/1234567~1\(String(repeating: "k", count: 65))", "/1234567…"), ("/a\u{1B}[1m\0", "/a?[1m?"),
        ("/é\(String(repeating: "ö", count: 40))", "/éööö…"),
    ])
    func longKeysAndTokensAreNotTold(_ pointer: String, _ shown: String) {
        #expect(ShownPointer(pointer).text == shown)
    }

    @Test func deepPointersEnd() {
        let shown = ShownPointer(String(repeating: "/level", count: 100)).text
        #expect(shown.hasPrefix("/level/level/") && shown.hasSuffix("/level/…"))
        #expect(shown.utf8.count <= ShownPointer.bytesMax + "/…".utf8.count)
    }
}

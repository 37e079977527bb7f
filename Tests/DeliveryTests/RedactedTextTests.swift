import Testing

@testable import Delivery

@Suite struct RedactedTextTests {
    private static let token = String(repeating: "8f3a1c5e", count: 8)
    private static let long = String(repeating: "k", count: RedactedText.wordBytesMax)

    @Test(arguments: [
        ("", ""), ("/payload/aps/badge", "/payload/aps/badge"), ("/a~1b/~0/0", "/a~1b/~0/0"), ("//x/", "//x/"),
        ("/payload/\(token)/x", "/payload/8f3a1c5e…+56/x"), ("/device:\(token)", "/device:8f3a1c5e…+56"),
        ("/6f1c7c1e-3c52-4a53-9c1b-0d6c0a4be1aa", "/6f1c7c1e-3c52-4a53-9c1b-0d6c0a4be1aa"),
        ("/\(long)", "/\(long)"), ("/\(long)k", "/\(long)…"), ("/\(long.dropLast())~1k", "/\(long.dropLast())…"),
        ("/\(long.dropLast())ö", "/\(long.dropLast())…"), ("/a\u{1B}[1m\0", "/a?[1m?"),
        ("/a\u{202E}b\u{9B}c\u{2028}d", "/a?b?c?d"),
    ])
    func longKeysAndTokensAreRedacted(_ pointer: String, _ shown: String) {
        #expect(RedactedText.pointer(pointer) == shown)
    }

    @Test func deepPointersAreTruncated() {
        let shown = RedactedText.pointer(String(repeating: "/level", count: 100))
        #expect(shown.hasPrefix("/level/level/") && shown.hasSuffix("/level/…"))
        #expect(shown.utf8.count <= RedactedText.pointerBytesMax + "/…".utf8.count)
    }

    @Test func sentencesContainNoTokens() {
        let sentence = "/x must be 5, because /payload/\(Self.token)/kind is \"a\"."
        #expect(RedactedText.sentence(sentence) == "/x must be 5, because /payload/8f3a1c5e…+56/kind is \"a\".")
    }
}

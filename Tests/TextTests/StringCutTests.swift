import Testing
import Text

@Suite struct StringCutTests {
    @Test(arguments: [
        ("abc", 5, "abc"), ("abc", 3, "abc"), ("abc", 2, "ab"), ("aä", 2, "a"), ("a€b", 3, "a"), ("€", 2, ""),
    ])
    func cutsBetweenScalars(_ text: String, _ bytes: Int, _ expected: String) {
        #expect(text.cut(to: bytes) == expected)
    }

    @Test func countsTerminalColumns() {
        #expect("abc".columns == 3)
        #expect("日本".columns == 4)
        #expect("👍".columns == 2)
    }

    @Test(arguments: ["\u{1B}", "\u{7F}", "\u{9B}", "\u{202E}", "\u{2028}"])
    func findsCharactersThatControlATerminal(_ character: Unicode.Scalar) {
        #expect(character.steersTerminal)
        #expect(!Unicode.Scalar("ä").steersTerminal)
    }
}

import Testing
import Text

@Suite struct ShellTests {
    @Test(arguments: [
        ("a b", "'a b'"), ("a'b", #"'a'\''b'"#), ("a/b-c.d_e:1", "a/b-c.d_e:1"), ("", "''"),
        // A quote and a combining mark are one character of a Swift string, and two characters of a shell.
        ("a'\u{301}b", "'a'\\''\u{301}b'"), ("'\u{200D}", "''\\''\u{200D}'"),
    ])
    func `A word reaches the command unchanged`(word: String, quoted: String) {
        #expect(Array(Shell.word(word).utf8) == Array(quoted.utf8))
    }

    @Test func `An operand is no option`() {
        #expect(Shell.operand("-f") == "-- -f" && Shell.operand("a b") == "'a b'")
        #expect(Shell.operand("-\u{301}").hasPrefix("-- '"))
    }
}

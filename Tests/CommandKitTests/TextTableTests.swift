import Testing

@testable import CommandKit

@Suite struct TextTableTests {
    @Test func cellsAreCutToTheirColumnsExceptTheLast() {
        let table = TextTable(columns: [.init(title: "APP", width: 6), .init(title: "REASON", width: 6)])
        #expect(table.header == "APP     REASON")
        #expect(table.line(["com.example", "BadDeviceToken"]) == "com.e…  BadDeviceToken")
        #expect(table.line(["a"]) == "a")
        #expect(table.line(["a", "b", "c"]) == "a       b")
    }

    @Test func cellsAreAsWideAsATerminalShowsThem() {
        let table = TextTable(titles: ["APP", "X"], fitting: [["東京🎉", "1"], ["abc", "2"]])
        #expect(table.header == "APP     X")
        #expect([table.line(["東京🎉", "1"]), table.line(["abc", "2"])] == ["東京🎉  1", "abc     2"])
        let narrow = TextTable(columns: [.init(title: "APP", width: 4), .init(title: "X", width: 1)])
        #expect(narrow.line(["東京🎉", "1"]) == "東…   1")
    }

    @Test func anUncutColumnMovesTheNext() {
        let table = TextTable(columns: [.init(title: "APP", width: 4, isWhole: true), .init(title: "X", width: 1)])
        #expect([table.header, table.line(["com.example", "1"])] == ["APP   X", "com.example  1"])
    }

    @Test func controlCharactersOfMessagesAreReplaced() {
        let table = TextTable(columns: [.init(title: "A", width: 20)])
        #expect(
            table.line(["\u{1B}[2Jgone\r\n\u{9B}1m\u{202E}x"]) == "\u{FFFD}[2Jgone\u{FFFD}\u{FFFD}\u{FFFD}1m\u{FFFD}x")
        #expect(table.line(["Zürich ✓ 東京"]) == "Zürich ✓ 東京")
    }

    @Test func colorsAreAppliedOnlyIfEnabled() {
        #expect(Tint.bad.applied(to: "x", if: false) == "x")
        #expect(Tint.bad.applied(to: "x", if: true) == "\u{1B}[31mx\u{1B}[0m")
    }
}

import Delivery
import Testing

@testable import Operations

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

    @Test func aWholeColumnMovesWhatFollows() {
        let table = TextTable(columns: [.init(title: "APP", width: 4, isWhole: true), .init(title: "X", width: 1)])
        #expect([table.header, table.line(["com.example", "1"])] == ["APP   X", "com.example  1"])
    }

    @Test func textFromAMessageDoesNotSteerTheTerminal() {
        let table = TextTable(columns: [.init(title: "A", width: 20)])
        #expect(
            table.line(["\u{1B}[2Jgone\r\n\u{9B}1m\u{202E}x"]) == "\u{FFFD}[2Jgone\u{FFFD}\u{FFFD}\u{FFFD}1m\u{FFFD}x")
        #expect(table.line(["Zürich ✓ 東京"]) == "Zürich ✓ 東京")
    }

    @Test func coloursOnlyWhereTheyAreShown() {
        #expect(Tint.bad.applied(to: "x", if: false) == "x")
        #expect(Tint.bad.applied(to: "x", if: true) == "\u{1B}[31mx\u{1B}[0m")
    }

    @Test func topologyAsAPage() {
        #expect(
            TopologyReport.table(Topology(waits: [WaitDelay(seconds: 30)])) == """
                EXCHANGE         KIND     ARGUMENTS
                push.unrouted    fanout
                push.requests    topic
                push.results     topic    alternate-exchange=push.unrouted
                push.dead        topic
                push.dlx.rest    fanout
                push.dlx.sort    headers  alternate-exchange=push.dlx.rest
                push.dlx         fanout
                push.quarantine  fanout
                push.wait.30s.1  fanout
                push.wait.30s.2  fanout
                push.wait.30s.3  fanout

                QUEUE            ARGUMENTS
                push.requests    x-queue-type=quorum x-dead-letter-exchange=push.dlx \
                x-dead-letter-strategy=at-least-once x-overflow=reject-publish
                push.quarantine  x-queue-type=quorum x-dead-letter-exchange=push.dlx \
                x-dead-letter-strategy=at-least-once x-overflow=reject-publish x-single-active-consumer=true
                push.results     x-queue-type=quorum x-message-ttl=259200000 x-max-length=1000000
                push.expired     x-queue-type=quorum x-dead-letter-exchange=push.dlx.rest \
                x-dead-letter-strategy=at-least-once x-overflow=reject-publish
                push.dead        x-queue-type=quorum
                push.unrouted    x-queue-type=quorum x-message-ttl=259200000 x-max-length=1000000
                push.wait.30s.1  x-queue-type=quorum x-message-ttl=30000 x-dead-letter-exchange="" \
                x-dead-letter-strategy=at-least-once x-overflow=reject-publish
                push.wait.30s.2  x-queue-type=quorum x-message-ttl=33600 x-dead-letter-exchange="" \
                x-dead-letter-strategy=at-least-once x-overflow=reject-publish
                push.wait.30s.3  x-queue-type=quorum x-message-ttl=37200 x-dead-letter-exchange="" \
                x-dead-letter-strategy=at-least-once x-overflow=reject-publish

                FROM EXCHANGE    TO QUEUE                ROUTING KEY
                push.requests    push.requests           #
                push.quarantine  push.quarantine
                push.results     push.results            result.#
                push.dead        push.dead               dead.#
                push.dlx.rest    push.dead
                push.dlx.sort    push.expired            x-first-death-reason=expired x-match=all-with-x
                push.dlx         exchange push.dlx.sort
                push.unrouted    push.unrouted
                push.wait.30s.1  push.wait.30s.1
                push.wait.30s.2  push.wait.30s.2
                push.wait.30s.3  push.wait.30s.3

                """)
    }
}

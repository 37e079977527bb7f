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
            TopologyReport.table(Topology()) == """
                EXCHANGE       KIND    ARGUMENTS
                push.unrouted  fanout
                push.requests  topic
                push.retry     direct
                push.results   topic   alternate-exchange=push.unrouted
                push.dead      topic
                push.dlx       fanout

                QUEUE           ARGUMENTS
                push.requests   x-queue-type=quorum x-dead-letter-exchange=push.dlx x-dead-letter-strategy=at-least-once \
                x-overflow=reject-publish
                push.results    x-queue-type=quorum
                push.dead       x-queue-type=quorum
                push.unrouted   x-queue-type=quorum
                push.retry.30s  x-queue-type=quorum x-message-ttl=30000 x-dead-letter-exchange="" \
                x-dead-letter-routing-key=push.requests x-dead-letter-strategy=at-least-once x-overflow=reject-publish

                FROM EXCHANGE  TO QUEUE        ROUTING KEY
                push.requests  push.requests   #
                push.results   push.results    result.#
                push.dead      push.dead       dead.#
                push.dlx       push.dead
                push.unrouted  push.unrouted
                push.retry     push.retry.30s  30s

                """)
    }
}

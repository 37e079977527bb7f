import AMQP
import Testing

@testable import Operations

@Suite struct WatchTests {
    static let token = String(repeating: "0123456789abcdef", count: 4)

    static let rejected = WatchedMessage(
        result: Array(
            """
            {"id":"3f2504e0-4f89-41d3-9a0c-0305e82c3301","app":"com.example.shop","device_token":"\(token)",
             "outcome":"rejected","status":410,"reason":"Unregistered","timestamp":1,"attempts":1,"received_at":10000}
            """.utf8), messageID: "3f2504e0-4f89-41d3-9a0c-0305e82c3301")

    static let invalid = WatchedMessage(
        result: Array(
            #"{"outcome":"invalid","error":{"class":"json","code":"syntax","message":"It is not JSON."}}"#.utf8),
        messageID: "abc")

    static let dead = WatchedMessage(
        deadLetter: Array(#"{"app":"com.example.shop","device_token":"\#(token)"}"#.utf8), messageID: "abc",
        headers: [
            "push-outcome": "invalid", "push-reason-class": "schema", "push-reason-code": "required",
            "push-reason": "It lacks a payload.", "push-attempt": 0, "push-failed-at": 10_500,
            "push-apns-id": "3f2504e0-4f89-41d3-9a0c-0305e82c3301",
        ])

    static let givenUpByTheBroker = WatchedMessage(
        deadLetter: [], messageID: nil,
        headers: [
            "x-death": .array([
                .table(["reason": "rejected", "queue": "push.requests", "time": .timestamp(seconds: 10)])
            ])
        ])

    @Test func asATable() {
        let table = WatchTable(width: 150, hasColors: false)
        let lines = [Self.rejected, Self.invalid, Self.dead, Self.givenUpByTheBroker]
            .map { table.line($0, nowUnixMilliseconds: 10_523) }
        #expect(
            ([table.header] + lines).joined(separator: "\n") == """
                             ID                                    APP                    OUTCOME                   STATUS  REASON                 TOKEN      AGE
                result       3f2504e0-4f89-41d3-9a0c-0305e82c3301  com.example.shop       rejected                  410     Unregistered           01234567…  523 ms
                result       abc                                   -                      invalid                   -       json.syntax            -          -
                dead letter  3f2504e0-4f89-41d3-9a0c-0305e82c3301  com.example.shop       schema.required           -       invalid                01234567…  23 ms
                dead letter  -                                     -                      broker.rejected           -       -                      -          523 ms
                """)
    }

    @Test func aNarrowTerminalCutsIDs() {
        let table = WatchTable(width: 100, hasColors: false)
        let line = table.line(Self.rejected, nowUnixMilliseconds: 10_523)
        #expect(line.contains("3f2504e0…  com.exa"))
        #expect(line.count <= 100)
    }

    @Test func coloursTellHowItWent() {
        let table = WatchTable(width: 150, hasColors: true)
        let accepted = WatchedMessage(result: Array(#"{"outcome":"accepted","status":200}"#.utf8), messageID: nil)
        #expect(table.line(accepted, nowUnixMilliseconds: 0).hasPrefix("\u{1B}[32mresult"))
        #expect(table.line(Self.rejected, nowUnixMilliseconds: 0).hasPrefix("\u{1B}[31mresult"))
        #expect(table.line(Self.dead, nowUnixMilliseconds: 0).hasPrefix("\u{1B}[33mdead letter"))
    }

    @Test func asJSON() {
        #expect(
            WatchTable.json(Self.rejected, nowUnixMilliseconds: 10_523)
                == #"{"kind":"result","id":"3f2504e0-4f89-41d3-9a0c-0305e82c3301","app":"com.example.shop","#
                + #""outcome":"rejected","status":410,"reason":"Unregistered","device_token":"01234567…","attempts":1,"#
                + #""age_ms":523}"#)
        #expect(
            WatchTable.json(Self.dead, nowUnixMilliseconds: 10_523)
                == #"{"kind":"dead_letter","id":"3f2504e0-4f89-41d3-9a0c-0305e82c3301","app":"com.example.shop","#
                + #""outcome":"invalid","class":"schema","code":"required","message":"It lacks a payload.","#
                + #""device_token":"01234567…","attempts":0,"body_bytes":108,"age_ms":23}"#)
    }

    @Test func aWholeTokenIsNeverShown() {
        let shown = [Self.rejected, Self.dead].map { message in
            WatchTable.json(message, nowUnixMilliseconds: 0)
                + WatchTable(width: 300, hasColors: false).line(message, nowUnixMilliseconds: 0)
        }
        #expect(!shown.joined().contains(Self.token.prefix(9)))
    }

    @Test(arguments: [
        "", "[]", "null", "\u{0}",
        #"{"id":1,"app":[],"outcome":{},"error":"x","status":1e99,"received_at":-9223372036854775808}"#,
    ])
    func whatIsNoResultIsShownAsFarAsItGoes(body: String) {
        let message = WatchedMessage(result: Array(body.utf8), messageID: nil)
        let line = WatchTable(width: 150, hasColors: false).line(message, nowUnixMilliseconds: .max)
        #expect(line.hasPrefix("result       -"))
    }

    @Test(arguments: [
        (0, "0 ms"), (999, "999 ms"), (1000, "1.0 s"), (59_999, "59.9 s"), (60_000, "1 min"), (7_200_000, "2 h"),
        (Int64.max, "106751991167 d"),
    ])
    func ages(milliseconds: Int64, text: String) {
        #expect(WatchTable.duration(milliseconds) == text)
    }
}

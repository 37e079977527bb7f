import AMQP
import JSON
import Testing

@testable import Configuration
@testable import MartletCLI

@Suite struct WatchTests {
    static let token = String(repeating: "0123456789abcdef", count: 4)

    static let rejected = WatchedMessage(
        result: Array(
            """
            {"id":"3f2504e0-4f89-41d3-9a0c-0305e82c3301","app":"com.example.shop","device_token":"\(token)",
             "outcome":"rejected","status":410,"reason":"Unregistered","timestamp":1,"attempts":1,"received_at":9000,"finished_at":10000}
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
        let table = WatchTable(width: 138, hasColors: false)
        let lines = [Self.rejected, Self.invalid, Self.dead, Self.givenUpByTheBroker]
            .map { table.line($0, nowUnixMilliseconds: 10_523) }
        #expect(
            ([table.header] + lines).joined(separator: "\n") == """
                KIND    ID                                    APP                       OUTCOME   STATUS  CODE                         TOKEN      AGE
                result  3f2504e0-4f89-41d3-9a0c-0305e82c3301  com.example.shop          rejected  410     apns.Unregistered            01234567…  523 ms
                result  abc                                   -                         invalid   -       json.syntax                  -          -
                dead    3f2504e0-4f89-41d3-9a0c-0305e82c3301  com.example.shop          invalid   -       schema.required              01234567…  23 ms
                dead    -                                     -                         -         -       broker.rejected              -          523 ms
                """)
    }

    /// The reason is printed below the row and is not cut. It cannot control the terminal, and shows a token only if
    /// `reveals`.
    @Test func theReasonIsASeparateLine() {
        let table = WatchTable(width: 80, hasColors: false)
        func below(_ message: WatchedMessage, reveals: Bool = false) -> [String] {
            table.text(message, nowUnixMilliseconds: 10_523, revealsTokens: reveals).split(separator: "\n").dropFirst()
                .map(String.init)
        }
        #expect(below(Self.invalid) == ["        It is not JSON."])
        #expect(below(Self.dead) == ["        It lacks a payload."])
        #expect(below(Self.rejected) == [] && below(Self.givenUpByTheBroker) == [])
        var hostile = Self.invalid
        hostile.message = "a\u{1B}[2J\nb \(Self.token)"
        #expect(
            below(hostile).count == 1 && !below(hostile)[0].contains("\u{1B}")
                && !below(hostile)[0].contains(Self.token))
        #expect(below(hostile, reveals: true)[0].contains(Self.token))
    }

    /// A reply to a channel command is among the results if the command's sender is gone.
    @Test func aChannelReplyAmongTheResultsIsShownAsReply() {
        let reply = WatchedMessage(
            result: Array(
                #"{"id":"abc","app":"com.example.shop","command":"read","outcome":"refused","status":400,"reason":"ChannelNotRegistered","message":"APNs answered."}"#
                    .utf8), messageID: "abc", type: "push.channel-reply.v1")
        #expect(reply.kind == .channelReply && reply.message == "APNs answered.")
        let line = WatchTable(width: 138, hasColors: false).line(reply, nowUnixMilliseconds: 0)
        #expect(line.split(separator: " ").prefix(4) == ["reply", "abc", "com.example.shop", "refused"])
    }

    @Test(arguments: [
        (
            #"{"id":"abc","app":"com.example.shop","devices":2,"users_without_device":1}"#, "push.fanout.v1",
            "report abc com.example.shop - - 2 devices -"
        ),
        (
            #"{"event":"pruned","app":"com.example.shop","device_token":"0123456789abcdef0123","status":410,"reason":"Unregistered"}"#,
            "push.registration-event.v1", "event abc com.example.shop pruned 410 apns.Unregistered 01234…"
        ),
        (
            #"{"id":"abc","app":"com.example.shop","command":"register","outcome":"stored"}"#,
            "push.registration-reply.v1", "reply abc com.example.shop stored - - -"
        ),
    ])
    func messagesAboutUsersAreShown(_ body: String, type: String, words: String) {
        let message = WatchedMessage(result: Array(body.utf8), messageID: "abc", type: type)
        let line = WatchTable(width: 138, hasColors: false).line(message, nowUnixMilliseconds: 0)
        #expect(line.split(separator: " ").joined(separator: " ").hasPrefix(words))
    }

    /// Less important columns are omitted first. IDs are shortened last.
    @Test(arguments: [
        (137, "KIND ID APP OUTCOME STATUS CODE TOKEN AGE"), (126, "KIND ID APP OUTCOME STATUS CODE TOKEN AGE"),
        (125, "KIND ID APP OUTCOME STATUS CODE AGE"), (114, "KIND ID APP OUTCOME CODE AGE"),
        (106, "KIND ID APP OUTCOME CODE"), (96, "KIND ID OUTCOME CODE"), (80, "KIND ID OUTCOME CODE"),
        (45, "KIND ID OUTCOME CODE"),
    ])
    func aNarrowTerminalHasFewerColumns(_ width: Int, _ titles: String) {
        let table = WatchTable(width: width, hasColors: false)
        #expect(table.header.split(separator: " ").joined(separator: " ") == titles)
        let line = table.line(Self.dead, nowUnixMilliseconds: 10_523)
        #expect(line.count <= width)
        #expect(line.contains("3f2504e0-4f89-41d3-9a0c-0305e82c3301") == (width >= 72))
        #expect(line.contains("schema.required"))
    }

    @Test func withoutATerminalNothingIsCut() {
        var message = Self.dead
        message.app = String(repeating: "p", count: 100)
        message.failureCode = String(repeating: "r", count: 100)
        message.id = String(repeating: "i", count: 100)
        let line = WatchTable(width: nil, hasColors: false).line(message, nowUnixMilliseconds: 10_523)
        let words = line.split(separator: " ").map(String.init)
        #expect(words == ["dead", message.id, message.app, "invalid", "-", message.failure, "01234567…", "23", "ms"])
    }

    @Test func colorsShowTheOutcome() {
        let table = WatchTable(width: 150, hasColors: true)
        let accepted = WatchedMessage(result: Array(#"{"outcome":"accepted","status":200}"#.utf8), messageID: nil)
        #expect(table.line(accepted, nowUnixMilliseconds: 0).hasPrefix("\u{1B}[32mresult"))
        #expect(table.line(Self.rejected, nowUnixMilliseconds: 0).hasPrefix("\u{1B}[31mresult"))
        #expect(table.line(Self.dead, nowUnixMilliseconds: 0).hasPrefix("\u{1B}[33mdead"))
    }

    @Test func asJSON() {
        let result = WatchedEnvelope(
            exchange: "push.results", routingKey: "result.rejected.com.example.shop",
            properties: [("message_id", "abc")],
            headers: ["traceparent": "00-1"],
            body: Array("{\"outcome\":\"rejected\",\n \"device_token\":\"\(Self.token)\"}".utf8))
        #expect(
            Self.rejected.json(result, nowUnixMilliseconds: 10_523, revealsTokens: false)
                == #"{"kind":"result","id":"3f2504e0-4f89-41d3-9a0c-0305e82c3301","app":"com.example.shop","#
                + #""outcome":"rejected","status":410,"reason":"Unregistered","attempts":1,"age_ms":523,"#
                + #""exchange":"push.results","routing_key":"result.rejected.com.example.shop","#
                + #""properties":{"message_id":"abc"},"headers":{"traceparent":"00-1"},"#
                + #""body":{"outcome":"rejected",  "device_token":"01234567…+56"}}"#)
        let dead = WatchedEnvelope(
            exchange: "push.dead", routingKey: "dead.json.syntax.-", timestampSeconds: 7,
            headers: ["x": .array([1, true, .void, .double(1.5), .bytes([0xFB, 0xFF]), .timestamp(seconds: 3)])],
            body: [0, 0xFF])
        #expect(
            Self.dead.json(dead, nowUnixMilliseconds: 10_523, revealsTokens: false)
                == #"{"kind":"dead_letter","id":"3f2504e0-4f89-41d3-9a0c-0305e82c3301","app":"com.example.shop","#
                + #""outcome":"invalid","class":"schema","code":"required","message":"It lacks a payload.","#
                + #""attempts":0,"body_bytes":108,"age_ms":23,"exchange":"push.dead","#
                + #""routing_key":"dead.json.syntax.-","properties":{"timestamp":7},"#
                + #""headers":{"x":[1,true,null,1.5,"+/8=",3]},"body_base64":"AP8="}"#)
    }

    @Test func tokensAreCompleteOnlyWithReveal() throws {
        // A shortened number is no longer a number.
        let body = #"{"device_token":"\#(Self.token)","n":\#(String(repeating: "1", count: 40))}"#
        let envelope = WatchedEnvelope(
            exchange: "push.dead", routingKey: Self.token, properties: [("message_id", Self.token)],
            headers: [Self.token: .string(Self.token), "b": .table(["c": .string(Self.token)])], body: Array(body.utf8))
        func json(reveals: Bool) throws -> String {
            let line = Self.dead.json(envelope, nowUnixMilliseconds: 0, revealsTokens: reveals)
            #expect(try JSONDocument(line).root["body"]?.kind == (reveals ? .object : .string))
            return line
        }
        let table = WatchTable(width: nil, hasColors: false).line(Self.dead, nowUnixMilliseconds: 0)
        #expect(!(try json(reveals: false) + table).contains(Self.token.prefix(9)))
        #expect(try json(reveals: true).components(of: Self.token) == 6)
    }

    /// A producer may use a device token as message-id.
    @Test func `An id that may be a device token is shortened`() throws {
        let dead = WatchedMessage(deadLetter: [], messageID: Self.token, headers: [:])
        let result = WatchedMessage(
            result: Array(
                #"{"id":"\#(Self.token)","request_id":"\#(Self.token)","app":"\#(Self.token)","reason":"\#(Self.token)"}"#
                    .utf8), messageID: nil)
        let envelope = WatchedEnvelope(exchange: "push.dead", routingKey: "", body: [])
        let table = WatchTable(width: nil, hasColors: false)
        for message in [dead, result] {
            let json = message.json(envelope, nowUnixMilliseconds: 0, revealsTokens: false)
            let line = table.text(message, nowUnixMilliseconds: 0, revealsTokens: false)
            #expect(!(json + line).contains(Self.token.prefix(9)))
            let whole = message.json(envelope, nowUnixMilliseconds: 0, revealsTokens: true)
            #expect(try JSONDocument(whole).root["id"]?.string == Self.token)
            #expect(table.text(message, nowUnixMilliseconds: 0, revealsTokens: true).contains(Self.token))
        }
    }

    @Test(arguments: [
        (WatchFilter(), [0, 1, 2, 3]), (WatchFilter(isOfDeadLetters: true), [2, 3]),
        (WatchFilter(app: AppPattern(text: "com.example.*")), [0, 2]), (WatchFilter(app: AppPattern(text: "com")), []),
        (WatchFilter(outcomes: ["invalid"]), [1, 2]), (WatchFilter(outcomes: ["invalid", "rejected"]), [0, 1, 2]),
        (WatchFilter(id: "ABC"), [1, 2]), (WatchFilter(id: "3F2504E0-4f89-41d3-9a0c-0305e82c3301"), [0, 2]),
        (WatchFilter(isOfDeadLetters: true, outcomes: ["rejected"]), []),
    ])
    func filters(_ filter: WatchFilter, _ shown: [Int]) {
        let messages = [Self.rejected, Self.invalid, Self.dead, Self.givenUpByTheBroker]
        #expect(messages.indices.filter { filter.matches(messages[$0]) } == shown)
    }

    @Test(arguments: [
        "", "[]", "null", "\u{0}",
        #"{"id":1,"app":[],"outcome":{},"error":"x","status":1e99,"finished_at":-9223372036854775808}"#,
    ])
    func malformedResultsAreShown(body: String) {
        let message = WatchedMessage(result: Array(body.utf8), messageID: nil)
        let line = WatchTable(width: 150, hasColors: false).line(message, nowUnixMilliseconds: .max)
        #expect(line.hasPrefix("result  -"))
    }

    @Test(arguments: [
        (0, "0 ms"), (999, "999 ms"), (1000, "1.0 s"), (59_999, "59.9 s"), (60_000, "1 min"), (7_200_000, "2 h"),
        (Int64.max, "106751991167 d"),
    ])
    func ages(milliseconds: Int64, text: String) {
        #expect(WatchTable.duration(milliseconds) == text)
    }
}

extension String {
    /// Returns the number of occurrences of the text.
    fileprivate func components(of text: String) -> Int { ranges(of: text).count }
}

import AMQP
import CommandKit
import Crypto
import JSON
import Testing

@testable import Configuration
@testable import MartletCLI

@Suite struct PublishTests {
    @Test(arguments: [
        (#"{"id":"3F2504E0-4F89-41D3-9A0C-0305E82C3301","app":"com.example.shop"}"#, "com.example.shop"),
        (#"{"id":"3F2504E0-4F89-41D3-9A0C-0305E82C3301","app":7}"#, "-"),
        (#"{"id":"3F2504E0-4F89-41D3-9A0C-0305E82C3301","app":""}"#, "-"),
    ])
    func theMessageIDIsTheBodysID(body: String, key: String) throws {
        let message = try make(body)
        #expect(message.messageID == "3f2504e0-4f89-41d3-9a0c-0305e82c3301")
        #expect(message.routingKey == key)
        #expect(message.body == Array(body.utf8))
        #expect(message.exchange == "push.requests" && message.timestampSeconds == 7)
    }

    @Test(arguments: ["{}", "not JSON", "", #"{"id":"order-7"}"#, "\u{FEFF}{}"])
    func withoutAnIDTheMessageIDIsARandomUUID(body: String) throws {
        let message = try make(body)
        #expect(UUIDValue(message.messageID) != nil)
        #expect(try make(body).messageID != message.messageID)
        #expect(message.routingKey == "-")
    }

    @Test func theCommandLinesIDTakesPrecedence() throws {
        let body = #"{"id":"3F2504E0-4F89-41D3-9A0C-0305E82C3301"}"#
        #expect(try make(body, id: "order-7").messageID == "order-7")
    }

    @Test(arguments: [
        (
            #"{ "app":"a", "id" : "3F2504E0-4F89-41D3-9A0C-0305E82C3301","z":[1.50e1] }"#,
            #"{ "app":"a", "id" : "*","z":[1.50e1] }"#
        ),
        (#"{"payload":{"id":1},"id":7}"#, #"{"payload":{"id":1},"id":"*"}"#), (#"{"app":"a"}"#, #"{"app":"a"}"#),
        ("{", "{"),
    ])
    func aNewIDReplacesTheBodysID(body: String, expected: String) throws {
        let new = String(decoding: try RequestFile(name: "a", body: Array(body.utf8)).withNewID(), as: UTF8.self)
        let id = try make(new).messageID
        #expect(new.replacing(id, with: "*") == expected)
        #expect(!body.lowercased().contains(id))
    }

    @Test(
        arguments: [
            (
                #"{"device_token":"0a","app":"a","payload":{"aps":{ "badge":1.50e1 }}}"#, ["ann"], nil,
                #"{"app":"a","payload":{"aps":{ "badge":1.50e1 }},"user":"ann"}"#
            ),
            (#"{"users":["x"],"scope":"s"}"#, ["ann", "bob"], nil, #"{"scope":"s","users":["ann","bob"]}"#),
            (
                #"{"channel_id":"x","storage_policy":"none","scope":"s"}"#, ["a\"b"], "t",
                #"{"user":"a\"b","scope":"t"}"#
            ),
            (
                #"{"specversion":"1.0","id":"1","source":"s","type":"t","data":{"user":"x"}}"#, ["ann"], nil,
                #"{"specversion":"1.0","id":"1","source":"s","type":"t","data":{"user":"ann"}}"#
            ),
            ("[", ["ann"], nil, "["),
        ] as [(String, [String], String?, String)])
    func usersReplaceTheTargetOfAFile(body: String, users: [String], scope: String?, expected: String) {
        let file = RequestFile(name: "a", body: Array(body.utf8)).addressed(to: users, scope: scope)
        #expect(String(decoding: file.body, as: UTF8.self) == expected)
    }

    @Test func aQueueIsReachedThroughTheDefaultExchange() throws {
        let message = try RequestFile.message(
            body: Array("{}".utf8), to: .queue("push.requests.bulk"), id: nil, unixSeconds: 7)
        #expect(message.exchange == "" && message.routingKey == "push.requests.bulk")
    }

    @Test func outcomesAsText() {
        let commands = CommandAdvice(BrokerOptions())
        let cases: [(PublishOutcome, String, ExitCode)] = [
            (.confirmed, "published  abc  a.json", .success),
            (
                .returned(code: 312, text: "NO_ROUTE"),
                "unroutable  abc  a.json: no queue is bound (NO_ROUTE); run: martlet topology apply",
                .failed
            ),
            (
                .nacked,
                "refused  abc  a.json: the queue is full or unavailable; consume from the queue, or raise its limit",
                .failed
            ),
            (.refused(.bodyTooLarge), "refused  abc  a.json: the message is too large", .failed),
        ]
        for (outcome, line, code) in cases {
            let report = PublishReport(file: "a.json", messageID: "abc", outcome: outcome, commands: commands)
            #expect(report.line == line)
            #expect(report.exitCode == code)
        }
        let report = PublishReport(file: "a\n.json", messageID: "abc", outcome: .nacked, commands: commands)
        #expect(report.line.hasPrefix("refused  abc  a\u{FFFD}.json"))
        #expect(
            report.json
                == #"{"file":"a\n.json","id":"abc","outcome":"refused","message":"the queue is full or unavailable; "#
                + #"consume from the queue, or raise its limit"}"#)
    }

    /// A path with quotes keeps the JSON valid.
    @Test func theRemedyIsCompleteAndTheJSONValid() throws {
        let path = #"/etc/my "martlet".yaml"#
        let report = PublishReport(
            file: "run martlet topology apply", messageID: "abc", outcome: .returned(code: 312, text: "NO_ROUTE"),
            commands: CommandAdvice(configPath: path))
        let root = try JSONDocument(report.json).root
        #expect(
            root["message"]?.string
                == "no queue is bound (NO_ROUTE); run: martlet topology apply --config '\(path)'")
        #expect(root["file"]?.string == "run martlet topology apply")
    }

    private func make(_ body: String, id: String? = nil) throws -> OutgoingMessage {
        try RequestFile.message(body: Array(body.utf8), to: .exchange("push.requests"), id: id, unixSeconds: 7)
    }
}

import AMQP
import Delivery
import EventLoop
import JSON
import Testing

@testable import DeadLetters
@testable import MartletCLI

@Suite struct FilterTests {
    private static let now: Int64 = 1_750_000_000_000

    private static let copy: RepublishableMessage = {
        var copy = RepublishableMessage(
            body: Array(
                #"""
                {"app":"com.example.shop","device_token":"00ff","priority":5,"quiet":true,"none":null,
                 "payload":{"aps":{"alert":"Hello"},"odd key":[{"n":1},{"n":2}]}}
                """#.utf8))
        copy.messageID = "m-1"
        copy.type = "order.v2"
        copy.provenance = .worker
        copy.headers = [
            "push-reason-class": "apns", "push-reason-code": "BadDeviceToken", "push-outcome": "rejected",
            "push-apns-status": 400, "push-attempt": 3, "push-failed-at": .integer(now - 3_600_000),
            "push-origin-queue": "push.requests", "tenant": "blue", "size": 7, "flag": true, "part": .double(0.5),
            "blob": .bytes([1]),
        ]
        return copy
    }()

    private func holds(_ text: String) throws -> Bool {
        let choice = DeadLetterChoice(filter: try Filter(text))
        return choice.matches(DeadLetter(Self.copy), Self.copy, nowUnixMilliseconds: Self.now)
    }

    @Test(arguments: [
        #"class == "apns""#, #"class == 'apns' && code != "BadTopic" && age < 2h"#, "age >= 1h", "age == 60m",
        "age > 3599s && age < 0.5d", #"id == "m-1" || status == 1"#, "status >= 400 && status < 500",
        "attempts in [1, 2, 3]",
        #"code in ["BadTopic", "BadDeviceToken"]"#, #"!(class == "schema")"#, #"!class == "schema""#,
        #"app startsWith "com.example" && app contains "shop""#, #"schema == "order.v2""#,
        #"queue == "push.requests""#, #"token == "00ff""#, #"outcome == "rejected""#, "path == null", "path != \"/a\"",
        #"body.payload.aps.alert == "Hello""#, #"body.payload["odd key"][1].n == 2"#, "body.priority <= 5",
        "body.quiet",
        "!body.loud", "body.none == null", "body.nothing == null", "body.payload != null", "body.quiet == true",
        #"header["tenant"] == "blue""#, #"header["size"] > 6"#, #"header["flag"]"#, #"header["part"] == 0.5"#,
        #"header["nothing"] == null"#, #"header["blob"] != null"#, #"class<"b"&&class>"a""#, "bytes > 10",
        "failed_at == 1749996400000",
        #"code == "x" || code == "y" || code contains "Device""#, #"class == "ap\ns""#,
    ])
    func holds(of text: String) throws {
        #expect(try holds(text))
    }

    @Test(arguments: [
        #"class == "schema""#, "age < 1h", "status == 410", #"path == "/a""#, #"path < "z""#, #"body.priority == "5""#,
        "body.nothing < 5", "body.nothing", "body.priority", #"body.payload == "x""#,
        #"body.payload["odd key"][2].n == 2"#,
        "body.payload[0] == 1", #"header["tenant"] < 5"#, #"header["blob"] == "x""#, #"class == "apns" && age < 1s"#,
        #"app contains "SHOP""#, "attempts in [1]",
    ])
    func doesNotHold(of text: String) throws {
        #expect(try !holds(text))
    }

    @Test func andBindsCloserThanOr() throws {
        #expect(
            try Filter(#"id == "a" || id == "b" && code == "c""#)
                == .any([
                    .compare(.known(.id), .equal, .text("a")),
                    .all([.compare(.known(.id), .equal, .text("b")), .compare(.known(.code), .equal, .text("c"))]),
                ]))
    }

    @Test(arguments: [
        ("", 0, "the filter is empty"),
        ("   ", 3, "the filter is empty"),
        (#"clas == "apns""#, 0, "there is no field 'clas'; did you mean class?"),
        (#"headers["a"] == "b""#, 0, "there is no field 'headers'; did you mean header?"),
        ("qwertz == 1", 0, "there is no field 'qwertz'; there are id, class"),
        ("class = \"apns\"", 6, "a filter has no such character: equal is =="),
        ("class == apns", 9, #"a text stands in quotes: "apns""#),
        ("class == \"apns", 9, "this text has no closing quote"),
        ("class == \"apns\\", 9, "this text has no closing quote"),
        ("class == 3", 9, #"this field is compared with a text, as in "apns""#),
        ("age < 5", 6, "this field is compared with a duration, as in 90s or 2h"),
        ("age < 5w", 7, "a duration ends in s, m, h or d, as in 90s or 2h"),
        ("body.n < 5m", 9, "durations are compared with age alone"),
        ("status contains \"4\"", 7, "this is for texts, and the field is none"),
        ("class", 5, "here stands the end, not ==, !="),
        ("class == \"a\" & age < 1h", 13, "a filter has no such character: and is &&"),
        ("class == \"a\" age", 13, "here stands 'age', not &&, || or the end"),
        ("(class == \"a\"", 13, "here stands the end, not ')'"),
        ("class == \"a\")", 12, "here stands ')', not &&, || or the end"),
        ("status == 1.2.3", 10, "this is no number"),
        ("status == -", 10, "this is no number"),
        ("body. == 1", 6, "here stands '==', not a member's name"),
        ("body[-1] == 1", 5, "here stands a number, not an index from 0 on"),
        ("header.x == 1", 6, "here stands '.', not '['"),
        ("status in [1, ]", 14, "here stands ']', not a value"),
        ("status in []", 11, "here stands ']', not a value"),
        ("&&", 0, "here stands '&&', not a field"),
    ])
    func mistakesAreLocated(_ text: String, _ offset: Int, _ message: String) throws {
        let error = try #require(throws: FilterError.self) { try Filter(text) }
        #expect(error.offset == offset)
        #expect(error.message.hasPrefix(message), "\(error.message)")
    }

    @Test func aMistakeIsShownWithACaret() throws {
        let text = "class == \"ä\" &&\n  agee < 2h"
        let error = try #require(throws: FilterError.self) { try Filter(text) }
        #expect(
            error.lines(of: text, width: 80) == [
                "--where:2:3: there is no field 'agee'; did you mean age?", "  agee < 2h", "  ^",
            ])
    }

    @Test func whatIsHostileEndsSoon() throws {
        let deep = FilterParser.depthMax
        let nested = String(repeating: "(", count: deep - 1) + "age < 1s" + String(repeating: ")", count: deep - 1)
        #expect(throws: Never.self) { try Filter(nested) }
        for symbol in ["(", "!", "(!", "!("] {
            let error = try #require(throws: FilterError.self) {
                try Filter(String(repeating: symbol, count: FilterLexer.bytesMax / symbol.utf8.count))
            }
            #expect(error.message == "brackets are nested deeper than \(deep)")
        }
        let long = try #require(throws: FilterError.self) {
            try Filter(String(repeating: " ", count: FilterLexer.bytesMax + 1))
        }
        #expect(long.message == "a filter has at most \(FilterLexer.bytesMax) bytes")
        // As many conditions as fit, side by side, are evaluated without depth.
        let wide = Array(repeating: "age<1s", count: FilterLexer.bytesMax / 8).joined(separator: "||")
        #expect(try !holds(wide))
    }

    /// No text makes it trap, and what it finds wrong lies in the text.
    @Test func anyTextIsReadOrLocated() {
        let pieces = [
            "age", "class", "body", "header", ".", "[", "]", "(", ")", "!", "&&", "||", "==", "<", "\"x\"", "'", "\\",
            "1",
            "2h", "in", ",", "contains", "null", "true", "-", " ", "\u{0}", "é", "\u{1F600}", "99999999999999999999",
        ]
        var random = SeededRandom(seed: 7)
        for _ in 0..<3000 {
            let text = (0..<Int(random.next() % 12)).map { _ in pieces[Int(random.next() % UInt64(pieces.count))] }
                .joined()
            do throws(FilterError) {
                let filter = try Filter(text)
                _ = filter.matches { _ in .missing }
            } catch {
                #expect(0...text.utf8.count ~= error.offset, "\(text)")
                #expect(error.lines(of: text, width: 40).count >= 2)
            }
        }
    }
}

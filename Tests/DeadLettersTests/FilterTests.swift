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
        (#"clas == "apns""#, 0, "unknown field 'clas'; did you mean class?"),
        (#"headers["a"] == "b""#, 0, "unknown field 'headers'; did you mean header?"),
        ("qwertz == 1", 0, "unknown field 'qwertz' (expected one of: id, class"),
        ("class = \"apns\"", 6, "unexpected character; for equality, use =="),
        ("class == apns", 9, #"a string must be in quotes: "apns""#),
        ("class == \"apns", 9, "the string has no closing quote"),
        ("class == \"apns\\", 9, "the string has no closing quote"),
        ("class == 3", 9, #"the field must be compared with a string, such as "apns""#),
        ("age < 5", 6, "the field must be compared with a duration, such as 90s or 2h"),
        ("age < 5w", 7, "the unit of a duration must be ms, s, m, h or d"),
        ("body.n < 5m", 9, "only age can be compared with a duration"),
        ("status contains \"4\"", 7, "the operator requires a string field"),
        ("class", 5, "expected ==, !="),
        ("class == \"a\" & age < 1h", 13, "unexpected character; for a logical and, use &&"),
        ("class == \"a\" age", 13, "expected &&, || or the end of the filter, found 'age'"),
        ("(class == \"a\"", 13, "expected ')', found the end of the filter"),
        ("class == \"a\")", 12, "expected &&, || or the end of the filter, found ')'"),
        ("status == 1.2.3", 10, "invalid number"),
        ("status == -", 10, "invalid number"),
        ("body. == 1", 6, "expected a member name, found '=='"),
        ("body[-1] == 1", 5, "expected an index of 0 or more, found a number"),
        ("header.x == 1", 6, "expected '[', found '.'"),
        ("status in [1, ]", 14, "expected a value, found ']'"),
        ("status in []", 11, "expected a value, found ']'"),
        ("&&", 0, "expected a field"),
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
                "--where:2:3: unknown field 'agee'; did you mean age?", "  agee < 2h", "  ^",
            ])
    }

    @Test func hostileFiltersAreRefusedQuickly() throws {
        let deep = FilterParser.depthMax
        let nested = String(repeating: "(", count: deep - 1) + "age < 1s" + String(repeating: ")", count: deep - 1)
        #expect(throws: Never.self) { try Filter(nested) }
        for symbol in ["(", "!", "(!", "!("] {
            let error = try #require(throws: FilterError.self) {
                try Filter(String(repeating: symbol, count: FilterLexer.bytesMax / symbol.utf8.count))
            }
            #expect(error.message == "conditions nested deeper than \(deep) levels")
        }
        let long = try #require(throws: FilterError.self) {
            try Filter(String(repeating: " ", count: FilterLexer.bytesMax + 1))
        }
        #expect(long.message == "the filter is longer than \(FilterLexer.bytesMax) bytes")
        // The maximum number of sequential conditions is evaluated without recursion.
        let wide = Array(repeating: "age<1s", count: FilterLexer.bytesMax / 8).joined(separator: "||")
        #expect(try !holds(wide))
    }

    // No text causes a trap, and the position of every mistake is within the text.
    @Test func anyTextIsParsedOrReportedWithItsPosition() {
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

    @Test(arguments: [
        (#"token == "00fc13ad""#, #"token == "…""#),
        (#"code == "BadTopic" && body.user in ["ann", 'bob'] "#, #"code == "BadTopic" && body.user in ["…", "…"] "#),
        (#"header["x-user"] contains "ann" || id == "ann""#, #"header["x-user"] contains "…" || id == "ann""#),
        (#"(body["token"] != "a\"b") && app == "token""#, #"(body["token"] != "…") && app == "token""#),
        (#"body.user in [null, "ann"]"#, #"body.user in [null, "…"]"#),
        ("body.urgent && status >= 400", "body.urgent && status >= 400"), ("token ==", "token =="), ("\"", "…"),
    ])
    func theMaskHidesPersonalTexts(_ text: String, _ masked: String) {
        #expect(FilterMask.masked(text) == masked)
    }
}

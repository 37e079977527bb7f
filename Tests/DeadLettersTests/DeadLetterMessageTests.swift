import AMQP
import BrokerTopology
import Delivery
import EventLoop
import JSON
import TestKit
import Testing

@testable import DeadLetters
@testable import MartletCLI

@Suite struct DeadLetterMessageTests {
    private func copy(
        _ headers: FieldTable, body: String = "{}", _ provenance: Provenance = .worker
    ) -> RepublishableMessage {
        var copy = RepublishableMessage(body: Array(body.utf8))
        copy.provenance = provenance
        copy.messageID = "m-1"
        copy.headers = headers
        return copy
    }

    private let headers: FieldTable = [
        "push-outcome": "rejected", "push-reason-class": "apns", "push-reason-code": "TooManyRequests",
        "push-reason": "x", "push-apns-status": 429, "push-apns-id": "6a204bd8-94ae-4c1a-a6b3-2d3a6d9f2f10",
        "push-attempt": 8, "push-possible-duplicate": false, "push-failed-at": 1_750_000_000_000,
        "push-first-failed-at": 1_749_000_000_000, "push-held-since": 1_749_000_000_000, "push-hold-rounds": 2,
        "push-first-tried-at": 1_749_000_000_000, "push-origin-queue": "push.requests", "push-worker": "w",
        "push-original-message-id": "order-1", "push-original-timestamp": .timestamp(seconds: 17),
        "x-death": .array([]), "tenant": "blue", "traceparent": "00-1",
    ]

    @Test func theMarkDependsOnlyOnIDAndTime() {
        let letter = DeadLetter(copy(headers))
        #expect(DeadLetterMark(letter) == DeadLetterMark(DeadLetter(copy(headers, body: "[]"))))
        #expect(
            DeadLetterMark(letter)
                == DeadLetterMark(id: "6a204bd8-94ae-4c1a-a6b3-2d3a6d9f2f10", failedAtMilliseconds: 1_750_000_000_000))
        var later = headers
        later.entries.removeAll { $0.name == "push-failed-at" }
        later.append("push-failed-at", 1_750_000_000_001)
        #expect(DeadLetterMark(letter) != DeadLetterMark(DeadLetter(copy(later))))
        #expect(DeadLetterMark(letter).waitID != DeadLetterMark(DeadLetter(copy(later))).waitID)
    }

    @Test func aRedriveRestoresTheRequestAndCountsARound() {
        let dead = copy(headers, body: #"{"a": 1}"#)
        let letter = DeadLetter(dead)
        let mark = DeadLetterMark(letter)
        let message = RedriveMessage.make(of: dead, letter, to: "push.requests", resetsAttempts: false)
        #expect(message.body == dead.body)
        #expect(message.exchange.isEmpty && message.routingKey == "push.requests")
        #expect(message.messageID == "order-1")
        #expect(
            message.headers == [
                "push-redrive": .string("\(mark.uuid)"), "push-retry-rounds": 1,
                "push-wait-id": .integer(Int64(mark.waitID)), "push-attempt": 8, "push-possible-duplicate": false,
                "push-first-failed-at": 1_749_000_000_000, "push-origin-queue": "push.requests",
                "push-original-message-id": "order-1", "push-original-timestamp": .timestamp(seconds: 17),
                "tenant": "blue", "traceparent": "00-1",
            ])
        let reset = RedriveMessage.make(of: dead, letter, to: "other", resetsAttempts: true)
        #expect(reset.routingKey == "other")
        #expect(message.priority == nil)
        #expect(reset.headers["push-attempt"] == nil)
    }

    private static let vouched: [(exchange: String, userID: String?, reader: String?, Provenance)] = [
        ("push.dead", "martlet", "martlet", .worker), ("push.dead", "martlet", "operator", .worker),
        ("push.dead", "martlet", nil, .worker), ("push.dead", nil, "operator", .unknown),
        ("push.dlx", "producer", "operator", .broker), ("push.dlx", nil, nil, .broker),
        ("push.dlx", "martlet", "martlet", .worker), ("", "operator", "operator", .worker),
        ("", "producer", "operator", .unknown), ("", nil, nil, .unknown), ("push.requests", "producer", nil, .unknown),
    ]

    @Test(arguments: vouched)
    func theProvenanceIsFromExchangeAndUser(
        _ exchange: String, _ userID: String?, _ reader: String?, _ vouches: Provenance
    ) {
        var envelope = WireWriter()
        envelope.raw(exchange.utf8)
        envelope.short(userID == nil ? 0 : 1 << 4)
        if let userID { envelope.shortString(userID) }
        let message = IncomingMessage(
            tag: DeliveryTag(number: 1, generation: 1, bytes: 0), queue: "push.dead", isRedelivered: false,
            content: MessageContent(body: [], envelope: envelope.bytes, exchangeBytes: exchange.utf8.count))
        #expect(Provenance(of: message, user: reader, names: TopologyNames()) == vouches)
    }

    // A producer may have written the headers. They are trusted in a dead letter from a worker, and `x-death` is
    // trusted in a dead letter from the broker.
    @Test func theOriginIsReadFromTrustedSources() {
        let deaths = FieldValue.array([.table(["reason": "expired", "queue": "push.requests.bulk"])])
        let theirs: FieldTable = ["x-death": deaths, "push-origin-queue": "push.requests.urgent"]
        func letter(_ provenance: Provenance) -> DeadLetter { DeadLetter(copy(theirs, provenance)) }
        #expect(letter(.worker).queue == "push.requests.urgent")
        #expect(letter(.broker).queue == "push.requests.bulk")
        #expect(letter(.unknown).queue == nil)
        for provenance in [Provenance.worker, .broker, .unknown] { #expect(letter(provenance).code == "expired") }
        let forged = DeadLetter(copy(theirs.adding(["push-reason-class": "apns", "push-reason-code": "x"]), .broker))
        #expect(forged.failureClass == "broker" && forged.code == "expired")
        let names = TopologyNames(requestQueues: ["push.requests.urgent", "push.requests.bulk"])
        let target = RedriveTarget(names: names, queue: nil)
        #expect(target.queue(for: letter(.broker)) == "push.requests.bulk")
        #expect(target.queue(for: letter(.unknown)) == nil)
        #expect(RedriveTarget(names: TopologyNames(), queue: nil).queue(for: letter(.unknown)) == "push.requests")
    }

    @Test func aRegistrationCommandReturnsToItsQueue() {
        let names = TopologyNames()
        let target = RedriveTarget(names: names, queue: nil)
        let command: FieldTable = ["push-origin-queue": .string(names.registrationsQueue)]
        #expect(target.queue(for: DeadLetter(copy(command))) == names.registrationsQueue)
        // Without a trusted origin, the command becomes a dead letter again.
        #expect(target.queue(for: DeadLetter(copy(command, .unknown))) == "push.requests")
    }

    @Test func aRedriveCarriesTheUserOnlyForAWorkersProvenance() {
        for provenance in [Provenance.broker, .unknown] {
            let dead = copy(headers, provenance)
            let message = RedriveMessage.make(of: dead, DeadLetter(dead), to: "q", resetsAttempts: true)
            #expect(message.messageID == "m-1" && !message.carriesUserID)
            #expect(message.headers.entries.allSatisfy { !MessageHeaderName.provenance.contains($0.name) })
        }
        let dead = copy(headers)
        #expect(RedriveMessage.make(of: dead, DeadLetter(dead), to: "q", resetsAttempts: true).carriesUserID)
    }

    // An import moves messages. A scan publishes a dead letter again before the message exceeds the delivery limit.
    @Test func movedMessagesKeepTheirProvenance() {
        let theirs: FieldTable = ["push-origin-queue": "forged", "push-worker": "forged", "tenant": "blue"]
        let worker = copy(theirs).message(to: "push.dead")
        #expect(worker.carriesUserID && worker.headers == theirs)
        let broker = copy(theirs, .broker).message(to: "push.dead")
        #expect(broker.carriesUserID && broker.headers == ["tenant": "blue"])
        let unknown = copy(theirs, .unknown).message(to: "push.dead")
        #expect(!unknown.carriesUserID && unknown.headers == theirs)
    }

    @Test func aRedriveKeepsTheProducersHeaders() {
        let theirs: FieldTable = [
            "X-Request-ID": "r-1", "x-note": "n", "price": .decimal(scale: 2, value: 1999), "push-priority": 3,
            "x-first-death-queue": "q", "x-delivery-count": 2, "CC": "q",
        ]
        var dead = copy(FieldTable(headers.entries + theirs.entries))
        let waited = RedriveMessage.make(of: dead, DeadLetter(dead), to: "q", resetsAttempts: true)
        #expect(waited.priority == 3)
        for name in ["X-Request-ID", "x-note", "price"] { #expect(waited.headers[name] == theirs[name]) }
        for name in ["push-priority", "x-first-death-queue", "x-delivery-count", "CC"] {
            #expect(waited.headers[name] == nil)
        }
        dead.priority = 9
        #expect(RedriveMessage.make(of: dead, DeadLetter(dead), to: "q", resetsAttempts: true).priority == 9)
    }

    // A worker that continues an edited request replaces the mark of the edit by a new cursor.
    @Test func aRedriveOfAnEditedRequestStartsOver() {
        let cursor: FieldTable = ["push-cursor": "1 10 0"]
        for (more, kept) in [(cursor, true), (cursor.adding(["push-edited-from": "m-0"]), false)] {
            let dead = copy(headers.adding(more))
            let message = RedriveMessage.make(of: dead, DeadLetter(dead), to: "q", resetsAttempts: false)
            #expect(message.headers["push-cursor"] == (kept ? "1 10 0" : nil))
            #expect(message.headers["push-edited-from"] == nil)
        }
    }

    @Test func aSecondRedriveHasANewMarkAndOneMoreRound() {
        let first = RedriveMessage.make(
            of: copy(headers), DeadLetter(copy(headers)), to: "q", resetsAttempts: false)
        var again = first.headers
        again.append("push-outcome", "unknown")
        again.append("push-failed-at", 1_750_000_009_000)
        again.append("push-apns-id", "6a204bd8-94ae-4c1a-a6b3-2d3a6d9f2f10")
        let second = RedriveMessage.make(of: copy(again), DeadLetter(copy(again)), to: "q", resetsAttempts: false)
        #expect(second.headers["push-retry-rounds"] == 2)
        #expect(second.headers["push-redrive"] != first.headers["push-redrive"])
        #expect(second.headers.entries.count { $0.name == "push-redrive" } == 1)
        // The device may have received the notification.
        #expect(second.headers["push-possible-duplicate"] == true)
    }

    @Test func anExportedMessageIsRestored() throws {
        var whole = RepublishableMessage(body: Array("{\"ü\":\"\\u0000\", \n\t1e5}\u{7F}".utf8))
        (whole.messageID, whole.contentType, whole.contentEncoding) = ("m", "application/json", "utf-8")
        (whole.correlationID, whole.replyTo, whole.type, whole.appID) = ("c", "r", "t", "a")
        (whole.timestampSeconds, whole.priority) = (1_750_000_000, 255)
        whole.headers = [
            "text": "a \"b\" ü", "number": .integer(.min), "flag": false, "none": .void, "bytes": .bytes([0, 255, 62]),
            "time": .timestamp(seconds: .max), "part": .double(0.1),
            "price": .decimal(scale: 2, value: 1999), "zero": .decimal(scale: 255, value: .max),
            "nan": .double(.infinity),
            "table": .table(["deep": .array([1, .table([:]), "x", .array([])])]), "": "",
        ]
        for provenance in [Provenance.unknown, .broker, .worker] {
            whole.provenance = provenance
            #expect(try MessageLine.message(MessageLine.text(of: whole)) == whole)
        }
        #expect(!MessageLine.text(of: whole).contains(UInt8(ascii: "\n")))
        for body: [UInt8] in [[], [0xFF, 0xFE], [0xC0, 0x80], Array(0...255), [0xED, 0xA0, 0x80]] {
            #expect(try MessageLine.message(MessageLine.text(of: RepublishableMessage(body: body))).body == body)
        }
    }

    @Test(arguments: [
        ("{", 2, "JSON"), ("[]", 1, "expected an object"), ("{}", 1, "expected an object"),
        (#"{"body":1}"#, 1, "expected an object"), (#"{"body_base64":"?"}"#, 16, "invalid base64"),
        (#"{"body":"","properties":{"type":1}}"#, 33, "type must be a string"),
        (#"{"body":"","properties":{"timestamp":-1}}"#, 38, "timestamp must be"),
        (#"{"body":"","properties":{"priority":256}}"#, 37, "priority must be"),
        (#"{"body":"","headers":{"a":{"b":1}}}"#, 22, "invalid header"),
        (#"{"body":"","headers":{"a":1.5}}"#, 22, "invalid header"),
        (#"{"body":"","headers":{"a":{"decimal":"19.99"}}}"#, 22, "invalid header"),
        (#"{"body":"","provenance":"me"}"#, 25, "provenance must be"),
        (#"{"body":"","headers":[]}"#, 22, "invalid header"),
    ])
    func malformedLinesAreReported(_ line: String, _ column: Int, _ message: String) throws {
        let mistake = try #require(throws: MessageLine.Mistake.self) { try MessageLine.message(Array(line.utf8)) }
        if message != "JSON" { #expect(mistake.message.hasPrefix(message), "\(mistake)") }
        #expect(mistake.position?.column == column)
    }

    @Test func groupsAreSortedBySizeAndBounded() {
        var groups = DeadLetterGroups(by: [.class, .age])
        let now: Int64 = 1_750_000_100_000
        for _ in 0..<3 { groups.add(DeadLetter(copy(headers)), nowUnixMilliseconds: now) }
        groups.add(DeadLetter(copy([:])), nowUnixMilliseconds: now)
        #expect(
            groups.sorted == [
                .init(values: ["apns", "< 1 h"], count: 3, oldestAge: 100_000, newestAge: 100_000),
                .init(values: ["-", "-"], count: 1),
            ])
        var many = DeadLetterGroups(by: [.code])
        for number in 0..<(DeadLetterGroups.groupsMax + 5) {
            many.add(DeadLetter(copy(["push-reason-code": .string("\(number)")])), nowUnixMilliseconds: now)
        }
        #expect(many.sorted.count == DeadLetterGroups.groupsMax + 1)
        #expect(many.sorted[0] == .init(values: ["…"], count: 5))
        #expect(many.count == DeadLetterGroups.groupsMax + 5)
    }

    @Test func messagesThatTheBrokerDeadLetteredAreRead() {
        let death: FieldTable = [
            "reason": "rejected", "queue": "push.requests", "time": .timestamp(seconds: 1_750_000_000),
        ]
        let letter = DeadLetter(copy(["x-death": .array([.table(death)])]))
        #expect(letter.failureClass == "broker" && letter.code == "rejected" && letter.queue == "push.requests")
        #expect(letter.failedAt == 1_750_000_000_000)
        #expect(letter.ageMilliseconds(at: 1_750_000_001_000) == 1000)
        #expect(letter.ageMilliseconds(at: 1_749_999_999_999) == nil)
    }

    // A worker rejects a message that expired outside the request queues. If the exchange of the death has another
    // prefix than `push.expired`, `push.expired` is the origin.
    @Test(arguments: [("push.expired", "push.dlx", "push.channels"), ("push.expired", "shop.dlx", "push.expired")])
    func theQueueForExpiredMessagesIsNoOrigin(_ queue: String, _ exchange: String, origin: String) {
        let last: FieldTable = ["reason": "rejected", "queue": .string(queue), "exchange": .string(exchange)]
        let first: FieldTable = ["reason": "expired", "queue": "push.channels", "exchange": ""]
        let letter = DeadLetter(copy(["x-death": .array([.table(last), .table(first)])]))
        #expect(letter.failureClass == "broker" && letter.queue == origin)
    }

    @Test func headersOfAnyTypeAreRead() {
        for value: FieldValue in [.integer(.min), .bytes([]), .table([:]), .void, .unreadable, .double(.nan), "é"] {
            let names = headers.entries.map(\.name) + ["x-death"]
            let letter = DeadLetter(copy(FieldTable(names.map { .init($0, value) })))
            _ = letter.ageMilliseconds(at: .max)
            let message = RedriveMessage.make(of: copy(FieldTable()), letter, to: "q", resetsAttempts: false)
            #expect(message.headers["push-retry-rounds"] == 1)
        }
    }

    @Test func messagesAreSpreadOverTheSecond() {
        var limiter = RateLimiter(perSecond: 100)
        var now = MonotonicTime(nanoseconds: 0)
        var sent = 0
        for _ in 0..<100 {
            now = now + limiter.wait(now: now)
            sent += 1
        }
        #expect(MonotonicTime(nanoseconds: 0).duration(to: now) == .milliseconds(990))
        // The limiter makes up for only a part of a pause.
        now = now + .seconds(10)
        let free = (0..<100).prefix { _ in limiter.wait(now: now) == .zero }.count
        #expect(4...7 ~= free)
    }

    @Test func progressIsShownAsABar() {
        #expect(
            ProgressLine.text(1200, of: 5000, after: .seconds(2))
                == String(repeating: "━", count: 5) + String(repeating: "─", count: 19) + "  1200 of 5000  600/s")
        #expect(ProgressLine.text(0, of: 0, after: .zero).hasSuffix("0 of 0  0/s"))
    }

    @Test func tokensAreShortenedByDefault() {
        let token = String(repeating: "0a1b", count: 16)
        let body = #"{"app":"a","device_token":"\#(token)"}"#
        let dead = copy(headers, body: body)
        for text in [
            DeadLetterText.whole(DeadLetter(dead), dead, reveals: false, nowUnixMilliseconds: 0),
            DeadLetterText.wholeJSON(DeadLetter(dead), dead, reveals: false, nowUnixMilliseconds: 0),
            DeadLetterText.json(DeadLetter(dead), reveals: false, nowUnixMilliseconds: 0),
        ] {
            #expect(text.contains("0a1b0a1b"))
            #expect(!text.contains(token.prefix(20)))
        }
        #expect(DeadLetterText.whole(DeadLetter(dead), dead, reveals: true, nowUnixMilliseconds: 0).contains(token))
        #expect(DeadLetterText.json(DeadLetter(dead), reveals: true, nowUnixMilliseconds: 0).contains(token))
    }
}

extension FieldTable {
    fileprivate func adding(_ other: FieldTable) -> FieldTable { FieldTable(entries + other.entries) }
}

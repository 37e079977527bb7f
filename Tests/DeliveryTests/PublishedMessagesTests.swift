import AMQP
import BrokerTopology
import Crypto
import EventLoop
import TestKit
import Testing
import Text

@testable import Delivery

/// The published messages in full, since other programs and workers of other versions read them.
@Suite struct PublishedMessagesTests {
    private static let id = "6f1c7c1e-3c52-4a53-9c1b-0d6c0a4be1aa"
    private static let origin: FieldTable = [
        "push-origin-queue": "push.requests.urgent", "push-origin-exchange": "push.requests",
        "push-origin-routing-key": "urgent", "push-original-message-id": .string(id),
        "push-original-timestamp": .timestamp(seconds: 1_700_000_000), "push-worker": "tested",
    ]

    private static let worker = WorkerIdentity(name: "tested", user: "worker")

    /// Returns a record with all properties that a producer may set, except `expiration` and `cluster-id`. The priority
    /// and the user ID are absent if they are nil.
    private func record(
        _ headers: FieldTable = FieldTable(), isRedelivered: Bool = false, publishedAt seconds: UInt64 = 1_700_000_000,
        priority: UInt8? = nil, userID: String? = nil
    ) -> DeliveryRecord {
        var envelope = WireWriter()
        envelope.raw("push.requests".utf8)
        envelope.raw("urgent".utf8)
        let properties: [UInt16] =
            [15, 14, 13, 12, 10, 9, 7, 6, 5, 3] + (priority == nil ? [] : [11]) + (userID == nil ? [] : [4])
        envelope.short(properties.reduce(0) { $0 | 1 << $1 })
        for text in ["application/json", "utf-8"] { envelope.shortString(text) }
        envelope.table(headers)
        envelope.octet(2)
        if let priority { envelope.octet(priority) }
        for text in ["correlation", "answers", Self.id] { envelope.shortString(text) }
        envelope.longLong(seconds)
        for text in ["push", userID, "shop"].compactMap(\.self) { envelope.shortString(text) }
        let record = DeliveryRecord(
            of: IncomingMessage(
                tag: DeliveryTag(number: 1, generation: 1, bytes: 0), queue: "push.requests.urgent",
                isRedelivered: isRedelivered,
                content: MessageContent(
                    body: Array("{}".utf8), envelope: envelope.bytes, exchangeBytes: 13, routingKeyBytes: 6)),
            from: 0,
            Now(monotonic: MonotonicTime(nanoseconds: 0), unixNanoseconds: 1_800_000_000_000_000_000))
        record.id = UUIDValue(Self.id)
        return record
    }

    private func expect(_ message: OutgoingMessage, to exchange: String, _ key: String, _ headers: FieldTable) {
        #expect(message.exchange == exchange && message.routingKey == key && message.messageID == Self.id)
        #expect(message.contentType == "application/json" && message.contentEncoding == "utf-8")
        #expect(message.correlationID == "correlation" && message.replyTo == "answers")
        #expect(message.type == "push" && message.appID == "shop" && message.timestampSeconds == 1_700_000_000)
        #expect(message.body == Array("{}".utf8))
        #expect(message.headers == headers && message.carriesUserID)
    }

    /// Returns the history that another worker reads from the message.
    private func attempts(of message: OutgoingMessage) -> Attempts { record(message.headers).attempts }

    @Test func aDeadLetterHasItsReasonAndOrigin() {
        let reason = DeadLetterReason("apns", "BadTopic", path: "/app", "APNs has refused it.")
        let answer = FinalOutcome.Answer(status: 400, reason: "BadTopic", timestampMilliseconds: 7)
        let message = DeadLetterMessage.make(
            for: record([
                "CC": "push.requests", "BCC": "push.requests", "x-death": .array([]), "x-first-death-queue": "broker's",
                "x-last-death-reason": "broker's", "x-delivery-count": 1, "x-acquired-count": 1,
                "note": "producer's", "x-note": "producer's", "X-Request-ID": "r-1",
                "price": .decimal(scale: 2, value: 1999),
            ]),
            FinalOutcome(outcome: .rejected, answer: answer, deadLetter: reason),
            because: reason, AppDirectory([]), failedAtMilliseconds: 9, exchange: "push.dead", worker: Self.worker)
        expect(
            message, to: "push.dead", "dead.apns.BadTopic.-",
            [
                "push-outcome": "rejected", "push-reason-class": "apns", "push-reason-code": "BadTopic",
                "push-reason": "APNs has refused it.", "push-error-path": "/app", "push-apns-status": 400,
                "push-apns-timestamp": 7, "push-apns-id": .string(Self.id), "push-attempt": 0,
                "push-possible-duplicate": false, "push-failed-at": 9,
            ] + Self.origin + [
                "note": "producer's", "x-note": "producer's", "X-Request-ID": "r-1",
                "price": .decimal(scale: 2, value: 1999),
            ])
        #expect(message.priority == nil)
    }

    @Test func aDeadLetterHasTheHoldTimeOfItsRequest() {
        let reason = DeadLetterReason("held", "unreachable", "It was held.")
        let message = DeadLetterMessage.make(
            for: record([
                "push-retry-rounds": 7, "push-attempt": 2, "push-first-tried-at": 1, "push-hold-rounds": 4,
                "push-held-since": 2, "push-wait-id": 5,
            ]),
            FinalOutcome(outcome: .rejected, deadLetter: reason), because: reason, AppDirectory([]),
            failedAtMilliseconds: 9, exchange: "push.dead", worker: Self.worker)
        expect(
            message, to: "push.dead", "dead.held.unreachable.-",
            [
                "push-outcome": "rejected", "push-reason-class": "held", "push-reason-code": "unreachable",
                "push-reason": "It was held.", "push-apns-id": .string(Self.id), "push-attempt": 2,
                "push-possible-duplicate": false, "push-first-tried-at": 1, "push-hold-rounds": 4,
                "push-held-since": 2, "push-failed-at": 9,
            ] + Self.origin + ["push-retry-rounds": 7])
    }

    private static let forged: FieldTable = [
        "push-origin-queue": "push.requests.other", "push-origin-exchange": "elsewhere",
        "push-origin-routing-key": "other", "push-original-message-id": "other",
        "push-original-timestamp": .timestamp(seconds: 1), "push-worker": "forged", "push-attempt": 2,
        "push-retry-rounds": 3, "push-history": "a,forged,1,1,1",
    ]

    // Any producer can write these headers, and set the user ID of its own user.
    @Test(arguments: [nil, "producer"]) func aProducersProvenanceIsNotTrusted(_ userID: String?) {
        for message in republished(record(Self.forged, userID: userID)) {
            for entry in Self.origin.entries { #expect(message.headers[entry.name] == entry.value) }
        }
        // The history headers affect only their request, so they count without the worker's user ID. Earlier versions
        // set no user ID.
        #expect(record(Self.forged, userID: userID).attempts.before == 2)
    }

    // Without an exchange or a message id, no other value would replace a forged header.
    @Test func aForgedProvenanceIsNotCopied() {
        let record = DeliveryRecord(
            of: IncomingMessage(
                tag: DeliveryTag(number: 1, generation: 1, bytes: 0), queue: "push.requests", isRedelivered: false,
                content: MessageContent(body: [], envelope: Self.properties(Self.forged))),
            from: 0, Now(monotonic: MonotonicTime(nanoseconds: 0), unixNanoseconds: 0))
        for message in republished(record) {
            #expect(
                message.headers.entries.filter { MessageHeaderName.provenance.contains($0.name) }
                    .filter { $0.name != "push-history" }
                    == [.init("push-origin-queue", "push.requests"), .init("push-worker", "tested")])
            #expect(message.headers["push-history"] != "a,forged,1,1,1")
        }
    }

    private static func properties(_ headers: FieldTable) -> [UInt8] {
        var writer = WireWriter()
        writer.short(1 << 13)
        writer.table(headers)
        return writer.bytes
    }

    /// A worker keeps the provenance that a worker with the same user wrote.
    @Test func theProvenanceOfAWorkerIsKept() {
        for message in republished(record(Self.forged, userID: "worker")) {
            for name in ["queue", "exchange", "routing-key"].map({ "push-origin-\($0)" }) {
                #expect(message.headers[name] == Self.forged[name])
            }
            #expect(message.headers["push-original-message-id"] == "other")
            #expect(message.headers["push-worker"] == "tested")
        }
    }

    /// A worker that logs in with a certificate does not know its user, so it trusts no provenance.
    @Test func withoutAKnownUserNoProvenanceIsTrusted() {
        let anonymous = WorkerIdentity(name: "tested", user: nil)
        for message in republished(record(Self.forged, userID: "worker"), by: anonymous) {
            for entry in Self.origin.entries { #expect(message.headers[entry.name] == entry.value) }
        }
    }

    /// Returns the request as a wait message, a dead letter and a quarantined request.
    private func republished(_ record: DeliveryRecord, by worker: WorkerIdentity = worker) -> [OutgoingMessage] {
        [
            WaitMessage.make(
                for: record, Wait(delay: WaitDelay(seconds: 30), attempts: Attempts(rounds: 1), reason: "x"),
                sibling: 0, failedAtMilliseconds: 9, names: TopologyNames(), worker: worker),
            DeadLetterMessage.make(
                for: record, FinalOutcome(outcome: .invalid), because: DeadLetterReason("json", "syntax", "No."),
                AppDirectory([]), failedAtMilliseconds: 9, exchange: "push.dead", worker: worker),
            QuarantineMessage.make(
                for: record, waitID: 7, movedAtMilliseconds: 9, names: TopologyNames(), worker: worker),
        ]
    }

    // A priority inside a wait queue would starve other requests. Dead letters and quarantined requests keep it.
    @Test(arguments: [nil, 0, 7] as [UInt8?]) func aPrioritySurvivesAWait(_ priority: UInt8?) {
        func wait(_ record: DeliveryRecord) -> OutgoingMessage {
            WaitMessage.make(
                for: record, Wait(delay: WaitDelay(seconds: 30), attempts: Attempts(rounds: 1), reason: "x"),
                sibling: 0,
                failedAtMilliseconds: 9, names: TopologyNames(), worker: Self.worker)
        }
        func end(_ record: DeliveryRecord) -> [OutgoingMessage] {
            [
                DeadLetterMessage.make(
                    for: record, FinalOutcome(outcome: .invalid), because: DeadLetterReason("json", "syntax", "No."),
                    AppDirectory([]), failedAtMilliseconds: 9, exchange: "push.dead", worker: Self.worker),
                QuarantineMessage.make(
                    for: record, waitID: 7, movedAtMilliseconds: 9, names: TopologyNames(), worker: Self.worker),
            ]
        }
        var record = self.record(priority: priority)
        for _ in 0..<2 {
            for message in end(record) {
                #expect(message.priority == priority && message.headers["push-priority"] == nil)
            }
            let waiting = wait(record)
            #expect(waiting.priority == nil)
            #expect(
                waiting.headers.entries.filter { $0.name == "push-priority" }.map(\.value.integerValue)
                    == (priority.map { [Int64($0)] } ?? []))
            // The request returns with the headers of the wait message.
            record = self.record(waiting.headers)
        }
    }

    @Test(arguments: [FieldValue.integer(256), .integer(-1), "7", .void])
    func aMalformedPriorityIsIgnored(_ value: FieldValue) { #expect(record(["push-priority": value]).priority == nil) }

    @Test func publishedMessagesShareTheBodyOfTheDelivery() {
        let record = record()
        let message = record.republished(exchange: "push.dead", routingKey: "dead")
        #expect(
            message.content.withUnsafeBytes { $0.baseAddress } == record.delivery.content.withBody { $0.baseAddress })
    }

    // One frame must hold the producer's and the worker's headers.
    @Test func aProducersHeadersAreCopiedUpToTheLimit() {
        var headers = FieldTable()
        for number in 0..<9 { headers.append("note-\(number)", .string(String(repeating: "x", count: 1000))) }
        headers.append("small", 1)
        let message = DeadLetterMessage.make(
            for: record(headers), FinalOutcome(outcome: .invalid), because: DeadLetterReason("json", "syntax", "No."),
            AppDirectory([]), failedAtMilliseconds: 9, exchange: "push.dead", worker: Self.worker)
        let names = message.headers.entries.map(\.name)
        #expect(names.filter { !$0.hasPrefix("push-") } == (0..<8).map { "note-\($0)" } + ["small"])
    }

    @Test func aWaitingRequestIsReadAsWritten() {
        var waiting = Attempts(before: 2, possibleDuplicate: true, rounds: 5)
        waiting.waitID = 77
        waiting.beforeQuarantine = Attempts.BeforeQuarantine(waitID: 66, deliveries: 3, movedAtMilliseconds: 9)
        waiting.firstTriedAtMilliseconds = 1000
        waiting.holds = 2
        waiting.heldSinceMilliseconds = 2000
        let message = WaitMessage.make(
            for: record(), Wait(delay: WaitDelay(seconds: 30), attempts: waiting, reason: "held-unreachable"),
            sibling: 1, failedAtMilliseconds: 9, names: TopologyNames(), worker: Self.worker)
        expect(
            message, to: "push.wait.30s.2", "push.requests.urgent",
            [
                "push-attempt": 2, "push-retry-rounds": 5, "push-possible-duplicate": true, "push-wait-id": 77,
                "push-wait-id-before": 66, "push-deliveries-before": 3, "push-first-tried-at": 1000,
                "push-hold-rounds": 2, "push-held-since": 2000, "push-reason-code": "held-unreachable",
                "push-first-failed-at": 9, "push-failed-at": 9, "push-history": "a,unreachable,1,9,pxl",
            ] + Self.origin)
        #expect(attempts(of: message) == waiting)
    }

    private static let trips: [(headers: FieldTable, attempts: Attempts)] = [
        (["push-retry-rounds": 2], Attempts(rounds: 2)), (["push-wait-id": 7, "push-hold-rounds": 1], Attempts()),
        (["push-outcome": "rejected", "push-attempt": 3, "push-retry-rounds": 3], Attempts()),
    ]

    @Test(arguments: trips)
    func onlyHeadersOfARoundAreReadAsHistory(_ headers: FieldTable, _ attempts: Attempts) {
        #expect(record(headers).attempts == attempts)
    }

    @Test(arguments: [(1_799_999_983, 17), (1_800_000_001, 0), (0, 30 * 86_400)])
    func theAgeIsCountedFromThePublish(_ publishedAt: UInt64, _ seconds: Int) {
        #expect(record(publishedAt: publishedAt).ageNanoseconds == seconds * 1_000_000_000)
        #expect(record(["push-retry-rounds": 1], publishedAt: publishedAt).ageNanoseconds == nil)
    }

    @Test(arguments: [(6, "aüçb"), (5, "aüç"), (4, "aü"), (3, "aü"), (2, "a"), (0, "")])
    func textsAreCutBetweenCharacters(_ count: Int, _ cut: String) {
        #expect("aüçb".cut(to: count) == cut)
    }

    @Test func aQuarantinedRequestIsReadAsWritten() {
        let record = record(
            [
                "push-attempt": 1, "push-retry-rounds": 4, "push-wait-id": 66, "push-first-failed-at": 5,
                "push-expires-at": 12, "x-delivery-count": 3,
            ], isRedelivered: true)
        let message = QuarantineMessage.make(
            for: record, waitID: 77, movedAtMilliseconds: 9, names: TopologyNames(), worker: Self.worker)
        expect(
            message, to: "push.quarantine", "push.requests.urgent",
            [
                "push-attempt": 1, "push-retry-rounds": 5, "push-possible-duplicate": true, "push-wait-id": 77,
                "push-wait-id-before": 66, "push-deliveries-before": 3,
                "push-reason": "Delivered 3 times without being settled.", "push-failed-at": 9,
                "push-history": "q,redelivered,1,9,", "push-expires-at": 12,
            ] + Self.origin + ["push-first-failed-at": 5])
        #expect(attempts(of: message) == record.attempts.quarantined(waitID: 77, deliveries: 3, atMilliseconds: 9))
    }

    // `members` contains the size of each member, in bytes.
    @Test(arguments: [([400, 111], 512), ([400, 112], 400), ([512, 1], 512), ([512], 512), ([513], nil)])
    func wholeMembersOfATraceStateAreCopied(members: [Int], bytes: Int?) {
        let state = members.map { String(repeating: "x", count: $0) }.joined(separator: ",")
        let record = record(["traceparent": "00-nonsense", "tracestate": .string(state)])
        let dead = DeadLetterMessage.make(
            for: record, FinalOutcome(outcome: .expired), because: DeadLetterReason("a", "b", "c"), AppDirectory([]),
            failedAtMilliseconds: 9, exchange: "x", worker: Self.worker)
        let result = ResultMessage.make(
            for: record, FinalOutcome(outcome: .expired), AppDirectory([]), finishedAtMilliseconds: 9, exchange: "x")
        for message in [dead, result] {
            #expect(message.headers["tracestate"] == bytes.map { .string(String(state.prefix($0))) })
        }
    }

    @Test func aResultHasTheIDOfItsRequest() {
        let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        let message = ResultMessage.make(
            for: record(["traceparent": .string(trace), "note": "producer's"]), FinalOutcome(outcome: .expired),
            AppDirectory([]), finishedAtMilliseconds: 9, exchange: "push.results")
        #expect(message.exchange == "push.results" && message.routingKey == "result.expired.-")
        #expect(message.messageID == Self.id && message.correlationID == Self.id)
        #expect(message.type == "push.result.v1" && message.contentType == "application/json")
        #expect(message.headers == ["traceparent": .string(trace)] && !message.carriesUserID)
    }
}

extension FieldTable {
    fileprivate static func + (one: FieldTable, other: FieldTable) -> FieldTable {
        FieldTable(one.entries + other.entries)
    }
}

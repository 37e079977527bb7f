import AMQP
import JSON
import TestKit
import Testing

extension SystemTests {
    /// Invalid messages of many kinds.
    ///
    /// Each message becomes a dead letter with the original bytes, and the worker keeps running. The dead letter has a
    /// reason unless the message exceeds the size limit.
    @Suite struct BadInput {
        private static let seed: UInt64 = 3
        private static let count = LongForm.pick(10_000, short: 800)

        @Test func everyInvalidMessageBecomesADeadLetterWithItsReason() async throws {
            let fixture = try await SystemFixture("bad")
            try await fixture.applyTopology()
            for queue in ["results", "dead"] { await fixture.testClient.collect(fixture.queue(queue)) }
            let worker = try await fixture.worker()
            let messages = try BadMessage.make(Self.count, seed: Self.seed)
            try await RawPublisher.publish(
                messages.enumerated().map { number, message in
                    RawPublisher.Message(
                        exchange: "bad.requests", routingKey: Array("bad.\(number)".utf8),
                        properties: message.properties.bytes, body: message.body)
                }, to: PrivateBroker.shared.url)
            let letters = try await fixture.testClient.collected(
                fixture.queue("dead"), atLeast: messages.count, within: .seconds(120))
            let results = try await fixture.testClient.collected(
                fixture.queue("results"), atLeast: messages.count, within: .seconds(60))

            var mismatches = Mismatches()
            var seen: Set<Int> = []
            for letter in letters {
                guard let number = letter.number, messages.indices.contains(number) else {
                    mismatches.add("unknown dead letter: routing key \(letter.routingKey)")
                    continue
                }
                seen.insert(number)
                try mismatches.check(letter, of: messages[number])
            }
            #expect(seen.count == messages.count)
            #expect(letters.count == messages.count)
            try mismatches.check(results, of: messages)
            #expect(mismatches.first20 == [])

            // The same process is still running and pushes a valid request.
            #expect(worker.isRunning)
            let good = Sample(messages.count)
            try await fixture.publish([good])
            let last = try await fixture.testClient.collected(fixture.queue("results"), atLeast: messages.count + 1)
            #expect(try last[messages.count].json.root["id"]?.string == good.id)
            #expect(try last[messages.count].json.root["outcome"]?.string == "accepted")
            let counters = try await worker.stop()
            #expect(counters.root["message.invalid"]?.int == messages.count)
            #expect(counters.root["message.accepted"]?.int == 1)
            #expect(try await fixture.testClient.getAll(from: fixture.queue("requests")).isEmpty)
            #expect(try await fixture.end().count == 1)
        }

        /// Redelivers a message whose headers fill a frame.
        ///
        /// The broker adds a header, so the redelivered header frame exceeds the negotiated frame size.
        @Test func headersThatFillAFrameCanBeRedelivered() async throws {
            let fixture = try await SystemFixture("full")
            try await fixture.applyTopology()
            let sample = Sample(1)
            var properties = RawProperties()
            properties.addNest(bytes: properties.headerRoom, ofTables: false)
            try await RawPublisher.publish(
                [
                    RawPublisher.Message(
                        exchange: "full.requests", routingKey: Array("request".utf8), properties: properties.bytes,
                        body: sample.body)
                ], to: PrivateBroker.shared.url)
            await fixture.testClient.requeueOne(in: fixture.queue("requests"))

            await fixture.testClient.collect(fixture.queue("results"))
            let worker = try await fixture.worker()
            let results = try await fixture.testClient.collected(
                fixture.queue("results"), atLeast: 1, within: TestTimeout.duration)
            #expect(try results[0].json.root["outcome"]?.string == "accepted")
            #expect(try results[0].json.root["possible_duplicate"]?.bool == true)
            _ = try await worker.stop()
            try await fixture.end()
        }
    }
}

/// The differences between the expected and the actual dead letters and results.
private struct Mismatches {
    private var all: Set<String> = []
    private let deadLetter: Contract
    private let result: Contract

    init() {
        do {
            deadLetter = try Contract.deadLetter()
            result = try Contract.result()
        } catch {
            preconditionFailure("cannot load the schemas of results and dead letters: \(error)")
        }
    }

    var first20: [String] { Array(all.sorted().prefix(20)) }

    mutating func add(_ text: String) { all.insert(text) }

    mutating func check(_ letter: IncomingMessage, of message: BadMessage) throws {
        if letter.body != message.body { add("\(message.kind): the body differs") }
        guard !message.isOversized else {
            guard case .array(let deaths)? = letter.properties.header("x-death"),
                case .table(let death)? = deaths.first,
                death["reason"] == "rejected", letter.exchange == "bad.dlx"
            else { return add("\(message.kind): the broker did not dead-letter the message") }
            return
        }
        let (deadClass, code) = (letter.header("push-reason-class"), letter.header("push-reason-code"))
        if (deadClass, code) != (message.deadClass, message.code) {
            add("\(message.kind): the reason is \(deadClass) \(code), not \(message.deadClass) \(message.code)")
        }
        if !letter.routingKey.hasPrefix("dead.\(message.deadClass).\(message.code).") {
            add("\(message.kind): wrong routing key \(letter.routingKey)")
        }
        if letter.properties.header("push-attempt")?.integerValue != Int64(message.attempts) {
            add("\(message.kind): wrong attempt count \(letter.properties.header("push-attempt") ?? .void)")
        }
        if let violation = try deadLetter.violation(ofHeaders: letter) { add("\(message.kind): \(violation)") }
    }

    /// Checks the schema and outcome of each result. Compares the number of results by reason, since the result of an
    /// unreadable message has no request ID.
    mutating func check(_ results: [IncomingMessage], of messages: [BadMessage]) throws {
        var wanted: [String: Int] = [:]
        for message in messages { wanted["\(message.deadClass) \(message.code)", default: 0] += 1 }
        for message in results {
            if let violation = try result.violation(ofBody: message) {
                add("a result violates its schema: \(violation)")
            }
            let json = try message.json.root
            if json["outcome"]?.string != "invalid" {
                add("a result has the outcome \(json["outcome"]?.string ?? "-")")
            }
            let error = json["error"]
            wanted["\(error?["class"]?.string ?? "-") \(error?["code"]?.string ?? "-")", default: 0] -= 1
        }
        for (reason, count) in wanted.sorted(by: { $0.key < $1.key }) where count != 0 {
            add("results of \(reason): \(count) too \(count > 0 ? "few" : "many")")
        }
    }
}

extension IncomingMessage {
    /// The index of the invalid message that became this dead letter; nil if the original routing key has no index.
    fileprivate var number: Int? {
        let key = exchange == "bad.dlx" ? routingKey : header("push-origin-routing-key")
        return Int(key.dropFirst("bad.".count))
    }
}

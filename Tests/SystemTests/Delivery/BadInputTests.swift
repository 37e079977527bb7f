import AMQP
import JSON
import TestKit
import Testing

extension SystemTests {
    /// Whatever a producer sends, it ends as a dead letter that says why, with the bytes that came; and the worker lives.
    @Suite struct BadInput {
        private static let seed: UInt64 = 3
        private static let count = LongForm.pick(10_000, short: 800)

        @Test func everyBadMessageEndsAsADeadLetterThatSaysWhy() async throws {
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

            var complaints = Complaints()
            var seen: Set<Int> = []
            for letter in letters {
                guard let number = letter.number, messages.indices.contains(number) else {
                    complaints.add("a letter from \(letter.routingKey)")
                    continue
                }
                seen.insert(number)
                try complaints.check(letter, of: messages[number])
            }
            #expect(seen.count == messages.count)
            #expect(letters.count == messages.count)
            try complaints.check(results, of: messages)
            #expect(complaints.few == [])

            // The same process goes on.
            #expect(worker.isRunning)
            let good = Sample(messages.count)
            try await fixture.publish([good])
            let last = try await fixture.testClient.collected(fixture.queue("results"), atLeast: messages.count + 1)
            #expect(try last[messages.count].json.root["id"]?.string == good.id)
            #expect(try last[messages.count].json.root["outcome"]?.string == "accepted")
            let counters = try await worker.stop()
            #expect(counters.root["message.invalid"]?.int == messages.count)
            #expect(counters.root["message.accepted"]?.int == 1)
            #expect(try await fixture.testClient.takeAll(from: fixture.queue("requests")).isEmpty)
            #expect(try await fixture.end().count == 1)
        }

        /// The broker adds a header when it delivers again, and so sends a longer frame than was agreed.
        @Test func headersThatFillAFrameMayComeAgain() async throws {
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
            await fixture.testClient.touch(fixture.queue("requests"))

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

/// What is wrong with letters and results; it quotes no message.
private struct Complaints {
    private var all: Set<String> = []
    private let deadLetter: Contract
    private let result: Contract

    init() {
        do {
            deadLetter = try Contract.deadLetter()
            result = try Contract.result()
        } catch {
            preconditionFailure("the schemas of results and dead letters: \(error)")
        }
    }

    var few: [String] { Array(all.sorted().prefix(20)) }

    mutating func add(_ text: String) { all.insert(text) }

    mutating func check(_ letter: IncomingMessage, of message: BadMessage) throws {
        if letter.body != message.body { add("\(message.kind): the body is another") }
        guard !message.isOversized else {
            guard case .array(let deaths)? = letter.properties.header("x-death"),
                case .table(let death)? = deaths.first,
                death["reason"] == "rejected", letter.exchange == "bad.dlx"
            else { return add("\(message.kind): not the broker's own dead letter") }
            return
        }
        let (deadClass, code) = (letter.header("push-reason-class"), letter.header("push-reason-code"))
        if (deadClass, code) != (message.deadClass, message.code) {
            add("\(message.kind): \(deadClass) \(code), not \(message.deadClass) \(message.code)")
        }
        if !letter.routingKey.hasPrefix("dead.\(message.deadClass).\(message.code).") {
            add("\(message.kind): the key \(letter.routingKey)")
        }
        if letter.properties.header("push-attempt")?.integerValue != Int64(message.attempts) {
            add("\(message.kind): \(letter.properties.header("push-attempt") ?? .void) attempts")
        }
        if let violation = try deadLetter.violation(ofHeaders: letter) { add("\(message.kind): \(violation)") }
    }

    /// Results do not name the message when it could not be read: they must add up.
    mutating func check(_ results: [IncomingMessage], of messages: [BadMessage]) throws {
        var wanted: [String: Int] = [:]
        for message in messages { wanted["\(message.deadClass) \(message.code)", default: 0] += 1 }
        for message in results {
            if let violation = try result.violation(ofBody: message) { add("a result: \(violation)") }
            let json = try message.json.root
            if json["outcome"]?.string != "invalid" { add("a result: \(json["outcome"]?.string ?? "-")") }
            let error = json["error"]
            wanted["\(error?["class"]?.string ?? "-") \(error?["code"]?.string ?? "-")", default: 0] -= 1
        }
        for (reason, count) in wanted.sorted(by: { $0.key < $1.key }) where count != 0 {
            add("results of \(reason): \(count) too \(count > 0 ? "few" : "many")")
        }
    }
}

extension IncomingMessage {
    /// Which of the bad messages it is of, by the routing key that that was published with.
    fileprivate var number: Int? {
        let key = exchange == "bad.dlx" ? routingKey : header("push-origin-routing-key")
        return Int(key.dropFirst("bad.".count))
    }
}

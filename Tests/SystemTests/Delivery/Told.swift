import AMQP
import JSON
import TestKit
import Testing

/// What a result says of how a request ended.
struct Told {
    let outcome: String
    let attempts: Int
    let isDuplicate: Bool
    let isPossibleDuplicate: Bool
    /// `class.code`; "-" where nobody has to act.
    let error: String

    init(_ result: JSONValue) {
        outcome = result["outcome"]?.string ?? "-"
        attempts = result["attempts"]?.int ?? -1
        isDuplicate = result["duplicate"]?.bool ?? false
        isPossibleDuplicate = result["possible_duplicate"]?.bool ?? false
        error = result["error"].map { "\($0["class"]?.string ?? "-").\($0["code"]?.string ?? "-")" } ?? "-"
    }
}

/// What was told, by the ids of requests.
struct Results {
    private(set) var byID: [String: [Told]] = [:]
    private var bodies: Set<[UInt8]> = []
    private var read: [String: Int] = [:]
    /// Messages read from all queues.
    var readCount: Int { read.values.reduce(0, +) }

    /// - Parameter messages: all that came out of a queue, those before included.
    mutating func read(_ messages: [IncomingMessage], from queue: String) throws {
        for message in messages[read[queue, default: 0]...]
        where message.properties.messageID != SystemFixture.resultsMarker {
            let result = try message.json.root
            let told = Told(result)
            // Published again because its confirm was lost, or delivered to the test again.
            let isKnown = !bodies.insert(message.body).inserted
            if isKnown && (message.isRedelivered || !told.isDuplicate) { continue }
            // Where the body was not looked at, the id is that of the message.
            let id = result["id"]?.string ?? message.properties.messageID ?? "-"
            byID[id, default: []].append(told)
        }
        read[queue] = messages.count
    }

    subscript(sample: Sample) -> [Told] { byID[sample.id] ?? [] }

    /// Those of the samples for which something does not hold of what was told of them.
    func odd(_ samples: [Sample], _ isRight: ([Told]) -> Bool) -> [Sample] { samples.filter { !isRight(self[$0]) } }

    /// Checks that each was told once, `accepted` at its first try.
    func expectAcceptedAtOnce(_ samples: [Sample], _ sourceLocation: SourceLocation = #_sourceLocation) {
        let odd = odd(samples) { told in
            told.count == 1 && told[0].outcome == "accepted" && told[0].attempts == 1 && !told[0].isDuplicate
        }
        #expect(odd.isEmpty, "\(odd.count): \(odd.prefix(3).map { ($0, self[$0]) })", sourceLocation: sourceLocation)
    }
}

extension SystemFixture {
    /// Waits until each sample is told, which must be collected; all that was told.
    ///
    /// - Parameters:
    ///   - lostMax: so many of them may have been taken away from the test.
    ///   - queues: last words of their names.
    func told(
        of samples: [Sample], lostMax: Int = 0, in queues: [String] = ["results"],
        within deadline: Duration = .seconds(90)
    ) async throws -> Results {
        var missing = Set(samples.map(\.id))
        let clock = ContinuousClock()
        let end = clock.now + deadline
        var results = Results()
        while true {
            for queue in queues { try results.read(await testClient.collected(self.queue(queue)), from: queue) }
            missing = missing.filter { results.byID[$0] == nil }
            if missing.count <= lostMax { return results }
            let left = clock.now.duration(to: end)
            guard left > .zero else {
                throw ProcessError("\(missing.count) of \(samples.count) are not told, such as \(missing.first ?? "")")
            }
            // Each result reports one request.
            _ = try await testClient.hasCollected(
                results.readCount + missing.count - lostMax, from: queues.map { self.queue($0) }, within: left)
        }
    }

    /// Waits until workers have taken every request, those in quarantine included.
    func untilTaken() async throws {
        try await poll(until: "empty request queues") {
            for queue in ["requests", "quarantine"] where try await testClient.count(in: self.queue(queue)) > 0 {
                return false
            }
            return true
        }
    }

    /// The message ID of a message that is no result.
    fileprivate static let resultsMarker = "marker"

    /// Returns every result. Call it once all workers have ended: a request with a result may be pushed again until then.
    ///
    /// - Parameter queues: last words of their names. Each is collected.
    func allResults(in queues: [String] = ["results"]) async throws -> Results {
        var results = Results()
        for queue in queues {
            // A queue keeps the order: what comes before this message is complete.
            let marker = OutgoingMessage(
                exchange: "", routingKey: self.queue(queue), body: [], messageID: Self.resultsMarker)
            try await testClient.publish([marker])
            var messages: [IncomingMessage] = []
            repeat {
                messages = try await testClient.collected(self.queue(queue), atLeast: messages.count + 1)
            } while messages.last?.properties.messageID != marker.messageID
            try results.read(messages, from: queue)
        }
        return results
    }
}

import AMQP
import JSON
import TestKit
import Testing

/// The fields of a result message that tests compare.
struct ReportedResult {
    let outcome: String
    let attempts: Int
    let isDuplicate: Bool
    let isPossibleDuplicate: Bool
    /// The error as `class.code`; "-" if the result has no error.
    let error: String

    init(_ result: JSONValue) {
        outcome = result["outcome"]?.string ?? "-"
        attempts = result["attempts"]?.int ?? -1
        isDuplicate = result["duplicate"]?.bool ?? false
        isPossibleDuplicate = result["possible_duplicate"]?.bool ?? false
        error = result["error"].map { "\($0["class"]?.string ?? "-").\($0["code"]?.string ?? "-")" } ?? "-"
    }
}

/// The results that workers have published, by request ID.
struct Results {
    private(set) var byID: [String: [ReportedResult]] = [:]
    private var bodies: Set<[UInt8]> = []
    private var read: [String: Int] = [:]
    /// The number of messages read from all queues.
    var readCount: Int { read.values.reduce(0, +) }

    /// Adds the results that were collected from a queue since the previous call. Skips redelivered results. Also skips
    /// results that were published again, unless they report a duplicate.
    ///
    /// - Parameter messages: All messages collected from the queue so far.
    mutating func read(_ messages: [IncomingMessage], from queue: String) throws {
        for message in messages[read[queue, default: 0]...]
        where message.properties.messageID != SystemFixture.resultsMarker {
            let result = try message.json.root
            let reported = ReportedResult(result)
            // A result with a known body was published again after a lost confirm, was redelivered to the test, or
            // reports another duplicate.
            let isKnown = !bodies.insert(message.body).inserted
            if isKnown && (message.isRedelivered || !reported.isDuplicate) { continue }
            // If the worker could not read the body, the ID is the message ID.
            let id = result["id"]?.string ?? message.properties.messageID ?? "-"
            byID[id, default: []].append(reported)
        }
        read[queue] = messages.count
    }

    subscript(sample: Sample) -> [ReportedResult] { byID[sample.id] ?? [] }

    /// Returns the samples whose results do not satisfy a condition.
    func unexpected(_ samples: [Sample], _ isExpected: ([ReportedResult]) -> Bool) -> [Sample] {
        samples.filter { !isExpected(self[$0]) }
    }

    /// Checks that each sample has one result: `accepted` on the first attempt.
    func expectAcceptedOnFirstAttempt(_ samples: [Sample], _ sourceLocation: SourceLocation = #_sourceLocation) {
        let unexpected = unexpected(samples) { reported in
            reported.count == 1 && reported[0].outcome == "accepted" && reported[0].attempts == 1
                && !reported[0].isDuplicate
        }
        #expect(
            unexpected.isEmpty, "\(unexpected.count): \(unexpected.prefix(3).map { ($0, self[$0]) })",
            sourceLocation: sourceLocation)
    }
}

extension SystemFixture {
    /// Waits until each sample has a result, except at most `lostMax` samples. Returns the results that have arrived.
    ///
    /// The test client must already collect from the result queues.
    ///
    /// - Parameters:
    ///   - lostMax: The number of samples whose results the test may have deleted.
    ///   - queues: The result queues' names without the prefix.
    func results(
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
                throw ProcessError(
                    "\(missing.count) of \(samples.count) requests have no result, such as \(missing.first ?? "")")
            }
            // Each result reports one request, so at least as many results must arrive as are missing.
            _ = try await testClient.hasCollected(
                results.readCount + missing.count - lostMax, from: queues.map { self.queue($0) }, within: left)
        }
    }

    /// Waits until the request queue and the quarantine queue have no ready messages.
    func waitForEmptyRequestQueues() async throws {
        try await poll(until: "empty request queues") {
            for queue in ["requests", "quarantine"] where try await testClient.count(in: self.queue(queue)) > 0 {
                return false
            }
            return true
        }
    }

    /// The message ID of the marker, which is not a result.
    static let resultsMarker = "marker"

    /// Returns every result.
    ///
    /// Call this function after all workers have exited. Until then, a request with a result may be pushed again.
    ///
    /// - Parameter queues: The result queues' names without the prefix. The test client must collect from each.
    func allResults(in queues: [String] = ["results"]) async throws -> Results {
        var results = Results()
        for queue in queues { try results.read(await allMessages(in: queue), from: queue) }
        return results
    }

    /// Returns every message of a queue, and a marker as the last message. The test client must collect from the queue.
    ///
    /// - Parameter queue: The name of the queue without the prefix.
    func allMessages(in queue: String) async throws -> [IncomingMessage] {
        // A queue keeps the order, so every message precedes the marker.
        let marker = OutgoingMessage(
            exchange: "", routingKey: self.queue(queue), body: [], messageID: Self.resultsMarker)
        try await testClient.publish([marker])
        var messages: [IncomingMessage] = []
        repeat {
            messages = try await testClient.collected(self.queue(queue), atLeast: messages.count + 1)
        } while messages.last?.properties.messageID != marker.messageID
        return messages
    }
}

import AMQP
import EventLoop
import Glibc
import JSON
import TestKit
import Testing

extension BrokerFaultTests {
    /// A redrive that is interrupted at a random moment, and is then run again to completion.
    @Suite struct DeadLetterInterruption {
        private static let rounds = LongForm.pick(100, short: 6)
        /// The period of broker restarts, in rounds.
        private static let roundsOfARestart = LongForm.pick(10, short: 4)
        private static let letters = 150
        private static let ratePerSecond = 500
        private static let momentMillisecondsMax = 200
        /// The period of refusals by APNs, in rounds. A refused push becomes a dead letter again.
        private static let roundsOfARefusal = 3

        @Test func nothingIsLostAndNothingIsPushedTwice() async throws {
            let broker = try await DisruptableBroker.shared
            let fixture = try await SystemFixture("brokenoff", broker: broker.url)
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            let worker = try await fixture.worker()
            var random = SeededRandom(seed: 11)
            var ends: [String] = []
            /// The number of interrupted rounds in which some dead letters had been redriven and others had
            /// not.
            var midway = 0
            var (samples, refused): ([Sample], [Sample]) = ([], [])
            for round in 0..<Self.rounds {
                let batch = Sample.make(Self.letters, from: round * Self.letters)
                let isRefused = round % Self.roundsOfARefusal == Self.roundsOfARefusal - 1
                if isRefused {
                    refused += batch
                    try await fixture.apns.request(
                        "POST", "/v1/faults",
                        #"{"id":"refuse","match":{},"action":{"answer":{"status":400,"reason":"BadDeviceToken"}}}"#)
                } else {
                    samples += batch
                }
                try await fixture.testClient.publish(batch.map { $0.deadLetter(in: fixture.prefix) })
                let redrive = try await fixture.deadLetters(
                    ["redrive", "--all", "--rate", "\(Self.ratePerSecond)/s", "--json"])
                // In most rounds, the interrupt follows the first redriven dead letter. In the other rounds, the
                // interrupt may precede the first delivery.
                let hasBegun = round % 3 != 1
                if hasBegun { _ = try await redrive.output.line { $0.contains("redriven") } }
                await fixture.testClient.sleep(for: .milliseconds(random.below(Self.momentMillisecondsMax)))
                let isRestart = round % Self.roundsOfARestart == Self.roundsOfARestart - 1
                if isRestart {
                    try await broker.restart()
                } else {
                    redrive.send(signal: round % 2 == 0 ? SIGINT : SIGKILL)
                }
                let exit = try await redrive.exit()
                ends.append("\(isRestart ? "restart " : "")\(exit.status)")
                if exit.status == .exited(130) {
                    // An interrupt that precedes the first delivery ends the command without a summary.
                    let summary = await redrive.output.allLines().last
                    #expect(!hasBegun || summary != nil)
                    if let summary { #expect(try JSONDocument(summary).root["left"]?.int == 0) }
                }
                let redriven = isRefused ? try await refuse(batch, fixture) : try await finish(fixture)
                if 1..<Self.letters ~= redriven { midway += 1 }
                _ = try await fixture.results(of: batch)
            }
            print("interrupted redrives: \(ends), midway \(midway)")
            #expect(midway >= Self.rounds / 3)
            let results = try await fixture.results(of: samples)
            let unexpected = samples.filter { sample in results[sample].contains { $0.outcome != "accepted" } }
            #expect(unexpected.map(\.id) == [])
            #expect(results.unexpected(refused) { $0.map(\.outcome) == ["rejected", "accepted"] }.map(\.id) == [])
            _ = try await worker.stop()
            try await fixture.expectNothingLeft()
            let pushes = try Pushes(await fixture.end())
            #expect(pushes.notAcceptedOnce(samples) == [])
            #expect(samples.filter { pushes[$0].count != 1 }.map(\.id) == [])
            #expect(refused.filter { pushes[$0].map(\.status) != [400, 200] }.map(\.id) == [])
        }

        /// Finishes a redrive whose pushes are refused, and then one whose pushes are accepted.
        ///
        /// - Returns: The number of dead letters that were redriven while pushes were refused.
        private func refuse(_ batch: [Sample], _ fixture: SystemFixture) async throws -> Int {
            var redriven = 0
            repeat {
                redriven += try await redrive(fixture, "--where", "failed_at == \(Sample.failedAt)")
            } while (try? await fixture.results(of: batch, within: .seconds(1))) == nil
            try await fixture.apns.request("DELETE", "/v1/faults/refuse")
            _ = try await finish(fixture)
            while try await fixture.results(of: batch).unexpected(batch, { $0.count > 1 }).count > 0 {
                await fixture.testClient.sleep(for: .milliseconds(100))
            }
            return redriven
        }

        /// Repeats the redrive until the dead-letter queue is empty.
        ///
        /// The broker requeues the deliveries of a killed command once it notices that the connection is closed.
        ///
        /// - Returns: The number of redriven dead letters.
        private func finish(_ fixture: SystemFixture) async throws -> Int {
            var redriven = 0
            repeat {
                redriven += try await redrive(fixture)
            } while await !fixture.testClient.isEmpty(fixture.queue("dead"))
            return redriven
        }

        private func redrive(_ fixture: SystemFixture, _ words: String...) async throws -> Int {
            let child = try await fixture.deadLetters(
                ["redrive", "--yes", "--delivery-limit", "none", "--json"] + words)
            let exit = try await child.exit()
            let (lines, errors) = (await child.output.allLines(), await child.errors.allLines())
            try #require(exit.status == .exited(0), "\(errors)")
            return try JSONDocument(#require(lines.last)).root["redriven"]?.int ?? 0
        }
    }
}

extension TestBrokerClient {
    /// Returns whether a queue has no ready messages and no consumers. Returns false while the broker is unreachable.
    fileprivate func isEmpty(_ queue: String) async -> Bool {
        guard let status = try? await brokerAdmin.status(ofQueue: queue) else { return false }
        return status.messages == 0 && status.consumers == 0
    }
}

extension Sample {
    /// The time of the failure in UNIX milliseconds.
    fileprivate static let failedAt: Int64 = 1_750_000_000_000

    /// Returns the dead letter that a worker would have published.
    fileprivate func deadLetter(in prefix: String) -> OutgoingMessage {
        var message = OutgoingMessage(
            exchange: "\(prefix).dead", routingKey: "dead.apns.BadDeviceToken.\(app)", body: body, messageID: id,
            headers: [
                "push-outcome": "rejected", "push-reason-class": "apns", "push-reason-code": "BadDeviceToken",
                "push-reason": "x", "push-apns-status": 400, "push-apns-id": .string(id), "push-attempt": 1,
                "push-possible-duplicate": false, "push-failed-at": .integer(Self.failedAt),
                "push-origin-queue": .string("\(prefix).requests"),
            ])
        message.carriesUserID = true
        return message
    }
}

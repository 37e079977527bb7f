import JSON
import TestKit
import Testing

extension SystemTests {
    /// `martlet publish --wait`, which publishes requests and waits for their results.
    @Suite struct Publishing {
        @Test func waitReportsResultsAndSetsTheExitStatus() async throws {
            let fixture = try await SystemFixture("publish-wait")
            try await fixture.applyTopology()
            let samples = Sample.make(3)
            try await fixture.apns.request(
                "PUT", "/v1/devices/\(samples[1].device)", #"{"app":"com.example.app","state":"bad"}"#)
            func publish(_ options: String..., bodies: [[UInt8]]) async throws -> (
                exit: ChildExit, output: [String], errors: [String]
            ) {
                let files = try bodies.enumerated().map { index, body in
                    try fixture.directory.write("\(index).json", String(decoding: body, as: UTF8.self))
                }
                return try await ChildProcess.run(
                    [Products.executable("martlet"), "publish", "--config", fixture.configuration, "--wait"] + options
                        + files)
            }

            let unheard = try await publish("--timeout", "1", bodies: [samples[0].body])
            #expect(unheard.exit.status == .exited(4))
            #expect(unheard.errors.withoutBrokerNotices == ["martlet: no result for \(samples[0].id) within 1 s"])

            let worker = try await fixture.worker()
            let bodies = [samples[0].body, samples[1].body, Array("not JSON".utf8)]
            let first = try await publish("--json", bodies: bodies)
            #expect(first.exit.status == .exited(1))
            let events = try first.output.map { try JSONDocument($0).root }
            let results = events.filter { $0["kind"]?.string == "result" }
            #expect(events.count == 6 && results.count == 3)
            #expect(
                Set(results.map { "\($0["outcome"]?.string ?? "-") \($0["reason"]?.string ?? "-")" })
                    == ["accepted -", "rejected BadDeviceToken", "invalid -"])

            let again = try await publish(bodies: [samples[0].body])
            #expect(again.exit.status == .exited(0))
            #expect(again.output.count == 3 && again.output[2].contains("duplicate"))
            let renewed = try await publish("--new-id", bodies: [samples[0].body, samples[2].body])
            #expect(renewed.exit.status == .exited(0))
            #expect(!renewed.output.joined().contains(samples[0].id) && !renewed.output.joined().contains("duplicate"))
            #expect(renewed.output.count { $0.contains("accepted") } == 2)
            // The command matches the result by the ID that the worker derives from the message ID. If the body has an
            // ID, the command uses this ID in lower case.
            let own = String(decoding: samples[0].body, as: UTF8.self)
            let withoutID = own.replacing("\"id\":\"\(samples[0].id)\",", with: "")
            let named = try await publish("--message-id", "order-7", bodies: [Array(withoutID.utf8)])
            #expect(named.exit.status == .exited(0), "\(named.errors)")
            let upperCase = own.replacing(samples[0].id, with: samples[0].id.uppercased())
            let lowered = try await publish("--message-id", "order-8", bodies: [Array(upperCase.utf8)])
            #expect(lowered.exit.status == .exited(0) && lowered.output.joined().contains("duplicate"))
            _ = try await worker.stop()
            #expect(try await fixture.end().count == 5)
        }
    }
}

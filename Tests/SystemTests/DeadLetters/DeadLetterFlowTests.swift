import JSON
import TestKit
import Testing

extension SystemTests {
    /// The steps of an operator after many failures, including the commands of the documentation.
    @Suite struct DeadLetterFlow {
        private static let failures = LongForm.pick(5000, short: 500)
        private static let ratePerSecond = 500

        /// Returns requests whose device tokens share a prefix, which a fault can match.
        private static func group(_ number: Int, percent: Int) -> [Sample] {
            Sample.make(failures * percent / 100, from: number << 16)
        }

        private static func devicePrefix(of number: Int) -> String {
            String(Sample(number << 16).device.dropLast(4))
        }

        @Test func theLargestGroupIsRedrivenAndTheRestExported() async throws {
            let fixture = try await SystemFixture("badday")
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            for (number, reason) in [(1, "BadDeviceToken"), (2, "BadCollapseId"), (3, "PayloadEmpty")] {
                try await fixture.apns.request(
                    "POST", "/v1/faults",
                    #"{"id":"g\#(number)","match":{"device_prefix":"\#(Self.devicePrefix(of: number))"},"#
                        + #""action":{"answer":{"status":400,"reason":"\#(reason)"}}}"#)
            }
            let (largest, second) = (Self.group(1, percent: 60), Self.group(2, percent: 25))
            var wrong = Self.group(4, percent: 5)
            for index in wrong.indices { wrong[index].environment = "elsewhere" }
            let all = largest + second + Self.group(3, percent: 10) + wrong
            let worker = try await fixture.worker()
            try await fixture.publish(all)
            try await fixture.testClient.collected(fixture.queue("results"), atLeast: all.count)

            let stats = try await fixture.deadLetters("stats")
            #expect(stats.exit.status == .exited(0), "\(stats.errors)")
            #expect(stats.lines.compactMap { $0["count"]?.int } == [60, 25, 10, 5].map { Self.failures * $0 / 100 })
            #expect(stats.lines[0]["class"]?.string == "apns")
            let code = try #require(stats.lines[0]["code"]?.string)
            #expect(code == "BadDeviceToken")
            let filter = #"class == "apns" && code == "\#(code)""#

            let sample = try await fixture.deadLetters("list", "--where", filter, "--limit", "3")
            let ids = sample.lines.compactMap { $0["id"]?.string }
            #expect(ids.count == 3 && Set(ids).isSubset(of: largest.map(\.id)))
            let shown = try await fixture.deadLetters("show", ids[0])
            #expect(shown.lines.first?["message"]?["headers"]?["push-reason-code"]?.string == code)

            let dry = try await fixture.deadLetters("redrive", "--where", filter, "--dry-run")
            #expect(dry.lines.last?["redriven"]?.int == largest.count)
            try await fixture.apns.request("DELETE", "/v1/faults/g1")

            var sent = 0
            for command in try #require(PageCommand.blocks(of: "DeadLetters", in: "Find out why requests failed").first)
            {
                let clock = ContinuousClock()
                let begin = clock.now
                let output = try await command.run(in: fixture.directory)
                let seconds = (clock.now - begin) / .seconds(1)
                #expect(command.matches(output), "\(command.text) printed \(output)")
                sent += output.last?.firstMatch(of: /^redriven (\d+)/).flatMap { Int($0.output.1) } ?? 0
                if command.text.contains("--rate 500/s") {
                    #expect(seconds >= Double(largest.count - 12) / Double(Self.ratePerSecond) - 0.1)
                }
                try await fixture.testClient.collected(fixture.queue("results"), atLeast: all.count + sent)
            }
            #expect(sent == largest.count)
            #expect(try Files.lines(of: fixture.directory.file("remain.ndjson")).count == all.count - largest.count)

            let results = try await fixture.results(of: all)
            #expect(results.unexpected(largest) { $0.map(\.outcome) == ["rejected", "accepted"] }.map(\.id) == [])
            #expect(results.unexpected(largest) { !$0.contains(where: \.isDuplicate) }.map(\.id) == [])
            #expect(results.unexpected(second) { $0.map(\.outcome) == ["rejected"] }.map(\.id) == [])
            _ = try await worker.stop()
            #expect(
                try await fixture.testClient.getAll(from: fixture.queue("dead")).count == all.count - largest.count)
            let pushes = try Pushes(await fixture.end())
            #expect(pushes.notAcceptedOnce(largest) == [])
        }
    }
}

import AMQP
import EventLoop
import JSON
import TestKit
import Testing

extension SystemTests {
    /// A worker that continues a producer's trace and exports its spans to a collector.
    @Suite struct Tracing {
        private static let traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
        private static let producer = "00f067aa0ba902b7"

        @Test func spansOfATraceThatIsKept() async throws {
            try await onEpollLoop { loop in
                let collector = try TraceCollector(on: loop)
                defer { collector.close() }
                var options = SystemFixture.Options()
                options.sections = [#"tracing: {endpoint: "\#(collector.url)"}"#]
                let fixture = try await SystemFixture("tracing", options)
                try await fixture.applyTopology()
                await fixture.testClient.collect(fixture.queue("results"))
                let worker = try await fixture.worker()

                let samples = Sample.make(3)
                let flags = ["01", "00", "01"]
                var messages = zip(samples, flags).map { sample, flags in
                    var message = sample.message(to: fixture.prefix)
                    message.headers.append("traceparent", .string("00-\(Self.traceID)-\(Self.producer)-\(flags)"))
                    return message
                }
                messages[2].body = Array("{}".utf8)
                try await fixture.testClient.publish(messages)
                try await fixture.testClient.collected(fixture.queue("results"), atLeast: 3)
                // A stopping worker exports its finished spans without waiting for the one-second interval.
                _ = try await worker.stop()

                let spans = try collector.documents().flatMap { $0.spans.map(ReceivedSpan.init) }
                let whole = ["validate", "wait for a stream", "APNs", "settle"]
                #expect(
                    spans.map(\.name).sorted()
                        == (["process tracing.requests", "process tracing.requests", "validate", "settle"] + whole)
                        .sorted())
                #expect(spans.allSatisfy { $0.traceID == Self.traceID })
                let processes = spans.filter { $0.parentID == Self.producer }
                #expect(processes.map(\.failure).sorted() == ["", "schema.required"])
                #expect(processes.allSatisfy { process in spans.contains { $0.parentID == process.id } })

                // The consumer of a result can continue the trace with the span of its request.
                let results = await fixture.testClient.collected(fixture.queue("results"))
                let parents = Set(results.map { $0.header("traceparent") })
                let unkept = "00-\(Self.traceID)-\(Self.producer)-00"
                #expect(parents == Set(processes.map { "00-\(Self.traceID)-\($0.id)-01" } + [unkept]))
                try await fixture.end()
            }
        }
    }
}

private struct ReceivedSpan {
    let name: String
    let traceID: String
    let id: String
    let parentID: String
    let failure: String

    init(_ span: JSONValue) {
        func text(_ name: String) -> String { span[key: name]?.string ?? "-" }
        (self.name, traceID, id, parentID) = (text("name"), text("traceId"), text("spanId"), text("parentSpanId"))
        failure = span["status"]?["message"]?.string ?? ""
    }
}

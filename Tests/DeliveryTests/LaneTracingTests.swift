import AMQP
import APNSProtocol
import APNSSimulator
import BrokerTopology
import EventLoop
import Telemetry
import TestKit
import Testing

@testable import Delivery

/// Spans of deliveries, on virtual time.
@Suite struct LaneTracingTests {
    static let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    private static func headers(_ traceParent: String) -> FieldTable {
        var headers = FieldTable()
        headers.append("traceparent", .string(traceParent))
        headers.append("tracestate", .string("vendor=1"))
        return headers
    }

    @Test func aSampledTraceHasASpanForEachStep() throws {
        let fixture = try LaneAPNSHarness(traces: true)
        fixture.harness.request(LaneAPNSHarness.message(0, app: 0), headers: Self.headers(Self.parent))
        try #require(fixture.harness.run { fixture.results == 1 })
        fixture.harness.pass(seconds: 2)
        let spans = fixture.harness.spans
        #expect(spans.map(\.name) == ["process push.requests", "validate", "wait for a stream", "APNs", "settle"])
        #expect(spans.allSatisfy { $0.context.traceID == "4bf92f3577b34da6a3ce929d0e0e4736" })
        #expect(Set(spans.map(\.context.spanID)).count == 5)
        let whole = try #require(spans.first)
        #expect(TraceContext.hex(whole.parentSpanID) == "00f067aa0ba902b7" && whole.kind == .consumer)
        #expect(spans.dropFirst().allSatisfy { $0.parentSpanID == whole.context.spanID })
        #expect(
            zip(spans.dropFirst(), spans.dropFirst(2)).allSatisfy { $0.endUnixNanoseconds <= $1.startUnixNanoseconds })
        #expect(spans[3].endUnixNanoseconds - spans[3].startUnixNanoseconds >= 100_000_000)
        for (key, value) in [
            ("martlet.outcome", "accepted"), ("messaging.destination.name", "push.requests"),
            ("messaging.operation.type", "process"),
        ] {
            #expect(whole.attributes.contains(Span.Attribute(key: key, value: .text(value))), "\(key)")
        }
        #expect(whole.attributes.contains(Span.Attribute(key: "martlet.attempts", value: .integer(1))))

        let result = try #require(fixture.harness.broker.queue(fixture.harness.names.resultsQueue)?.ready.first)
        #expect(result.properties.header("traceparent")?.stringValue == whole.context.traceParent)
        #expect(result.properties.header("tracestate")?.stringValue == "vendor=1")
    }

    /// The worker's span is the parent of spans by consumers of the dead letter.
    @Test func aDeadLetterContinuesTheTrace() throws {
        let fixture = try LaneAPNSHarness(traces: true)
        try fixture.harness.onLoop {
            try fixture.apns.faults.put(Fault(id: "bad", action: .answer(.refused(.badTopic))))
        }
        fixture.harness.request(LaneAPNSHarness.message(0, app: 0), headers: Self.headers(Self.parent))
        try #require(fixture.harness.run { fixture.harness.deadLetters.count == 1 })
        fixture.harness.pass(seconds: 2)
        let span = try #require(fixture.harness.spans.first)
        try Self.expect(#require(fixture.harness.deadLetters.first), below: span)
    }

    /// The span of the previous attempt is the parent of the next attempt's span.
    @Test func aWaitingRequestContinuesTheTrace() throws {
        let fixture = try LaneAPNSHarness(traces: true)
        let waiting = try Self.waiting(fixture) {
            fixture.harness.request(LaneAPNSHarness.message(0, app: 0), headers: Self.headers(Self.parent))
        }
        try #require(fixture.harness.run { fixture.results == 1 })
        fixture.harness.pass(seconds: 2)
        let tries = fixture.harness.spans.filter { $0.name == "process push.requests" }
        try #require(tries.count == 2)
        try Self.expect(waiting, below: tries[0])
        #expect(tries[1].parentSpanID == tries[0].context.spanID)
        let result = try #require(fixture.harness.broker.queue(fixture.harness.names.resultsQueue)?.ready.first)
        try Self.expect(result, below: tries[1])
    }

    /// Makes APNs refuse the next push, and calls `publish`. Returns the resulting message in a wait queue.
    static func waiting(_ fixture: LaneAPNSHarness, publish: () -> Void) throws -> ScriptedMessage {
        var waiting: [ScriptedMessage] = []
        try fixture.harness.onLoop {
            try fixture.apns.faults.put(
                Fault(id: "busy", action: .answer(.refused(.tooManyRequests)), countMax: 1))
            fixture.harness.broker.onAppend = { queue, message in
                if queue.name.hasPrefix("push.wait.") { waiting.append(message) }
            }
        }
        publish()
        try #require(fixture.harness.run { !waiting.isEmpty })
        return waiting[0]
    }

    /// Expects the trace of `parent`, `span` as the new parent, and an unchanged `tracestate`.
    static func expect(
        _ message: ScriptedMessage, below span: Span, _ sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let traceParent = try #require(
            message.properties.header("traceparent")?.stringValue, sourceLocation: sourceLocation)
        #expect(traceParent == span.context.traceParent && traceParent != parent, sourceLocation: sourceLocation)
        #expect(traceParent.hasPrefix(parent.prefix(36)), sourceLocation: sourceLocation)
        #expect(message.properties.header("tracestate") == "vendor=1", sourceLocation: sourceLocation)
    }

    @Test(arguments: [parent.dropLast() + "0", "00-nonsense", ""])
    func anUnsampledTraceHasNoSpans(traceParent: String) throws {
        let fixture = try LaneAPNSHarness(traces: true)
        fixture.harness.request(LaneAPNSHarness.message(0, app: 0), headers: Self.headers(traceParent))
        try #require(fixture.harness.run { fixture.results == 1 })
        fixture.harness.pass(seconds: 2)
        #expect(fixture.harness.spans.isEmpty)
        let result = try #require(fixture.harness.broker.queue(fixture.harness.names.resultsQueue)?.ready.first)
        #expect(result.properties.header("traceparent")?.stringValue == traceParent)
    }

    @Test func theLastSpansAreExportedOnceAtTheEnd() throws {
        let fixture = try LaneAPNSHarness(traces: true)
        fixture.harness.request(LaneAPNSHarness.message(0, app: 0), headers: Self.headers(Self.parent))
        try #require(fixture.harness.run { fixture.results == 1 })
        fixture.harness.drain(deadlineSeconds: 10)
        #expect(fixture.harness.run { fixture.harness.unfinished == 0 })
        #expect(fixture.harness.spans.count == 5)
        fixture.harness.pass(seconds: 2)
        #expect(fixture.harness.spansHandedOver == [5])
    }

    @Test func anInvalidRequestHasAFailedSpan() throws {
        let fixture = try LaneAPNSHarness(traces: true)
        fixture.harness.request("{}", headers: Self.headers(Self.parent))
        try #require(fixture.harness.run { fixture.results == 1 })
        fixture.harness.pass(seconds: 2)
        #expect(fixture.harness.spans.map(\.name) == ["process push.requests", "validate", "settle"])
        #expect(fixture.harness.spans.first?.failure == "schema.required")
    }

    @Test func noSpansAreMadeWithoutAnExporter() throws {
        let fixture = try LaneAPNSHarness()
        fixture.harness.request(LaneAPNSHarness.message(0, app: 0), headers: Self.headers(Self.parent))
        try #require(fixture.harness.run { fixture.results == 1 })
        let result = try #require(fixture.harness.broker.queue(fixture.harness.names.resultsQueue)?.ready.first)
        #expect(result.properties.header("traceparent")?.stringValue == Self.parent)
    }
}

import AMQP
import APNSProtocol
import APNSSimulator
import BrokerTopology
import EventLoop
import Telemetry
import TestKit
import Testing

@testable import Delivery

/// Spans of deliveries; on virtual time.
@Suite struct LaneTracingTests {
    static let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    private static func headers(_ traceParent: String) -> FieldTable {
        var headers = FieldTable()
        headers.append("traceparent", .string(traceParent))
        headers.append("tracestate", .string("vendor=1"))
        return headers
    }

    @Test func aKeptTraceHasASpanForEachStep() throws {
        let scene = try LaneAPNSHarness(traces: true)
        scene.harness.request(LaneAPNSHarness.message(0, app: 0), headers: Self.headers(Self.parent))
        try #require(scene.harness.run { scene.results == 1 })
        scene.harness.pass(seconds: 2)
        let spans = scene.harness.spans
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

        let result = try #require(scene.harness.broker.queue(scene.harness.names.resultsQueue)?.ready.first)
        #expect(result.properties.header("traceparent")?.stringValue == whole.context.traceParent)
        #expect(result.properties.header("tracestate")?.stringValue == "vendor=1")
    }

    /// Whoever takes it goes on below the worker's own span.
    @Test func aDeadLetterGoesOnWithTheTrace() throws {
        let scene = try LaneAPNSHarness(traces: true)
        try scene.harness.onLoop {
            try scene.apns.faults.put(Fault(id: "bad", action: .answer(.refused(.badTopic))))
        }
        scene.harness.request(LaneAPNSHarness.message(0, app: 0), headers: Self.headers(Self.parent))
        try #require(scene.harness.run { scene.harness.deadLetters.count == 1 })
        scene.harness.pass(seconds: 2)
        let span = try #require(scene.harness.spans.first)
        try Self.expect(#require(scene.harness.deadLetters.first), below: span)
    }

    /// The next try is below the one before.
    @Test func whatWaitsGoesOnWithTheTrace() throws {
        let scene = try LaneAPNSHarness(traces: true)
        let waiting = try Self.waiting(scene) {
            scene.harness.request(LaneAPNSHarness.message(0, app: 0), headers: Self.headers(Self.parent))
        }
        try #require(scene.harness.run { scene.results == 1 })
        scene.harness.pass(seconds: 2)
        let tries = scene.harness.spans.filter { $0.name == "process push.requests" }
        try #require(tries.count == 2)
        try Self.expect(waiting, below: tries[0])
        #expect(tries[1].parentSpanID == tries[0].context.spanID)
        let result = try #require(scene.harness.broker.queue(scene.harness.names.resultsQueue)?.ready.first)
        try Self.expect(result, below: tries[1])
    }

    /// What comes into a wait queue of something that APNs refuses once.
    static func waiting(_ scene: LaneAPNSHarness, publish: () -> Void) throws -> ScriptedMessage {
        var waiting: [ScriptedMessage] = []
        try scene.harness.onLoop {
            try scene.apns.faults.put(
                Fault(id: "busy", action: .answer(.refused(.tooManyRequests)), countMax: 1))
            scene.harness.broker.onAppend = { queue, message in
                if queue.name.hasPrefix("push.wait.") { waiting.append(message) }
            }
        }
        publish()
        try #require(scene.harness.run { !waiting.isEmpty })
        return waiting[0]
    }

    /// The same trace, another parent, and the vendor's own words.
    static func expect(
        _ message: ScriptedMessage, below span: Span, _ sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let told = try #require(message.properties.header("traceparent")?.stringValue, sourceLocation: sourceLocation)
        #expect(told == span.context.traceParent && told != parent, sourceLocation: sourceLocation)
        #expect(told.hasPrefix(parent.prefix(36)), sourceLocation: sourceLocation)
        #expect(message.properties.header("tracestate") == "vendor=1", sourceLocation: sourceLocation)
    }

    @Test(arguments: [parent.dropLast() + "0", "00-nonsense", ""])
    func whatIsNotKeptHasNone(traceParent: String) throws {
        let scene = try LaneAPNSHarness(traces: true)
        scene.harness.request(LaneAPNSHarness.message(0, app: 0), headers: Self.headers(traceParent))
        try #require(scene.harness.run { scene.results == 1 })
        scene.harness.pass(seconds: 2)
        #expect(scene.harness.spans.isEmpty)
        let result = try #require(scene.harness.broker.queue(scene.harness.names.resultsQueue)?.ready.first)
        #expect(result.properties.header("traceparent")?.stringValue == traceParent)
    }

    @Test func theLastAreHandedOverOnceAtTheEnd() throws {
        let scene = try LaneAPNSHarness(traces: true)
        scene.harness.request(LaneAPNSHarness.message(0, app: 0), headers: Self.headers(Self.parent))
        try #require(scene.harness.run { scene.results == 1 })
        scene.harness.drain(deadlineSeconds: 10)
        #expect(scene.harness.run { scene.harness.unfinished == 0 })
        #expect(scene.harness.spans.count == 5)
        scene.harness.pass(seconds: 2)
        #expect(scene.harness.spansHandedOver == [5])
    }

    @Test func aMessageThatIsInvalidIsSaidToHaveFailed() throws {
        let scene = try LaneAPNSHarness(traces: true)
        scene.harness.request("{}", headers: Self.headers(Self.parent))
        try #require(scene.harness.run { scene.results == 1 })
        scene.harness.pass(seconds: 2)
        #expect(scene.harness.spans.map(\.name) == ["process push.requests", "validate", "settle"])
        #expect(scene.harness.spans.first?.failure == "schema.required")
    }

    @Test func nothingIsMadeWhereNobodyWantsIt() throws {
        let scene = try LaneAPNSHarness()
        scene.harness.request(LaneAPNSHarness.message(0, app: 0), headers: Self.headers(Self.parent))
        try #require(scene.harness.run { scene.results == 1 })
        let result = try #require(scene.harness.broker.queue(scene.harness.names.resultsQueue)?.ready.first)
        #expect(result.properties.header("traceparent")?.stringValue == Self.parent)
    }
}

import AMQP
import EventLoop
import Telemetry
import TestKit
import Testing

@testable import Delivery

/// Spans of deliveries; on virtual time.
@Suite struct LaneTracingTests {
    private static let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    private static func headers(_ traceParent: String) -> FieldTable {
        var headers = FieldTable()
        headers.append("traceparent", .string(traceParent))
        headers.append("tracestate", .string("vendor=1"))
        return headers
    }

    @Test func aKeptTraceHasASpanForEachStep() throws {
        let scene = try LaneScene(traces: true)
        scene.rig.request(LaneScene.message(0, app: 0), headers: Self.headers(Self.parent))
        try #require(scene.rig.run { scene.results == 1 })
        scene.rig.pass(seconds: 2)
        let spans = scene.rig.spans
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

        let result = try #require(scene.rig.broker.queue(scene.rig.names.resultsQueue)?.ready.first)
        #expect(result.properties.header("traceparent")?.stringValue == whole.context.traceParent)
        #expect(result.properties.header("tracestate")?.stringValue == "vendor=1")
    }

    @Test(arguments: [parent.dropLast() + "0", "00-nonsense", ""])
    func whatIsNotKeptHasNone(traceParent: String) throws {
        let scene = try LaneScene(traces: true)
        scene.rig.request(LaneScene.message(0, app: 0), headers: Self.headers(traceParent))
        try #require(scene.rig.run { scene.results == 1 })
        scene.rig.pass(seconds: 2)
        #expect(scene.rig.spans.isEmpty)
        let result = try #require(scene.rig.broker.queue(scene.rig.names.resultsQueue)?.ready.first)
        #expect(result.properties.header("traceparent")?.stringValue == traceParent)
    }

    @Test func theLastAreHandedOverOnceAtTheEnd() throws {
        let scene = try LaneScene(traces: true)
        scene.rig.request(LaneScene.message(0, app: 0), headers: Self.headers(Self.parent))
        try #require(scene.rig.run { scene.results == 1 })
        scene.rig.drain(deadlineSeconds: 10)
        #expect(scene.rig.run { scene.rig.unfinished == 0 })
        #expect(scene.rig.spans.count == 5)
        scene.rig.pass(seconds: 2)
        #expect(scene.rig.spansHandedOver == [5])
    }

    @Test func aMessageThatIsInvalidIsSaidToHaveFailed() throws {
        let scene = try LaneScene(traces: true)
        scene.rig.request("{}", headers: Self.headers(Self.parent))
        try #require(scene.rig.run { scene.results == 1 })
        scene.rig.pass(seconds: 2)
        #expect(scene.rig.spans.map(\.name) == ["process push.requests", "validate", "settle"])
        #expect(scene.rig.spans.first?.failure == "schema.required")
    }

    @Test func nothingIsMadeWhereNobodyWantsIt() throws {
        let scene = try LaneScene()
        scene.rig.request(LaneScene.message(0, app: 0), headers: Self.headers(Self.parent))
        try #require(scene.rig.run { scene.results == 1 })
        let result = try #require(scene.rig.broker.queue(scene.rig.names.resultsQueue)?.ready.first)
        #expect(result.properties.header("traceparent")?.stringValue == Self.parent)
    }
}

import Telemetry
import Testing

@Suite struct TraceContextTests {
    private static let known = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    @Test func parsedTraceParentIsRendered() throws {
        let context = try #require(TraceContext(traceParent: Self.known))
        #expect(context.isSampled && context.traceID == "4bf92f3577b34da6a3ce929d0e0e4736")
        #expect(TraceContext.hex(context.spanID) == "00f067aa0ba902b7" && context.traceParent == Self.known)
    }

    /// W3C Trace Context, sections 3.2.2 and 4.1.
    @Test(arguments: [
        "", "00", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7", known + "-", known + "0",
        "ff" + known.dropFirst(2),
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        known.uppercased(), "00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01", "00_4bf9" + known.dropFirst(7),
        "ü" + known,
    ])
    func invalidTraceParentIsRejected(text: String) {
        #expect(TraceContext(traceParent: text) == nil)
    }

    @Test func laterVersionIsReadAsVersion00() {
        #expect(
            TraceContext(traceParent: "cc" + Self.known.dropFirst(2) + "-what-the-future-brings")?.isSampled == true)
        #expect(TraceContext(traceParent: "cc" + Self.known.dropFirst(2) + "x") == nil)
    }

    @Test func onlyTheSampledFlagCounts() {
        #expect(TraceContext(traceParent: Self.known.dropLast(2) + "02")?.isSampled == false)
        #expect(TraceContext(traceParent: Self.known.dropLast(2) + "03")?.isSampled == true)
    }

    @Test func closedQueueReturnsQueuedSpansFirst() async {
        let queue = SpanQueue()
        let context = TraceContext(traceIDHigh: 1, traceIDLow: 2, spanID: 3, isSampled: true)
        var buffer = SpanBuffer()
        buffer.add([Span("s", .internal, in: context, below: 1, from: 1, to: 2)])
        queue.add(buffer)
        #expect(!queue.close(withinMilliseconds: 1))
        #expect(queue.take()?.count == 1 && queue.take() == nil)
        #expect(queue.close(withinMilliseconds: 1))
    }

    @Test func queueCountsAllDroppedSpans() {
        let queue = SpanQueue()
        var buffer = SpanBuffer()
        let context = TraceContext(traceIDHigh: 1, traceIDLow: 2, spanID: 3, isSampled: true)
        let span = Span("s", .internal, in: context, below: 1, from: 1, to: 2)
        buffer.add(Array(repeating: span, count: SpanBuffer.spansMax + 1))
        queue.add(buffer)
        #expect(queue.droppedCount == 1)
        buffer = SpanBuffer()
        buffer.add([span, span])
        queue.add(buffer)
        #expect(queue.droppedCount == 3)
        #expect(queue.take()?.count == SpanBuffer.spansMax)
        queue.countDropped(4)
        #expect(queue.droppedCount == 7)
    }

    @Test func bufferIsBounded() {
        var buffer = SpanBuffer()
        let context = TraceContext(traceIDHigh: 1, traceIDLow: 2, spanID: 3, isSampled: true)
        let span = Span("s", .internal, in: context, below: 1, from: 5, to: 4)
        #expect(span.endUnixNanoseconds == 5)
        for _ in 0..<SpanBuffer.spansMax { buffer.add([span]) }
        buffer.add([span, span])
        #expect(buffer.spans.count == SpanBuffer.spansMax && buffer.dropped == 2)
        #expect(buffer.take().spans.count == SpanBuffer.spansMax && buffer.take().spans.isEmpty)
    }
}

import AdminHTTP
import EventLoop
import HTTPClient
import JSON
import Telemetry
import TestKit
import Testing

@testable import Configuration
@testable import Worker

/// Export of spans to a collector. If the collector is unreachable or slow, or refuses spans, only spans are lost.
@Suite struct SpanExporterTests {
    @Test func completedSpansArePosted() async throws {
        try await Harness.run { harness in
            harness.export(2)
            try await harness.loop.wait { harness.collector.requests.count == 1 }
            harness.export(1)
            #expect(harness.exporter.queue.close(withinMilliseconds: 0) == false)
            try await harness.loop.wait { harness.exporter.queue.close(withinMilliseconds: 0) }
            let requests = harness.collector.requests
            #expect(requests.map(\.method) == [.post, .post])
            #expect(requests.allSatisfy { $0.path == ["v1", "traces"] && $0.contentType == "application/json" })
            #expect(requests.map(\.body) == [harness.json(2), harness.json(1)])
            #expect(harness.exporter.queue.droppedCount == 0 && harness.captured.lines().isEmpty)
        }
    }

    @Test func aCollectorThatRefuses() async throws {
        try await Harness.run { harness in
            harness.collector.answer = .error(503, "not now")
            harness.export(2)
            try await harness.loop.wait { harness.exporter.queue.droppedCount == 2 }
            harness.export(1)
            try await harness.loop.wait { harness.exporter.queue.droppedCount == 3 }
            // The second loss is not logged so soon after the first.
            try harness.expectLogged(["traces.lost"], "the collector answered 503")

            harness.collector.answer = .json(Array("{}".utf8))
            harness.export(1)
            try await harness.loop.wait { harness.collector.requests.count == 3 }
            try await harness.loop.wait { harness.exporter.queue.close(withinMilliseconds: 0) }
            try harness.expectLogged(["traces.exported"])
            #expect(harness.exporter.queue.droppedCount == 3)
        }
    }

    @Test(arguments: [#""1""#, "1"])
    func aCollectorThatRefusesSomeSpans(count: String) async throws {
        try await Harness.run { harness in
            let answer = #"{"partialSuccess":{"rejectedSpans":\#(count),"errorMessage":"too old"}}"#
            harness.collector.answer = .json(Array(answer.utf8))
            harness.export(2)
            try await harness.loop.wait { harness.exporter.queue.droppedCount == 1 }
            try harness.expectLogged(["traces.lost"], "too old")
        }
    }

    // The body of a successful response is foreign input. Only a positive number of rejected spans counts as a loss.
    @Test(arguments: [
        "", "[]", "no JSON", #"{"partialSuccess":{}}"#, #"{"partialSuccess":{"rejectedSpans":"x"}}"#,
        #"{"partialSuccess":{"rejectedSpans":-1}}"#, #"{"partialSuccess":[1]}"#,
    ])
    func aCollectorThatAcceptsAllSpans(answer: String) async throws {
        try await Harness.run { harness in
            harness.collector.answer = .json(Array(answer.utf8))
            harness.export(2)
            try await harness.loop.wait { harness.collector.requests.count == 1 }
            try await harness.loop.wait { harness.exporter.queue.close(withinMilliseconds: 0) }
            #expect(harness.exporter.queue.droppedCount == 0 && harness.captured.lines().isEmpty)
        }
    }

    @Test func aCollectorThatAnswersTooMuch() async throws {
        try await Harness.run { harness in
            harness.collector.answer = .json(Array(repeating: UInt8(ascii: " "), count: 1 << 20))
            harness.export(2)
            try await harness.loop.wait { harness.exporter.queue.droppedCount == 2 }
            try harness.expectLogged(["traces.lost"], "more than 65536 bytes")
        }
    }

    @Test func aCollectorThatNeverAnswers() async throws {
        try await Harness.run { harness in
            harness.collector.answer = nil
            harness.export(1)
            try await harness.loop.wait { harness.collector.requests.count == 1 }
            harness.export(SpanBuffer.spansMax)
            harness.export(7)
            #expect(harness.exporter.queue.droppedCount == 7)
            // A worker that exits waits for the collector only for a limited time.
            #expect(!harness.exporter.queue.close(withinMilliseconds: 1))
        }
    }

    @Test func anUnreachableCollector() async throws {
        try await Harness.run { harness in
            harness.collector.close()
            harness.export(2)
            try await harness.loop.wait { harness.exporter.queue.droppedCount == 2 }
            try harness.expectLogged(["traces.lost"], "Connection refused")
        }
    }
}

/// An exporter and its collector.
private final class Harness {
    let loop: EpollLoop
    let collector: TraceCollector
    let captured: CapturedLog
    let exporter: SpanExporter

    static func run(_ body: @escaping @Sendable (Harness) async throws -> Void) async throws {
        try await onEpollLoop { loop in
            let harness = try Harness(loop)
            var failure: (any Error)?
            do { try await body(harness) } catch { failure = error }
            // Closing the collector unblocks the exporter's thread, which could otherwise write into the log of another
            // test.
            harness.collector.close()
            try await loop.wait { harness.exporter.queue.close(withinMilliseconds: 0) }
            if let failure { throw failure }
        }
    }

    private init(_ loop: EpollLoop) throws {
        self.loop = loop
        collector = try TraceCollector(on: loop)
        captured = try CapturedLog()
        let tracing = WorkerConfiguration.Tracing(endpoint: try HTTPURL(collector.url), serviceName: "push")
        exporter = SpanExporter(tracing, worker: "host.42", version: "1.2.3", log: captured.log)
        try exporter.start()
    }

    private static func spans(_ count: Int) -> [Span] {
        let context = TraceContext(traceIDHigh: 1, traceIDLow: 2, spanID: 3, isSampled: true)
        return (0..<count).map { Span("\($0)", .internal, in: context, below: 4, from: 5, to: 6) }
    }

    func export(_ count: Int) {
        var buffer = SpanBuffer()
        buffer.add(Self.spans(count))
        exporter.queue.add(buffer)
    }

    func json(_ count: Int) -> [UInt8] {
        OTLPDocument(serviceName: "push", worker: "host.42", version: "1.2.3").json(Self.spans(count))
    }

    /// Checks the events that were logged since the last call, and the text of the first event.
    func expectLogged(
        _ events: [String], _ words: String = "", _ sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let lines = captured.lines()
        let logged = try lines.map { try JSONDocument($0).root["event"]?.string }
        #expect(logged == events, "\(lines)", sourceLocation: sourceLocation)
        #expect(words.isEmpty || lines.first?.contains(words) == true, "\(lines)", sourceLocation: sourceLocation)
    }
}

import Configuration
import ControlProtocol
import Delivery
import EventLoop
import HTTPClient
import JSON
import Telemetry
import Threads

/// An exporter that posts spans to a collector from a separate thread, one request at a time.
///
/// `@unchecked Sendable`: only the exporter's thread uses the mutable state.
final class SpanExporter: @unchecked Sendable {
    /// Timeout for the collector's answer. Spans without an answer are dropped, to bound memory.
    private static let answerMillisecondsMax = 5000
    private static let answerBytesMax = 64 << 10

    /// Maximum time that the process waits at its end for the last spans.
    static let closeMillisecondsMax = 1000

    private let url: HTTPURL
    private let document: OTLPDocument
    private let log: Log
    /// Completed spans from the lanes.
    let queue = SpanQueue()
    private var outage = Outage()

    init(_ tracing: WorkerConfiguration.Tracing, worker: String, version: String, log: Log) {
        url = tracing.endpoint
        document = OTLPDocument(serviceName: tracing.serviceName, worker: worker, version: version)
        self.log = log
    }

    /// Creates the exporter that the configuration describes. Returns nil if tracing is not configured.
    convenience init?(_ version: PreparedVersion, log: Log) {
        guard let tracing = version.configuration.tracing else { return nil }
        self.init(tracing, worker: version.components.lane.worker, version: MartletVersion.current, log: log)
    }

    /// Starts the thread.
    ///
    /// - Throws: if the system cannot create the thread.
    func start() throws(ThreadError) {
        try DetachedThread.start { [self] in
            let client = HTTPClient()
            while let spans = queue.take() { send(spans, client) }
        }
    }

    private func send(_ spans: [Span], _ client: HTTPClient) {
        var request = HTTPRequest(.post, url)
        request.headers = [("Content-Type", "application/json")]
        request.body = document.json(spans)
        request.limits = HTTPLimits(
            wholeMillisecondsMax: Self.answerMillisecondsMax, bodyBytesMax: Self.answerBytesMax)
        do throws(HTTPError) {
            let answer = try client.send(request)
            guard answer.isSuccess else { return lost(spans.count, "the collector answered \(answer.status)") }
            if let (count, why) = Self.refused(by: answer) { return lost(count, why) }
            if let length = outage.ends(EpollLoop.readMonotonicClock()) {
                log.info(.tracesExported, [.durationMilliseconds: .milliseconds(length)])
            }
        } catch {
            lost(spans.count, error.message)
        }
    }

    /// Returns the number of spans that the collector rejected in an accepted request, and the reason; nil without
    /// rejected spans (https://opentelemetry.io/docs/specs/otlp/#partial-success-1). A client must not send rejected
    /// spans again.
    private static func refused(by answer: HTTPResponse) -> (count: Int, why: String)? {
        let partial = (try? JSONDocument(answer.body))?.root["partialSuccess"]
        let number = partial?["rejectedSpans"]
        guard let count = number?.int ?? number?.string.flatMap({ Int($0) }), count > 0 else { return nil }
        let reason = partial?["errorMessage"]?.string ?? "no reason given"
        return (count, "the collector rejected \(count) spans: \(reason)")
    }

    private func lost(_ count: Int, _ why: String) {
        if outage.lasts(EpollLoop.readMonotonicClock()) != nil {
            log.warning(.tracesLost, [.error: .string(why)])
        }
        // Count last, so that a test that sees the new count can rely on the log line.
        queue.countDropped(count)
    }
}

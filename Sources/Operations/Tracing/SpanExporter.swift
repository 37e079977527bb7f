import EventLoop
import HTTPClient
import JSON
import Telemetry
import Threads

/// Sends spans to a collector, on a thread of its own: one request at a time, and what comes meanwhile waits.
///
/// `@unchecked Sendable`: what changes belongs to the thread.
final class SpanExporter: @unchecked Sendable {
    /// A collector that takes longer is taken for gone, and the spans are dropped: they are worth less than memory.
    private static let answerMillisecondsMax = 5000
    private static let answerBytesMax = 64 << 10

    /// How long the end of the process waits for the last to be sent.
    static let closeMillisecondsMax = 1000

    private let url: HTTPURL
    private let document: OTLPDocument
    private let log: Log
    /// Where lanes put what has ended.
    let queue = SpanQueue()
    private var outage = Outage()

    init(_ tracing: Configuration.Tracing, worker: String, version: String, log: Log) {
        url = tracing.endpoint
        document = OTLPDocument(serviceName: tracing.serviceName, worker: worker, version: version)
        self.log = log
    }

    /// - Throws: when the system gives no more threads.
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
            if let length = outage.ends(EpollLoop.readClocks().monotonic) {
                log.info(.tracesExported, [.durationMilliseconds: .milliseconds(length)])
            }
        } catch {
            lost(spans.count, error.message)
        }
    }

    /// Those that the collector did not keep although it took the request
    /// (https://opentelemetry.io/docs/specs/otlp/#partial-success-1); not to be sent again.
    private static func refused(by answer: HTTPResponse) -> (count: Int, why: String)? {
        let partial = (try? JSONDocument(answer.body))?.root["partialSuccess"]
        let number = partial?["rejectedSpans"]
        guard let count = number?.int ?? number?.string.flatMap({ Int($0) }), count > 0 else { return nil }
        let reason = partial?["errorMessage"]?.string ?? "it does not say why"
        return (count, "the collector refused \(count) spans: \(reason)")
    }

    private func lost(_ count: Int, _ why: String) {
        if outage.lasts(EpollLoop.readClocks().monotonic) != nil {
            log.warning(.tracesLost, [.error: .string(why)])
        }
        // Last: whoever sees the count finds the line.
        queue.countDropped(count)
    }
}

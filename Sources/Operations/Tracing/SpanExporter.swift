import EventLoop
import HTTPClient
import Telemetry

/// Sends spans to a collector, on a thread of its own: one request at a time, and what comes meanwhile waits.
///
/// `@unchecked Sendable`: what changes belongs to the thread.
final class SpanExporter: @unchecked Sendable {
    /// A collector that takes longer is taken for gone, and the spans are dropped: they are worth less than memory.
    private static let answerMillisecondsMax = 5000

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
    func start() throws(TransportError) {
        try DetachedThread.start { [self] in
            let client = HTTPClient()
            while let spans = queue.take() { send(spans, client) }
        }
    }

    private func send(_ spans: [Span], _ client: HTTPClient) {
        var request = HTTPRequest(.post, url)
        request.headers = [("Content-Type", "application/json")]
        request.body = document.json(spans)
        request.limits.wholeMillisecondsMax = Self.answerMillisecondsMax
        do {
            let answer = try client.send(request)
            guard answer.isSuccess else { return failed("the collector answered \(answer.status)") }
            if let length = outage.ends(EpollLoop.readClocks().monotonic) {
                log.info(.tracesExported, [.durationMilliseconds: .milliseconds(length)])
            }
        } catch {
            failed(error.message)
        }
    }

    private func failed(_ why: String) {
        guard outage.lasts(EpollLoop.readClocks().monotonic) != nil else { return }
        log.warning(.tracesLost, [.error: .string(why)])
    }
}

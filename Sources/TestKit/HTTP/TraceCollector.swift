public import AdminHTTP
public import EventLoop
public import JSON

/// An OpenTelemetry collector that receives spans over HTTP. Use the collector only on its loop.
public final class TraceCollector {
    private static let bodyBytesMax = 16 << 20

    private let loop: EpollLoop
    private var server: AdminServer?
    /// The response to every request; nil to leave requests unanswered.
    public var answer: AdminResponse? = .json(Array("{}".utf8))
    /// All received requests.
    public private(set) var requests: [AdminRequest] = []

    public init(on loop: EpollLoop) throws {
        self.loop = loop
        var configuration = AdminConfiguration()
        configuration.bodyBytesMax = Self.bodyBytesMax
        let endpoint = Endpoint(host: "127.0.0.1", port: 0)
        server = try AdminServer(loop: loop, endpoint: endpoint, configuration: configuration) { [unowned self] in
            requests.append($0.request)
            if let answer { $0.answer(answer) }
        }
    }

    /// The URL for the spans.
    public var url: String { "http://127.0.0.1:\(server?.endpoint.port ?? 0)/v1/traces" }

    /// Returns the JSON bodies of all requests.
    public func documents() throws(JSONError) -> [JSONDocument] {
        try requests.map { request throws(JSONError) in try JSONDocument(request.body) }
    }

    public func close() {
        server?.close()
        server = nil
    }
}

extension JSONDocument {
    /// The spans of all resources and scopes of an OTLP document.
    public var spans: [JSONValue] {
        let resources = root["resourceSpans"].map { Array($0.elements) } ?? []
        let scopes = resources.flatMap { $0["scopeSpans"].map { Array($0.elements) } ?? [] }
        return scopes.flatMap { $0["spans"].map { Array($0.elements) } ?? [] }
    }
}

import CMicroHTTPD
import EventLoop
import Glibc

/// One request and its answer. Used on the loop's thread only.
public final class AdminExchange {
    private enum Stage {
        /// A request line whose headers have not been checked. Next: `receiving` or `refused`.
        case beginning
        /// A request whose body arrives. Next: `pending`, `refused` or `ended`.
        case receiving
        /// A refused request. The rest of the request is dropped, so that the client reads the refusal. Next: `ended`.
        case refused(AdminResponse)
        /// A complete request with a suspended connection. Next: `ended`.
        case pending
        /// An answered request, or one whose client no longer waits for an answer.
        case ended
    }

    /// The request, which is complete when the endpoint's handler receives the exchange.
    public internal(set) var request = AdminRequest()
    /// A closure that is called if the client disconnects, or the connection or the endpoint is closed, before the
    /// handler has answered.
    public var onAbandoned: (() -> Void)?

    private let server: AdminServer
    private let connection: OpaquePointer
    private let target: RequestTarget?
    private var stage = Stage.beginning
    private var bytesHeld = 0

    /// Creates the exchange of a request that has begun.
    ///
    /// - Parameter target: the target of the request line, with its percent-escapes.
    init(server: AdminServer, connection: OpaquePointer, target: UnsafeRawBufferPointer) {
        self.server = server
        self.connection = connection
        self.target = RequestTarget(target)
    }

    /// Whether the client still waits for an answer.
    public var isPending: Bool {
        if case .pending = stage { true } else { false }
    }

    /// Sends the answer. Does nothing after the first answer, or if the exchange was abandoned.
    public func answer(_ response: AdminResponse) {
        server.loop.assertOnLoop()
        guard isPending else { return }
        // If the answer cannot be queued, the connection is closed.
        _ = queue(response)
        endPending()
    }

    /// Ends the exchange without an answer, and calls `onAbandoned`. Does nothing if no answer is pending.
    func abandon() {
        guard isPending else { return }
        let onAbandoned = self.onAbandoned
        endPending()
        onAbandoned?()
    }

    private func endPending() {
        stage = .ended
        onAbandoned = nil
        client?.startTransfer()
        server.removePending(self)
        server.resume(connection)
    }

    /// Suspends the client's time limit, because the handler answers later. Abandons the exchange if the client is
    /// gone.
    func waitForAnswer() { client?.wait(for: self) }

    private var client: AdminClient? {
        martlet_connection_context(connection).map { Unmanaged<AdminClient>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Processes a callback of libmicrohttpd. The first callback announces the head, later ones pass pieces of the
    /// body, and the last one passes an empty piece.
    ///
    /// - Returns: `NO` to close the connection.
    func receive(method: UnsafePointer<CChar>, _ bytes: UnsafeRawBufferPointer) -> MHD_Result {
        switch stage {
        case .beginning:
            stage = .receiving
            client?.startTransfer()
            begin(RequestHead(method: method, connection: connection))
        case .receiving where bytes.isEmpty:
            return wait()
        case .receiving:
            receive(bytes)
        case .refused(let response) where bytes.isEmpty:
            stage = .ended
            return queue(response)
        case .refused:
            break
        case .pending, .ended:
            return .NO
        }
        return .YES
    }

    private func begin(_ head: RequestHead) {
        if head.isLengthAmbiguous {
            stage = .refused(.ambiguousLength)
        } else if let foreign = server.hosts.foreign(hosts: head.hosts, origins: head.origins) {
            stage = .refused(server.hosts.refusal(foreign))
            server.onForeign?(foreign)
        } else if let target {
            request = AdminRequest(head, target, peerUserID: client?.userID)
        } else {
            stage = .refused(
                .error(400, "the path must begin with /, and path and query must be percent-encoded UTF-8"))
        }
    }

    private func receive(_ bytes: UnsafeRawBufferPointer) {
        let bytesMax = server.configuration.bodyBytesMax
        if request.body.count + bytes.count > bytesMax {
            stage = .refused(.error(413, "the body is larger than \(bytesMax) bytes"))
        } else if hold(bytes.count) {
            return request.body.append(contentsOf: bytes)
        } else {
            stage = .refused(.overloaded)
        }
        request.body = []
    }

    private func wait() -> MHD_Result {
        guard server.addPending(self) else {
            stage = .ended
            return queue(.overloaded)
        }
        stage = .pending
        client?.requestArrived()
        MHD_suspend_connection(connection)
        return .YES
    }

    private func queue(_ response: AdminResponse) -> MHD_Result {
        let response = hold(response.body.count) ? response : .overloaded
        let made = response.body.withUnsafeBytes {
            MHD_create_response_from_buffer(
                $0.count, UnsafeMutableRawPointer(mutating: $0.baseAddress), .RESPMEM_MUST_COPY)
        }
        guard let made else { return .NO }
        defer { MHD_destroy_response(made) }
        for (name, value) in response.allHeaders { MHD_add_response_header(made, name, value) }
        client?.answerQueued()
        return MHD_queue_response(connection, UInt32(clamping: response.status), made)
    }

    private func hold(_ count: Int) -> Bool {
        guard server.reserve(count) else { return false }
        bytesHeld += count
        return true
    }

    /// Releases the memory of a request that libmicrohttpd has finished, successfully or not. The client may then send
    /// the next request.
    func complete() {
        server.release(bytesHeld)
        client?.answered()
    }
}

extension AdminResponse {
    fileprivate static let overloaded = AdminResponse.error(
        503, "too many requests or bytes are pending; try again later")

    /// The refusal of a request whose length is ambiguous. The next bytes may not be the start of another request, so
    /// the connection closes after the answer.
    fileprivate static let ambiguousLength: AdminResponse = {
        var response = AdminResponse.error(
            400, "the length of the body is ambiguous; send only one Content-Length or Transfer-Encoding header")
        response.headers = [("Connection", "close")]
        return response
    }()

    /// Headers that make browsers restrict caching, other origins, frames, forms, referrers and guessed content types.
    fileprivate static let securityHeaders = [
        ("Cache-Control", "no-store"),
        ("Content-Security-Policy", "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Referrer-Policy", "no-referrer"),
        ("X-Content-Type-Options", "nosniff"),
    ]

    fileprivate var allHeaders: [(name: String, value: String)] {
        let names = headers.map { $0.name.lowercased() }
        return [("Content-Type", contentType)] + Self.securityHeaders.filter { !names.contains($0.0.lowercased()) }
            + headers
    }
}

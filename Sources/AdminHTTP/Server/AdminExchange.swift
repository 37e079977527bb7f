import CMicroHTTPD
import EventLoop
import Glibc

/// One request and the answer that it waits for. On the loop's thread only.
public final class AdminExchange {
    private enum Stage {
        /// The request line has come. To `receiving` or `refused`.
        case beginning
        /// The body comes. To `pending` or `refused`.
        case receiving
        /// What still comes of the request is dropped, so that the client reads why. To `ended`.
        case refused(AdminResponse)
        /// Whole, and its connection suspended. To `ended`.
        case pending
        /// Answered, or nobody waits for the answer any more.
        case ended
    }

    /// Whole when the endpoint's handler gets to see it.
    public internal(set) var request = AdminRequest()
    /// Called when the client goes away or the endpoint is closed before there was an answer.
    public var onAbandoned: (() -> Void)?

    private let server: AdminServer
    private let connection: OpaquePointer
    private let target: RequestTarget?
    private var stage = Stage.beginning
    private var bytesHeld = 0

    /// - Parameter target: as the request line has it.
    init(server: AdminServer, connection: OpaquePointer, target: UnsafeRawBufferPointer) {
        self.server = server
        self.connection = connection
        self.target = RequestTarget(target)
    }

    /// Whether an answer is still waited for.
    public var isPending: Bool {
        if case .pending = stage { true } else { false }
    }

    /// Answers, once; does nothing when the client has gone away.
    public func answer(_ response: AdminResponse) {
        server.loop.assertOnLoop()
        guard isPending else { return }
        // Without an answer the connection is closed.
        _ = queue(response)
        endPending()
    }

    /// Ends when nobody waits for the answer any more.
    func abandon() {
        guard isPending else { return }
        let told = onAbandoned
        endPending()
        told?()
    }

    private func endPending() {
        stage = .ended
        onAbandoned = nil
        client?.startTransfer()
        server.endsToWait(self)
        server.resume(connection)
    }

    /// Whoever is to answer has seen it and takes time.
    func waitForAnswer() { client?.wait(for: self) }

    private var client: AdminClient? {
        martlet_connection_context(connection).map { Unmanaged<AdminClient>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Takes what libmicrohttpd has read: first the head, then the body in pieces, then none to say that it is whole.
    ///
    /// - Returns: `NO` to close the connection.
    func take(method: UnsafePointer<CChar>, _ bytes: UnsafeRawBufferPointer) -> MHD_Result {
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
        } else if let refusal = server.hosts.refusal(hosts: head.hosts, origins: head.origins) {
            stage = .refused(refusal)
        } else if let target {
            request = AdminRequest(method: head.method, target: target, contentType: head.contentType)
        } else {
            stage = .refused(.error(400, "the path has to begin with / and its percent-escapes have to make UTF-8"))
        }
    }

    private func receive(_ bytes: UnsafeRawBufferPointer) {
        let bytesMax = server.configuration.bodyBytesMax
        if request.body.count + bytes.count > bytesMax {
            stage = .refused(.error(413, "the body has more than \(bytesMax) bytes"))
        } else if hold(bytes.count) {
            return request.body.append(contentsOf: bytes)
        } else {
            stage = .refused(.overloaded)
        }
        request.body = []
    }

    private func wait() -> MHD_Result {
        guard server.beginsToWait(self) else {
            stage = .ended
            return queue(.overloaded)
        }
        stage = .pending
        client?.requestCame()
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
        guard server.holds(count) else { return false }
        bytesHeld += count
        return true
    }

    /// The connection has done with it, one way or the other.
    func complete() {
        server.letsGo(of: bytesHeld)
        client?.answered()
    }
}

extension AdminResponse {
    fileprivate static let overloaded = AdminResponse.error(
        503, "too much waits to be read or answered; try again later")

    /// What follows the request may be meant for another reader: the connection ends with the answer.
    fileprivate static let ambiguousLength: AdminResponse = {
        var response = AdminResponse.error(400, "send one Content-Length or one Transfer-Encoding, not several")
        response.headers = [("Connection", "close")]
        return response
    }()

    /// What it is stays here, looks like what it is, and is shown in no foreign page.
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

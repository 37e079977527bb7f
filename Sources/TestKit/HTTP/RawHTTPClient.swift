public import EventLoop

/// An HTTP/1.1 client that sends given bytes unchanged and reads complete responses.
///
/// Use the client only on its loop. The server may use the same loop.
public final class RawHTTPClient: ByteStreamHandler {
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    private let loop: EventLoop
    private var transport: ByteTransport?
    private var output = OutputBuffer(bytesMax: .max)
    private var isConnected = false
    /// The received bytes that have not been read.
    public private(set) var unread: [UInt8] = []
    /// Whether the server has closed the connection or finished writing.
    public private(set) var isEnded = false
    private var waiting: (condition: () -> Bool, continuation: UnsafeContinuation<Bool, Never>)?

    private init(loop: EventLoop) {
        self.loop = loop
    }

    public static func connect(to endpoint: Endpoint, on loop: EventLoop) async throws -> RawHTTPClient {
        let client = RawHTTPClient(loop: loop)
        client.transport = loop.connect(to: endpoint, handler: client)
        try await client.wait("connection") { client.isConnected || client.isEnded }
        return client
    }

    public func send(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { output.append($0) }
        writable()
    }

    public func send(_ text: String) { send(Array(text.utf8)) }

    /// Sends a valid request.
    public func send(
        _ method: String, _ target: String, headers: KeyValuePairs<String, String> = [:], body: String? = nil
    ) {
        var text = "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\n"
        for (name, value) in headers { text += "\(name): \(value)\r\n" }
        if let body { text += "Content-Length: \(body.utf8.count)\r\n" }
        send(text + "\r\n" + (body ?? ""))
    }

    /// Sends a request and reads its response.
    public func request(
        _ method: String, _ target: String, headers: KeyValuePairs<String, String> = [:], body: String? = nil
    ) async throws -> RawHTTPResponse {
        send(method, target, headers: headers, body: body)
        return try await response(hasBody: method != "HEAD")
    }

    /// Reads the next response. Skips interim responses.
    public func response(hasBody: Bool = true) async throws -> RawHTTPResponse {
        while true {
            try await wait("response") { [self] in isEnded || RawHTTPResponse.parse(unread, hasBody: hasBody) != nil }
            guard let (response, byteCount) = RawHTTPResponse.parse(unread, hasBody: hasBody) else {
                throw Failure(description: "connection closed after: \(String(decoding: unread, as: UTF8.self))")
            }
            unread.removeFirst(byteCount)
            if response.status >= 200 { return response }
        }
    }

    /// Reads until the server closes the connection or finishes writing.
    public func rest() async throws -> String {
        try await wait("end of the connection") { [self] in isEnded }
        defer { unread = [] }
        return String(decoding: unread, as: UTF8.self)
    }

    public func pauseReading() { transport?.pauseReading() }
    public func resumeReading() { transport?.resumeReading() }
    public func finishWriting() { transport?.finishWriting() }
    public func close() { transport?.close() }
    public func reset() { transport?.reset() }

    /// Waits until a condition is true. Evaluates the condition immediately, when bytes arrive, and when the connection
    /// opens or ends.
    ///
    /// - Parameter what: The name of the condition in errors.
    public func wait(_ what: String, until condition: @escaping () -> Bool) async throws {
        guard !condition() else { return }
        let timer = loop.schedule(after: TestTimeout.duration) { [self] in resume(false) }
        let isMet = await withUnsafeContinuation { waiting = (condition, $0) }
        loop.cancel(timer)
        if !isMet { throw Failure(description: "no \(what) within \(TestTimeout.seconds) s") }
    }

    private func resume(_ isMet: Bool) {
        let waiter = waiting
        waiting = nil
        waiter?.continuation.resume(returning: isMet)
    }

    private func changed() {
        if let waiting, waiting.condition() { resume(true) }
    }

    public override func connected(_ transport: ByteTransport) {
        isConnected = true
        changed()
    }

    public override func received(_ bytes: UnsafeRawBufferPointer) {
        unread += bytes
        changed()
    }

    public override func writable() {
        guard isConnected, let transport else { return }
        _ = output.write(to: transport)
    }

    public override func peerFinished() {
        isEnded = true
        changed()
    }

    public override func closed(_ error: TransportError?) {
        isEnded = true
        transport = nil
        changed()
    }
}

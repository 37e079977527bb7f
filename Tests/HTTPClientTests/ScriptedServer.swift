import Crypto
import EventLoop
import HTTPClient
import TLS
import TestKit
import Threads

/// A server that answers all input with scripted bytes.
enum ScriptedServer {
    enum Ending {
        /// A close of the connection after the bytes.
        case closed
        /// Silence after the bytes.
        case silence
        /// An endless repetition of the bytes.
        case again
    }

    static let authority = try! CertificateAuthority.make(name: "Tests")

    /// Runs the server while `talk` runs with its port. Returns the input of each connection.
    @discardableResult
    static func run(
        _ answer: String, then ending: Ending = .closed, usesTLS: Bool = false,
        _ talk: @escaping @Sendable (_ port: UInt16) async throws -> Void
    ) async throws -> [String] {
        try await onEpollLoop { loop in
            var handlers: [Handler] = []
            let context = usesTLS ? try TLSContext(server: .init(identity: identity())) : nil
            let listener = try loop.listen(on: Endpoint(host: "127.0.0.1", port: 0)) { transport in
                let handler = Handler(Array(answer.utf8), ending)
                handlers.append(handler)
                if let context {
                    _ = try? TLSTransport.accept(transport, context: context, handler: handler)
                } else {
                    transport.handler = handler
                }
            }
            defer {
                listener.close()
                for handler in handlers { handler.transport?.reset() }
            }
            try await talk(listener.endpoint.port)
            return handlers.map { String(decoding: $0.received, as: UTF8.self) }
        }
    }

    private static func identity() throws -> TLSIdentity {
        let issued = try authority.issueServer(dnsNames: ["localhost"], ipAddresses: [])
        return TLSIdentity(certificateChainPEM: issued.certificatePEM, privateKeyPEM: issued.privateKeyPEM)
    }

    private final class Handler: ByteStreamHandler {
        private let bytes: [UInt8]
        private let ending: Ending
        private(set) var received: [UInt8] = []
        private(set) var transport: ByteTransport?
        private var unsent: ArraySlice<UInt8> = []

        init(_ bytes: [UInt8], _ ending: Ending) {
            self.bytes = bytes
            self.ending = ending
        }

        override func connected(_ transport: ByteTransport) { self.transport = transport }

        override func received(_ bytes: UnsafeRawBufferPointer) {
            received += bytes
            guard unsent.isEmpty else { return }
            unsent = self.bytes[...]
            writable()
        }

        override func writable() {
            while let transport {
                let written = unsent.withUnsafeBytes { transport.write($0) }
                unsent = unsent.dropFirst(written)
                guard unsent.isEmpty else { return }
                switch ending {
                case .closed: return transport.close()
                case .silence: return
                case .again: unsent = bytes[...]
                }
            }
        }

        override func peerFinished() { transport?.close() }
        override func closed(_ error: TransportError?) { transport = nil }
    }
}

extension HTTPRequest {
    /// Creates a request to this machine.
    static func local(
        _ port: UInt16, _ path: String = "/", _ method: Method = .get, _ change: (inout HTTPRequest) -> Void = { _ in }
    ) throws -> HTTPRequest {
        var request = HTTPRequest(method, try HTTPURL("http://127.0.0.1:\(port)\(path)"))
        change(&request)
        return request
    }

    /// Sends the request on a separate thread, which blocks until the request has ended.
    func send() async throws(HTTPError) -> HTTPResponse {
        try await DetachedThread.run { () -> Result<HTTPResponse, HTTPError> in
            do throws(HTTPError) {
                return .success(try HTTPClient().send(self))
            } catch {
                return .failure(error)
            }
        }.get()
    }

    /// Sends the request. Returns its error, or nil if it received a response.
    func failure() async -> HTTPError? {
        do {
            _ = try await send()
            return nil
        } catch {
            return error
        }
    }
}

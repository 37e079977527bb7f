import EventLoop
import TestKit

@testable import AdminHTTP

/// An admin endpoint and its clients on one loop.
final class AdminServerHarness {
    let loop: EpollLoop
    let server: AdminServer
    private var clients: [RawHTTPClient] = []

    /// Runs `talk` with an endpoint that answers each request with a description of the request. Then closes the
    /// endpoint and its clients.
    static func run(
        _ configuration: AdminConfiguration = AdminConfiguration(),
        _ talk: @escaping @Sendable (AdminServerHarness) async throws -> Void
    ) async throws {
        try await run(configuration) { exchange in
            exchange.answer(.echo(exchange.request))
        } talk: { harness in
            try await talk(harness)
        }
    }

    /// Runs `talk` with an endpoint whose requests go to `handler`. Then closes the endpoint and its clients.
    static func run(
        _ configuration: AdminConfiguration = AdminConfiguration(),
        handler: @escaping @Sendable (AdminExchange) -> Void,
        talk: @escaping @Sendable (AdminServerHarness) async throws -> Void
    ) async throws {
        try await onEpollLoop { loop in
            let harness = try AdminServerHarness(loop, configuration, handler)
            defer { harness.close() }
            try await talk(harness)
        }
    }

    private init(
        _ loop: EpollLoop, _ configuration: AdminConfiguration, _ handler: @escaping (AdminExchange) -> Void
    ) throws {
        self.loop = loop
        server = try AdminServer(
            loop: loop, endpoint: Endpoint(host: "127.0.0.1", port: 0), configuration: configuration, handler: handler)
    }

    func connect() async throws -> RawHTTPClient {
        let client = try await RawHTTPClient.connect(to: server.endpoint, on: loop)
        clients.append(client)
        return client
    }

    /// Closes the clients and waits until the endpoint has closed their connections.
    func settle() async throws {
        for client in clients { client.reset() }
        clients = []
        try await loop.wait { server.connectionCount == 0 }
    }

    private func close() {
        server.close()
        for client in clients { client.reset() }
    }
}

extension AdminConfiguration {
    static func with(_ change: (inout AdminConfiguration) -> Void) -> AdminConfiguration {
        var configuration = AdminConfiguration()
        change(&configuration)
        return configuration
    }
}

extension AdminResponse {
    /// Returns the request's method, segments, query, content type and body as text.
    static func echo(_ request: AdminRequest) -> AdminResponse {
        let query = request.query.map { "\($0.name)=\($0.value)" }
        let words = [
            request.method?.rawValue ?? "-", request.path.joined(separator: "|"), query.joined(separator: "|"),
            request.contentType ?? "-", String(decoding: request.body, as: UTF8.self),
        ]
        return AdminResponse(
            contentType: "text/plain; charset=utf-8", body: Array(words.joined(separator: " ").utf8))
    }
}

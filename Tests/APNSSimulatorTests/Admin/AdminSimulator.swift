import APNSProtocol
import EventLoop
import HTTP2
import JSON
import TestKit
import Testing

@testable import APNSSimulator

/// A simulator with its admin port on an event loop, a provider, and clients of the admin port.
final class AdminSimulator {
    let loop: EpollLoop
    let server: SimulatorServer
    let admin: SimulatorAdmin
    let provider: Provider
    private let push: Endpoint
    private var clients: [ProviderClient] = []
    private var adminClients: [RawHTTPClient] = []

    /// Runs `talk` with a new simulator, and then closes everything.
    static func run(
        _ configure: @escaping @Sendable (inout SimulatorConfiguration, inout SimulatorState) -> Void = { _, _ in },
        _ talk: @escaping @Sendable (AdminSimulator) async throws -> Void
    ) async throws {
        try await onEpollLoop { loop in
            let simulator = try AdminSimulator(loop, configure)
            defer { simulator.close() }
            try await talk(simulator)
        }
    }

    private init(
        _ loop: EpollLoop, _ configure: (inout SimulatorConfiguration, inout SimulatorState) -> Void
    ) throws {
        self.loop = loop
        provider = try Provider()
        var configuration = SimulatorConfiguration()
        configuration.requestsLoggedMax = 1000
        var state = try provider.state()
        state.rules.gate = .off
        configure(&configuration, &state)
        server = SimulatorServer(loop: loop, configuration: configuration, state: state)
        let anywhere = Endpoint(host: "127.0.0.1", port: 0)
        push = try server.listen(on: anywhere, as: .sandboxPush)
        admin = try SimulatorAdmin(for: server, on: loop, at: anywhere)
    }

    private func close() {
        admin.close()
        server.abort()
        for client in adminClients { client.reset() }
        for client in clients { client.session?.abort() }
    }

    /// Opens another connection to the admin port.
    func connect() async throws -> RawHTTPClient {
        let client = try await RawHTTPClient.connect(to: admin.endpoint, on: loop)
        adminClients.append(client)
        return client
    }

    /// Sends a request to the admin port on a persistent connection.
    func request(_ method: String, _ target: String, _ body: String? = nil) async throws -> RawHTTPResponse {
        if adminClients.isEmpty { _ = try await connect() }
        return try await adminClients[0].request(method, target, body: body)
    }

    /// Sends a request, and expects a response with the body `expected` and this status.
    func expect(
        _ method: String, _ target: String, _ body: String? = nil, is expected: String, status: Int = 200,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let response = try await request(method, target, body)
        #expect(response.status == status, sourceLocation: sourceLocation)
        #expect(response.body == expected + "\n", sourceLocation: sourceLocation)
    }

    /// Returns the JSON of a GET response.
    func json(_ target: String) async throws -> JSONDocument {
        try JSONDocument(try await request("GET", target).body)
    }

    /// Opens a provider's connection.
    func connectProvider() async throws -> ProviderClient {
        let issuedAt = server.now.unixSeconds
        let client = ProviderClient(
            token: try provider.token(claims: #"{"iss":"\#(provider.teamID)","iat":\#(issuedAt)}"#))
        clients.append(client)
        client.session = HTTP2Client(loop: loop, delegate: client)
        _ = loop.connect(to: push, handler: client.session)
        try await loop.wait { !client.streamsMax.isEmpty }
        return client
    }

    func push(
        _ client: ProviderClient, to deviceToken: String = Conversation.deviceToken, id: String? = nil,
        body: String = #"{"aps":{"alert":"Hi"}}"#
    ) async throws -> ProviderClient.Answer {
        let stream = try #require(client.push(to: deviceToken, id: id, body: body))
        try await loop.wait { client.answers[stream.id]?.end != nil }
        return try #require(client.answers[stream.id])
    }
}

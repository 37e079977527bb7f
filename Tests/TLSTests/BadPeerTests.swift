import EventLoop
import TLS
import Testing

/// Invalid or missing input from a peer, which ends the stream with an error.
@Suite struct BadPeerTests {
    @Test(arguments: [TLSVersion.tls12, .tls13], [true, false])
    func `A handshake cut off at any byte`(version: TLSVersion, towardsClient: Bool) throws {
        var client = TLSClientConfiguration.trusting
        client.versionMax = version
        let (clientContext, serverContext) = try (TLSContext(client: client), TLSContext(server: .trusted))
        let whole = try Wire(clientContext, serverContext)
        #expect(whole.start { whole.areConnected } == .done)
        let connection = try #require(whole.loop.network.connections.first)
        let length = towardsClient ? connection.deliveredToClient : connection.deliveredToServer
        whole.close()
        #expect(length > 100)

        for count in 0..<length {
            var options = Wire.Options()
            if towardsClient { options.clientInputEndsAfter = count } else { options.serverInputEndsAfter = count }
            let wire = try Wire(clientContext, serverContext, options)
            let ending = wire.start { wire.areClosed }
            // A signature may be shorter than in the complete handshake, so this handshake may succeed.
            if count > length - 12, wire.areConnected, ending == .idle {
                wire.close()
                continue
            }
            #expect(ending == .done, "the streams did not end after \(count) bytes")
            let end = towardsClient ? wire.client : wire.server
            #expect(end.error != nil, "the end has no error after \(count) bytes")
            #expect(!end.isConnected || count > length - 12, "the handshake succeeded after \(count) bytes")
        }
    }

    @Test(arguments: [
        "AMQP\u{0}\u{0}\u{9}\u{1}", "HTTP/1.1 400 Bad Request\r\n\r\n", "", "\u{16}\u{3}\u{1}",
        "\u{15}\u{3}\u{3}\u{0}\u{2}\u{2}\u{28}",
        "\u{16}\u{3}\u{3}\u{7F}\u{7F}aaaaaaa",
    ])
    func `A server of another protocol`(text: String) throws {
        let (client, error) = try meet(serverSends: Array(text.utf8))
        #expect(!client.isConnected)
        #expect(error != nil)
        if text.hasPrefix("AMQP") || text.hasPrefix("HTTP") {
            #expect(error?.message.contains("does not speak TLS on this port") == true && error?.code == .notTLS)
        }
    }

    @Test(arguments: 0..<200)
    func `A server and a client that send noise`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        // With every second seed, the noise follows a valid record header.
        let header: [UInt8] = seed % 2 == 0 ? [22, 3, 3, 0, UInt8(random.below(200))] : []
        let noise = header + (0..<random.below(2_000)).map { _ in UInt8(random.below(256)) }
        let (client, clientError) = try meet(serverSends: noise)
        #expect(!client.isConnected && clientError != nil)
        let (server, serverError) = try meet(clientSends: noise)
        #expect(!server.isConnected && serverError != nil)
    }

    @Test func `A client that speaks HTTP is recognized`() throws {
        let (_, error) = try meet(clientSends: Array("GET / HTTP/1.1\r\n\r\n".utf8))
        #expect(error?.message.contains("does not speak TLS on this port") == true)
    }

    @Test func `A silent peer is an error`() throws {
        let (_, clientError) = try meet(serverSends: nil)
        #expect(clientError?.code == .timedOut && clientError?.isRetriable == true)
        #expect(clientError?.message == "localhost:443: no TLS handshake within 8 s")
        let (_, serverError) = try meet(clientSends: nil)
        #expect(serverError?.code == .timedOut)
    }

    /// Connects a TLS client to a server that sends bytes and closes, or stays silent if `input` is nil. Returns the
    /// client and its error.
    private func meet(serverSends input: [UInt8]?) throws -> (End, TransportError?) {
        let loop = VirtualLoop(seed: 1)
        let (client, server) = (End(), End())
        let endpoint = Endpoint(host: "localhost", port: 443)
        let context = try TLSContext(client: .trusting)
        server.onConnected = { end in
            guard let input else { return }
            end.send(input)
            end.transport?.finishWriting()
        }
        try loop.enter {
            _ = try loop.listen(on: endpoint) { $0.handler = server }
            client.transport = TLSConnector(loop: loop, endpoint: endpoint, context: context).connect(client)
        }
        #expect(loop.run(limit: .seconds(60)) { client.isClosed && server.isClosed } == .done)
        return (client, client.error)
    }

    /// Connects a client to a TLS server. The client sends bytes and closes, or stays silent if `input` is nil. Returns
    /// the server and its error.
    private func meet(clientSends input: [UInt8]?) throws -> (End, TransportError?) {
        let loop = VirtualLoop(seed: 1)
        let (client, server) = (End(), End())
        let endpoint = Endpoint(host: "localhost", port: 443)
        let context = try TLSContext(server: .trusted)
        client.onConnected = { end in
            guard let input else { return }
            end.send(input)
            end.transport?.finishWriting()
        }
        try loop.enter {
            _ = try loop.listen(on: endpoint) { _ = try? TLSTransport.accept($0, context: context, handler: server) }
            client.transport = loop.connect(to: endpoint, handler: client)
        }
        #expect(loop.run(limit: .seconds(60)) { client.isClosed && server.isClosed } == .done)
        return (server, server.error)
    }
}

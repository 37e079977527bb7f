import EventLoop
import TLS
import Testing
import Threads

/// TLS over real sockets, with both ends on one loop.
@Suite struct TCPTests {
    @Test(arguments: [TLSVersion.tls12, .tls13])
    func `Megabytes both ways`(version: TLSVersion) async throws {
        var configuration = TLSClientConfiguration.trusting
        configuration.versionMax = version
        let clientContext = try TLSContext(client: configuration)
        let serverContext = try TLSContext(server: .trusted)
        let loop = try EpollLoop()
        let ended = await DetachedThread.run { () -> Bool in
            loop.post {
                do {
                    try Self.exchange(on: loop, clientContext, serverContext)
                } catch {
                    Issue.record(error)
                    loop.stop()
                }
            }
            loop.run()
            return true
        }
        #expect(ended)
    }

    private static func exchange(on loop: EpollLoop, _ clientContext: TLSContext, _ serverContext: TLSContext) throws {
        let (client, server) = (End(), End())
        let bytes = pattern(3_000_000)
        let listener = try loop.listen(on: Endpoint(host: "127.0.0.1", port: 0)) {
            _ = try? TLSTransport.accept($0, context: serverContext, handler: server)
        }
        // Both ends write before they read, so each end must receive while it sends.
        client.onConnected = { $0.send(bytes) }
        server.onConnected = { $0.send(bytes) }
        client.onReceived = { if $0.received.count == bytes.count, $0.unsent.isEmpty { $0.transport?.finishWriting() } }
        client.transport = TLSConnector(loop: loop, endpoint: listener.endpoint, context: clientContext).connect(client)
        func check() {
            if client.received.count == bytes.count, client.unsent.isEmpty { client.transport?.finishWriting() }
            guard client.isClosed, server.isClosed else {
                loop.schedule(after: .milliseconds(5)) { check() }
                return
            }
            #expect(client.received == bytes && server.received == bytes)
            #expect(client.error == nil && server.error == nil)
            listener.close()
            loop.stop()
        }
        check()
    }
}

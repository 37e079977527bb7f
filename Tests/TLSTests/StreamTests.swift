import EventLoop
import TLS
import Testing

@Suite struct StreamTests {
    @Test(arguments: [TLSVersion.tls12, .tls13])
    func `All data arrives byte by byte`(version: TLSVersion) throws {
        var client = TLSClientConfiguration.trusting
        client.versionMax = version
        let wire = try Wire(client: client, Wire.Options(clientPieceBytes: 1, serverPieceBytes: 1))
        let request = pattern(40_000)
        let answer = pattern(20_001)
        wire.client.onConnected = { $0.send(request) }
        wire.server.onReceived = { if $0.received.count == request.count { $0.send(answer) } }
        #expect(wire.start { wire.client.received.count == answer.count } == .done)
        #expect(wire.server.received == request && wire.client.received == answer)
        wire.close()
        #expect(wire.client.error == nil && wire.server.error == nil)
    }

    @Test(arguments: 0..<20)
    func `Data arrives in parts of any size`(seed: UInt64) throws {
        let wire = try Wire(Wire.Options(seed: seed))
        wire.loop.network.wholePiecesPercent = 10
        let request = pattern(300_000)
        let answer = pattern(200_000)
        wire.client.onConnected = { $0.send(request) }
        wire.server.onConnected = { $0.send(answer) }
        #expect(
            wire.start { wire.client.received.count == answer.count && wire.server.received.count == request.count }
                == .done)
        #expect(wire.server.received == request && wire.client.received == answer)
        wire.close()
    }

    @Test func `A flush becomes full records and one write below`() throws {
        let wire = try Wire()
        wire.loop.network.wholePiecesPercent = 100
        var pieces: [Int] = []
        #expect(wire.start { wire.areConnected } == .done)
        let connection = try #require(wire.loop.network.connections.first)
        connection.onDelivery = { direction, bytes in if direction == .toServer { pieces.append(bytes) } }
        wire.loop.enter { wire.client.send(pattern(48 * 1024)) }
        #expect(wire.run { wire.server.received.count == 48 * 1024 } == .done)
        // A TLS 1.3 record adds 5 bytes of header, 1 byte of type and 16 bytes of tag.
        #expect(pieces == [3 * (16 * 1024 + 22)])
        wire.close()
    }

    @Test func `A reader that pauses repeatedly limits the writer's memory`() throws {
        let wire = try Wire()
        let bytes = pattern(1_500_000)
        var mostTakenAhead = 0
        wire.client.onConnected = { $0.send(bytes) }
        wire.server.onReceived = { end in
            mostTakenAhead = max(mostTakenAhead, bytes.count - wire.client.unsent.count - end.received.count)
            end.transport?.pauseReading()
            wire.loop.schedule(after: .milliseconds(3)) { end.transport?.resumeReading() }
        }
        #expect(wire.start(limit: .seconds(600)) { wire.server.received.count == bytes.count } == .done)
        #expect(wire.server.received == bytes)
        #expect(wire.client.writableCount > 5)
        // The maximum is 128 KiB of ciphertext, a record, a window of 64 KiB, and one window in the receiver's backlog.
        #expect(mostTakenAhead <= (128 + 16 + 64 + 64) * 1024)
        wire.close()
    }

    @Test func `A slow transport below limits the writer's memory`() throws {
        let loop = VirtualLoop(seed: 0)
        let valve = Valve(loop: loop, handler: nil)
        var options = Wire.Options()
        options.clientValve = valve
        let wire = try Wire(options)
        let bytes = pattern(1_500_000)
        #expect(wire.start { wire.areConnected } == .done)
        wire.loop.enter {
            valve.allow(0)
            wire.client.send(bytes)
        }
        // The maximum is 128 KiB of pending ciphertext, plus the record that exceeds this limit.
        #expect(bytes.count - wire.client.unsent.count <= (128 + 16) * 1024)
        var round = 0
        while wire.server.received.count < bytes.count, round < 1000 {
            round += 1
            wire.loop.enter { valve.allow(50_000) }
            wire.run(limit: .milliseconds(20)) { false }
            #expect(bytes.count - wire.client.unsent.count <= (128 + 16) * 1024 + round * 50_000)
        }
        #expect(wire.server.received == bytes)
        #expect(wire.client.writableCount > 5)
        wire.close()
    }

    @Test func `Plaintext in OpenSSL is delivered after a pause without further input`() throws {
        let wire = try Wire()
        wire.client.onConnected = { $0.send(pattern(60_000)) }
        var pauses = 0
        wire.server.onReceived = { end in
            pauses += 1
            end.transport?.pauseReading()
        }
        wire.server.onPeerFinished = { _ in }
        #expect(wire.start { wire.server.received.count > 0 } == .done)
        wire.loop.enter { wire.client.transport?.finishWriting() }
        while !wire.server.hasPeerFinished, pauses < 1000 {
            let before = wire.server.received.count
            // Nothing is delivered while reading is paused.
            wire.run(limit: .milliseconds(50)) { false }
            #expect(wire.server.received.count == before && !wire.server.hasPeerFinished)
            wire.loop.enter { wire.server.transport?.resumeReading() }
            #expect(wire.run { wire.server.received.count > before || wire.server.hasPeerFinished } == .done)
        }
        #expect(wire.server.received == pattern(60_000) && pauses > 1)
        wire.loop.enter { wire.server.transport?.close() }
        wire.close()
    }

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func `One direction may end before the other`(version: TLSVersion) throws {
        var client = TLSClientConfiguration.trusting
        client.versionMax = version
        let wire = try Wire(client: client)
        wire.client.onConnected = { end in
            end.send("question")
            end.transport?.finishWriting()
            #expect(end.transport?.write(UnsafeRawBufferPointer(start: nil, count: 0)) == 0)
        }
        wire.server.onPeerFinished = { end in
            end.send(pattern(100_000))
            end.transport?.finishWriting()
        }
        #expect(wire.start { wire.client.hasPeerFinished } == .done)
        #expect(wire.client.received == pattern(100_000) && wire.server.received == Array("question".utf8))
        wire.loop.enter { wire.server.transport?.close() }
        #expect(wire.run { wire.areClosed } == .done)
        #expect(wire.client.error == nil && wire.server.error == nil)
    }

    @Test func `Accepted data arrives after close`() throws {
        let wire = try Wire()
        var written = 0
        wire.client.onConnected = { end in
            written = pattern(500_000).withUnsafeBytes { end.transport?.write($0) ?? 0 }
            end.transport?.close()
            end.transport?.close()
            #expect(end.transport?.write(UnsafeRawBufferPointer(start: nil, count: 0)) == 0)
        }
        #expect(wire.start { wire.areClosed } == .done)
        #expect(written > 100_000 && wire.server.received == Array(pattern(500_000)[..<written]))
        #expect(wire.server.hasPeerFinished && wire.client.error == nil && wire.server.error == nil)
    }

    @Test func `Close aborts if the peer does not read`() throws {
        let wire = try Wire()
        wire.server.onConnected = { $0.transport?.pauseReading() }
        wire.client.onConnected = { end in
            end.send(pattern(500_000))
            end.transport?.close()
        }
        #expect(wire.start { wire.client.isClosed } == .done)
        #expect(wire.client.error == nil)
        wire.loop.enter { wire.server.transport?.reset() }
        wire.run { wire.areClosed }
    }

    @Test func `A stream that ends without close_notify is an error`() throws {
        let wire = try Wire(Wire.Options(serverInputEndsAfter: 4_000))
        wire.client.onConnected = { $0.send(pattern(10_000)) }
        #expect(wire.start { wire.server.isClosed } == .done)
        #expect(wire.server.error?.code == .reset && !wire.server.hasPeerFinished)
        #expect(wire.server.error?.message.contains("close_notify") == true)
        wire.run { wire.areClosed }
    }

    @Test func `A cut connection is reported to both sides`() throws {
        let wire = try Wire()
        #expect(wire.start { wire.areConnected } == .done)
        wire.loop.enter { wire.loop.network.connections.first?.cut() }
        #expect(wire.run { wire.areClosed } == .done)
        #expect(wire.client.error?.code == .reset && wire.server.error?.code == .reset)
    }

    @Test func `A damaged record ends the stream`() throws {
        let loop = VirtualLoop(seed: 3)
        let (server, client) = (End(), End())
        let context = try TLSContext(server: .trusted)
        let clientContext = try TLSContext(client: .trusting)
        let endpoint = Endpoint(host: "localhost", port: 443)
        try loop.enter {
            _ = try loop.listen(on: endpoint) { accepted in
                _ = try? TLSTransport.accept(accepted, context: context, handler: server)
                if let handler = accepted.handler { accepted.handler = Damage(handler, at: 3_000) }
            }
            client.transport = TLSConnector(loop: loop, endpoint: endpoint, context: clientContext).connect(client)
            client.onConnected = { $0.send(pattern(10_000)) }
        }
        #expect(loop.run(limit: .seconds(60)) { server.isClosed && client.isClosed } == .done)
        #expect(server.error?.code == .tls && server.received.isEmpty)
        #expect(client.error != nil)
    }

    @Test func `A handler may end the stream from within any event`() throws {
        for reset in [false, true] {
            for event in 0..<3 {
                let wire = try Wire()
                func end(_ end: End) {
                    if reset { end.transport?.reset() } else { end.transport?.close() }
                    #expect(!end.isClosed)
                }
                wire.client.onConnected = { $0.send(pattern(100_000)) }
                switch event {
                case 0: wire.client.onConnected = end
                case 1: wire.server.onReceived = end
                default:
                    wire.client.onConnected = { client in
                        client.send("x")
                        client.transport?.finishWriting()
                    }
                    wire.server.onPeerFinished = end
                }
                #expect(wire.start { wire.areClosed } == .done)
            }
        }
    }
}

/// A handler that forwards bytes, and flips one bit of the byte at a given position.
private final class Damage: ByteStreamHandler {
    private let next: ByteStreamHandler
    private var bytesBefore: Int

    init(_ next: ByteStreamHandler, at position: Int) {
        self.next = next
        bytesBefore = position
    }

    override func connected(_ transport: ByteTransport) { next.connected(transport) }
    override func received(_ bytes: UnsafeRawBufferPointer) {
        var copy = Array(bytes)
        if copy.indices.contains(bytesBefore) { copy[bytesBefore] ^= 1 }
        bytesBefore -= copy.count
        copy.withUnsafeBytes { next.received($0) }
    }
    override func writable() { next.writable() }
    override func peerFinished() { next.peerFinished() }
    override func closed(_ error: TransportError?) { next.closed(error) }
}

/// Returns bytes that depend on their offsets, to detect misplaced data.
func pattern(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
}

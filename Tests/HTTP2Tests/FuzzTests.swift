import EventLoop
import HTTP2
import Testing

/// Damaged input. Both sides survive it, and each stream ends exactly once.
@Suite struct FuzzTests {
    @Test(arguments: 0..<60 as Range<UInt64>) func damagedBytes(seed: UInt64) throws {
        var generator = Generator(state: seed &* 0x9E37_79B9_7F4A_7C15 | 1)
        let rate = 1 + generator.below(400)
        let harness = try Harness(
            seed: seed,
            onRequest: { server, stream in
                server.server.respond(stream, status: 200, body: server.requests[stream.id]?.body ?? [])
            }, wrap: { Damage($0, generator: Generator(state: generator.next() | 1), oneIn: rate * 10) })
        var sent = 0
        for _ in 0..<20 {
            _ = harness.loop.run(limit: .milliseconds(1), until: { false })
            harness.loop.enter {
                for number in 0..<10
                where harness.client.request("/\(number)", body: [UInt8](repeating: 3, count: 300)) != nil {
                    sent += 1
                }
            }
        }
        harness.settle()
        harness.loop.enter { harness.client.client.abort() }
        harness.settle()
        #expect(harness.client.closes.count == 1)
        #expect(harness.client.ended == sent)
    }

    @Test(arguments: 0..<40 as Range<UInt64>) func randomFrames(seed: UInt64) throws {
        var generator = Generator(state: seed &* 0xD134_2543_DE82_EF95 | 1)
        var bytes = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0]
        for _ in 0..<200 {
            let count = generator.below(60)
            bytes += [0, 0, UInt8(count), UInt8(generator.below(12)), UInt8(generator.below(64)), 0, 0, 0]
            bytes.append(UInt8(generator.below(16)))
            for _ in 0..<count { bytes.append(UInt8(truncatingIfNeeded: generator.next())) }
        }
        let harness = BareHarness(seed: seed)
        let server = ScriptedServer { server, stream in server.server.respond(stream, status: 200, body: [1, 2, 3]) }
        let client = RecordingClient()
        try harness.connect(RawPeer(bytes), to: server)
        try harness.connect(client, to: RawPeer(Array(bytes[24...])), at: Endpoint(host: "other", port: 1))
        _ = harness.loop.run(limit: .seconds(60), until: { false })
        #expect(server.closes.count <= 1)
        #expect(client.closes.count <= 1)
    }
}

/// A handler that flips a bit of one in `oneIn` received bytes on average.
private final class Damage: ByteStreamHandler {
    private let inner: ByteStreamHandler
    private var generator: Generator
    private let oneIn: Int

    init(_ inner: ByteStreamHandler, generator: Generator, oneIn: Int) {
        self.inner = inner
        self.generator = generator
        self.oneIn = oneIn
    }

    override func connected(_ transport: ByteTransport) { inner.connected(transport) }
    override func received(_ bytes: UnsafeRawBufferPointer) {
        var damaged = [UInt8](bytes)
        for index in damaged.indices where generator.below(oneIn) == 0 {
            damaged[index] ^= 1 << UInt8(generator.below(8))
        }
        damaged.withUnsafeBytes { inner.received($0) }
    }
    override func writable() { inner.writable() }
    override func peerFinished() { inner.peerFinished() }
    override func closed(_ error: TransportError?) { inner.closed(error) }
}

/// A random generator, SplitMix64.
private struct Generator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}

import Testing

@testable import EventLoop

@Suite struct VirtualLoopTests {
    /// A handler that counts received bytes. It sends a piece when it is connected and after each received piece, and
    /// closes the transport after `rounds` pieces.
    private final class Talker: ByteStreamHandler {
        var transport: ByteTransport?
        var received = 0
        var ended: [TransportError?] = []
        let rounds: Int
        var sent = 0

        init(rounds: Int) { self.rounds = rounds }

        override func connected(_ transport: ByteTransport) {
            self.transport = transport
            sendNext()
        }
        override func received(_ bytes: UnsafeRawBufferPointer) {
            received += bytes.count
            sendNext()
        }
        override func peerFinished() { transport?.close() }
        override func closed(_ error: TransportError?) { ended.append(error) }

        private func sendNext() {
            guard let transport else { return }
            guard sent < rounds else { return transport.close() }
            sent += 1
            let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: sent), count: 100 + sent)
            _ = bytes.withUnsafeBytes { transport.write($0) }
        }
    }

    private func history(seed: UInt64, cutAfter: Int?) -> (hash: UInt64, clientEnds: [TransportError?], received: Int) {
        let loop = VirtualLoop(seed: seed)
        let client = Talker(rounds: 50)
        loop.enter {
            if let cutAfter { loop.network.onConnect = { $0.cut(after: cutAfter, .toServer) } }
            let listener = try? loop.listen(on: Endpoint(host: "server", port: 1)) { $0.handler = Talker(rounds: 50) }
            #expect(listener != nil)
            _ = loop.connect(to: Endpoint(host: "server", port: 1), handler: client)
        }
        #expect(loop.run(limit: .seconds(60), until: { !client.ended.isEmpty }) == .done)
        return (loop.network.history.value, client.ended, loop.network.connections[0].deliveredToServer)
    }

    // Actions that other actions add run after all earlier actions, and the loop keeps no action.
    @Test func deferredActionsRunInOrderInTheSameIteration() {
        let loop = VirtualLoop(seed: 1)
        var ran: [Int] = []
        weak var held: Talker?
        loop.enter {
            let captured = Talker(rounds: 0)
            held = captured
            for number in 0..<3 {
                loop.later {
                    ran.append(number)
                    loop.later { ran.append(10 + number + captured.rounds) }
                }
            }
        }
        #expect(held != nil && ran.isEmpty)
        #expect(loop.run(limit: .zero, until: { true }) == .done)
        #expect(ran == [0, 1, 2, 10, 11, 12] && held == nil)
    }

    @Test func historyDependsOnlyOnTheSeed() {
        #expect(history(seed: 1, cutAfter: nil).hash == history(seed: 1, cutAfter: nil).hash)
        #expect(history(seed: 1, cutAfter: nil).hash != history(seed: 2, cutAfter: nil).hash)
    }

    @Test(arguments: [1, 101, 777, 2_000])
    func aCutLosesAllLaterBytes(bytes: Int) {
        let result = history(seed: 3, cutAfter: bytes)
        #expect(result.received == bytes)
        #expect(result.clientEnds.first??.code == .reset)
        #expect(result.clientEnds.count == 1)
    }

    @Test func timePassesOnlyWithoutWork() {
        let loop = VirtualLoop(seed: 1)
        var fired: [Duration] = []
        loop.enter {
            let start = loop.now.monotonic
            for seconds in [3600, 1, 86_400] {
                loop.schedule(after: .seconds(seconds)) { fired.append(start.duration(to: loop.now.monotonic)) }
            }
        }
        #expect(loop.run(limit: .seconds(100_000), until: { fired.count == 3 }) == .done)
        #expect(fired == [.seconds(1), .seconds(3600), .seconds(86_400)])
        #expect(loop.run(limit: .seconds(1), until: { false }) == .idle)
    }

    @Test func aFullWindowStopsTheWriter() {
        final class Silent: ByteStreamHandler {
            override func connected(_ transport: ByteTransport) { transport.pauseReading() }
        }
        final class Flood: ByteStreamHandler {
            var taken = 0
            override func connected(_ transport: ByteTransport) {
                let bytes = [UInt8](repeating: 0, count: 1 << 20)
                taken = bytes.withUnsafeBytes { transport.write($0) }
            }
        }
        let loop = VirtualLoop(seed: 1)
        let flood = Flood()
        loop.enter {
            _ = try? loop.listen(on: Endpoint(host: "server", port: 1)) { $0.handler = Silent() }
            _ = loop.connect(to: Endpoint(host: "server", port: 1), handler: flood)
        }
        _ = loop.run(limit: .seconds(1), until: { flood.taken > 0 })
        #expect(flood.taken == VirtualNetwork.windowBytes)
    }

    // A process that creates thousands of virtual loops needs their memory again.
    @Test func anUnfinishedWorldIsReleasedCompletely() throws {
        weak var kept: VirtualLoop?
        var ends: [TransportError?] = []
        try {
            let loop = VirtualLoop(seed: 1)
            kept = loop
            let (client, server) = (Talker(rounds: 50), Talker(rounds: 50))
            let late = Talker(rounds: 50)
            try loop.enter {
                _ = try loop.listen(on: Endpoint(host: "server", port: 1)) { $0.handler = server }
                _ = loop.connect(to: Endpoint(host: "server", port: 1), handler: client)
                loop.schedule(after: .seconds(3600)) { _ = loop.now }
            }
            #expect(loop.run(limit: .seconds(60), until: { client.received > 0 }) == .done)
            loop.enter { _ = loop.connect(to: Endpoint(host: "server", port: 1), handler: late) }
            loop.end()
            ends = [client, server, late].flatMap(\.ended)
        }()
        #expect(ends.map { $0?.code } == [.reset, .reset, .reset])
        #expect(kept == nil)
    }

    @Test func endedConnectionsAreReleased() throws {
        let loop = VirtualLoop(seed: 1)
        weak var kept: Talker?
        try {
            let server = Talker(rounds: 1)
            kept = server
            try loop.enter {
                let listener = try loop.listen(on: Endpoint(host: "server", port: 1)) { [unowned server] in
                    $0.handler = server
                }
                _ = loop.connect(to: Endpoint(host: "server", port: 1), handler: Talker(rounds: 1))
                loop.schedule(after: .seconds(1)) { listener.close() }
            }
            #expect(loop.run(limit: .seconds(60), until: { !server.ended.isEmpty }) == .done)
        }()
        _ = loop.run(limit: .seconds(60), until: { false })
        #expect(kept == nil)
        #expect(loop.network.connections.count == 1)
    }
}

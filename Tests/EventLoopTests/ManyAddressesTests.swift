import CLinux
import Glibc
import Testing
import Threads

@testable import EventLoop

/// Names with several addresses, on the loopback network.
@Suite struct ManyAddressesTests {
    private static let place = Endpoint(host: "push.example.com", port: 443)

    /// A listener with a full queue. The kernel drops further connects, like a network that forwards nothing.
    private final class BlackHole {
        private var descriptors: [Int32] = []

        init?(_ address: SocketAddress) {
            let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
            let listener = socket(address.family, kind, 0)
            descriptors = [listener]
            guard address.withPointer({ bind(listener, $0, $1) }) == 0, listen(listener, 0) == 0 else { return nil }
            for _ in 0..<4 {
                let filler = socket(address.family, kind, 0)
                descriptors.append(filler)
                _ = address.withPointer { connect(filler, $0, $1) }
            }
        }

        deinit {
            for descriptor in descriptors { close(descriptor) }
        }
    }

    /// A handler that reports the outcome of a connection when the connection is closed.
    private final class Client: ByteStreamHandler {
        enum Outcome: Sendable, Equatable {
            case connected([UInt8])
            case failed(TransportError?)
        }

        private var transport: ByteTransport?
        private var outcome: Outcome?
        private let closesImmediately: Bool
        private let ended: (Outcome) -> Void

        init(closesImmediately: Bool = false, _ ended: @escaping (Outcome) -> Void) {
            self.closesImmediately = closesImmediately
            self.ended = ended
        }

        override func connected(_ transport: ByteTransport) {
            self.transport = transport
            outcome = .connected(transport.peerAddress)
            if closesImmediately { transport.close() }
        }
        override func received(_ bytes: UnsafeRawBufferPointer) { transport?.close() }
        override func peerFinished() { transport?.close() }
        override func closed(_ error: TransportError?) { ended(outcome ?? .failed(error)) }
    }

    /// A handler that sends one byte to each accepted client, or closes the connection immediately.
    private final class Server: ByteStreamHandler {
        private let greets: Bool
        private var transport: ByteTransport?

        init(greets: Bool) { self.greets = greets }

        override func connected(_ transport: ByteTransport) {
            self.transport = transport
            guard greets else { return transport.close() }
            _ = [UInt8(1)].withUnsafeBytes { transport.write($0) }
        }
        override func peerFinished() { transport?.close() }
    }

    private struct Network {
        let loop: EpollLoop
        /// 127.0.0.1 at the port of the greeting server.
        let greeting: SocketAddress

        func address(_ host: String) -> SocketAddress {
            Resolver.numeric(Endpoint(host: host, port: greeting.port))![0]
        }
    }

    private struct RunResult: Sendable {
        var outcomes: [Client.Outcome] = []
        var port: UInt16 = 0
        var addresses: [SocketAddress] = []
        /// The addresses in the order of the loop's next attempts.
        var order: [SocketAddress] = []
    }

    private static func outcomes(
        _ count: Int, options: ConnectOptions = ConnectOptions(),
        _ prepare: @escaping @Sendable (Network) -> (addresses: [SocketAddress], keep: AnyObject?)
    ) async -> [Client.Outcome] {
        await run(count, options: options, prepare).outcomes
    }

    /// Connects `count` times in sequence to a name with the addresses that `prepare` returns.
    private static func run(
        _ count: Int, options: ConnectOptions = ConnectOptions(), closesImmediately: Bool = false,
        _ prepare: @escaping @Sendable (Network) -> (addresses: [SocketAddress], keep: AnyObject?)
    ) async -> RunResult {
        await DetachedThread.run {
            // The result and the object stay on this thread, which runs the loop.
            nonisolated(unsafe) var result = RunResult()
            nonisolated(unsafe) var kept: AnyObject?
            guard let loop = try? EpollLoop() else { return result }
            loop.post {
                let listener = try? loop.listen(on: Endpoint(host: "127.0.0.1", port: 0)) {
                    $0.handler = Server(greets: true)
                }
                guard let listener, let greeting = Resolver.numeric(listener.endpoint)?[0] else { return loop.stop() }
                let (addresses, keep) = prepare(Network(loop: loop, greeting: greeting))
                kept = keep
                loop.nameLookups = NameLookups { _ in .success(addresses.map { $0.with(port: 0) }) }
                let place = Endpoint(host: "push.example.com", port: greeting.port)
                result.port = greeting.port
                result.addresses = addresses
                func connect() {
                    guard result.outcomes.count < count else {
                        result.order = loop.addressMemory.ordered(addresses, of: place, loop.now.monotonic)
                        return loop.stop()
                    }
                    let client = Client(closesImmediately: closesImmediately) {
                        result.outcomes.append($0)
                        connect()
                    }
                    _ = loop.connect(to: place, options: options, handler: client)
                }
                connect()
            }
            loop.run()
            _ = kept
            return result
        }
    }

    private static let home: [UInt8] = [127, 0, 0, 1]

    @Test func refusingAddressesAreSkipped() async {
        let outcomes = await Self.outcomes(2) { network in
            let dead = (2...5).map { network.address("127.0.0.\($0)") } + [network.address("::1")]
            return (dead + [network.greeting], nil)
        }
        #expect(outcomes == [.connected(Self.home), .connected(Self.home)])
    }

    // Sequential attempts would wait for each silent address before the reachable address.
    @Test func silentAddressesAreSkipped() async {
        final class Holes {
            var holes: [BlackHole] = []
        }
        var options = ConnectOptions()
        options.connectSecondsMax = 4
        let outcomes = await Self.outcomes(2, options: options) { network in
            let holes = Holes()
            // A listener of another test may have the port at one of the addresses.
            let dead = (2...9).map { network.address("127.0.0.\($0)") }.filter { address in
                guard holes.holes.count < 4, let hole = BlackHole(address) else { return false }
                holes.holes.append(hole)
                return true
            }
            #expect(dead.count == 4)
            return (dead + [network.greeting], holes)
        }
        #expect(outcomes == [.connected(Self.home), .connected(Self.home)])
    }

    @Test func onlyDeadAddresses() async {
        var options = ConnectOptions()
        options.connectSecondsMax = 1
        let result = await Self.run(1, options: options) { network in
            let (hole, refusing) = (network.address("127.0.0.2"), network.address("127.0.0.3"))
            return ([refusing, hole], BlackHole(hole))
        }
        let place = "push.example.com:\(result.port)"
        #expect(
            result.outcomes == [
                .failed(TransportError(.timedOut, "\(place): no connection within 1 s (2 addresses attempted)"))
            ])
    }

    @Test func lastFailureIsReported() async {
        let outcomes = await Self.outcomes(1) { network in
            ([network.address("127.0.0.2"), network.address("127.0.0.3")], nil)
        }
        guard case .failed(let error?) = outcomes.first else {
            Issue.record("the client connected")
            return
        }
        #expect(error.code == .refused && error.message.hasSuffix("Connection refused (2 addresses attempted)"))
    }

    @Test func anAddressThatEndsConnectionsWithoutAByteIsTriedLast() async {
        final class Listener {
            let listener: ByteListener?
            init(_ listener: ByteListener?) { self.listener = listener }
        }
        let outcomes = await Self.outcomes(3) { network in
            let other = network.address("127.0.0.2")
            let listener = try? network.loop.listen(on: Endpoint(host: "127.0.0.2", port: network.greeting.port)) {
                $0.handler = Server(greets: false)
            }
            #expect(listener != nil)
            return ([other, network.greeting], Listener(listener))
        }
        #expect(outcomes == [.connected([127, 0, 0, 2]), .connected(Self.home), .connected(Self.home)])
    }

    @Test func anAddressWhoseConnectionWeCloseImmediatelyKeepsItsPlace() async {
        let result = await Self.run(1, closesImmediately: true) { network in
            ([network.greeting, network.address("127.0.0.2")], nil)
        }
        #expect(result.outcomes == [.connected(Self.home)])
        #expect(result.order == result.addresses && result.order.count == 2)
    }

    @Test func theAddressThatWorkedIsRemembered() async {
        let result = await Self.run(2) { network in ([network.address("127.0.0.2"), network.greeting], nil) }
        #expect(result.outcomes == [.connected(Self.home), .connected(Self.home)])
        #expect(result.order == result.addresses.reversed() && result.order.count == 2)
    }

    @Test func aCancelledConnectLeavesNoDescriptorOpen() async {
        let error = await DetachedThread.run { () -> TransportError?? in
            guard let loop = try? EpollLoop() else { return nil }
            nonisolated(unsafe) var result: TransportError??
            loop.post {
                let place = Endpoint(host: "127.0.0.1", port: 1)
                guard let address = Resolver.numeric(place)?[0] else { return loop.stop() }
                loop.nameLookups = NameLookups { _ in .success([address]) }
                let client = Client { outcome in
                    if case .failed(let error) = outcome { result = .some(error) }
                    loop.stop()
                }
                loop.connect(to: Self.place, handler: client).reset()
            }
            loop.run()
            return result
        }
        #expect(error == .some(nil))
    }
}

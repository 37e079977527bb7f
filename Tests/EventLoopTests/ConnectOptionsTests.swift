import CLinux
import Glibc
import Testing
import Threads

@testable import EventLoop

/// Options of a connected socket on the loopback interface, as the kernel reports them.
@Suite struct ConnectOptionsTests {
    private struct Seen: Sendable, Equatable {
        var noDelay: Int32 = 0
        var userTimeout: Int32 = 0
        var keepalive: Int32 = 0
        var keepaliveIdle: Int32 = 0
        var keepaliveInterval: Int32 = 0
        var sendBuffer: Int32 = 0
        var receiveBuffer: Int32 = 0
        var typeOfService: Int32 = 0
        var trafficClass: Int32 = 0
        var localHost: [UInt8] = []
        /// The client's address, as seen by the listener.
        var peerHost: [UInt8] = []

        init() {}

        init(_ descriptor: Int32) {
            func get(_ level: Int32, _ option: Int32) -> Int32 {
                var value: Int32 = -1
                var length = socklen_t(MemoryLayout<Int32>.size)
                return getsockopt(descriptor, level, option, &value, &length) == 0 ? value : -1
            }
            let tcp = Int32(IPPROTO_TCP)
            noDelay = get(tcp, TCP_NODELAY)
            userTimeout = get(tcp, TCP_USER_TIMEOUT)
            keepalive = get(SOL_SOCKET, SO_KEEPALIVE)
            keepaliveIdle = get(tcp, TCP_KEEPIDLE)
            keepaliveInterval = get(tcp, TCP_KEEPINTVL)
            sendBuffer = get(SOL_SOCKET, SO_SNDBUF)
            receiveBuffer = get(SOL_SOCKET, SO_RCVBUF)
            typeOfService = get(Int32(IPPROTO_IP), IP_TOS)
            trafficClass = get(Int32(IPPROTO_IPV6), IPV6_TCLASS)
            localHost = SocketAddress.local(of: descriptor)?.hostBytes ?? []
        }
    }

    private final class Client: ByteStreamHandler {
        private let connected: (TCPTransport?) -> Void
        private let ended: (TransportError?) -> Void

        init(connected: @escaping (TCPTransport?) -> Void, ended: @escaping (TransportError?) -> Void) {
            (self.connected, self.ended) = (connected, ended)
        }

        override func connected(_ transport: ByteTransport) {
            connected(transport as? TCPTransport)
            transport.reset()
        }

        override func closed(_ error: TransportError?) { ended(error) }
    }

    /// Connects to a listener on `host`. Returns the options of the client's socket, or the error of the connection.
    private static func connect(
        to host: String, _ options: ConnectOptions
    ) async -> Result<Seen, TransportError> {
        await DetachedThread.run {
            nonisolated(unsafe) var seen = Seen()
            nonisolated(unsafe) var failure: TransportError?
            guard let loop = try? EpollLoop() else { return .success(seen) }
            loop.post {
                let listener = try? loop.listen(on: Endpoint(host: host, port: 0)) { transport in
                    seen.peerHost = transport.peerAddress
                    // The connection stays open until the client resets it.
                    transport.handler = ByteStreamHandler()
                }
                guard let listener else { return loop.stop() }
                let client = Client(
                    connected: { transport in
                        let peerHost = seen.peerHost
                        seen = transport.map { Seen($0.descriptor) } ?? Seen()
                        seen.peerHost = peerHost
                    },
                    ended: { error in
                        failure = error
                        // The listener may accept after the client has connected.
                        loop.schedule(after: .milliseconds(50)) {
                            listener.close()
                            loop.stop()
                        }
                    })
                _ = loop.connect(to: listener.endpoint, options: options, handler: client)
            }
            loop.run()
            return failure.map { .failure($0) } ?? .success(seen)
        }
    }

    @Test func timeLimitsReachTheSocket() async throws {
        var options = ConnectOptions()
        options.userTimeoutSeconds = 7
        options.keepaliveSeconds = 90
        let seen = try await Self.connect(to: "127.0.0.1", options).get()
        #expect(seen.noDelay == 1)
        #expect(seen.userTimeout == 7000)
        #expect(seen.keepalive == 1 && seen.keepaliveIdle == 90 && seen.keepaliveInterval == 75)
        options.keepaliveSeconds = 20
        let short = try await Self.connect(to: "127.0.0.1", options).get()
        #expect(short.keepaliveIdle == 20 && short.keepaliveInterval == 20)
    }

    // The kernel doubles the size for its own bookkeeping (socket(7)).
    @Test func buffersReachTheSocket() async throws {
        var options = ConnectOptions()
        (options.sendBufferBytes, options.receiveBufferBytes) = (40_000, 50_000)
        let seen = try await Self.connect(to: "127.0.0.1", options).get()
        #expect(seen.sendBuffer == 80_000 && seen.receiveBuffer == 100_000)
    }

    @Test func theTrafficClassReachesTheSocketOfEitherVersion() async throws {
        var options = ConnectOptions()
        options.dscp = 10
        #expect(try await Self.connect(to: "127.0.0.1", options).get().typeOfService == 40)
        #expect(try await Self.connect(to: "::1", options).get().trafficClass == 40)
        options.dscp = ConnectOptions.dscpMax
        #expect(try await Self.connect(to: "127.0.0.1", options).get().typeOfService == 252)
        #expect(try await Self.connect(to: "::1", options).get().trafficClass == 252)
    }

    @Test func aConnectionComesFromTheSourceAddress() async throws {
        var options = ConnectOptions()
        options.sourceAddress = SourceAddress("127.0.0.9")
        let seen = try await Self.connect(to: "127.0.0.1", options).get()
        #expect(seen.localHost == [127, 0, 0, 9] && seen.peerHost == [127, 0, 0, 9])
        options.sourceAddress = SourceAddress("::1")
        let other = try await Self.connect(to: "::1", options).get()
        #expect(other.localHost == Array(repeating: 0, count: 15) + [1] && other.peerHost == other.localHost)
    }

    @Test func withoutOptionsTheKernelDecides() async throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { Glibc.close(descriptor) }
        let plain = Seen(descriptor)
        let seen = try await Self.connect(to: "127.0.0.1", ConnectOptions()).get()
        #expect(seen.userTimeout == 60_000 && seen.keepalive == 1)
        #expect(seen.keepaliveIdle == plain.keepaliveIdle && seen.keepaliveInterval == plain.keepaliveInterval)
        #expect(seen.typeOfService == 0 && seen.localHost == [127, 0, 0, 1])
        // Without a fixed size, the kernel adapts the buffers and does not double a size.
        #expect(seen.sendBuffer >= plain.sendBuffer && seen.receiveBuffer >= plain.receiveBuffer)
    }

    // 192.0.2.0/24 is reserved for documentation (RFC 5737).
    @Test func anAddressOfAnotherMachineIsARetriableFailure() async {
        var options = ConnectOptions()
        options.sourceAddress = SourceAddress("192.0.2.7")
        guard case .failure(let error) = await Self.connect(to: "127.0.0.1", options) else {
            Issue.record("the client connected from an address of another machine")
            return
        }
        #expect(error.message.contains("cannot connect from 192.0.2.7: "))
        #expect(error.isRetriable && error.underlying == EADDRNOTAVAIL)
    }

    @Test func addressesOfTheOtherVersionAreNotAttempted() async {
        var options = ConnectOptions()
        options.sourceAddress = SourceAddress("::1")
        guard case .failure(let error) = await Self.connect(to: "127.0.0.1", options) else {
            Issue.record("the client connected over another version of IP")
            return
        }
        #expect(error.message.hasSuffix("no address of the IP version of the source address ::1"))
        #expect(error.isRetriable)
    }

    @Test(arguments: ["10.0.0.5", "127.0.0.1", "::1", "2001:db8::5", "::ffff:10.0.0.5"])
    func addressesAreSourceAddresses(_ text: String) throws {
        #expect(try #require(SourceAddress(text)).description == text)
    }

    @Test(arguments: ["", "localhost", "127.1", "10.0.0.0/8", "10.0.0.5:80", "[::1]", "::1:g", "10.0.0.256", "eth0"])
    func otherTextsAreNoSourceAddresses(_ text: String) {
        #expect(SourceAddress(text) == nil)
    }

    // A virtual loop has no kernel that could use the address, the class or the buffer size.
    @Test func aVirtualLoopHonorsOnlyTimeLimits() {
        let loop = VirtualLoop(seed: 1)
        var options = ConnectOptions()
        options.sourceAddress = SourceAddress("192.0.2.7")
        (options.dscp, options.sendBufferBytes) = (10, 4096)
        nonisolated(unsafe) var ended: [TransportError?] = []
        loop.enter {
            let client = Client(connected: { _ in }, ended: { ended.append($0) })
            _ = loop.connect(to: Endpoint(host: "peer", port: 1), options: options, handler: client)
        }
        _ = loop.run(limit: .seconds(60)) { !ended.isEmpty }
        #expect(ended.map { $0?.code } == [.refused])
    }
}

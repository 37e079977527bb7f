import Glibc
import Testing
import Threads

@testable import EventLoop

@Suite struct TCPTests {
    /// A handler that echoes received bytes, and closes after the peer's last byte is echoed.
    private final class Echo: ByteStreamHandler {
        var transport: ByteTransport?
        var output = OutputBuffer(bytesMax: 1 << 20)
        var finished = false

        override func connected(_ transport: ByteTransport) { self.transport = transport }
        override func received(_ bytes: UnsafeRawBufferPointer) {
            output.append(bytes)
            if output.isFull { transport?.pauseReading() }
            transport?.loop.flushAfterIteration(self)
        }
        override func flush() { drain() }
        override func writable() { drain() }
        override func peerFinished() {
            finished = true
            drain()
        }

        private func drain() {
            guard let transport, output.write(to: transport) else { return }
            transport.resumeReading()
            if finished { transport.close() }
        }
    }

    /// A handler that sends `count` bytes, finishes writing, and compares the echo with the sent bytes.
    private final class Sender: ByteStreamHandler {
        var transport: ByteTransport?
        var output = OutputBuffer(bytesMax: .max)
        var receivedBytes = 0
        var mismatch = false
        var end: (Sender, TransportError?) -> Void

        init(count: Int, _ end: @escaping (Sender, TransportError?) -> Void) {
            self.end = end
            super.init()
            output.append(upTo: count) { space in
                for index in space.indices { space[index] = UInt8(truncatingIfNeeded: index &* 31) }
                return count
            }
        }

        override func connected(_ transport: ByteTransport) {
            self.transport = transport
            writable()
        }
        override func writable() {
            guard let transport else { return }
            if output.write(to: transport) { transport.finishWriting() }
        }
        override func received(_ bytes: UnsafeRawBufferPointer) {
            for byte in bytes {
                if byte != UInt8(truncatingIfNeeded: receivedBytes &* 31) { mismatch = true }
                receivedBytes += 1
            }
        }
        override func peerFinished() { transport?.close() }
        override func closed(_ error: TransportError?) { end(self, error) }
    }

    @Test(arguments: [0, 1, 100_000, 20_000_000])
    func everyByteIsEchoed(count: Int) async throws {
        let outcome = await DetachedThread.run { () -> (Int, Bool, TransportError?) in
            guard let loop = try? EpollLoop() else { return (-1, true, nil) }
            nonisolated(unsafe) var result = (-1, true, TransportError?.none)
            loop.post {
                let listener = try? loop.listen(on: Endpoint(host: "127.0.0.1", port: 0)) { $0.handler = Echo() }
                guard let listener else { return loop.stop() }
                let sender = Sender(count: count) { sender, error in
                    result = (sender.receivedBytes, sender.mismatch, error)
                    listener.close()
                    loop.stop()
                }
                _ = loop.connect(to: listener.endpoint, handler: sender)
            }
            loop.run()
            return result
        }
        #expect(outcome.0 == count)
        #expect(!outcome.1)
        #expect(outcome.2 == nil)
    }

    @Test func peerHasAnAddress() async throws {
        for (host, bytes) in [("127.0.0.1", [127, 0, 0, 1]), ("::1", Array(repeating: 0, count: 15) + [1])]
            as [(String, [UInt8])]
        {
            let seen = await DetachedThread.run { () -> [UInt8]? in
                guard let loop = try? EpollLoop() else { return nil }
                nonisolated(unsafe) var seen: [UInt8]?
                loop.post {
                    let listener = try? loop.listen(on: Endpoint(host: host, port: 0)) { transport in
                        seen = transport.peerAddress
                        transport.handler = Echo()
                    }
                    guard let listener else { return loop.stop() }
                    let sender = Sender(count: 1) { _, _ in
                        listener.close()
                        loop.stop()
                    }
                    _ = loop.connect(to: listener.endpoint, handler: sender)
                }
                loop.run()
                return seen
            }
            #expect(seen == bytes)
        }
    }

    private func errorOfConnecting(to endpoint: Endpoint) async -> TransportError? {
        await DetachedThread.run {
            guard let loop = try? EpollLoop() else { return nil }
            nonisolated(unsafe) var result: TransportError?
            loop.post {
                let sender = Sender(count: 1) { _, error in
                    result = error
                    loop.stop()
                }
                _ = loop.connect(to: endpoint, handler: sender)
            }
            loop.run()
            return result
        }
    }

    @Test func aPortWithoutListenerRefuses() async throws {
        let error = await errorOfConnecting(to: Endpoint(host: "127.0.0.1", port: 1))
        #expect(error?.code == .refused)
    }

    @Test func aChangedAddressIsUsedAtTheNextConnect() async throws {
        let hosts = await DetachedThread.run { () -> [Int] in
            guard let loop = try? EpollLoop() else { return [] }
            // The array is used only on this thread, by the loop that runs on it.
            nonisolated(unsafe) var accepted: [Int] = []
            loop.post {
                let listeners = (0..<2).compactMap { number in
                    try? loop.listen(on: Endpoint(host: "127.0.0.1", port: 0)) { transport in
                        accepted.append(number)
                        transport.handler = Echo()
                    }
                }
                let addresses = listeners.compactMap { Resolver.numeric($0.endpoint) }
                guard addresses.count == 2 else { return loop.stop() }
                func connect(_ number: Int) {
                    guard number < addresses.count else {
                        for listener in listeners { listener.close() }
                        return loop.stop()
                    }
                    let address = addresses[number]
                    loop.nameLookups = NameLookups { _ in .success(address) }
                    let sender = Sender(count: 1) { _, _ in connect(number + 1) }
                    let place = Endpoint(host: "push.example.com", port: listeners[number].endpoint.port)
                    _ = loop.connect(to: place, handler: sender)
                }
                connect(0)
            }
            loop.run()
            return accepted
        }
        #expect(hosts == [0, 1])
    }

    @Test func anUnknownNameIsReportedWithItsHost() async throws {
        let error = await errorOfConnecting(to: Endpoint(host: "no-such-host.invalid", port: 1))
        #expect(error?.code == .resolve)
        #expect(error?.message.contains("no-such-host.invalid") == true)
    }

    @Test func aResetIsReportedAndNoSignalEndsTheProcess() async throws {
        final class Resetter: ByteStreamHandler {
            override func connected(_ transport: ByteTransport) { transport.reset() }
        }
        let error = await DetachedThread.run { () -> TransportError? in
            guard let loop = try? EpollLoop() else { return nil }
            nonisolated(unsafe) var result: TransportError?
            loop.post {
                let listener = try? loop.listen(on: Endpoint(host: "127.0.0.1", port: 0)) { $0.handler = Resetter() }
                guard let listener else { return loop.stop() }
                let sender = Sender(count: 50_000_000) { _, error in
                    result = error
                    listener.close()
                    loop.stop()
                }
                _ = loop.connect(to: listener.endpoint, handler: sender)
            }
            loop.run()
            return result
        }
        #expect(error?.code == .reset)
    }
}

import Testing

@testable import EventLoop

@Suite struct GuestLoopTests {
    private static let place = Endpoint(host: "server", port: 1)

    /// A handler that sends three bytes, echoes received bytes up to a limit, and records whether the guest runs at
    /// each event.
    private final class Echo: ByteStreamHandler {
        var events: [String] = []
        let bytesMax: Int
        private var received = 0
        private var transport: ByteTransport?
        private let isGuestRunning: () -> Bool

        init(bytesMax: Int, _ isGuestRunning: @escaping () -> Bool) {
            self.bytesMax = bytesMax
            self.isGuestRunning = isGuestRunning
        }

        private func note(_ event: String) { events.append("\(event) \(isGuestRunning() ? "in" : "out")") }

        override func connected(_ transport: ByteTransport) {
            self.transport = transport
            note("connected")
            _ = [UInt8(1), 2, 3].withUnsafeBytes { transport.write($0) }
        }

        override func received(_ bytes: UnsafeRawBufferPointer) {
            note("received")
            received += bytes.count
            if received >= bytesMax { transport?.close() } else { _ = transport?.write(bytes) }
        }

        override func peerFinished() {
            note("finished")
            transport?.close()
        }

        override func closed(_: TransportError?) { note("closed") }
    }

    @Test func onlyTheGuestsCodeRunsInTheGuest() throws {
        let loop = VirtualLoop(seed: 1)
        loop.network.wholePiecesPercent = 100
        let guest = NestedLoop(on: loop)
        var switches: [Bool] = []
        guest.onSwitch = { switches.append($0) }
        let isRunning = { switches.last == true }
        let server = Echo(bytesMax: .max, isRunning)
        let client = Echo(bytesMax: 9, isRunning)
        try loop.enter {
            _ = try loop.listen(on: Self.place) { $0.handler = server }
            guest.schedule(after: .zero) { _ = guest.connect(to: Self.place, handler: client) }
        }
        #expect(loop.run(limit: .seconds(1), until: { client.events.last == "closed in" }) == .done)
        #expect(client.events.first == "connected in" && client.events.dropFirst().allSatisfy { $0.hasSuffix(" in") })
        #expect(server.events.count > 2 && server.events.allSatisfy { $0.hasSuffix(" out") })
        // The loop enters and leaves the guest alternately.
        #expect(switches.enumerated().allSatisfy { $1 == $0.isMultiple(of: 2) })
        #expect(switches.last == false)
    }

    @Test func aGuestHasItsHostsTimeAndItsOwnTimersAndTasks() {
        let loop = VirtualLoop(seed: 1)
        let guest = NestedLoop(on: loop)
        let seen = Seen()
        loop.enter {
            _ = guest.schedule(after: .seconds(2)) {
                Task(executorPreference: guest) {
                    await guest.sleep(for: .seconds(3))
                    seen.time = guest.now.monotonic
                    seen.isOnGuest = guest.isOnLoop
                }
            }
        }
        let begin = loop.now.monotonic
        #expect(loop.run(limit: .seconds(10), until: { seen.time != nil }) == .done)
        #expect(seen.time == begin + .seconds(5) && loop.now.monotonic == begin + .seconds(5))
        #expect(seen.isOnGuest)
        #expect(guest.jobsFromOtherThreads == 0)
        #expect(loop.run(limit: .seconds(1), until: { false }) == .idle)
    }

    /// The observations of a task. The class is `@unchecked Sendable`, because it is used only on the thread that
    /// runs the loop.
    private final class Seen: @unchecked Sendable {
        var time: MonotonicTime?
        var isOnGuest = false
    }
}

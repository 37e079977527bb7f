import CLinux
import EventLoop
import Glibc
import Synchronization
import TestKit
import Testing

@Suite struct DescriptorWatchTests {
    /// Two connected sockets.
    private struct Pair {
        let ours: Int32
        let theirs: Int32

        init() {
            var ends: [Int32] = [-1, -1]
            socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0, &ends)
            (ours, theirs) = (ends[0], ends[1])
        }

        func close() {
            Glibc.close(ours)
            Glibc.close(theirs)
        }
    }

    @Test func eventsCanChange() async throws {
        try await onEpollLoop { loop in
            let pair = Pair()
            defer { pair.close() }
            var calls = 0
            let watch = try #require(
                DescriptorWatch(
                    loop: loop, descriptor: pair.ours, for: .readable, action: { calls += 1 }, abandoned: {}))
            await pass(loop)
            #expect(calls == 0)
            watch.change(to: [.readable, .writable])
            try await loop.wait { calls > 0 }
            watch.change(to: .readable)
            calls = 0
            await pass(loop)
            #expect(calls == 0)
            send(pair.theirs, "x", 1, 0)
            try await loop.wait { calls > 0 }
            watch.end()
            watch.change(to: .writable)
            calls = 0
            await pass(loop)
            #expect(calls == 0)
        }
    }

    /// Waits for three iterations. Each one reports the events of all sockets.
    private func pass(_ loop: EpollLoop) async {
        for _ in 0..<3 { await loop.sleep(for: .zero) }
    }

    @Test func theEndOfTheLoopAbandonsAWatch() async throws {
        let pair = Pair()
        defer { pair.close() }
        let abandonments = Atomic(0)
        try await onEpollLoop { loop in
            _ = DescriptorWatch(
                loop: loop, descriptor: pair.ours, for: .peerGone, action: {},
                abandoned: { abandonments.add(1, ordering: .relaxed) })
        }
        #expect(abandonments.load(ordering: .relaxed) == 1)
    }
}

import CLinux
import Testing
import Threads

@Suite struct ThreadsTests {
    @Test func runsOnAnotherThreadAndReturnsTheResult() async {
        let caller = UInt(pthread_self())
        #expect(await DetachedThread.run { UInt(pthread_self()) } != caller)
    }

    @Test func blocksSignalsOnlyInTheNewThread() async throws {
        let before = blocksPipeSignal()
        let isBlocked = await withUnsafeContinuation { continuation in
            try? DetachedThread.start(signals: .blocked) { continuation.resume(returning: blocksPipeSignal()) }
        }
        #expect(isBlocked)
        #expect(blocksPipeSignal() == before)
    }

    @Test func waitsForAConditionOrATimeout() async {
        let lock = ConditionLock()
        nonisolated(unsafe) var isSet = false
        let holds = await DetachedThread.run {
            lock.withLock { lock.wait(atMostMilliseconds: 1) { isSet } }
        }
        #expect(!holds)
        async let woken: Void = DetachedThread.run { lock.withLock { lock.wait { isSet } } }
        lock.withLock {
            isSet = true
            lock.wakeAll()
        }
        await woken
    }

    @Test func admitsOneThreadAtATime() async {
        let lock = ThreadLock()
        nonisolated(unsafe) var count = 0
        let add: @Sendable () -> Void = { for _ in 0..<10_000 { lock.withLock { count += 1 } } }
        async let first: Void = DetachedThread.run(add)
        async let second: Void = DetachedThread.run(add)
        _ = await (first, second)
        #expect(count == 20_000)
    }
}

private func blocksPipeSignal() -> Bool {
    var mask = sigset_t()
    pthread_sigmask(SIG_BLOCK, nil, &mask)
    return sigismember(&mask, SIGPIPE) == 1
}

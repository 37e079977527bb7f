import Testing
import Threads

@testable import EventLoop

/// An actor whose executor is the loop, like a lane.
private actor Owner {
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private var waiting: [UnsafeContinuation<Void, Never>] = []
    private(set) var finished = 0

    init(loop: EventLoop) {
        self.loop = loop
    }

    /// Suspends the task twice until the loop resumes it, like the handling of a delivery.
    func handle() async {
        await waitForLoop()
        await waitForLoop()
        finished += 1
    }

    private func waitForLoop() async {
        await withUnsafeContinuation { continuation in
            waiting.append(continuation)
            if waiting.count == 1 { loop.schedule(after: .zero) { self.assumeIsolated { $0.resumeAll() } } }
        }
    }

    private func resumeAll() {
        let all = waiting
        waiting = []
        for continuation in all { continuation.resume() }
    }
}

@Suite struct ExecutorTests {
    /// Runs tasks. Returns the number of jobs that came from other threads before all tasks had completed.
    private func run(
        tasks: Int, executor: (@Sendable (EpollLoop) -> any TaskExecutor)?
    ) async throws -> Int {
        let loop = try EpollLoop()
        let owner = Owner(loop: loop)
        let thread = Task.detached { await DetachedThread.run { loop.run() } }
        await withUnsafeContinuation { (started: UnsafeContinuation<Void, Never>) in loop.post { started.resume() } }
        let before = loop.jobsFromOtherThreads
        await withUnsafeContinuation { (done: UnsafeContinuation<Void, Never>) in
            loop.post {
                for _ in 0..<tasks {
                    if let executor {
                        Task(executorPreference: executor(loop)) { await owner.handle() }
                    } else {
                        Task { await owner.handle() }
                    }
                }
                func check() {
                    let finished = owner.assumeIsolated { $0.finished }
                    if finished == tasks { done.resume() } else { loop.schedule(after: .milliseconds(1)) { check() } }
                }
                check()
            }
        }
        let foreign = loop.jobsFromOtherThreads - before
        loop.stop()
        await thread.value
        return foreign
    }

    @Test func tasksWithThePreferenceNeverLeaveTheThread() async throws {
        #expect(try await run(tasks: 2_000, executor: { $0 }) == 0)
    }

    // A lane's tasks have no preference. Jobs that the runtime would resume on its global pool stay on the thread
    // (decision 20).
    @Test func tasksWithoutThePreferenceNeverLeaveTheThread() async throws {
        #expect(try await run(tasks: 2_000, executor: nil) == 0)
    }

    @Test func tasksThatPreferAnotherExecutorLeaveTheThread() async throws {
        #expect(try await run(tasks: 2_000, executor: { _ in globalConcurrentExecutor }) >= 2_000)
    }

    @Test func jobsOutsideOfLoopsRunOnTheGlobalPool() async throws {
        let loop = try EpollLoop()
        let before = loop.jobsFromOtherThreads
        let values = await withTaskGroup(of: Int.self) { group in
            for number in 0..<100 {
                group.addTask {
                    await Task.yield()
                    return number
                }
            }
            return await group.reduce(0, +)
        }
        #expect(values == 4950)
        #expect(loop.jobsFromOtherThreads == before)
    }

    @Test func assertOnLoopTrapsOffTheLoop() async {
        await #expect(processExitsWith: .failure) {
            let loop = try EpollLoop()
            loop.assertOnLoop()
        }
    }

    // Posted work may retain the loop. If the ended loop kept the work, both would stay alive forever.
    @Test func anEndedLoopReleasesPostedWork() async throws {
        final class Held: Sendable {}
        let loop = try EpollLoop()
        weak var before: Held?
        weak var after: Held?
        do {
            let held = Held()
            before = held
            loop.post { _ = held }
        }
        #expect(before != nil, "the loop released work that was posted before its start")
        loop.stop()
        await DetachedThread.run { loop.run() }
        do {
            let held = Held()
            after = held
            loop.post { _ = (held, loop) }
        }
        #expect(before == nil && after == nil)
    }
}

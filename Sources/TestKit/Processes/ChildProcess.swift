import EventLoop
public import Glibc
import Telemetry
import Threads

/// A process that a test or the benchmark started. It dies with whoever started it, however that one ends.
///
/// `@unchecked Sendable`: what changes is behind `state`.
public final class ChildProcess: @unchecked Sendable {
    /// Where a stream of the child comes from or goes to.
    public enum Stream: Sendable {
        /// Nothing is read, what is written is dropped.
        case nothing
        /// The stream of the process that starts it.
        case inherited
        /// A pipe: `input` writes to it, `output` and `errors` collect it.
        case pipe
        /// A file, written from its beginning.
        case file(String)
    }

    /// The signal that the kernel sends it when the process that started it is gone.
    public enum OrphanEnd: String, Sendable {
        case killed = "KILL"
        /// For what cleans up after itself.
        case terminated = "TERM"
    }

    public let name: String
    public let pid: pid_t
    /// What it writes to standard output, when that is a pipe; empty otherwise.
    public let output: ChildOutput
    /// What it writes to standard error, when that is a pipe; empty otherwise.
    public let errors: ChildOutput
    private let state = ConditionLock()
    private var ended: ChildExit?
    private var input: Int32?
    private let lineEnd: UInt8

    /// Starts `command`, whose first word is a path or found along `PATH`.
    ///
    /// - Parameters:
    ///   - environment: all of it; `nil` takes over that of this process.
    ///   - whenOrphaned: what becomes of it when this process is gone.
    ///   - lineEnd: what ends a line that it reads or writes.
    /// - Throws: `ProcessError` when it cannot be started.
    public init(
        _ command: [String], environment: [String: String]? = nil, whenOrphaned: OrphanEnd = .killed,
        input: Stream = .nothing, output: Stream = .pipe, errors: Stream = .pipe, lineEnd: UInt8 = UInt8(ascii: "\n")
    ) async throws(ProcessError) {
        let spawned = try await ProcessSpawner.shared.run {
            () throws(ProcessError) -> (name: String, pid: pid_t, ends: [Int32?]) in
            let plan = try SpawnPlan(
                command, environment: environment, whenOrphaned: whenOrphaned, streams: [input, output, errors])
            return (plan.name, try plan.start(), plan.parentEnds)
        }
        name = spawned.name
        pid = spawned.pid
        self.lineEnd = lineEnd
        self.input = spawned.ends[0]
        self.output = ChildOutput(reading: spawned.ends[1], lineEnd: lineEnd)
        self.errors = ChildOutput(reading: spawned.ends[2], lineEnd: lineEnd)
        DetachedThread.require { [self] in reap() }
    }

    /// Runs `command` to its end.
    ///
    /// - Throws: `ProcessError` when it cannot be started or does not end in time; it is killed then.
    public static func run(
        _ command: [String], environment: [String: String]? = nil, within: Duration = TestTimeout.duration
    ) async throws(ProcessError) -> (exit: ChildExit, output: [String], errors: [String]) {
        let child = try await ChildProcess(command, environment: environment)
        let exit = try await child.exit(within: within)
        return (exit, await child.output.allLines(), await child.errors.allLines())
    }

    /// Whether it has not ended yet.
    public var isRunning: Bool { state.withLock { ended == nil } }

    /// The processor time that it has used by now; after its end, all of it.
    public var processorTime: Duration {
        state.withLock {
            if let ended { return ended.usage.userTime + ended.usage.systemTime }
            return ProcessFigures.processorTime(of: pid)
        }
    }

    /// User and system time until now, in ticks of 10 ms; zero after its end.
    public var splitProcessorTime: (user: Duration, system: Duration) {
        state.withLock { ended == nil ? ProcessFigures.splitProcessorTime(of: pid) : (.zero, .zero) }
    }

    /// The most memory that it has held at once; zero after its end.
    public var peakResidentBytes: Int {
        state.withLock { ended == nil ? ProcessFigures.peakResidentBytes(of: pid) : 0 }
    }

    /// The memory that it holds now; zero after its end.
    public var residentBytes: Int {
        state.withLock { ended == nil ? ProcessFigures.residentBytes(of: pid) : 0 }
    }

    /// Descriptors that are open now; zero after its end.
    public var descriptorCount: Int { state.withLock { ended == nil ? ProcessFigures.count("fd", of: pid) : 0 } }

    /// Threads that it has now; zero after its end.
    public var threadCount: Int { state.withLock { ended == nil ? ProcessFigures.count("task", of: pid) : 0 } }

    /// Sends a signal; does nothing when the process has ended.
    public func send(signal: Int32) {
        state.withLock { if ended == nil { kill(pid, signal) } }
    }

    /// Writes a line to the child's standard input, which is a pipe.
    ///
    /// - Throws: `ProcessError` when the child takes no more.
    public func write(line: String) throws(ProcessError) {
        let taken = state.withLock {
            let bytes = Array(line.utf8) + [lineEnd]
            guard let input else { return false }
            return Glibc.write(input, bytes, bytes.count) == bytes.count
        }
        if !taken { throw ProcessError("\(name) takes no input") }
    }

    /// Ends the child's standard input.
    public func closeInput() {
        state.withLock {
            if let input { close(input) }
            input = nil
        }
    }

    /// Waits for its end.
    ///
    /// - Throws: `ProcessError` when it has not ended in time; it is killed then.
    public func exit(within: Duration = TestTimeout.duration) async throws(ProcessError) -> ChildExit {
        let milliseconds = within.wholeMilliseconds
        let exit = await DetachedThread.run { [self] () -> ChildExit? in
            state.withLock {
                if state.wait(atMostMilliseconds: milliseconds, until: { ended != nil }) { return ended }
                kill(pid, SIGKILL)
                return nil
            }
        }
        guard let exit else { throw ProcessError("\(name) did not end within \(within)") }
        return exit
    }

    /// Waits for its end and looks at its memory until then: the kernel forgets that with the process.
    ///
    /// - Throws: `ProcessError` when it has not ended in time; it is killed then.
    public func exitAndPeak(within: Duration) async throws(ProcessError) -> (exit: ChildExit, peakBytes: Int) {
        let deadline = ContinuousClock.now + within
        var peakBytes = 0
        while isRunning, ContinuousClock.now < deadline {
            peakBytes = max(peakBytes, peakResidentBytes)
            try? await Task.sleep(for: .milliseconds(20))
        }
        return (try await exit(within: .zero), peakBytes)
    }

    /// Sends SIGTERM and waits; after the time given, kills.
    @discardableResult
    public func terminate(within: Duration = TestTimeout.duration) async throws(ProcessError) -> ChildExit {
        send(signal: SIGTERM)
        return try await exit(within: within)
    }

    /// On a thread of its own: takes note of the end. The process id stays taken until it is reaped under the lock, so
    /// that a signal can never hit another process.
    private func reap() {
        var information = siginfo_t()
        while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) == -1 && errno == EINTR {}
        state.withLock {
            var status: Int32 = 0
            var usage = rusage()
            wait4(pid, &status, 0, &usage)
            ended = ChildExit(waitStatus: status, usage: usage)
            if let input { close(input) }
            input = nil
            state.wakeAll()
        }
    }
}

/// What went wrong with a process that a test started, for whoever reads the test's output.
public struct ProcessError: Error, Sendable, CustomStringConvertible {
    public let description: String

    public init(_ description: String) {
        self.description = description
    }
}

extension Duration {
    var wholeMilliseconds: Int {
        Int(components.seconds) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000)
    }
}

import EventLoop
public import Glibc
import Telemetry
import Threads

/// A process that a test or a benchmark started.
///
/// The kernel sends the process a signal when the starting process exits for any reason. See ``OrphanEnd``.
///
/// `@unchecked Sendable`: the lock `state` protects the mutable properties.
public final class ChildProcess: @unchecked Sendable {
    /// The source or destination of a standard stream.
    public enum Stream: Sendable {
        /// `/dev/null`.
        case nothing
        /// The stream of the starting process.
        case inherited
        /// A pipe. `write(line:)` writes to standard input. The properties `output` and `errors` read the other
        /// streams.
        case pipe
        /// A file, truncated before writing.
        case file(String)
    }

    /// The signal that the kernel sends when the starting process has exited.
    public enum OrphanEnd: String, Sendable {
        case killed = "KILL"
        /// SIGTERM, for programs that clean up before they exit.
        case terminated = "TERM"
    }

    public let name: String
    public let pid: pid_t
    /// The standard output if it is a pipe; otherwise empty.
    public let output: ChildOutput
    /// The standard error if it is a pipe; otherwise empty.
    public let errors: ChildOutput
    private let state = ConditionLock()
    private var ended: ChildExit?
    private var input: Int32?
    private let lineEnd: UInt8

    /// Starts `command`, whose first word is a path or a name in `PATH`.
    ///
    /// - Parameters:
    ///   - environment: The environment; nil to inherit the environment of this process. `MARTLET_CONFIG` is empty
    ///     unless `environment` sets it.
    ///   - whenOrphaned: The signal to send when this process has exited.
    ///   - lineEnd: The line terminator of the pipes.
    /// - Throws: `ProcessError` if the process cannot be started.
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

    /// Runs `command` and waits until it exits.
    ///
    /// - Throws: `ProcessError` if the process cannot be started, or is killed because it does not exit in time.
    public static func run(
        _ command: [String], environment: [String: String]? = nil, within: Duration = TestTimeout.duration
    ) async throws(ProcessError) -> (exit: ChildExit, output: [String], errors: [String]) {
        let child = try await ChildProcess(command, environment: environment)
        let exit = try await child.exit(within: within)
        return (exit, await child.output.allLines(), await child.errors.allLines())
    }

    public var isRunning: Bool { state.withLock { ended == nil } }

    /// The CPU time used so far. After the exit, the total CPU time.
    public var processorTime: Duration {
        state.withLock {
            if let ended { return ended.usage.time }
            return ProcessFigures.processorTime(of: pid)
        }
    }

    /// The user and system time so far, with a resolution of 10 ms; zero after the exit.
    public var splitProcessorTime: (user: Duration, system: Duration) {
        state.withLock { ended == nil ? ProcessFigures.splitProcessorTime(of: pid) : (.zero, .zero) }
    }

    /// The peak resident memory; zero after the exit.
    public var peakResidentBytes: Int {
        state.withLock { ended == nil ? ProcessFigures.peakResidentBytes(of: pid) : 0 }
    }

    /// The current resident memory; zero after the exit.
    public var residentBytes: Int {
        state.withLock { ended == nil ? ProcessFigures.residentBytes(of: pid) : 0 }
    }

    /// The number of open descriptors; zero after the exit.
    public var descriptorCount: Int { state.withLock { ended == nil ? ProcessFigures.count("fd", of: pid) : 0 } }

    /// The number of threads; zero after the exit.
    public var threadCount: Int { state.withLock { ended == nil ? ProcessFigures.count("task", of: pid) : 0 } }

    /// Sends a signal. Does nothing if the process has exited.
    public func send(signal: Int32) {
        state.withLock { if ended == nil { kill(pid, signal) } }
    }

    /// Writes a line to the child's standard input, which must be a pipe.
    ///
    /// - Throws: `ProcessError` if the line cannot be written.
    public func write(line: String) throws(ProcessError) {
        let failure: Int32? = state.withLock {
            let bytes = Array(line.utf8) + [lineEnd]
            guard let input else { return EBADF }
            let count = Glibc.write(input, bytes, bytes.count)
            guard count >= 0 else { return errno }
            // A pipe accepts fewer bytes only if a signal interrupts the call.
            return count == bytes.count ? nil : EINTR
        }
        if let failure { throw ProcessError(failure, "cannot write to the standard input of \(name)") }
    }

    public func closeInput() {
        state.withLock {
            if let input { close(input) }
            input = nil
        }
    }

    /// Waits until the process exits.
    ///
    /// - Throws: `ProcessError` if the process does not exit in time. The process is then killed.
    public func exit(within: Duration = TestTimeout.duration) async throws(ProcessError) -> ChildExit {
        let milliseconds = within.wholeMilliseconds
        let exit = await DetachedThread.run { [self] () -> ChildExit? in
            state.withLock {
                if state.wait(atMostMilliseconds: milliseconds, until: { ended != nil }) { return ended }
                kill(pid, SIGKILL)
                return nil
            }
        }
        guard let exit else { throw ProcessError("\(name) did not exit within \(within)") }
        return exit
    }

    /// Waits until the process exits, and samples its peak memory, which the kernel discards with the process.
    ///
    /// - Throws: `ProcessError` if the process does not exit in time. The process is then killed.
    public func exitAndPeak(within: Duration) async throws(ProcessError) -> (exit: ChildExit, peakBytes: Int) {
        let deadline = ContinuousClock.now + within
        var peakBytes = 0
        while isRunning, ContinuousClock.now < deadline {
            peakBytes = max(peakBytes, peakResidentBytes)
            try? await Task.sleep(for: .milliseconds(20))
        }
        return (try await exit(within: .zero), peakBytes)
    }

    /// Sends SIGTERM and waits until the process exits.
    ///
    /// - Throws: `ProcessError` if the process does not exit in time. The process is then killed.
    @discardableResult
    public func terminate(within: Duration = TestTimeout.duration) async throws(ProcessError) -> ChildExit {
        send(signal: SIGTERM)
        return try await exit(within: within)
    }

    /// Waits for the exit, on a dedicated thread.
    ///
    /// Reaps the process under the lock. Until then, the kernel does not reuse the process ID, so a signal cannot reach
    /// another process.
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

/// An error of a process that a test started, or of the test kit.
public struct ProcessError: Error, Sendable, CustomStringConvertible {
    public let description: String

    public init(_ description: String) {
        self.description = description
    }

    /// Creates the error of a failed system call.
    ///
    /// - Parameters:
    ///   - code: The value of `errno` after the call.
    ///   - action: The failed action, such as `cannot create a pipe`.
    public init(_ code: Int32, _ action: String) {
        description = "\(action): \(String(cString: strerror(code)))"
    }
}

extension Duration {
    var wholeMilliseconds: Int {
        Int(components.seconds) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000)
    }
}

import CommandKit
import EventLoop

/// A command of `martlet-bench`.
protocol Benchmark: Command {
    /// Measures and prints a report, on an event loop of the main thread.
    ///
    /// - Throws: why it could not measure, or how the figures are worse than they may be.
    func measure() async throws
}

extension Benchmark {
    func run() -> ExitCode {
        #if DEBUG
            MartletBench.note("built for debugging: the figures say nothing")
        #endif
        do {
            return try EpollLoop.run { _ in await measured() }
        } catch {
            return Self.failed(error)
        }
    }

    private func measured() async -> ExitCode {
        do {
            try await measure()
            return .success
        } catch {
            return Self.failed(error)
        }
    }

    private static func failed(_ error: any Error) -> ExitCode {
        MartletBench.note("martlet-bench: \(error)")
        return .failed
    }
}

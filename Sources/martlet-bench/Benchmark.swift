import CommandKit
import EventLoop

/// A command of `martlet-bench` that runs on an event loop of the main thread.
protocol Benchmark: Command {
    /// Runs the measurement and prints a report.
    ///
    /// - Throws: An error if the measurement fails or a figure exceeds its limit.
    func measure() async throws
}

extension Benchmark {
    func run() -> ExitCode {
        #if DEBUG
            MartletBench.log("warning: this is a debug build; its figures are meaningless")
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
        MartletBench.log("martlet-bench: \(error)")
        return .failed
    }
}

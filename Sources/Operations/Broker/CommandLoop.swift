import CommandKit
import EventLoop

/// Runs a command's work on an event loop on the calling thread, until the work is done.
enum CommandLoop {
    static func run(_ work: @escaping @Sendable (EpollLoop) async -> ExitCode) -> ExitCode {
        let loop: EpollLoop
        do {
            loop = try EpollLoop()
        } catch {
            Terminal.error.line("martlet: \(error.message)")
            return .failed
        }
        let result = Result()
        loop.post {
            Task(executorPreference: loop) {
                result.code = await work(loop)
                loop.stop()
            }
        }
        loop.run()
        return result.code
    }

    /// `@unchecked Sendable`: written on the loop, read once it has ended, both on the same thread.
    private final class Result: @unchecked Sendable {
        var code = ExitCode.failed
    }
}

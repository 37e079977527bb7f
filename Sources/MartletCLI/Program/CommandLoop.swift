import CommandKit
import EventLoop

/// The event loop of a command. The loop runs on the calling thread until the command completes.
enum CommandLoop {
    static func run(_ work: @escaping @Sendable (EpollLoop) async -> ExitCode) -> ExitCode {
        do {
            return try EpollLoop.run(work)
        } catch {
            Terminal.error.line("martlet: \(error.message)")
            return .failed
        }
    }
}

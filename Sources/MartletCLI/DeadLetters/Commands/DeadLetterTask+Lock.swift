import AMQP
import Actions
import BrokerManagement
import CommandKit
import Configuration
import DeadLetters
import EventLoop
import Text

extension DeadLetterTask {
    /// Maximum wait for the lock, which a console holds while it counts messages for a preview.
    private static let lockMilliseconds: Int64 = 10_000

    /// Runs work that removes messages under the lock that excludes other commands and consoles. Without fleet control,
    /// there is no console and no lock. A broker user without the right on the lock works without the lock.
    ///
    /// - Parameters:
    ///   - current: the interruption that the work uses; nil for an own one.
    ///   - work: receives the task with the lock.
    ///   - refused: returns the result if another program holds the lock, or after an error. An error line was printed.
    func withLock<Result>(
        on loop: EpollLoop, using current: Interruption? = nil, _ work: (DeadLetterTask) async -> Result,
        refused: (ExitCode) -> Result
    ) async -> Result {
        guard hasFleetControl else { return await work(self) }
        // Without an interruption, the blocked signals would not end the wait for the broker.
        let interruption = current ?? Interruption(on: loop)
        let wait = BrokerWait(loop: loop, connector: connector)
        let lock = QueueLock(of: options.source, connector, on: loop, command: options.source.command, wait)
        let failure = await acquire(lock)
        // The other connections report the status from here on.
        wait.end()
        if current == nil { interruption.end() }
        if let failure {
            await lock.release()
            return refused(failure)
        }
        var task = self
        task.lock = lock
        let result = await work(task)
        await lock.release()
        return result
    }

    /// Returns the exit code of a failure after an error line; nil if the work may begin.
    private func acquire(_ lock: QueueLock) async -> ExitCode? {
        do throws(AMQPError) {
            if try await lock.acquire(milliseconds: Self.lockMilliseconds) { return nil }
            Terminal.error.line("martlet: \(QueueLock.busy(options.source)); wait for its end, or stop it")
            return .failed
        } catch {
            // A refused login is no missing right to the lock.
            guard case .refusedResource = error.detail else {
                Terminal.error.line(connector.line(error))
                return error.isUnreachable ? .unreachable : .failed
            }
            Terminal.error.line("martlet: a console or another command may use the queue: \(error.message)".printable)
            return nil
        }
    }

    /// Returns an exit code after an error line if the lock was lost; otherwise nil.
    func lockLoss() -> ExitCode? {
        guard lock?.isLost == true else { return nil }
        Terminal.error.line("martlet: \(QueueLock.lossSentence); run the command again")
        return .unreachable
    }
}

import AMQP
import BrokerTopology
package import Configuration
package import DeadLetters
package import EventLoop
import Text

/// The removal of dead letters after their export to a file, for a console. Nothing is removed before the file is
/// complete.
///
/// Loop-bound. `@unchecked Sendable`: only the loop uses the object.
package final class DropRun: QueueRun, @unchecked Sendable {
    private let choice: DeadLetterChoice
    private let limit: Int
    /// The folder of the file; nil to count the dead letters.
    private let folder: String?
    private let scan: DeadLetterScan
    private var tags: [DeliveryTag] = []
    private var count = 0
    private var oversized = 0
    private var file: DropFile?
    private var problem: String?
    private var isStopped = false
    package private(set) var done = 0

    /// - Parameters:
    ///   - folder: the folder of the file; nil to count the dead letters.
    ///   - deliveryLimit: the delivery limit of the queue; nil without a limit.
    /// - Throws: the mistake in the filter.
    package init(
        _ action: DropAction, to folder: String?, deliveryLimit: Int?, _ connector: BrokerConnector,
        on loop: EventLoop
    ) throws(FilterError) {
        choice = try action.choice.choice()
        (limit, self.folder) = (action.limit ?? .max, folder)
        scan = DeadLetterScan(
            of: connector.names.deadQueue, .deadLetters, connector, on: loop, nil, deliveryLimit: deliveryLimit)
    }

    package var ids: [String] { [] }

    /// The number of dead letters in a dry run.
    package var extent: MessageExtent {
        MessageExtent(count: count, isAtMost: scan.end == .windowFull)
    }

    package var summary: String {
        let omitted = oversized > 0 ? "; omitted \(oversized), which are too large to export" : ""
        let name = done > 0 ? file.map { "; file: \($0.path)" } : nil
        return "dropped \(done) of \(scan.seen.counted("dead letter"))\(omitted)\(name ?? "")"
    }

    package func stop(_ problem: String?) {
        (isStopped, self.problem) = (true, self.problem ?? problem)
        scan.stop()
    }

    package func run() async -> QueueRunEnd {
        do throws(AMQPError) {
            try await scan.open()
        } catch {
            await scan.close()
            return .failed(error.message)
        }
        do throws(DropFile.Failure) {
            if let folder {
                file = try DropFile(in: folder, at: scan.loop.now.unixMilliseconds, random: scan.loop.nextRandom())
            }
            try await write()
        } catch {
            problem = problem ?? "cannot write a file in \(folder ?? ""): \(error.reason)"
        }
        // After a full window, the dead letters of the file are dropped, and the others stay.
        if scan.end != .windowFull { problem = problem ?? scan.problem }
        if problem == nil, !isStopped { drop() }
        let isSettled = await scan.close()
        guard done > 0 else {
            file?.remove()
            if let problem { return QueueRunEnd(problem: problem, of: scan) }
            return isStopped ? .stopped : .complete
        }
        guard isSettled, done == tags.count else {
            return .failed("the queue may still contain these dead letters: check the queue before an import")
        }
        return scan.problem.map { .failed($0) } ?? .complete
    }

    /// Writes the chosen dead letters to the file.
    private func write() async throws(DropFile.Failure) {
        while count < limit, let next = await scan.next(of: choice) {
            guard !next.message.isOversized else {
                oversized += 1
                continue
            }
            count += 1
            guard let file else { continue }
            tags.append(next.message.tag)
            try await file.write(MessageLine.text(of: next.copy))
        }
        // The loop may have ended with a stop, after which nothing is dropped.
        if !isStopped { try await file?.finish() }
    }

    private func drop() {
        for tag in tags where scan.holds(tag) {
            scan.acknowledge(tag)
            done += 1
        }
    }
}

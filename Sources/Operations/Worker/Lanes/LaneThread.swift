import APNS
import Delivery
import EventLoop
import Telemetry
import Threads

/// One lane and the thread that it runs on.
///
/// `@unchecked Sendable`: `lane` is touched on the loop's thread only.
final class LaneThread: @unchecked Sendable {
    let loop: EpollLoop
    private var lane: Lane?
    private var isDraining = false

    /// - Throws: when the process is out of descriptors.
    init() throws(TransportError) {
        loop = try EpollLoop()
    }

    /// Starts the thread and on it the lane.
    ///
    /// - Parameters:
    ///   - onStateChange: called on the lane's thread.
    ///   - ended: called as the last thing on the lane's thread.
    /// - Throws: when the system gives no more threads; nothing is called then.
    func start(
        _ configuration: LaneConfiguration, connectors: LaneConnectors, tokens: [Credential.Name: TokenSupply],
        counters: LaneCounters, copies: DuplicateMemory, log: Log, onSpans: (@Sendable (SpanBuffer) -> Void)?,
        onStateChange: @escaping @Sendable (LaneState) -> Void,
        ended: @escaping @Sendable () -> Void
    ) throws(TransportError) {
        do {
            try DetachedThread.start { [self] in
                loop.run()
                // Else it would keep what it calls, and that keeps this.
                lane = nil
                ended()
            }
        } catch { throw TransportError(error) }
        loop.post { [self] in
            let lane = Lane(
                loop: loop, configuration: configuration, connectors: connectors.connectors(on: loop), tokens: tokens,
                counters: counters, copies: copies, log: log, onSpans: onSpans, onStateChange: onStateChange)
            self.lane = lane
            Task(executorPreference: loop) { await lane.start() }
        }
    }

    func replace(_ payloadSchemas: PayloadSchemas) {
        loop.post { [self] in
            guard let lane else { return }
            Task(executorPreference: loop) { await lane.replace(payloadSchemas) }
        }
    }

    func take(_ news: TokenNews, of credential: Credential.Name) {
        loop.post { [self] in
            guard let lane else { return }
            Task(executorPreference: loop) { await lane.take(news, of: credential) }
        }
    }

    /// - Parameter answer: called on the lane's thread; not at all before the lane has begun.
    func status(_ answer: @escaping @Sendable (LaneStatus) -> Void) {
        loop.post { [self] in
            guard let lane else { return }
            Task(executorPreference: loop) { answer(await lane.status()) }
        }
    }

    /// - Parameter answer: called on the lane's thread with whether the lane knows what is meant.
    func pause(_ scope: PauseScope, _ isPaused: Bool, _ answer: @escaping @Sendable (Bool) -> Void) {
        loop.post { [self] in
            guard let lane else { return }
            Task(executorPreference: loop) { answer(await lane.pause(scope, isPaused)) }
        }
    }

    /// Has the lane take no more messages and finish those that it holds, then ends the thread; for a process that goes
    /// on. A drain that is asked for meanwhile takes its place.
    ///
    /// - Parameters:
    ///   - stopped: called on the lane's thread when it takes no more.
    ///   - report: as of `drain`.
    func finish(
        deadlineSeconds: Int, stopped: @escaping @Sendable () -> Void, report: @escaping @Sendable (Int) -> Void
    ) {
        loop.post { [self] in
            guard let lane else { return }
            Task(executorPreference: loop) {
                await lane.stopTaking()
                stopped()
                await lane.finish(deadlineSeconds: deadlineSeconds)
                self.drain(deadlineSeconds: Lane.closeDeadlineSeconds, report: report)
            }
        }
    }

    /// Has the lane settle what it holds, then ends the thread. The first call counts.
    ///
    /// - Parameter report: called on the lane's thread with the number of deliveries that were not settled in time.
    func drain(deadlineSeconds: Int, report: @escaping @Sendable (Int) -> Void) {
        loop.post { [self] in
            guard let lane, !isDraining else { return }
            isDraining = true
            Task(executorPreference: loop) {
                report(await lane.drain(deadlineSeconds: deadlineSeconds).unfinished)
                self.loop.stop()
            }
        }
    }
}

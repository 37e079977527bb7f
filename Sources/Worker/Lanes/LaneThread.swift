import APNS
import Configuration
import Delivery
import EventLoop
import RegistrationStores
import Registrations
import Telemetry
import Threads

/// A lane and its thread.
///
/// `@unchecked Sendable`: only the thread of `loop` uses the variables, after `start` has set the reader.
final class LaneThread: @unchecked Sendable {
    let loop: EpollLoop
    /// The lane's connection to the store, from `start` to the creation of the lane.
    private var reader: RegistrationReader?
    private var lane: Lane?
    private var reporter: LaneReporter?
    private var isDraining = false

    /// Creates the event loop. `start` creates the thread and the lane.
    ///
    /// - Throws: `resources` if the kernel provides no descriptor.
    init() throws(TransportError) {
        loop = try EpollLoop()
    }

    /// Starts the thread, and starts the lane on the thread.
    ///
    /// - Parameters:
    ///   - store: nil if the configuration has no store.
    ///   - reporter: receives the reports of the lane until its thread ends.
    /// - Throws: if the system cannot create the thread, or the store cannot create a reader. The reporter is not
    ///   called in this case.
    func start(
        _ configuration: LaneConfiguration, connectors: LaneConnectors, tokens: [Credential.Name: TokenSupply],
        store: RegistrationStore?, in environment: LaneEnvironment, reporter: LaneReporter
    ) throws(TransportError) {
        reader = try store?.connection { store throws(StoreFault) in try store.reader(on: loop) }
        let (counters, duplicates) = (LaneCounters(environment.metrics), environment.duplicates)
        let (log, spanReceiver) = (environment.log, environment.spanReceiver)
        let journalReceiver = environment.journalReceiver(ofLane: configuration.number)
        do {
            try DetachedThread.start { [self] in
                loop.run()
                // The lane and its reporter reference this object, which would be a reference cycle.
                lane = nil
                self.reporter = nil
                reporter.ended()
            }
        } catch { throw TransportError(error) }
        loop.post { [self] in
            let lane = Lane(
                loop: loop, configuration: configuration, connectors: connectors.connectors(on: loop), tokens: tokens,
                counters: counters, duplicates: duplicates, log: log, registrations: reader.take(),
                onSpans: spanReceiver, onJournal: journalReceiver,
                onStateChange: { reporter.stateChanged($0) })
            self.lane = lane
            self.reporter = reporter
            Task(executorPreference: loop) { await lane.start() }
        }
    }

    func replace(_ payloadSchemas: PayloadSchemas) {
        withLane { await $0.apply(payloadSchemas) }
    }

    func apply(_ update: ProviderTokenUpdate, of credential: Credential.Name) {
        withLane { await $0.apply(update, of: credential) }
    }

    /// Queries the status of the lane.
    ///
    /// - Parameter answer: called on the lane's thread; not called if the lane has ended.
    func status(_ answer: @escaping @Sendable (LaneStatus) -> Void) {
        withLane { answer(await $0.status()) }
    }

    /// Pauses or resumes a scope on the lane.
    ///
    /// - Parameter answer: called on the lane's thread, with false if the lane does not have the scope; not called if
    ///   the lane has ended.
    func pause(_ scope: PauseScope, _ isPaused: Bool, _ answer: @escaping @Sendable (Bool) -> Void) {
        withLane { answer(await $0.pause(scope, isPaused)) }
    }

    /// Probes the open breakers of a scope now.
    ///
    /// - Parameter answer: called on the lane's thread with the number of breakers; not called if the lane has ended.
    func probeNow(_ scope: ProbeScope, _ answer: @escaping @Sendable (Int) -> Void) {
        withLane { answer(await $0.probeNow(scope)) }
    }

    /// Stops consuming, settles the lane's deliveries, and ends the thread. The process continues. A later `drain`
    /// takes precedence.
    func finish(deadlineSeconds: Int) {
        withLane { [self] lane in
            await lane.stopConsuming()
            reporter?.stoppedConsuming()
            await lane.finish(deadlineSeconds: deadlineSeconds)
            drain(deadlineSeconds: Lane.closeDeadlineSeconds)
        }
    }

    /// Settles the lane's deliveries and ends the thread. Further calls are ignored.
    func drain(deadlineSeconds: Int) {
        loop.post { [self] in
            guard let lane, !isDraining else { return }
            isDraining = true
            Task(executorPreference: loop) {
                let unfinished = await lane.drain(deadlineSeconds: deadlineSeconds).unfinished
                self.reporter?.drained(unfinished: unfinished)
                self.loop.stop()
            }
        }
    }

    private func withLane(_ body: @escaping @Sendable (Lane) async -> Void) {
        loop.post { [self] in
            guard let lane else { return }
            Task(executorPreference: loop) { await body(lane) }
        }
    }
}

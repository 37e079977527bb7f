import Configuration
import ControlProtocol
import Delivery
import EventLoop
import RegistrationStores
import Registrations
import Threads

/// The consumer of registration commands of one generation, and its thread.
///
/// `@unchecked Sendable`: only the thread of `loop` uses the variables, after `start` has set the writer.
final class RegistrationThread: @unchecked Sendable {
    private let loop: EpollLoop
    private var writer: RegistrationWriter?
    private var consumer: RegistrationConsumer?
    /// The number of calls of `consumer.close` that have not returned.
    private var closingCount = 0

    /// Creates the event loop. `start` creates the thread and the consumer.
    ///
    /// - Throws: `resources` if the kernel provides no descriptor.
    init() throws(TransportError) {
        loop = try EpollLoop()
    }

    /// Starts the thread, and starts the consumer on the thread.
    ///
    /// - Parameter ended: called on the thread after its consumer was closed.
    /// - Throws: if the system cannot create the thread, or the store cannot create a writer. `ended` is not called in
    ///   this case.
    func start(
        _ registrations: WorkerConfiguration.Registrations, _ store: RegistrationStore,
        _ components: WorkerComponents, in environment: LaneEnvironment, ended: @escaping @Sendable () -> Void
    ) throws(TransportError) {
        writer = try store.connection { store throws(StoreFault) in try store.writer(on: loop) }
        let (metrics, log, commands) = (environment.metrics, environment.log, environment.commands)
        do {
            try DetachedThread.start { [self] in
                loop.run()
                consumer = nil
                ended()
            }
        } catch { throw TransportError(error) }
        loop.post { [self] in
            guard let writer = writer.take() else { return }
            let environments = CommandEnvironments(components.configuration.apps)
            let consumer = RegistrationConsumer(
                consuming: components.connection(for: "registrations consume", on: loop),
                publishing: components.connection(for: "registrations publish", on: loop), writer: writer,
                names: components.lane.names, replyPrefix: registrations.replyPrefix,
                devicesPerUserMax: registrations.devicesPerUserMax, metrics: metrics, log: log,
                worker: components.lane.worker, completeRemedy: commands.completed
            ) { (app, named) throws(CommandViolation) in try environments.find(app, named) }
            self.consumer = consumer
            consumer.start()
        }
    }

    /// Queries the status of the consumer.
    ///
    /// - Parameter answer: called on the consumer's thread; not called if the thread has ended.
    func status(_ answer: @escaping @Sendable (RegistrationConsumer.Status) -> Void) {
        loop.post { [self] in
            if let consumer { answer(consumer.status) }
        }
    }

    /// Performs a change that a command requests.
    ///
    /// - Parameter answer: called on the consumer's thread; not called if the thread has ended.
    func perform(_ work: StoreChange.Work, _ answer: @escaping @Sendable (StoreChangeResponse) -> Void) {
        loop.post { [self] in
            guard let consumer else { return }
            switch work {
            case .probe:
                let status = consumer.status
                answer(
                    status.isStoring
                        ? .confirmed
                        : .failed(StoreFault(.unreachable, status.reasons.last ?? "the store is not open yet")))
            case .apply(let commands, let ends):
                consumer.apply(commands, ends: ends) { answer(StoreChangeResponse($0, StoreChangeResponse.applied)) }
            case .rekey(_, let key):
                consumer.edit(.rekey, after: key) { answer(StoreChangeResponse($0, StoreChangeResponse.edited)) }
            case .unsuspend(let app, let key):
                consumer.edit(.unsuspend(app: app), after: key) {
                    answer(StoreChangeResponse($0, StoreChangeResponse.edited))
                }
            }
        }
    }

    /// Stops consuming, finishes the received commands until the deadline, and ends the thread. Of several calls, the
    /// earliest deadline applies.
    func close(deadlineSeconds: Int) {
        loop.post { [self] in
            guard let consumer else { return }
            closingCount += 1
            Task(executorPreference: loop) {
                await consumer.close(deadlineSeconds: deadlineSeconds)
                self.closingCount -= 1
                if self.closingCount == 0 { self.loop.stop() }
            }
        }
    }
}

import ControlProtocol
import EventLoop
import HTTPClient
import RegistrationTools
import Registrations
import Threads

/// The writer of a command for an SQLite store. While a worker uses the file, the writer reads the file, and sends
/// changes to the control socket of the worker.
///
/// `@unchecked Sendable`: loop-bound.
final class SQLiteCommandWriter: RegistrationWriter, @unchecked Sendable {
    private enum State {
        /// To: direct, worker, closed.
        case opening
        /// A file that this process has open for writing. To: closed.
        case direct
        /// A file that a worker has open for writing. To: worker (after its restart), closed.
        case worker(WorkerAddress)
        case closed
    }

    /// Timeout for the response of a worker to a change.
    private static let responseMillisecondsMax = 60_000
    /// Timeout for the response of a worker to a probe.
    private static let probeMillisecondsMax = 2000
    /// The time after which a search begins no further probe. A search, including its last probe, takes less time than
    /// ``StoreSession/openSecondsMax``.
    private static let searchMillisecondsMax = 10_000

    private let path: String
    private let indexKey: String
    private let dataKey: DataKeySummary
    private let loop: EventLoop
    private let direct: RegistrationWriter
    private let reading: RegistrationWriter
    private let addresses: @Sendable () -> [WorkerAddress]
    private var state = State.opening

    /// Creates a writer.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - indexKey: The fingerprint of the index key.
    ///   - dataKey: The active data key of the command's key file.
    ///   - direct: A writer that opens the file for writing.
    ///   - reading: A writer that opens the file for reading.
    ///   - addresses: Returns the control sockets of the workers to ask. Called on another thread.
    init(
        path: String, indexKey: String, dataKey: DataKeySummary, direct: RegistrationWriter,
        reading: RegistrationWriter, on loop: EventLoop, addresses: @escaping @Sendable () -> [WorkerAddress]
    ) {
        (self.path, self.indexKey, self.dataKey) = (path, indexKey, dataKey)
        (self.direct, self.reading, self.loop, self.addresses) = (direct, reading, loop, addresses)
    }

    override func start(onChange: @escaping (StoreFault?) -> Void) {
        direct.start { [self] fault in
            guard case .opening = state else { return onChange(fault) }
            if let fault, fault.errorClass == StoreSession.inUseClass { return findWorker(fault, onChange) }
            if fault == nil { state = .direct }
            onChange(fault)
        }
    }

    /// Uses the worker that confirms that it writes to the file. Reports `fault` if no worker confirms this.
    private func findWorker(_ fault: StoreFault, _ onChange: @escaping (StoreFault?) -> Void) {
        let search = search
        nonisolated(unsafe) let onChange = onChange
        Task(executorPreference: loop) {
            await self.direct.close()
            let found = await DetachedThread.run { search() }
            guard case .opening = self.state else { return }
            guard let found else { return onChange(fault) }
            self.state = .worker(found)
            self.reading.start(onChange: onChange)
        }
    }

    /// A search for the worker that confirms that it writes to the file. The search returns nil if no worker confirms
    /// this in time. The search blocks.
    private var search: @Sendable () -> WorkerAddress? {
        let probe = StoreChange(path: path, .probe).json(indexKey: indexKey)
        return { [addresses] in
            let end = ContinuousClock.now + .milliseconds(Self.searchMillisecondsMax)
            return addresses().first { address in
                ContinuousClock.now < end
                    && Self.response(address, to: probe, millisecondsMax: Self.probeMillisecondsMax) == .confirmed
            }
        }
    }

    override func apply(_ batch: CommandBatch) {
        guard case .worker(let worker) = state else { return direct.apply(batch) }
        nonisolated(unsafe) let batch = batch
        send(.apply(batch.commands, ends: batch.ends), to: worker) { response in
            switch response {
            case .applied(let outcomes) where outcomes.count == batch.commands.count + batch.ends.count:
                batch.completed(outcomes)
            case .failed(let fault): batch.failed(fault)
            case .applied, .edited, .confirmed: batch.failed(Self.unexpectedResponse)
            }
        }
    }

    override func edit(_ page: EditPage) {
        guard case .worker(let worker) = state else { return direct.edit(page) }
        nonisolated(unsafe) let page = page
        let work: StoreChange.Work =
            switch page.edit {
            case .rekey: .rekey(to: dataKey, after: page.after)
            case .unsuspend(let app): .unsuspend(app: app, after: page.after)
            }
        send(work, to: worker) { response in
            switch response {
            case .edited(let edited):
                page.completed(
                    last: edited.last, editedCount: edited.editedCount, unreadableCount: edited.unreadableCount)
            case .failed(let fault): page.failed(fault)
            case .applied, .confirmed: page.failed(Self.unexpectedResponse)
            }
        }
    }

    override func read(_ page: RegistrationPage) {
        if case .worker = state { reading.read(page) } else { direct.read(page) }
    }

    override func read(_ page: MarkPage) {
        if case .worker = state { reading.read(page) } else { direct.read(page) }
    }

    override func delete(_ events: EventDeletion) { direct.delete(events) }

    override func maintain(_ maintenance: Maintenance) { direct.maintain(maintenance) }

    /// Closes the file. Does not wait for the response of a worker.
    override func close() async {
        let last = state
        state = .closed
        if case .worker = last { await reading.close() } else { await direct.close() }
    }

    /// Sends a change. If the worker is unreachable, searches again before it reports the response, because a restarted
    /// worker has another control socket. The caller repeats the change.
    private func send(
        _ work: StoreChange.Work, to worker: WorkerAddress,
        _ received: @escaping @Sendable (StoreChangeResponse) -> Void
    ) {
        let change = StoreChange(path: path, work).json(indexKey: indexKey)
        let search = search
        Task(executorPreference: loop) {
            let (response, found) = await DetachedThread.run { () -> (StoreChangeResponse, WorkerAddress?) in
                let response = Self.response(worker, to: change, millisecondsMax: Self.responseMillisecondsMax)
                guard case .failed(let fault) = response, fault.code == .unreachable else { return (response, nil) }
                return (response, search())
            }
            if let found, case .worker = self.state { self.state = .worker(found) }
            received(response)
        }
    }

    /// Sends a change to a worker, and waits for the response. Blocks.
    private static func response(
        _ worker: WorkerAddress, to change: [UInt8], millisecondsMax: Int
    ) -> StoreChangeResponse {
        do throws(HTTPError) {
            let answer = try worker.request(
                HTTPClient(), .post, "registrations", body: change, answerMillisecondsMax: millisecondsMax)
            guard !answer.isSuccess else {
                return StoreChangeResponse(json: answer.body) ?? .failed(unexpectedResponse)
            }
            // A worker that stops answers 503. Another worker, or the next start, may use the file.
            return .failed(cannotChange(answer.status == 503 ? .unreachable : .refused, answer.workerSentence))
        } catch {
            return .failed(cannotChange(.unreachable, error.message))
        }
    }

    private static func cannotChange(_ code: StoreFault.Code, _ reason: String) -> StoreFault {
        StoreFault(code, "cannot change the registration store through its worker: \(reason)")
    }

    private static let unexpectedResponse = StoreFault(
        .refused,
        "cannot change the registration store through its worker: the worker refused the change; run the command with "
            + "the version and the configuration of the worker")
}

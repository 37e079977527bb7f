import ControlProtocol
import EventLoop
import HTTPClient
import JSON
import RegistrationTools
import Registrations
import Threads

/// The writer of a command for a SQLite store. While a worker uses the file, the writer reads the file, and sends
/// changes to the control socket of the worker.
///
/// `@unchecked Sendable`: loop-bound.
final class SQLiteCommandWriter: RegistrationWriter, @unchecked Sendable {
    private enum State {
        /// To: direct, worker, closed.
        case opening
        /// This process has the file open for writing. To: closed.
        case direct
        /// A worker has the file open for writing. To: closed.
        case worker(WorkerAddress)
        case closed
    }

    /// Timeout for the response of a worker.
    private static let responseMillisecondsMax = 60_000

    private let path: String
    private let loop: EventLoop
    private let direct: RegistrationWriter
    private let reading: RegistrationWriter
    private let addresses: @Sendable () -> [WorkerAddress]
    private var state = State.opening

    /// - Parameters:
    ///   - path: The path of the file.
    ///   - direct: A writer that opens the file for writing.
    ///   - reading: A writer that opens the file for reading.
    ///   - addresses: Returns the control sockets of the workers to ask. Called on another thread.
    init(
        path: String, direct: RegistrationWriter, reading: RegistrationWriter, on loop: EventLoop,
        addresses: @escaping @Sendable () -> [WorkerAddress]
    ) {
        (self.path, self.direct, self.reading) = (path, direct, reading)
        (self.loop, self.addresses) = (loop, addresses)
    }

    override func start(onChange: @escaping (StoreFault?) -> Void) {
        direct.start { [self] fault in
            guard case .opening = state else { return onChange(fault) }
            if let fault, fault.errorClass == StoreSession.inUseClass { return findWorker(fault, onChange) }
            if fault == nil { state = .direct }
            onChange(fault)
        }
    }

    /// Uses the worker that confirms that it writes to the file. Reports `fault` if there is none.
    private func findWorker(_ fault: StoreFault, _ onChange: @escaping (StoreFault?) -> Void) {
        let probe = StoreChange(path: path, .apply([])).json
        let addresses = addresses
        nonisolated(unsafe) let onChange = onChange
        Task(executorPreference: loop) {
            await self.direct.close()
            let found = await DetachedThread.run {
                addresses().first { Self.response($0, to: probe) == .applied([]) }
            }
            guard case .opening = self.state else { return }
            guard let found else { return onChange(fault) }
            self.state = .worker(found)
            self.reading.start(onChange: onChange)
        }
    }

    override func apply(_ batch: CommandBatch) {
        guard case .worker(let worker) = state else { return direct.apply(batch) }
        nonisolated(unsafe) let batch = batch
        send(.apply(batch.commands), to: worker) { response in
            switch response {
            case .applied(let outcomes) where outcomes.count == batch.commands.count: batch.completed(outcomes)
            case .failed(let fault): batch.failed(fault)
            case .applied, .edited: batch.failed(Self.unexpectedResponse)
            }
        }
    }

    override func edit(_ page: EditPage) {
        guard case .worker(let worker) = state else { return direct.edit(page) }
        nonisolated(unsafe) let page = page
        send(.edit(page.edit, after: page.after), to: worker) { response in
            switch response {
            case .edited(let last, let editedCount, let unreadableCount):
                page.completed(last: last, editedCount: editedCount, unreadableCount: unreadableCount)
            case .failed(let fault): page.failed(fault)
            case .applied: page.failed(Self.unexpectedResponse)
            }
        }
    }

    override func read(_ page: RegistrationPage) {
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

    private func send(
        _ work: StoreChange.Work, to worker: WorkerAddress,
        _ received: @escaping @Sendable (StoreChangeResponse) -> Void
    ) {
        let change = StoreChange(path: path, work).json
        Task(executorPreference: loop) {
            received(await DetachedThread.run { Self.response(worker, to: change) })
        }
    }

    /// Sends a change to a worker, and waits for the response. Blocks.
    private static func response(_ worker: WorkerAddress, to change: [UInt8]) -> StoreChangeResponse {
        do throws(HTTPError) {
            let answer = try worker.request(
                HTTPClient(), .post, "registrations", body: change, answerMillisecondsMax: responseMillisecondsMax)
            guard !answer.isSuccess else {
                return StoreChangeResponse(json: answer.body) ?? .failed(unexpectedResponse)
            }
            let reason = (try? JSONDocument(answer.body))?.root["error"]?.string ?? answer.text
            // A worker that stops answers 503. Another worker, or the next start, may use the file.
            return .failed(cannotChange(answer.status == 503 ? .unreachable : .refused, reason))
        } catch {
            return .failed(cannotChange(.unreachable, error.message))
        }
    }

    private static func cannotChange(_ code: StoreFault.Code, _ reason: String) -> StoreFault {
        StoreFault(code, "cannot change the registration store through its worker: \(reason)")
    }

    private static let unexpectedResponse = StoreFault(
        .refused, "the worker refused the change; run the command with the version and the configuration of the worker")
}

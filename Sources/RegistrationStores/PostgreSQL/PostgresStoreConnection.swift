import EventLoop
import PostgreSQL
import Registrations

/// A connection that is ready once the schema has a version that this module can use.
final class PostgresStoreConnection: PostgresConnectionHandler {
    private enum State {
        /// To: connecting, closed.
        case idle
        /// The wait until PostgreSQL is connected. Contains the last fault; nil before the first one. To: checking,
        /// closed.
        case connecting(StoreFault?)
        /// A read of the version of the schema. Contains the last fault; nil if there was none. To: ready, unsuitable,
        /// connecting, closed.
        case checking(StoreFault?)
        /// To: connecting, closed.
        case ready
        /// A schema that cannot be used, or whose version could not be read. To: checking, connecting, closed.
        case unsuitable(StoreFault)
        case closed
    }

    /// The time between two checks while the schema is unsuitable.
    static let checkIntervalSeconds = 5
    private static let starting = StoreFault(
        .unreachable, "cannot use the registration store: the connection to PostgreSQL is not ready; check the server")
    private static let closed = StoreFault(
        .unreachable, "cannot use the registration store: its connection is closed; restart the worker")

    let connection: PostgresConnection
    private let versionStatement: Int
    private var state = State.idle
    private var onChange: ((StoreFault?) -> Void)?
    private var onConnect: (() -> Void)?
    private let timer: DeadlineTimer
    private var workCount = 0
    private let idleWaiters = ContinuationList<Void>()

    /// Creates the connection.
    ///
    /// - Throws: ``StoreFault`` if libpq cannot be loaded or is too old.
    init(
        loop: EpollLoop, url: PostgresURL, password: @escaping PostgresPasswordSource,
        limits: PostgresConfiguration.Limits, statements: [PreparedStatement], versionStatement: Int
    ) throws(StoreFault) {
        var configuration = PostgresConfiguration(
            endpoints: url.endpoints, statements: statements, password: password)
        configuration.limits = limits
        do throws(PostgresError) {
            connection = try PostgresConnection(loop: loop, configuration: configuration)
        } catch {
            throw StoreFault(error)
        }
        self.versionStatement = versionStatement
        timer = DeadlineTimer(on: loop)
    }

    var loop: EpollLoop { connection.loop }

    /// The reason why no work can begin; nil if the connection is ready.
    var fault: StoreFault? {
        switch state {
        case .idle: Self.starting
        case .connecting(let fault), .checking(let fault): fault ?? Self.starting
        case .ready: nil
        case .unsuitable(let fault): fault
        case .closed: Self.closed
        }
    }

    /// Connects, and reconnects until `close`.
    ///
    /// - Parameters:
    ///   - onChange: Called with nil when the connection becomes ready, and with each fault that differs from the last
    ///     one.
    ///   - onConnect: Called before `onChange(nil)`.
    func start(onChange: @escaping (StoreFault?) -> Void, onConnect: @escaping () -> Void = {}) {
        guard case .idle = state else { return }
        (self.onChange, self.onConnect) = (onChange, onConnect)
        state = .connecting(nil)
        connection.start(self)
    }

    /// Closes the connection, and waits until `workEnded` was called for each `workBegan`.
    func close() async {
        state = .closed
        timer.cancel()
        (onChange, onConnect) = (nil, nil)
        await connection.close()
        if workCount > 0 { await idleWaiters.wait() }
    }

    func workBegan() { workCount += 1 }

    func workEnded() {
        workCount -= 1
        if workCount == 0 { idleWaiters.resume(returning: ()) }
    }

    override func statusChanged(_ status: PostgresStatus) {
        if case .closed = state { return }
        switch status {
        case .ready: check()
        case .waiting(let error): change(to: .connecting(StoreFault(error)))
        case .idle, .connecting, .closing, .closed: break
        }
    }

    private func check() {
        state = .checking(lastFault)
        do throws(PostgresError) {
            let receiver = PostgresClosureReceiver({ [self] result in checked(result) }, read: PostgresVersion.init)
            try connection.execute(versionStatement, PostgresParameters(), receiver: receiver)
        } catch {
            checked(.failure(error))
        }
    }

    private func checked(_ result: Result<PostgresVersion, PostgresError>) {
        guard case .checking = state else { return }
        let fault: StoreFault? =
            switch result {
            case .success(let version): version.fault(required: PostgresMigrations.version)
            case .failure(let error): StoreFault(error)
            }
        guard let fault else {
            onConnect?()
            return change(to: .ready)
        }
        timer.arm(at: loop.now.monotonic + .seconds(Self.checkIntervalSeconds), for: self) { $0.checkAgain() }
        change(to: .unsuitable(fault))
    }

    private func checkAgain() {
        if case .unsuitable = state { check() }
    }

    /// The last fault; nil while the connection is ready or closed, and before the first failure.
    private var lastFault: StoreFault? {
        switch state {
        case .connecting(let fault), .checking(let fault): fault
        case .unsuitable(let fault): fault
        case .idle, .ready, .closed: nil
        }
    }

    private func change(to new: State) {
        let previous = lastFault
        state = new
        // `onChange` comes last, since it may begin work.
        if lastFault == nil || lastFault != previous { onChange?(lastFault) }
    }
}

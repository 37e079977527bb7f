import Crypto
package import EventLoop
package import Registrations

/// A connection of a command-line command to a store. While the store is unreachable, `apply`, `read`, `readMarks` and
/// `edit` repeat their calls, because a repeat changes nothing.
///
/// Loop-bound.
package final class StoreSession {
    /// Maximum duration of `open`.
    package static let openSecondsMax = 15
    /// The time for which a call is repeated while the store is unreachable.
    package static let outageSecondsMax = 60
    /// The time after which `open` reports that it waits.
    package static let noticeSeconds = 1
    private static let retryMilliseconds = 200
    /// The error class of an SQLite file that another process has open for writing. Such a process is usually a worker,
    /// so `open` does not wait until the process ends.
    package static let inUseClass = "in-use"

    package let loop: EventLoop
    private let writer: RegistrationWriter
    private let devicesPerUserMax: Int
    /// Whether the command is stopped. A stopped command repeats no call.
    private let isStopped: () -> Bool

    /// Creates a session.
    ///
    /// - Parameters:
    ///   - writer: The connection, which has not started.
    ///   - devicesPerUserMax: Maximum number of live registrations of a user in an app.
    package init(
        _ writer: RegistrationWriter, on loop: EventLoop, devicesPerUserMax: Int,
        isStopped: @escaping () -> Bool = { false }
    ) {
        (self.writer, self.loop, self.devicesPerUserMax) = (writer, loop, devicesPerUserMax)
        self.isStopped = isStopped
    }

    /// Connects.
    ///
    /// - Parameter waiting: Called once with the reason if the store is not ready after ``noticeSeconds``.
    /// - Throws: ``StoreFault`` if the store is not ready in time, or needs an operator first.
    package func open(_ waiting: @escaping (StoreFault) -> Void = { _ in }) async throws(StoreFault) {
        let opening = Opening(on: loop, waiting)
        writer.start { opening.changed($0) }
        try await opening.reply.value()
    }

    package func close() async { await writer.close() }

    /// See ``RegistrationWriter/importCommandsMax``.
    var importCommandsMax: Int { writer.importCommandsMax }

    /// Applies commands, and ends from an export, as one transaction. Returns their outcomes in their order.
    package func apply(
        _ commands: [RegistrationCommand], ends: [StoredEnd] = []
    ) async throws(StoreFault) -> [CommandOutcome] {
        try await repeating { submit(commands, ends: ends).reply }
    }

    /// Begins to apply commands and ends as one transaction, so that the caller can work meanwhile. Never repeats the
    /// call.
    func submit(_ commands: [RegistrationCommand], ends: [StoredEnd]) -> AwaitedBatch {
        let rules = RegistrationRules(now: loop.now.unixMilliseconds, devicesPerUserMax: devicesPerUserMax)
        let batch = AwaitedBatch(commands, ends: ends, rules: rules, on: loop)
        writer.apply(batch)
        return batch
    }

    /// Reads registrations in pages. Calls `body` for each page until `body` returns false.
    package func read(
        _ filter: RegistrationPage.Filter, _ body: ([Registration]) async -> Bool
    ) async throws(StoreFault) {
        var last: Registration.Key?
        repeat {
            let page = try await repeating {
                let page = AwaitedPage(filter, after: last)
                writer.read(page)
                return page.reply
            }
            guard await body(page.registrations) else { return }
            last = page.last
        } while last != nil
    }

    /// Reads marks in pages. Calls `body` for each page until `body` returns false.
    package func readMarks(_ body: ([EndMark]) async -> Bool) async throws(StoreFault) {
        var last: UUIDValue?
        while true {
            var marksMax = 0
            let page = try await repeating {
                let page = AwaitedMarkPage(after: last)
                marksMax = page.marksMax
                writer.read(page)
                return page.reply
            }
            guard await body(page), page.count >= marksMax, let key = page.last?.key else { return }
            last = key
        }
    }

    func edit(_ edit: EditPage.Edit, after key: Registration.Key?) async throws(StoreFault) -> AwaitedEdit.Outcome {
        try await repeating {
            let page = AwaitedEdit(edit, after: key)
            writer.edit(page)
            return page.reply
        }
    }

    private func repeating<Value>(_ call: () -> StoreReply<Value>) async throws(StoreFault) -> Value {
        let deadline = loop.now.monotonic + .seconds(Self.outageSecondsMax)
        while true {
            do throws(StoreFault) {
                return try await call().value()
            } catch {
                guard error.code == .unreachable, !isStopped(), loop.now.monotonic < deadline else { throw error }
            }
            await loop.sleep(for: .milliseconds(Self.retryMilliseconds))
        }
    }
}

/// The wait for the first connection.
private final class Opening {
    let reply = StoreReply<Void>()
    private let loop: EventLoop
    private var timers: [TimerToken] = []
    private var isOver = false
    private var last = StoreFault(
        .unreachable, "cannot open the registration store: it did not respond in time; check the store")

    init(on loop: EventLoop, _ waiting: @escaping (StoreFault) -> Void) {
        self.loop = loop
        timers = [
            loop.schedule(after: .seconds(StoreSession.noticeSeconds)) { [self] in waiting(last) },
            loop.schedule(after: .seconds(StoreSession.openSecondsMax)) { [self] in end(.failure(last)) },
        ]
    }

    func changed(_ fault: StoreFault?) {
        guard let fault else { return end(.success(())) }
        last = fault
        // A retry cannot help before an operator has acted.
        if fault.code != .unreachable || fault.errorClass == StoreSession.inUseClass { end(.failure(fault)) }
    }

    private func end(_ result: Result<Void, StoreFault>) {
        guard !isOver else { return }
        isOver = true
        for timer in timers { loop.cancel(timer) }
        reply.complete(result)
    }
}

import Crypto
import EventLoop
import Registrations
import TestKit

/// A reader and a writer of a store under test. Used on one loop.
final class StoreClient {
    let loop: EpollLoop
    let reader: RegistrationReader
    let writer: RegistrationWriter

    init(reader: RegistrationReader, writer: RegistrationWriter, on loop: EpollLoop) {
        (self.reader, self.writer, self.loop) = (reader, writer, loop)
    }

    /// Starts the writer and then the reader, and waits until both are ready.
    func start() async throws {
        nonisolated(unsafe) var isWriterReady = false
        nonisolated(unsafe) var isReaderReady = false
        writer.start { isWriterReady = $0 == nil }
        try await loop.wait { isWriterReady }
        reader.start { isReaderReady = $0 == nil }
        try await loop.wait { isReaderReady }
    }

    func close() async {
        await reader.close()
        await writer.close()
    }

    func apply(
        _ commands: [RegistrationCommand], ends: [StoredEnd] = [], rules: RegistrationRules
    ) async throws(StoreFault) -> [CommandOutcome] {
        try await result { self.writer.apply(AwaitedBatch(commands, ends: ends, rules: rules, $0)) }.get()
    }

    /// Reads all pages, and returns their marks.
    func marks(marksMax: Int = 1000) async throws(StoreFault) -> [EndMark] {
        var marks: [EndMark] = []
        var isComplete = false
        while !isComplete {
            let after = marks.last?.key
            let page = try await result {
                self.writer.read(AwaitedMarkPage(after: after, marksMax: marksMax, $0))
            }.get()
            marks += page
            isComplete = page.count < marksMax
        }
        return marks
    }

    func lookUp(_ queries: [DeviceQuery]) async throws(StoreFault) -> [[FoundDevice]] {
        let found = try await find(queries)
        if let fault = found.faults.first?.value { throw fault }
        return found.devices
    }

    /// Returns the devices and the faults of the queries.
    func find(_ queries: [DeviceQuery]) async throws(StoreFault) -> AwaitedLookup.Found {
        try await result { self.reader.lookUp(AwaitedLookup(queries, $0)) }.get()
    }

    func delete(_ ids: [UUIDValue]) async throws(StoreFault) {
        try await result { self.writer.delete(AwaitedDeletion(ids, $0)) }.get()
    }

    /// Runs one round of maintenance, and returns the data key of the rows and events that it omitted.
    func missingKey(rules: RegistrationRules) async throws(StoreFault) -> MissingDataKey? {
        try await result {
            self.writer.maintain(AwaitedMaintenance(rules: rules, rowsMax: 1000, $0))
        }.get().missingKey
    }

    /// Runs rounds of maintenance until one is complete, and returns the claimed events.
    func maintain(rules: RegistrationRules, rowsMax: Int = 1000) async throws(StoreFault) -> [StoredEvent] {
        var events: [StoredEvent] = []
        var isComplete = false
        while !isComplete {
            let round = try await result {
                self.writer.maintain(AwaitedMaintenance(rules: rules, rowsMax: rowsMax, $0))
            }.get()
            events += round.events
            isComplete = round.isComplete
        }
        return events
    }

    /// Reads all pages, and returns their rows.
    func rows(
        _ filter: RegistrationPage.Filter = .all, rowsMax: Int = 1000
    ) async throws(StoreFault) -> [Registration] {
        var rows: [Registration] = []
        var after: Registration.Key?
        repeat {
            let page = try await result {
                self.writer.read(AwaitedPage(filter, after: after, rowsMax: rowsMax, $0))
            }.get()
            rows += page.registrations
            after = page.last
        } while after != nil
        return rows
    }

    /// Edits all pages, and returns the total numbers of edited and unreadable rows.
    func edit(
        _ edit: EditPage.Edit, rowsMax: Int = 1000
    ) async throws(StoreFault) -> (editedCount: Int, unreadableCount: Int) {
        var counts = (editedCount: 0, unreadableCount: 0)
        var after: Registration.Key?
        repeat {
            let page = try await result {
                self.writer.edit(AwaitedEdit(edit, after: after, rowsMax: rowsMax, $0))
            }.get()
            counts.editedCount += page.editedCount
            counts.unreadableCount += page.unreadableCount
            after = page.last
        } while after != nil
        return counts
    }

    private func result<Value>(
        _ submit: (Continuation<Value>) -> Void
    ) async -> Result<Value, StoreFault> {
        await withCheckedContinuation { submit($0) }
    }
}

/// A checked continuation traps if a store completes the same work twice.
typealias Continuation<Value> = CheckedContinuation<Result<Value, StoreFault>, Never>

private final class AwaitedBatch: CommandBatch {
    private let continuation: Continuation<[CommandOutcome]>

    init(
        _ commands: [RegistrationCommand], ends: [StoredEnd], rules: RegistrationRules,
        _ continuation: Continuation<[CommandOutcome]>
    ) {
        self.continuation = continuation
        super.init(commands, ends: ends, rules: rules)
    }

    override func completed(_ outcomes: [CommandOutcome]) { continuation.resume(returning: .success(outcomes)) }

    override func failed(_ fault: StoreFault) { continuation.resume(returning: .failure(fault)) }
}

final class AwaitedLookup: DeviceLookup {
    typealias Found = (devices: [[FoundDevice]], faults: [Int: StoreFault])

    private let continuation: Continuation<Found>

    init(_ queries: [DeviceQuery], _ continuation: Continuation<Found>) {
        self.continuation = continuation
        super.init(queries)
    }

    override func completed(_ devices: [[FoundDevice]]) { continuation.resume(returning: .success((devices, faults))) }

    override func failed(_ fault: StoreFault) { continuation.resume(returning: .failure(fault)) }
}

private final class AwaitedDeletion: EventDeletion {
    private let continuation: Continuation<Void>

    init(_ ids: [UUIDValue], _ continuation: Continuation<Void>) {
        self.continuation = continuation
        super.init(ids)
    }

    override func completed() { continuation.resume(returning: .success(())) }

    override func failed(_ fault: StoreFault) { continuation.resume(returning: .failure(fault)) }
}

private final class AwaitedMaintenance: Maintenance {
    typealias Round = (events: [StoredEvent], isComplete: Bool, missingKey: MissingDataKey?)

    private let continuation: Continuation<Round>

    init(rules: RegistrationRules, rowsMax: Int, _ continuation: Continuation<Round>) {
        self.continuation = continuation
        super.init(rules: rules, rowsMax: rowsMax)
    }

    override func completed(_ events: [StoredEvent], isComplete: Bool) {
        continuation.resume(returning: .success((events, isComplete, missingKey)))
    }

    override func failed(_ fault: StoreFault) { continuation.resume(returning: .failure(fault)) }
}

private final class AwaitedPage: RegistrationPage {
    typealias Content = (registrations: [Registration], last: Registration.Key?)

    private let continuation: Continuation<Content>

    init(
        _ filter: Filter, after: Registration.Key?, rowsMax: Int, _ continuation: Continuation<Content>
    ) {
        self.continuation = continuation
        super.init(filter, after: after, rowsMax: rowsMax)
    }

    override func completed(_ registrations: [Registration], last: Registration.Key?) {
        continuation.resume(returning: .success((registrations, last)))
    }

    override func failed(_ fault: StoreFault) { continuation.resume(returning: .failure(fault)) }
}

private final class AwaitedMarkPage: MarkPage {
    private let continuation: Continuation<[EndMark]>

    init(after: UUIDValue?, marksMax: Int, _ continuation: Continuation<[EndMark]>) {
        self.continuation = continuation
        super.init(after: after, marksMax: marksMax)
    }

    override func completed(_ marks: [EndMark]) { continuation.resume(returning: .success(marks)) }

    override func failed(_ fault: StoreFault) { continuation.resume(returning: .failure(fault)) }
}

private final class AwaitedEdit: EditPage {
    typealias Counts = (last: Registration.Key?, editedCount: Int, unreadableCount: Int)

    private let continuation: Continuation<Counts>

    init(_ edit: Edit, after: Registration.Key?, rowsMax: Int, _ continuation: Continuation<Counts>) {
        self.continuation = continuation
        super.init(edit, after: after, rowsMax: rowsMax)
    }

    override func completed(last: Registration.Key?, editedCount: Int, unreadableCount: Int) {
        continuation.resume(returning: .success((last, editedCount, unreadableCount)))
    }

    override func failed(_ fault: StoreFault) { continuation.resume(returning: .failure(fault)) }
}

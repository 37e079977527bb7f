import APNSProtocol
import EventLoop
import Registrations
import SQLite
import TestKit
import Testing
import Threads

@testable import RegistrationStores

@Suite struct SQLiteReaderTests {
    @Test func `A lookup without an answer fails, and the reader continues`() async throws {
        let fixture = try SQLiteFixture()
        try await onEpollLoop { loop in
            let client = try fixture.open(.sample(), on: loop)
            try await client.start()
            let thread = SharedSQLiteThread(fixture.path, .readOnly, try .sample())
            let link = SQLiteThreadLink(thread, on: loop)
            let log = ReadinessLog()
            link.start { log.changed($0) }
            try await loop.wait { log.isReady }
            let slow = StoreClient(reader: SQLiteReader(thread, on: loop), writer: client.writer, on: loop)
            slow.reader.start { _ in }
            let gate = Gate()
            link.submit(BlockingJob(link, gate))
            let query = DeviceQuery(
                app: RegistrationModel.app, environment: .production, kind: .device, scope: nil, user: "ann")
            let fault = await #expect(throws: StoreFault.self) { try await slow.lookUp([query]) }
            #expect(fault?.code == .unreachable && fault?.sentence.contains("check its disk") == true)
            gate.open()
            let devices = try await slow.lookUp([query])
            #expect(devices == [[]])
            await slow.reader.close()
            await link.close()
            await client.close()
        }
    }
}

/// A point at which a job waits for a test.
private final class Gate: Sendable {
    private let lock = ConditionLock()
    private nonisolated(unsafe) var isOpen = false

    func pass() { lock.withLock { lock.wait { isOpen } } }

    func open() {
        lock.withLock {
            isOpen = true
            lock.wakeAll()
        }
    }
}

private final class BlockingJob: SQLiteStoreJob, @unchecked Sendable {
    private let gate: Gate

    init(_ link: SQLiteThreadLink, _ gate: Gate) {
        self.gate = gate
        super.init(link)
    }

    override func run(_ session: SQLiteSession) throws(SQLiteError) { gate.pass() }

    override func succeeded() {}

    override func failed(_ fault: StoreFault) { Issue.record("\(fault)") }
}

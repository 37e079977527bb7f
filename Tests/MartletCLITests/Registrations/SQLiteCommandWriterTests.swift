import AdminHTTP
import ControlProtocol
import Crypto
import EventLoop
import RegistrationTools
import Registrations
import TestKit
import Testing

@testable import Configuration
@testable import MartletCLI
@testable import Worker

/// The writer that commands use for an SQLite file that a worker may have open.
@Suite(.timeLimit(.minutes(2))) struct SQLiteCommandWriterTests {
    private static let indexKey = "0a0b0c0d"
    private static let dataKey = DataKeySummary(id: 2, fingerprint: "9c41d0aa", isActive: true)
    private static let end = StoredEnd.mark(EndMark(key: UUIDValue(high: 1, low: 2), at: 3, isPermanent: true))
    private static let ended = CommandOutcome(reply: .ended, events: [])

    @Test func `A batch that contains only ends reaches the worker`() async throws {
        try await onEpollLoop { loop in
            let harness = try WorkerHarness(on: loop)
            let worker = try harness.worker("1.sock") { _ in .applied([Self.ended]) }
            defer { worker.close() }
            let session = try await harness.session()
            #expect(try await session.apply([], ends: [Self.end]) == [Self.ended])
            #expect(harness.received == [.probe, .apply([], ends: [Self.end])])
            await session.close()
        }
    }

    @Test(arguments: [0, 1, 3]) func `Another number of outcomes is a fault`(outcomeCount: Int) async throws {
        try await onEpollLoop { loop in
            let harness = try WorkerHarness(on: loop)
            let worker = try harness.worker("1.sock") { _ in
                .applied(Array(repeating: Self.ended, count: outcomeCount))
            }
            defer { worker.close() }
            let session = try await harness.session()
            let command = RegistrationCommand.erase(user: "ann", app: nil, at: 1)
            let fault = await #expect(throws: StoreFault.self) { try await session.apply([command], ends: [Self.end]) }
            #expect(fault?.code == .refused)
            await session.close()
        }
    }

    @Test func `A worker is asked to encrypt with the active data key of the command`() async throws {
        try await onEpollLoop { loop in
            let harness = try WorkerHarness(on: loop)
            let worker = try harness.worker("1.sock") { _ in
                .edited(EditedPage(last: nil, editedCount: 7, unreadableCount: 0))
            }
            defer { worker.close() }
            let session = try await harness.session()
            let edit = StoreEdit(.rekey, after: nil)
            guard case .complete = await edit.run(in: session, isStopped: { false }) else {
                Issue.record("incomplete")
                return
            }
            #expect(edit.editedCount == 7)
            #expect(harness.received == [.probe, .rekey(to: Self.dataKey, after: nil)])
            await session.close()
        }
    }

    @Test func `A change reaches the worker that replaces a stopped worker`() async throws {
        try await onEpollLoop { loop in
            let harness = try WorkerHarness(on: loop)
            let first = try harness.worker("1.sock") { _ in .applied([Self.ended]) }
            let session = try await harness.session()
            first.close()
            let second = try harness.worker("2.sock") { _ in .applied([Self.ended]) }
            defer { second.close() }
            #expect(try await session.apply([], ends: [Self.end]) == [Self.ended])
            #expect(harness.received.last == .apply([], ends: [Self.end]))
            await session.close()
        }
    }

    @Test func `A worker that does not respond does not hide another worker`() async throws {
        try await onEpollLoop { loop in
            let harness = try WorkerHarness(on: loop)
            let unresponsive = try AdminServer(loop: loop, socketPath: harness.folder.file("1.sock")) { _ in }
            defer { unresponsive.close() }
            let worker = try harness.worker("2.sock") { _ in .applied([Self.ended]) }
            defer { worker.close() }
            let session = try await harness.session()
            #expect(try await session.apply([], ends: [Self.end]) == [Self.ended])
            await session.close()
        }
    }

    @Test func `Without a worker, the fault of the file remains`() async throws {
        try await onEpollLoop { loop in
            let harness = try WorkerHarness(on: loop)
            let fault = await #expect(throws: StoreFault.self) { _ = try await harness.session() }
            #expect(fault == WorkerHarness.inUse)
        }
    }

    /// The control sockets of workers in a folder. Loop-bound.
    private final class WorkerHarness {
        static let inUse = StoreFault(
            .unreachable, "another process writes to the file", errorClass: StoreSession.inUseClass)

        let folder: TemporaryDirectory
        private let loop: EpollLoop
        private(set) var received: [StoreChange.Work] = []

        init(on loop: EpollLoop) throws {
            self.loop = loop
            folder = try TemporaryDirectory("workers")
        }

        /// Starts a worker that confirms probes, and answers other changes with `response`.
        func worker(
            _ name: String, response: @escaping (StoreChange.Work) -> StoreChangeResponse
        ) throws -> AdminServer {
            try AdminServer(loop: loop, socketPath: folder.file(name)) { [self] exchange in
                let body = exchange.request.body
                guard
                    let change = try? StoreChange(
                        json: body, indexKey: SQLiteCommandWriterTests.indexKey, now: 1_750_000_000_000)
                else {
                    return exchange.answer(.error(400, "no change"))
                }
                received.append(change.work)
                let answer: StoreChangeResponse = change.work == .probe ? .confirmed : response(change.work)
                exchange.answer(.json(answer.json))
            }
        }

        /// Opens a session whose file another process uses.
        func session() async throws -> StoreSession {
            let writer = SQLiteCommandWriter(
                path: "/store.db", indexKey: SQLiteCommandWriterTests.indexKey,
                dataKey: SQLiteCommandWriterTests.dataKey, direct: FileWriter(Self.inUse), reading: FileWriter(nil),
                on: loop
            ) { [path = folder.path] in ControlSocket.paths(in: [path]).map { .socket($0) } }
            let session = StoreSession(writer, on: loop, devicesPerUserMax: 10)
            try await session.open()
            return session
        }
    }

    /// A writer whose start reports one result.
    private final class FileWriter: RegistrationWriter {
        private let fault: StoreFault?

        init(_ fault: StoreFault?) {
            self.fault = fault
            super.init()
        }

        override func start(onChange: @escaping (StoreFault?) -> Void) { onChange(fault) }

        override func close() async {}
    }
}

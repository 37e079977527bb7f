import APNSProtocol
import EventLoop
import Registrations
import TestKit

@testable import RegistrationTools

/// An import from a file in a temporary folder into a simulated store. Loop-bound.
final class ImportHarness {
    static let app = "com.example.app"
    static let indexKey = "0a0b0c0d"

    let loop: EpollLoop
    let store: SimulatedStore
    let folder: TemporaryDirectory
    let file: String
    var writer: RegistrationWriter
    private(set) var rejected: [ImportReject] = []

    init(on loop: EpollLoop, _ text: String) throws {
        self.loop = loop
        store = try SimulatedStore(
            on: loop, keys: RegistrationKeys(json: RegistrationKeys.generatedFile(), source: "test"))
        writer = store.writer()
        folder = try TemporaryDirectory("import")
        file = try folder.write("users.csv", text)
    }

    static let header = "user,app,device_token,registered_at\n"

    /// Returns lines of CSV for the users of a range. Each user has one device.
    static func lines(_ users: Range<Int>) -> String {
        users.map { "user\($0),\(app),\(token($0)),\(1_749_000_000_000 + $0)\n" }.joined()
    }

    static func token(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 64 - digits.count) + digits
    }

    static func environment(app: String, named: APNSEnvironment?) throws(CommandViolation) -> APNSEnvironment {
        named ?? .production
    }

    /// Runs an import, and returns its end and its counts.
    func run(
        resumes: Bool = false, isDryRun: Bool = false, indexKey: String = ImportHarness.indexKey, location: String = "",
        isStopped: @escaping () -> Bool = { false }
    ) async throws -> (end: RegistrationImport.End, counts: ImportCounts) {
        let session = StoreSession(writer, on: loop, devicesPerUserMax: 100)
        try await session.open()
        var options = RegistrationImport.Options(path: file, resumes: resumes, indexKey: indexKey)
        (options.checkpointLines, options.location) = (512, location)
        let work = RegistrationImport(
            options, into: isDryRun ? nil : session, on: loop, environment: Self.environment,
            rejected: { [self] in rejected += $0 }, isStopped: isStopped)
        let end = await work.run()
        return (end, work.counts)
    }

    /// The users of the store's live rows.
    var users: Set<String> { Set(store.rows.values.compactMap { $0.details?.identity?.user }) }

    var checkpoint: ImportCheckpoint? { try? ImportCheckpoint.read(of: file) }

    /// The lines of the file of rejects; empty if the file is missing.
    var rejects: [String] {
        ((try? folder.read("users.csv.rejects")) ?? "").split(separator: "\n").map(String.init)
    }
}

/// A writer that passes batches to another writer, or holds or refuses them.
final class FilteredWriter: RegistrationWriter {
    enum Verdict {
        case pass
        case refuse(StoreFault)
        /// No outcome of the batch before `failHeld`, as if the process were killed before the commit.
        case hold
    }

    private let writer: RegistrationWriter
    private let verdict: ([RegistrationCommand]) -> Verdict
    private(set) var held: [CommandBatch] = []
    private var failsHeld = false

    init(_ writer: RegistrationWriter, _ verdict: @escaping ([RegistrationCommand]) -> Verdict) {
        (self.writer, self.verdict) = (writer, verdict)
    }

    private static let killed = StoreFault(.refused, "killed")

    /// Fails the held batches, and each later batch whose verdict is `hold`.
    func failHeld() {
        failsHeld = true
        for batch in held { batch.failed(Self.killed) }
    }

    override func start(onChange: @escaping (StoreFault?) -> Void) { writer.start(onChange: onChange) }

    override func apply(_ batch: CommandBatch) {
        switch verdict(batch.commands) {
        case .pass: writer.apply(batch)
        case .refuse(let fault): batch.failed(fault)
        case .hold: if failsHeld { batch.failed(Self.killed) } else { held.append(batch) }
        }
    }

    override func close() async { await writer.close() }
}

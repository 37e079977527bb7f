import TestKit

/// The memory and the libraries of workers with and without registrations, after the same number of requests.
struct MemoryComparison {
    private static let requestsMax = 5000
    private static let secondsMax = 300
    private static let libraries = ["libpq.so", "libsqlite3.so"]
    private static let without = "without"

    let options: RegistrationsOptions
    private var rows: [(name: String, megabytes: Double, libraries: Int)] = []

    init(_ options: RegistrationsOptions) {
        self.options = options
    }

    /// Measures a worker.
    ///
    /// - Parameter store: The name of the store; nil for a worker without registrations.
    mutating func measure(_ store: String?, _ fixture: WorkerFixture, round: Int) async throws {
        let users = store == nil ? nil : UserGroup.single(pairs: options.users)
        let requests = min(options.messages, Self.requestsMax)
        try await fixture.refill(requests, BenchMessage(round: round, users: users))
        let worker = try await fixture.worker()
        try await fixture.awaitResults(requests, of: worker, secondsMax: Self.secondsMax)
        let maps = try Files.lines(of: "/proc/\(worker.pid)/maps")
        let libraries = Self.libraries.count { library in maps.contains { $0.contains("/\(library)") } }
        rows.append((store ?? Self.without, Double(worker.residentBytes) / 1e6, libraries))
        try await fixture.end(worker)
    }

    func add(to report: inout RegistrationsReport) {
        var section = RegistrationsReport.Section("memory of a worker", "memory")
        section.rows = rows.map { row in
            (
                row.name,
                [
                    Figure(title: "resident MB", key: "resident_mb", value: row.megabytes, places: 1),
                    Figure(title: "libraries", key: "libraries", value: Double(row.libraries), places: 0),
                ]
            )
        }
        report.sections.append(section)
        guard let plain = rows.first(where: { $0.name == Self.without }) else { return }
        report.goals.append(
            Goal("6. libraries loaded without registrations", Double(plain.libraries), .atMost(0)))
        for row in rows where row.name != Self.without {
            report.goals.append(
                Goal("6. MB more with registrations, \(row.name)", row.megabytes - plain.megabytes, .atMost(10)))
        }
    }
}

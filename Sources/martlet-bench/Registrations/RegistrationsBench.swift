import TestKit

/// The benchmark of registrations and of requests to users.
struct RegistrationsBench {
    /// The first of the rounds whose requests measure memory.
    private static let memoryRound = 0xF00

    private let options: RegistrationsOptions

    init(_ options: RegistrationsOptions) {
        self.options = options
    }

    func run() async throws -> RegistrationsReport {
        MartletBench.log("private PostgreSQL, broker and simulator starting")
        let stores = try await BenchStores()
        let lines = "limits: {in_flight_max: \(EndToEndOptions().inFlight)}\nlanes: 1\n"
        let postgresql = try await WorkerFixture(more: lines + stores.configuration(stores.postgresql()))
        let sqlite = try postgresql.configured("sqlite", more: lines + stores.configuration(stores.sqlite))
        let plain = try postgresql.configured("plain", more: lines)
        var report = RegistrationsReport(options: options)
        try await ImportComparison(options: options, stores: stores)
            .run(&report, configurations: (postgresql.configuration, sqlite.configuration))
        try await stores.postgres.sql("VACUUM ANALYZE martlet.registration", database: BenchStores.database)
        try await stores.postgres.sql("CHECKPOINT")
        let comparison = StoreComparison(options: options, stores: stores)
        try await comparison.lookUp(&report)
        try await comparison.register(&report)
        var pushes = [
            PushComparison(options, "PostgreSQL", postgresql, hasGoals: true),
            PushComparison(options, "SQLite", sqlite, hasGoals: false),
        ]
        for store in pushes.indices { try await pushes[store].measureRates() }
        var memory = MemoryComparison(options)
        let workers = [(nil, plain), ("PostgreSQL", postgresql), ("SQLite", sqlite)]
        for (number, worker) in workers.enumerated() {
            try await memory.measure(worker.0, worker.1, round: Self.memoryRound + number)
        }
        await postgresql.testClient.collect(WorkerFixture.results)
        for store in pushes.indices {
            try await pushes[store].measureLatencies()
            pushes[store].add(to: &report)
        }
        memory.add(to: &report)
        try await postgresql.end()
        try await stores.end()
        return report
    }
}

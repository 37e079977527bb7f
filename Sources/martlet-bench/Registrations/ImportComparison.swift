import TestKit

/// The measurements of `martlet registrations import`, beside COPY into the same table with its indexes.
struct ImportComparison {
    private static let secondsMax = 24 * 3600
    private static let copy = "copied"

    let options: RegistrationsOptions
    let stores: BenchStores

    /// Fills both stores. The rows of the last sample remain.
    ///
    /// - Parameter configurations: The configurations with the stores in PostgreSQL and SQLite.
    func run(
        _ report: inout RegistrationsReport, configurations: (postgresql: String, sqlite: String)
    ) async throws {
        let file = stores.directory.file("registrations.csv")
        try options.groups.write(to: file)
        let runs = try await StoreRuns(
            options.samples, of: "row",
            [
                (
                    "martlet",
                    {
                        try await stores.createDatabase(BenchStores.database)
                        return try await importFile(file, configurations.postgresql)
                    }
                ),
                ("COPY", { try await copyRows() }),
            ])
        let sqlite = try await importFile(file, configurations.sqlite)
        report.add("rows imported", "import", unit: "row", runs, ["martlet", "COPY"])
        report.sections[report.sections.count - 1].rows.append(("martlet, SQLite", sqlite.figures(by: "row")))
        report.goals.append(
            Goal("5. import, times COPY", runs["martlet"].perSecond / runs["COPY"].perSecond, .atLeast(0.5)))
    }

    private func importFile(_ file: String, _ configuration: String) async throws -> StoreRun {
        let began = ContinuousClock.now
        let (exit, output, errors) = try await ChildProcess.run(
            [Products.executable("martlet"), "registrations", "import", "--config", configuration, file],
            within: .seconds(Self.secondsMax))
        let rate = Double(options.groups.deviceCount) / ((ContinuousClock.now - began) / .seconds(1))
        guard exit.status == .exited(0), output.last == "\(options.groups.deviceCount) stored" else {
            throw ProcessError("cannot import registrations: \(output + errors)")
        }
        let cost = exit.usage.time.microseconds / Double(options.groups.deviceCount)
        return StoreRun(perSecond: rate, microseconds: cost)
    }

    /// Copies all rows of the filled database from a file of the server into an empty database.
    private func copyRows() async throws -> StoreRun {
        let file = "\(stores.postgres.directory)/rows"
        try await stores.postgres.sql(
            "COPY martlet.registration TO '\(file)' (FORMAT binary)", database: BenchStores.database,
            within: .seconds(Self.secondsMax))
        try await stores.createDatabase(Self.copy)
        let began = ContinuousClock.now
        try await stores.postgres.sql(
            "COPY martlet.registration FROM '\(file)' (FORMAT binary)", database: Self.copy,
            within: .seconds(Self.secondsMax))
        let rate = Double(options.groups.deviceCount) / ((ContinuousClock.now - began) / .seconds(1))
        try await stores.postgres.sql("DROP DATABASE \(Self.copy)")
        return StoreRun(perSecond: rate)
    }
}

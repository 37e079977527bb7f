import APNSProtocol
import Crypto
import Registrations
import TestKit

/// The measurements of a store without broker and APNs.
struct StoreComparison {
    /// The name of the C program, in reports and as executable.
    private static let baseline = "baseline-registrations"
    private static let pgbench = "pgbench, 8 clients"
    private static let pgbenchClients = 8
    /// The number of users in the script of pgbench.
    private static let scriptUsersMax = 10_000

    let options: RegistrationsOptions
    let stores: BenchStores

    func lookUp(_ report: inout RegistrationsReport) async throws {
        let script = try lookupScript()
        let runs = try await StoreRuns(
            options.samples, of: "user",
            [
                (Self.baseline, { try await runBaseline(.lookups) }),
                (Self.pgbench, { try await runPgbench(script) }),
                ("martlet", { try await runMartlet(.lookups, stores.postgresql()) }),
                ("martlet, SQLite", { try await runMartlet(.lookups, stores.sqlite) }),
            ])
        report.add(
            "users looked up", "lookups", unit: "user", runs,
            [Self.baseline, "martlet", "martlet, SQLite", Self.pgbench])
        let (martlet, baseline) = (runs["martlet"], runs[Self.baseline])
        report.goals += [
            Goal("1. lookups, times baseline-registrations", martlet.perSecond / baseline.perSecond, .atLeast(0.8)),
            Goal("1. lookups, times pgbench", martlet.perSecond / runs[Self.pgbench].perSecond, .atLeast(2)),
            Goal("1. lookups, CPU µs per user", martlet.microseconds ?? 0, .atMost(2)),
        ]
    }

    func register(_ report: inout RegistrationsReport) async throws {
        let single = "\(Self.baseline), 1"
        let runs = try await StoreRuns(
            options.samples, of: "registration",
            [
                (Self.baseline, { try await runBaseline(.registrations) }),
                (single, { try await runBaseline(.single) }),
                ("martlet", { try await runMartlet(.registrations, stores.postgresql()) }),
                ("martlet, 1", { try await runMartlet(.single, stores.postgresql()) }),
                ("martlet, SQLite", { try await runMartlet(.registrations, stores.sqlite) }),
                ("martlet, SQLite, 1", { try await runMartlet(.single, stores.sqlite) }),
            ])
        report.add(
            "registered again", "registrations", unit: "registration", runs,
            [Self.baseline, "martlet", "martlet, SQLite", single, "martlet, 1", "martlet, SQLite, 1"])
        let (martlet, baseline) = (runs["martlet"], runs[Self.baseline])
        report.goals += [
            Goal(
                "2. registrations, times baseline-registrations", martlet.perSecond / baseline.perSecond, .atLeast(0.7)),
            Goal("2. registrations, times one commit each", martlet.perSecond / runs[single].perSecond, .atLeast(10)),
        ]
    }

    private func runBaseline(_ work: StoreWork) async throws -> StoreRun {
        try await .running(
            [
                Products.executable(Self.baseline), work.rawValue, "--database", stores.libpqAddress, "--seconds",
                "\(options.seconds)",
            ], seconds: options.seconds)
    }

    private func runMartlet(_ work: StoreWork, _ store: String) async throws -> StoreRun {
        let client = StoreClient(
            work: work, store: store, keys: stores.keys, users: options.users, seconds: options.seconds)
        return try await .running(client.command, seconds: options.seconds)
    }

    private func runPgbench(_ script: String) async throws -> StoreRun {
        StoreRun(
            perSecond: try await stores.postgres.transactionsPerSecond(
                of: script, database: BenchStores.database, clients: Self.pgbenchClients, seconds: options.seconds))
    }

    /// Returns a script of pgbench that looks up a random user. An array contains the users, because pgbench cannot
    /// compute their keys.
    private func lookupScript() throws -> String {
        let group = UserGroup.pairs(options.users)
        let index = try BlindIndex(RegistrationKeys(path: stores.keys))
        let keys = try RandomOrder(group.count).prefix(Self.scriptUsersMax).map { number in
            try index.userKey(app: BenchMessage.bundleIDs(1)[0], user: group.user(number)).description
        }
        return """
            \\set n random(1, \(keys.count))
            SELECT token_key, slot, registered_at, key_id, ciphertext FROM martlet.registration \
            WHERE user_key = ('{\(keys.joined(separator: ","))}'::uuid[])[:n] \
            AND environment = \(APNSEnvironment.production.number) AND kind = \(TokenKind.device.number) \
            AND scope_key IS NULL AND suspicions < \(RegistrationRules.suspicionsMax) AND expires_at IS NULL \
            ORDER BY token_key, slot LIMIT \(DeviceLookup.devicesMax);

            """
    }
}

extension RegistrationsReport {
    /// Adds a section with a row for each named program.
    mutating func add(_ title: String, _ key: String, unit: String, _ runs: StoreRuns, _ names: [String]) {
        var section = Section(title, key)
        section.rows = names.map { ($0, runs[$0].figures(by: unit)) }
        sections.append(section)
    }
}

import Crypto
import PostgreSQL
import Registrations
import TestKit
import Testing

@testable import RegistrationStores

@Suite struct PostgresStoreFaultTests {
    @Test(
        arguments: [
            ("08006", .unreachable), ("57014", .unreachable), ("57P03", .unreachable), ("25006", .unreachable),
            ("55P03", .unreachable), ("40001", .unreachable), ("XX000", .unreachable), ("28P01", .refused),
            ("28000", .refused), ("53100", .refused), ("53200", .refused), ("53300", .refused), ("42P01", .schema),
            ("42703", .schema), ("42501", .schema), ("3D000", .schema), ("3F000", .schema), ("0P000", .refused),
            ("26000", .refused), ("42P05", .refused), ("22003", .data), ("23502", .data),
        ] as [(String, StoreFault.Code)])
    func `Each SQLSTATE has a code, its class, and a remedy`(state: String, code: StoreFault.Code) throws {
        let fault = StoreFault(PostgresError(try #require(SQLState(state))))
        #expect(fault.code == code)
        #expect(fault.errorClass == String(state.prefix(2)))
        #expect(fault.sentence.hasPrefix("cannot use the registration store: ") && fault.sentence.contains(state))
        #expect(fault.sentence.contains("; "))
    }

    @Test(
        arguments: [
            (.unreachable, .unreachable), (.timedOut, .unreachable),
            (.readOnly, .unreachable), (.queueFull, .unreachable), (.protocolViolation, .unreachable),
            (.transactionFailed, .unreachable), (.closed, .unreachable), (.tls, .refused),
            (.passwordMissing, .refused), (.invalidURL, .refused), (.unexpectedResult, .schema),
        ] as [(PostgresError.Code, StoreFault.Code)])
    func `Errors without SQLSTATE have a code and no class`(error: PostgresError.Code, code: StoreFault.Code) {
        let fault = StoreFault(PostgresError(error, "reason"))
        #expect(fault.code == code && fault.errorClass == nil)
        #expect(fault.sentence.hasPrefix("cannot use the registration store: reason; "))
    }

    @Test func `Without libpq, the sentence names the package`() {
        let message = "cannot load libpq: no such file; install the package libpq5"
        #expect(StoreFault(PostgresError(.unavailable, message)) == StoreFault(.refused, message))
    }

    @Test(arguments: [
        ("42P01", "run: martlet registrations migrate"), ("3F000", "run: martlet registrations migrate"),
        ("42501", "run: martlet registrations migrate --url URL, where URL names the owner of the schema"),
        ("3D000", "create the database, or correct registrations.store"),
        ("28P01", "correct the user, password_file, or pg_hba.conf of the server"),
        ("53100", "free disk space at the server"), ("55P03", "end the session that holds the lock; see pg_locks"),
        ("26000", "use session pooling, or PgBouncer 1.21 or later with max_prepared_statements"),
    ])
    func `A fault that needs an operator names one remedy`(state: String, remedy: String) throws {
        let error = PostgresError(try #require(SQLState(state)))
        #expect(StoreFault(error).sentence == "cannot use the registration store: \(error.message); \(remedy)")
    }

    @Test func `Versions that cannot be used are faults`() {
        func fault(_ version: Int, _ oldestReader: Int) -> StoreFault? {
            PostgresVersion(version: version, oldestReader: oldestReader).fault(required: 3)
        }
        #expect(fault(3, 1) == nil)
        #expect(fault(4, 3) == nil)
        #expect(fault(2, 1)?.code == .schema)
        #expect(fault(2, 1)?.sentence.hasSuffix("run: martlet registrations migrate") == true)
        #expect(fault(0, 0)?.code == .schema)
        #expect(fault(5, 4)?.code == .schema)
        #expect(fault(5, 4)?.sentence.contains("newer version of Martlet") == true)
    }

    @Test func `The locks of a batch are in order and without duplicates`() throws {
        let keys = try RegistrationKeys(json: RegistrationKeys.generatedFile(), source: "test")
        let index = try BlindIndex(keys)
        let commands = try (0..<200).map { number in
            try index.keyed(.register("user \(number % 50)", "\(10 + number)", at: 1, device: "phone"), apps: [])
        }
        let stripes = PostgresLocks.stripes(of: TouchedKeys(commands))
        #expect(stripes == Set(stripes).sorted() && stripes.count > 300)
        #expect(stripes.allSatisfy { (0..<PostgresLocks.stripesMax).contains($0) })
    }
}

import EventLoop
import Registrations
import TestKit
import Testing

/// A check that every store passes. A test of a store runs each check on a new fixture:
///
/// ```swift
/// @Test(arguments: StoreCheck.all) func `The store passes each check`(_ check: StoreCheck) async throws {
///     try await check.run(SQLiteFixture())
/// }
/// ```
struct StoreCheck: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let run: @Sendable (any StoreFixture) async throws -> Void

    static let all: [StoreCheck] =
        batchChecks + lookupChecks + maintenanceChecks + pageChecks + durabilityChecks

    init(_ description: String, _ run: @escaping @Sendable (any StoreFixture) async throws -> Void) {
        (testDescription, self.run) = (description, run)
    }

    /// Creates a check that uses one client and the model of its store.
    init(_ description: String, withClient body: @escaping @Sendable (inout StoreComparison) async throws -> Void) {
        self.init(description) { fixture in
            try await onEpollLoop { loop in
                var comparison = try StoreComparison(fixture.open(.sample(), on: loop), .sample())
                try await comparison.client.start()
                try await body(&comparison)
                await comparison.client.close()
            }
        }
    }

    /// Opens the store, calls `body`, and closes the store.
    static func withClient<Value: Sendable>(
        _ fixture: any StoreFixture, _ keys: RegistrationKeys,
        _ body: @escaping @Sendable (StoreClient) async throws -> Value
    ) async throws -> Value {
        try await onEpollLoop { loop in
            let client = try fixture.open(keys, on: loop)
            try await client.start()
            let value = try await body(client)
            await client.close()
            return value
        }
    }
}

import TestKit

/// A broker that tests may stop and trouble: not the one that others share.
enum TroubledBroker {
    static var shared: PrivateBroker {
        get async throws { try await start.value }
    }
    private static let start = Task { try await PrivateBroker() }
}

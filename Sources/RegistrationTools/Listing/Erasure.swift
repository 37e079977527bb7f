import EventLoop
package import Registrations

/// The erasure of a user's registrations, with a record of the erased registrations.
package struct Erasure: Sendable {
    package let user: String
    /// The bundle ID; nil for all apps.
    package let app: String?

    package init(user: String, app: String?) {
        (self.user, self.app) = (user, app)
    }

    package struct Outcome: Equatable, Sendable {
        /// UNIX milliseconds. The user's registrations at or before this time have no effect, including later arrivals.
        package var at: Int64
        package var reply: RegistrationReply
        /// The bodies of the `erased` events. Secrets.
        package var events: [[UInt8]]
        /// The number of erased registrations that could not be decrypted. They have no event.
        package var unreadableCount: Int
    }

    /// Erases the registrations, and returns the record.
    package func run(in store: StoreSession) async throws(StoreFault) -> Outcome {
        // The clock of a producer may be ahead. An erasure at the time of this machine would miss its registrations.
        var at = store.loop.now.unixMilliseconds
        var unreadableCount = 0
        try await store.read(.user(user, app: app)) { page in
            for registration in page {
                at = max(at, registration.registeredAt)
                if registration.details?.identity == nil { unreadableCount += 1 }
            }
            return true
        }
        let outcomes = try await store.apply([.erase(user: user, app: app, at: at)])
        return Outcome(
            at: at, reply: outcomes[0].reply, events: outcomes[0].events.map(\.body), unreadableCount: unreadableCount)
    }
}

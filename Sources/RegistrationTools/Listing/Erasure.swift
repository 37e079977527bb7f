import EventLoop
package import Registrations

/// The erasure of a user's registrations, with a record of what was erased.
package struct Erasure: Sendable {
    package let user: String
    /// The bundle ID; nil for all apps.
    package let app: String?

    package init(user: String, app: String?) {
        (self.user, self.app) = (user, app)
    }

    package struct Outcome: Equatable, Sendable {
        /// Registrations at or before this time are erased, also if they arrive later. UNIX milliseconds.
        package var at: Int64
        package var reply: RegistrationReply
        /// The bodies of the events `erased`, one for each registration. Secrets.
        package var events: [[UInt8]]
        /// The number of erased registrations that could not be decrypted, which have no event.
        package var unreadableCount: Int
    }

    /// Erases the registrations.
    package func run(in store: StoreSession) async throws(StoreFault) -> Outcome {
        // Clocks of producers may be ahead. An erasure at the time of this machine would miss their registrations.
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

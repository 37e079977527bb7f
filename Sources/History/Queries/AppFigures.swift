/// The figures of an app.
package struct AppFigures: Sendable, Hashable {
    package var app: String
    package var accepted = 0
    package var refused = 0
    /// Requests that expired, were invalid, or have an unknown outcome.
    package var failed = 0
    /// Refusals because the token is no longer valid.
    package var gone = 0
    /// The time of the last accepted push, in UNIX milliseconds; nil if none is known.
    package var lastAcceptedAt: Int64?

    /// The share of pushes that APNs refused because the token is no longer valid; nil without an accepted or refused
    /// push.
    package var goneShare: Double? {
        accepted + refused == 0 ? nil : Double(gone) / Double(accepted + refused)
    }

    /// The reasons of APNs for status 410.
    static let goneCodes: Set<String> = ["Unregistered", "ExpiredToken"]
}

/// The requests of one app that wait for one reason.
package struct OpenWaits: Sendable, Hashable {
    package var code: String
    package var app: String
    package var count: Int
    /// The start of the oldest wait, in UNIX milliseconds.
    package var oldestAt: Int64
}

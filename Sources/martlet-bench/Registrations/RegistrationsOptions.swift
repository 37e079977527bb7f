import CommandKit
import Registrations

/// The options of `registrations`.
struct RegistrationsOptions {
    static let usersMax = 50_000_000
    static let secondsMax = 3600
    /// The minimum of `users`, because clients use whole batches of different users.
    private static let usersMin = 2 * CommandBatch.commandsMax

    /// The number of users with two devices, in each store.
    var users = 100_000
    /// The duration of each sample of lookups, registrations and latencies.
    var seconds = 5
    var samples = 3
    /// The number of requests to one device per sample. Requests to several devices result in as many pushes.
    var messages = 40_000
    var wantsJSON = false
    /// Whether the benchmark fails if a goal is not met; false with `--quick`.
    var enforcesGoals = true

    init() {}

    init(_ parsed: ParsedArguments) throws(UsageError) {
        if parsed.has("quick") { (users, seconds, samples, messages, enforcesGoals) = (1000, 1, 1, 1000, false) }
        users = try parsed.integer("users", in: Self.usersMin...Self.usersMax) ?? users
        seconds = try parsed.integer("seconds", upTo: Self.secondsMax) ?? seconds
        samples = try parsed.integer("samples", upTo: 1000) ?? samples
        messages = try parsed.integer("messages", in: 1000...1_000_000) ?? messages
        wantsJSON = parsed.has("json")
    }

    /// All users of a store.
    var groups: [UserGroup] { [.pairs(users), .single(pairs: users), .octet(pairs: users)] }

    var description: String {
        """
        \(groups.deviceCount) registrations in PostgreSQL with fsync and in SQLite, \(seconds) s and \(messages) requests \
        per sample; median of \(samples)
        """
    }
}

import APNSProtocol

/// The channels of all apps, separate for each environment.
struct ChannelTable: Sendable {
    /// Maximum number of channels of all apps together. With `accept_unknown_topics`, clients can name any number of
    /// apps.
    static let channelsMax = 100_000

    private struct Place: Hashable {
        var bundleID: String
        var environment: APNSEnvironment
    }

    private struct Entry {
        var channel: Channel
        /// A number that increases with each added channel.
        var number: Int
    }

    private var channels: [Place: [String: Entry]] = [:]
    private var lastNumber = 0

    private(set) var count = 0

    /// Adds a channel, or replaces the app's channel with the same ID and environment.
    mutating func insert(_ channel: Channel) {
        lastNumber += 1
        let place = Place(bundleID: channel.bundleID, environment: channel.environment)
        let entry = Entry(channel: channel, number: lastNumber)
        if channels[place, default: [:]].updateValue(entry, forKey: channel.id) == nil { count += 1 }
    }

    @discardableResult
    mutating func remove(id: String, bundleID: String, environment: APNSEnvironment) -> Channel? {
        let place = Place(bundleID: bundleID, environment: environment)
        guard let removed = channels[place]?.removeValue(forKey: id) else { return nil }
        if channels[place]?.isEmpty == true { channels[place] = nil }
        count -= 1
        return removed.channel
    }

    /// Removes all channels of an app.
    mutating func removeAll(bundleID: String) {
        for environment in APNSEnvironment.allCases {
            count -= channels.removeValue(forKey: Place(bundleID: bundleID, environment: environment))?.count ?? 0
        }
    }

    func channel(id: String, bundleID: String, environment: APNSEnvironment) -> Channel? {
        channels[Place(bundleID: bundleID, environment: environment)]?[id]?.channel
    }

    func contains(id: String) -> Bool { channels.values.contains { $0[id] != nil } }

    func count(bundleID: String, environment: APNSEnvironment) -> Int {
        channels[Place(bundleID: bundleID, environment: environment)]?.count ?? 0
    }

    /// Returns an app's channels in one environment, the oldest first.
    func channels(bundleID: String, environment: APNSEnvironment) -> [Channel] {
        Self.sorted(channels[Place(bundleID: bundleID, environment: environment)]?.values.map { $0 } ?? [])
    }

    /// All channels, the oldest first.
    var all: [Channel] { Self.sorted(channels.values.flatMap(\.values)) }

    private static func sorted(_ entries: [Entry]) -> [Channel] {
        entries.sorted { $0.number < $1.number }.map(\.channel)
    }
}

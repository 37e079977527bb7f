import APNSProtocol
package import Registrations

/// The counts of live registrations, grouped by their properties.
package struct RegistrationGroups: Sendable {
    package enum Key: String, CaseIterable, Sendable {
        case app, environment, kind, platform, age

        package static let list = allCases.map(\.rawValue).joined(separator: ", ")
    }

    package struct Group: Equatable, Sendable {
        /// The values of the keys, in the order of the keys.
        package var values: [String]
        package var count = 0
        package var suspendedCount = 0
    }

    private static let day: Int64 = 24 * 3_600_000

    package let keys: [Key]
    package private(set) var count = 0
    package private(set) var suspendedCount = 0
    /// The number of registrations that could not be decrypted. `count` and their groups include them.
    package private(set) var unreadableCount = 0
    private var groups: [[ByteText]: Group] = [:]

    package init(by keys: [Key]) { self.keys = keys }

    /// Counts a registration. Ignores tombstones.
    ///
    /// - Parameter now: UNIX milliseconds.
    package mutating func add(_ registration: Registration, now: Int64) {
        guard let details = registration.details else { return }
        let values = keys.map { key in
            switch key {
            case .app: registration.app
            case .environment: registration.environment.rawValue
            case .kind: registration.kind.rawValue
            case .platform: details.platform?.rawValue ?? "-"
            case .age: Self.bucket(ofAge: registration.ageMilliseconds(at: now))
            }
        }
        let place = values.map(\.exact)
        let isSuspended = details.suspicion?.isSuspension ?? false
        var group = groups[place] ?? Group(values: values)
        group.count += 1
        count += 1
        if isSuspended {
            group.suspendedCount += 1
            suspendedCount += 1
        }
        if details.identity == nil { unreadableCount += 1 }
        groups[place] = group
    }

    /// The groups, the largest first. Groups of the same size are in the order of their values.
    package var sorted: [Group] {
        groups.sorted { one, other in
            one.value.count != other.value.count
                ? one.value.count > other.value.count : one.key.lexicographicallyPrecedes(other.key)
        }.map(\.value)
    }

    static func bucket(ofAge milliseconds: Int64) -> String {
        switch milliseconds {
        case ..<(7 * day): "< 7 d"
        case ..<(30 * day): "< 30 d"
        case ..<(90 * day): "< 90 d"
        case ..<(365 * day): "< 365 d"
        default: ">= 365 d"
        }
    }
}

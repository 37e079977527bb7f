/// The counts of dead letters by common properties, in bounded memory.
package struct DeadLetterGroups: Sendable {
    package enum Key: String, CaseIterable, Sendable {
        case `class`, code, app, schema, path, queue, outcome, age

        package static let list = allCases.map(\.rawValue).joined(separator: ", ")
    }

    package struct Group: Equatable, Sendable {
        /// The values, one for each key.
        package var values: [String]
        package var count: Int
        /// Milliseconds since the oldest and the newest failure; nil if no age is known.
        package var oldestAge: Int64?
        package var newestAge: Int64?
    }

    /// Maximum number of groups. Dead letters of further groups share one more group.
    static let groupsMax = 10_000

    package let keys: [Key]
    package private(set) var count = 0
    private var groups: [[String]: Group] = [:]

    package init(by keys: [Key]) { self.keys = keys }

    package mutating func add(_ letter: DeadLetter, nowUnixMilliseconds: Int64) {
        count += 1
        let age = letter.ageMilliseconds(at: nowUnixMilliseconds)
        var values = keys.map { key in
            switch key {
            case .class: letter.failureClass
            case .code: letter.code
            case .app: letter.app ?? "-"
            case .schema: letter.schema ?? "-"
            case .path: letter.path ?? "-"
            case .queue: letter.queue ?? "-"
            case .outcome: letter.outcome ?? "-"
            case .age: Self.bucket(ofAge: age)
            }
        }
        if groups[values] == nil, groups.count >= Self.groupsMax { values = keys.map { _ in "…" } }
        var group = groups[values] ?? Group(values: values, count: 0)
        group.count += 1
        if let age {
            group.oldestAge = max(group.oldestAge ?? age, age)
            group.newestAge = min(group.newestAge ?? age, age)
        }
        groups[values] = group
    }

    /// The groups, the largest first. Groups of the same size are in the order of their values.
    package var sorted: [Group] {
        groups.values.sorted { one, other in
            one.count != other.count ? one.count > other.count : one.values.lexicographicallyPrecedes(other.values)
        }
    }

    static func bucket(ofAge milliseconds: Int64?) -> String {
        switch milliseconds {
        case nil: "-"
        case .some(..<60_000): "< 1 min"
        case .some(..<3_600_000): "< 1 h"
        case .some(..<86_400_000): "< 1 d"
        case .some(..<604_800_000): "< 7 d"
        case .some: ">= 7 d"
        }
    }
}

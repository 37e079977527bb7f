/// How many dead letters have something in common, in bounded memory.
struct DeadLetterGroups: Sendable {
    enum Key: String, CaseIterable, Sendable {
        case `class`, code, app, schema, path, queue, outcome, age

        static let list = allCases.map(\.rawValue).joined(separator: ", ")
    }

    struct Group: Equatable, Sendable {
        /// One for each key.
        var values: [String]
        var count: Int
        /// Milliseconds since the oldest and the newest failed; nil where none says when.
        var oldestAge: Int64?
        var newestAge: Int64?
    }

    /// Groups that are told apart; what comes beyond counts as one.
    static let groupsMax = 10_000

    let keys: [Key]
    private(set) var count = 0
    private var groups: [[String]: Group] = [:]

    init(by keys: [Key]) { self.keys = keys }

    mutating func add(_ letter: DeadLetter, nowUnixMilliseconds: Int64) {
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

    /// The biggest first; those of one size in the order of their names.
    var sorted: [Group] {
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

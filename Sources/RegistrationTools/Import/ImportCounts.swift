package import JSON
package import Registrations

/// The counts of an import.
package struct ImportCounts: Equatable, Sendable {
    /// The number of registrations and ends that were applied to the store, by outcome. Empty in a dry run.
    package private(set) var outcomes: [RegistrationReply: Int] = [:]
    /// The number of valid registrations and ends in a dry run.
    package private(set) var validCount = 0
    /// The number of rejected lines.
    package private(set) var rejectedCount = 0

    package init() {}

    mutating func add(_ outcome: RegistrationReply) { outcomes[outcome, default: 0] += 1 }

    mutating func addValid(_ count: Int) { validCount += count }

    mutating func addRejects(_ count: Int) { rejectedCount += count }

    private static let shown: [RegistrationReply] = [.stored, .moved, .unchanged, .superseded, .ended]

    /// The counts as text, such as `10 stored, 2 unchanged, 1 rejected`.
    package var text: String {
        let parts =
            Self.shown.compactMap { reply in outcomes[reply].map { "\($0) \(reply.rawValue)" } }
            + (validCount > 0 ? ["\(validCount) valid"] : [])
            + (rejectedCount > 0 ? ["\(rejectedCount) rejected"] : [])
        return parts.isEmpty ? "no registrations" : parts.joined(separator: ", ")
    }

    /// Writes the counts as members of an object.
    package func write(to json: inout JSONWriter) { Self.codec.writeMembers(self, to: &json) }

    private subscript(count reply: RegistrationReply) -> Int {
        get { outcomes[reply] ?? 0 }
        set { outcomes[reply] = newValue == 0 ? nil : newValue }
    }

    static let codec = ObjectCodec(
        "counts", from: ImportCounts(),
        [
            .member("stored", \.[count: .stored], .int(0...Int.max)),
            .member("moved", \.[count: .moved], .int(0...Int.max)),
            .member("unchanged", \.[count: .unchanged], .int(0...Int.max)),
            .member("superseded", \.[count: .superseded], .int(0...Int.max)),
            .member("ended", \.[count: .ended], .int(0...Int.max)),
            .member("valid", \.validCount, .int(0...Int.max), omitting: 0),
            .member("rejected", \.rejectedCount, .int(0...Int.max)),
        ])
}

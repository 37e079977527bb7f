package import Delivery

/// The words for a scope: options of a command, parameters of a query.
extension PauseScope {
    package static let words = ["key", "certificate", "topic"]

    /// Creates the scope that a word selects. Without a word, the scope is everything.
    ///
    /// - Parameters:
    ///   - value: returns the value of one of ``words``; nil if absent.
    ///   - exclude: returns the error for two mutually exclusive words.
    package init<Failure: Error>(
        _ value: (String) -> String?, exclude: (String, String) -> Failure
    ) throws(Failure) {
        let present = Self.words.filter { value($0) != nil }
        guard present.count < 2 else { throw exclude(present[0], present[1]) }
        self =
            switch (present.first, present.first.flatMap(value)) {
            case ("key", let id?): .key(id)
            case ("certificate", let name?): .certificate(name)
            case ("topic", let topic?): .topic(topic)
            default: .everything
            }
    }

    package var query: [(String, String)] {
        switch self {
        case .everything: []
        case .key(let id): [("key", id)]
        case .certificate(let name): [("certificate", name)]
        case .topic(let topic): [("topic", topic)]
        }
    }

    /// Returns the command that ends a pause whose scope has this description.
    package static func remedy(of pause: String, isOfFleet: Bool = false) -> String {
        "martlet resume\(isOfFleet ? " --fleet" : "")\(pause == everything.description ? "" : " --\(pause)")"
    }
}

import Delivery

/// What one says to name what is meant: an option of a command, a parameter of a query.
extension PauseScope {
    static let words = ["key", "certificate", "topic"]

    /// - Parameters:
    ///   - value: of each of ``words``; nil where it is not said.
    ///   - exclude: the error that two exclude each other.
    init<Failure: Error>(
        _ value: (String) -> String?, exclude: (String, String) -> Failure
    ) throws(Failure) {
        let said = Self.words.filter { value($0) != nil }
        guard said.count < 2 else { throw exclude(said[0], said[1]) }
        self =
            switch (said.first, said.first.flatMap(value)) {
            case ("key", let id?): .key(id)
            case ("certificate", let name?): .certificate(name)
            case ("topic", let topic?): .topic(topic)
            default: .everything
            }
    }

    var query: [(String, String)] {
        switch self {
        case .everything: []
        case .key(let id): [("key", id)]
        case .certificate(let name): [("certificate", name)]
        case .topic(let topic): [("topic", topic)]
        }
    }

    /// The command that ends a pause of this description: it is resumed by the words that name it.
    static func remedy(of pause: String) -> String {
        pause == everything.description ? "martlet resume" : "martlet resume --\(pause)"
    }
}

import JSON
import Text

/// What is wrong with a configuration: every mistake, not only the first.
struct ConfigurationError: Error, Equatable {
    let mistakes: [Mistake]

    /// One line for an operator: where, and what. Never holds a secret.
    struct Mistake: Equatable, CustomStringConvertible {
        let path: String
        /// nil: the file as a whole.
        let position: JSONPosition?
        let message: String

        var description: String {
            let place = position.map { "\(path):\($0.line):\($0.column)" } ?? path
            return "\(place): \(message)".printable
        }
    }
}

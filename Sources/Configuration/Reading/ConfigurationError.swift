package import JSON
import Text

/// What is wrong with a configuration: every mistake, not only the first.
package struct ConfigurationError: Error, Equatable {
    package let mistakes: [Mistake]

    package init(mistakes: [Mistake]) {
        self.mistakes = mistakes
    }

    /// One line for an operator: where, and what. Never holds a secret.
    package struct Mistake: Equatable, CustomStringConvertible {
        package let path: String
        /// nil: the file as a whole.
        package let position: JSONPosition?
        package let message: String

        package init(path: String, position: JSONPosition?, message: String) {
            self.path = path
            self.position = position
            self.message = message
        }

        package var description: String {
            let place = position.map { "\(path):\($0.line):\($0.column)" } ?? path
            return "\(place): \(message)".printable
        }
    }
}

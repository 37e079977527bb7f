package import JSON
import Text

/// An error that lists the mistakes in a configuration.
package struct ConfigurationError: Error, Equatable {
    package let mistakes: [Mistake]

    package init(mistakes: [Mistake]) {
        self.mistakes = mistakes
    }

    /// One mistake. Its description is one line for an operator and never contains a secret.
    package struct Mistake: Equatable, CustomStringConvertible {
        package let path: String
        /// The position of the mistake; nil for the file as a whole.
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

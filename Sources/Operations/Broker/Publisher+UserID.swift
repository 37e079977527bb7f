import AMQP
import CommandKit
import Text

extension Publisher {
    /// Prints a warning when the broker refuses the user ID. To be called before `start`.
    func reportRefusedUserID() {
        onUserIDRefused = {
            Terminal.error.line(
                "martlet: user-id refused by the broker, publishing without it: \($0.message)".printable)
        }
    }
}

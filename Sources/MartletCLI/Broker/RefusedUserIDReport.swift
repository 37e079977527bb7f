import AMQP
import CommandKit
import Text

/// The warning that the broker has refused the user ID of a publisher.
final class RefusedUserIDReport: SessionHandler {
    override func userIDRefused(_ error: AMQPError) {
        Terminal.error.line(
            "martlet: user-id refused by the broker, publishing without it: \(error.message)".printable)
    }
}

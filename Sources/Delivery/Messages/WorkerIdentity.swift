import AMQP
import Text

/// The identity of the worker that republishes a request.
struct WorkerIdentity {
    /// The host, process and version of the worker, for operators.
    var name: String
    /// The AMQP user of the worker; nil if unknown.
    var user: String?

    /// The name as it fits in a header.
    var shortName: String { name.cut(to: MessageHeaderName.copyBytesMax) }

    /// Returns whether a worker with the same AMQP user published the message, so that the provenance of the
    /// message is trusted.
    func published(_ properties: MessageProperties) -> Bool {
        guard let user else { return false }
        return properties.userID == user
    }
}

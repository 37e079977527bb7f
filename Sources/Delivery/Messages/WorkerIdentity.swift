import AMQP

/// The identity of the worker that republishes a request.
struct WorkerIdentity {
    /// Host, process and version, for operators.
    var name: String
    /// The AMQP user of the worker, as the broker verifies it at each publish; nil where it is not known.
    var user: String?

    /// Whether a worker with the same AMQP user published the message, so that its provenance is believed.
    func published(_ properties: MessageProperties) -> Bool {
        guard let user else { return false }
        return properties.userID == user
    }
}

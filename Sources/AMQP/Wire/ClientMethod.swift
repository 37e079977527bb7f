/// A method that a client sends, with the arguments that vary. `FrameWriter.write` adds fixed values for the other
/// arguments.
///
/// Acknowledgments and publishes use `FrameWriter.acknowledge` and `FrameWriter.publish`.
enum ClientMethod: Equatable {
    case connectionStartOK(clientProperties: FieldTable, mechanism: Handshake.Mechanism, response: [UInt8])
    case connectionTuneOK(Handshake.Tuning)
    case connectionOpen(virtualHost: String)
    /// The close of the connection, with the reply code for success.
    case connectionClose
    case connectionCloseOK
    case channelOpen
    /// The close of the channel, with the reply code for success.
    case channelClose
    case channelCloseOK
    /// The declaration of a durable exchange. A passive declaration only checks that the exchange exists.
    case exchangeDeclare(String, type: String, isPassive: Bool, arguments: FieldTable)
    case exchangeBind(String, source: String, routingKey: String)
    case exchangeUnbind(String, source: String, routingKey: String)
    /// The deletion of an exchange, unless it is the source of a binding.
    case exchangeDelete(String)
    /// The declaration of a durable queue. A passive declaration only reads the state of the queue.
    case queueDeclare(String, isPassive: Bool, arguments: FieldTable)
    /// The declaration of a transient, exclusive, auto-delete queue.
    case exclusiveQueueDeclare(String, arguments: FieldTable)
    case queueBind(String, exchange: String, routingKey: String, arguments: FieldTable)
    case queueUnbind(String, exchange: String, routingKey: String)
    case queuePurge(String)
    case queueDelete(String)
    /// The prefetch of consumers that start after this method.
    case basicQos(prefetch: UInt16)
    case basicConsume(queue: String, consumerTag: String, arguments: FieldTable)
    /// The consumption of direct replies on this channel. Direct replies need no acknowledgment.
    case basicConsumeReplies
    case basicCancel(consumerTag: String)
    /// The fetch of one message, which counts as acknowledged.
    case basicGet(queue: String)
    case basicReject(deliveryTag: UInt64, requeue: Bool)
    /// The requeueing of one delivery (RabbitMQ's `basic.nack`).
    case basicNack(deliveryTag: UInt64)
    case confirmSelect

    /// An upper bound of the size of the arguments on the wire, in bytes.
    var argumentBytesMax: Int { Self.fixedBytesMax + variableBytes }

    /// An upper bound of the bytes that a method needs in addition to its strings and tables. The method needs these
    /// bytes for arguments of fixed size, and for length prefixes of strings.
    private static let fixedBytesMax = 64

    /// The size of the method's strings and tables, in bytes.
    private var variableBytes: Int {
        switch self {
        case .connectionStartOK(let clientProperties, let mechanism, let response):
            clientProperties.wireBytes + mechanism.rawValue.utf8.count + response.count
        case .connectionOpen(let name), .exchangeDelete(let name), .queuePurge(let name), .queueDelete(let name),
            .basicCancel(let name), .basicGet(let name):
            name.utf8.count
        case .exchangeDeclare(let name, let type, _, let arguments):
            name.utf8.count + type.utf8.count + arguments.wireBytes
        case .exchangeBind(let name, let other, let routingKey), .exchangeUnbind(let name, let other, let routingKey),
            .queueUnbind(let name, let other, let routingKey):
            name.utf8.count + other.utf8.count + routingKey.utf8.count
        case .queueDeclare(let name, _, let arguments), .exclusiveQueueDeclare(let name, let arguments):
            name.utf8.count + arguments.wireBytes
        case .queueBind(let name, let exchange, let routingKey, let arguments):
            name.utf8.count + exchange.utf8.count + routingKey.utf8.count + arguments.wireBytes
        case .basicConsume(let queue, let consumerTag, let arguments):
            queue.utf8.count + consumerTag.utf8.count + arguments.wireBytes
        case .basicConsumeReplies:
            Publisher.directReplyTo.utf8.count
        case .connectionTuneOK, .connectionClose, .connectionCloseOK, .channelOpen, .channelClose, .channelCloseOK,
            .basicQos, .basicReject, .basicNack, .confirmSelect:
            0
        }
    }
}

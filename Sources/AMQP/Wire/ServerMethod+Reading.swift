import CRabbitMQ

extension ServerMethod {
    /// Reads the payload of a method frame. Returns nil if the method is unknown or truncated.
    ///
    /// `basic.deliver` is read by `Delivery.init(deliver:)`.
    init?(_ payload: UnsafeRawBufferPointer) {
        var reader = WireReader(payload)
        guard let id = reader.long(), let method = Self.read(id, &reader) else { return nil }
        self = method
    }

    private static func read(_ id: UInt32, _ reader: inout WireReader) -> ServerMethod? {
        switch id {
        case AMQP_CONNECTION_START_METHOD: ConnectionStart(&reader).map(Self.connectionStart)
        case AMQP_CONNECTION_TUNE_METHOD: Handshake.Tuning(&reader).map(Self.connectionTune)
        case AMQP_CONNECTION_OPEN_OK_METHOD: .connectionOpenOK
        case AMQP_CONNECTION_CLOSE_METHOD: Close(&reader).map(Self.connectionClose)
        case AMQP_CONNECTION_CLOSE_OK_METHOD: .connectionCloseOK
        case AMQP_CONNECTION_BLOCKED_METHOD: reader.shortString().map(Self.connectionBlocked)
        case AMQP_CONNECTION_UNBLOCKED_METHOD: .connectionUnblocked
        case AMQP_CHANNEL_OPEN_OK_METHOD: .channelOpenOK
        case AMQP_CHANNEL_CLOSE_METHOD: Close(&reader).map(Self.channelClose)
        case AMQP_CHANNEL_CLOSE_OK_METHOD: .channelCloseOK
        case AMQP_EXCHANGE_DECLARE_OK_METHOD: .exchangeDeclareOK
        case AMQP_EXCHANGE_BIND_OK_METHOD: .exchangeBindOK
        case AMQP_EXCHANGE_UNBIND_OK_METHOD: .exchangeUnbindOK
        case AMQP_EXCHANGE_DELETE_OK_METHOD: .exchangeDeleteOK
        case AMQP_QUEUE_DECLARE_OK_METHOD: QueueDeclared(&reader).map(Self.queueDeclareOK)
        case AMQP_QUEUE_BIND_OK_METHOD: .queueBindOK
        case AMQP_QUEUE_UNBIND_OK_METHOD: .queueUnbindOK
        case AMQP_QUEUE_PURGE_OK_METHOD: reader.long().map(Self.queuePurgeOK)
        case AMQP_QUEUE_DELETE_OK_METHOD: reader.long().map(Self.queueDeleteOK)
        case AMQP_BASIC_QOS_OK_METHOD: .basicQosOK
        case AMQP_BASIC_CONSUME_OK_METHOD: reader.shortString().map { _ in .basicConsumeOK }
        case AMQP_BASIC_CANCEL_METHOD: reader.shortString().flatMap { _ in reader.bit() }.map { _ in .basicCancel }
        case AMQP_BASIC_CANCEL_OK_METHOD: reader.shortString().map { _ in .basicCancelOK }
        case AMQP_BASIC_RETURN_METHOD: Return(&reader).map(Self.basicReturn)
        case AMQP_BASIC_GET_OK_METHOD: Delivery(getOK: &reader).map(Self.basicGetOK)
        case AMQP_BASIC_GET_EMPTY_METHOD: .basicGetEmpty
        case AMQP_BASIC_ACK_METHOD: Confirm(&reader).map(Self.basicAck)
        case AMQP_BASIC_NACK_METHOD: Confirm(&reader).map(Self.basicNack)
        case AMQP_CONFIRM_SELECT_OK_METHOD: .confirmSelectOK
        default: nil
        }
    }
}

extension ServerMethod.Delivery {
    /// Reads the payload of a method frame. Returns nil if the payload is not a complete `basic.deliver`.
    init?(deliver payload: UnsafeRawBufferPointer) {
        var reader = WireReader(payload)
        guard reader.long() == AMQP_BASIC_DELIVER_METHOD, reader.shortString() != nil else { return nil }
        self.init(&reader)
    }

    fileprivate init?(getOK reader: inout WireReader) {
        self.init(&reader)
        // The number of messages that remain in the queue.
        guard reader.long() != nil else { return nil }
    }

    private init?(_ reader: inout WireReader) {
        guard let tag = reader.longLong(), let isRedelivered = reader.bit(), let exchange = reader.shortString(),
            let routingKey = reader.shortString()
        else { return nil }
        self.init(tag: tag, isRedelivered: isRedelivered, exchange: exchange, routingKey: routingKey)
    }
}

extension ServerMethod.Confirm {
    fileprivate init?(_ reader: inout WireReader) {
        guard let number = reader.longLong(), let multiple = reader.bit() else { return nil }
        self.init(number: number, multiple: multiple)
    }
}

extension ServerMethod.Return {
    fileprivate init?(_ reader: inout WireReader) {
        guard let replyCode = reader.short(), let replyText = reader.shortString(), let exchange = reader.shortString(),
            let routingKey = reader.shortString()
        else { return nil }
        self.init(replyCode: replyCode, replyText: replyText, exchange: exchange, routingKey: routingKey)
    }
}

extension ServerMethod.Close {
    fileprivate init?(_ reader: inout WireReader) {
        // The IDs of the failed class and method follow.
        guard let replyCode = reader.short(), let replyText = reader.shortString(), reader.long() != nil else {
            return nil
        }
        self.init(replyCode: replyCode, replyText: replyText)
    }
}

extension ServerMethod.QueueDeclared {
    fileprivate init?(_ reader: inout WireReader) {
        guard let name = reader.shortString(), let messageCount = reader.long(), let consumerCount = reader.long()
        else { return nil }
        self.init(name: name, messageCount: messageCount, consumerCount: consumerCount)
    }
}

extension ServerMethod.ConnectionStart {
    fileprivate init?(_ reader: inout WireReader) {
        guard let major = reader.octet(), let minor = reader.octet(), let properties = reader.longString(),
            let mechanisms = reader.longString()
        else { return nil }
        self.init(versionMajor: major, versionMinor: minor, serverProperties: properties, mechanisms: mechanisms)
    }
}

extension Handshake.Tuning {
    fileprivate init?(_ reader: inout WireReader) {
        guard let channelMax = reader.short(), let frameBytesMax = reader.long(), let heartbeat = reader.short() else {
            return nil
        }
        self.init(channelMax: channelMax, frameBytesMax: frameBytesMax, heartbeatSeconds: heartbeat)
    }
}

/// A method that a broker sends to a client. Buffers point into the frame and are valid only while the frame is
/// handled.
///
/// A method is trivial to copy, because strings and tables are decoded on demand.
enum ServerMethod {
    case connectionStart(ConnectionStart)
    case connectionTune(Handshake.Tuning)
    case connectionOpenOK
    case connectionClose(Close)
    case connectionCloseOK
    case connectionBlocked(reason: UnsafeRawBufferPointer)
    case connectionUnblocked
    case channelOpenOK
    case channelClose(Close)
    case channelCloseOK
    case exchangeDeclareOK
    case exchangeBindOK
    case exchangeUnbindOK
    case exchangeDeleteOK
    case queueDeclareOK(QueueDeclared)
    case queueBindOK
    case queueUnbindOK
    case queuePurgeOK(messageCount: UInt32)
    case queueDeleteOK(messageCount: UInt32)
    case basicQosOK
    case basicConsumeOK
    case basicCancel
    case basicCancelOK
    case basicReturn(Return)
    case basicGetOK(Delivery)
    case basicGetEmpty
    case basicAck(Confirm)
    case basicNack(Confirm)
    case confirmSelectOK

    /// The reason why the broker closes a channel or the connection.
    struct Close {
        var replyCode: UInt16
        var replyText: UnsafeRawBufferPointer
    }

    struct QueueDeclared {
        var name: UnsafeRawBufferPointer
        var messageCount: UInt32
        var consumerCount: UInt32
    }

    /// The announcement of a message that was routed to no queue.
    struct Return {
        var replyCode: UInt16
        var replyText: UnsafeRawBufferPointer
        var exchange: UnsafeRawBufferPointer
        var routingKey: UnsafeRawBufferPointer
    }

    /// The announcement of a message by `basic.deliver` or `basic.get-ok`.
    struct Delivery {
        var tag: UInt64
        var isRedelivered: Bool
        var exchange: UnsafeRawBufferPointer
        var routingKey: UnsafeRawBufferPointer
    }

    /// A publisher confirm, positive or negative.
    struct Confirm {
        var number: UInt64
        var multiple: Bool
    }

    /// The arguments of `connection.start` that are read.
    struct ConnectionStart {
        var versionMajor: UInt8
        var versionMinor: UInt8
        /// The content of a table, without its length prefix.
        var serverProperties: UnsafeRawBufferPointer
        var mechanisms: UnsafeRawBufferPointer
    }
}

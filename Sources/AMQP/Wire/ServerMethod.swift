import CRabbitMQ

/// A method that a broker sends to a client. Strings point into the frame and are valid while it is handled.
enum ServerMethod {
    case connectionStart(ConnectionStart)
    case connectionTune(amqp_connection_tune_t)
    case connectionOpenOK
    case connectionClose(amqp_connection_close_t)
    case connectionCloseOK
    case connectionBlocked(amqp_connection_blocked_t)
    case connectionUnblocked
    case channelOpenOK
    case channelClose(amqp_channel_close_t)
    case channelCloseOK
    case exchangeDeclareOK
    case exchangeBindOK
    case exchangeUnbindOK
    case exchangeDeleteOK
    case queueDeclareOK(amqp_queue_declare_ok_t)
    case queueBindOK
    case queueUnbindOK
    case queuePurgeOK(amqp_queue_purge_ok_t)
    case queueDeleteOK(amqp_queue_delete_ok_t)
    case basicQosOK
    case basicConsumeOK(amqp_basic_consume_ok_t)
    case basicCancel(amqp_basic_cancel_t)
    case basicCancelOK(amqp_basic_cancel_ok_t)
    case basicReturn(amqp_basic_return_t)
    case basicDeliver(amqp_basic_deliver_t)
    case basicGetOK(amqp_basic_get_ok_t)
    case basicGetEmpty
    case basicAck(amqp_basic_ack_t)
    case basicNack(amqp_basic_nack_t)
    case confirmSelectOK

    /// Reads the payload of a method frame; `nil` when it is not a method that a broker sends to a client, or is cut
    /// short.
    ///
    /// Methods with tables from a peer never reach librabbitmq, whose decoder recurses into them: the only one that a
    /// broker sends is `connection.start`, which is read here.
    static func decode(_ payload: UnsafeRawBufferPointer, pool: MemoryPool) -> ServerMethod? {
        var reader = WireReader(payload)
        guard let id = reader.long() else { return nil }
        let arguments = reader.rest
        return switch id {
        case AMQP_CONNECTION_START_METHOD: ConnectionStart(arguments).map(Self.connectionStart)
        case AMQP_CONNECTION_TUNE_METHOD: decode(id, arguments, pool).map(Self.connectionTune)
        case AMQP_CONNECTION_OPEN_OK_METHOD: .connectionOpenOK
        case AMQP_CONNECTION_CLOSE_METHOD: decode(id, arguments, pool).map(Self.connectionClose)
        case AMQP_CONNECTION_CLOSE_OK_METHOD: .connectionCloseOK
        case AMQP_CONNECTION_BLOCKED_METHOD: decode(id, arguments, pool).map(Self.connectionBlocked)
        case AMQP_CONNECTION_UNBLOCKED_METHOD: .connectionUnblocked
        case AMQP_CHANNEL_OPEN_OK_METHOD: .channelOpenOK
        case AMQP_CHANNEL_CLOSE_METHOD: decode(id, arguments, pool).map(Self.channelClose)
        case AMQP_CHANNEL_CLOSE_OK_METHOD: .channelCloseOK
        case AMQP_EXCHANGE_DECLARE_OK_METHOD: .exchangeDeclareOK
        case AMQP_EXCHANGE_BIND_OK_METHOD: .exchangeBindOK
        case AMQP_EXCHANGE_UNBIND_OK_METHOD: .exchangeUnbindOK
        case AMQP_EXCHANGE_DELETE_OK_METHOD: .exchangeDeleteOK
        case AMQP_QUEUE_DECLARE_OK_METHOD: decode(id, arguments, pool).map(Self.queueDeclareOK)
        case AMQP_QUEUE_BIND_OK_METHOD: .queueBindOK
        case AMQP_QUEUE_UNBIND_OK_METHOD: .queueUnbindOK
        case AMQP_QUEUE_PURGE_OK_METHOD: decode(id, arguments, pool).map(Self.queuePurgeOK)
        case AMQP_QUEUE_DELETE_OK_METHOD: decode(id, arguments, pool).map(Self.queueDeleteOK)
        case AMQP_BASIC_QOS_OK_METHOD: .basicQosOK
        case AMQP_BASIC_CONSUME_OK_METHOD: decode(id, arguments, pool).map(Self.basicConsumeOK)
        case AMQP_BASIC_CANCEL_METHOD: decode(id, arguments, pool).map(Self.basicCancel)
        case AMQP_BASIC_CANCEL_OK_METHOD: decode(id, arguments, pool).map(Self.basicCancelOK)
        case AMQP_BASIC_RETURN_METHOD: decode(id, arguments, pool).map(Self.basicReturn)
        case AMQP_BASIC_DELIVER_METHOD: decode(id, arguments, pool).map(Self.basicDeliver)
        case AMQP_BASIC_GET_OK_METHOD: decode(id, arguments, pool).map(Self.basicGetOK)
        case AMQP_BASIC_GET_EMPTY_METHOD: .basicGetEmpty
        case AMQP_BASIC_ACK_METHOD: decode(id, arguments, pool).map(Self.basicAck)
        case AMQP_BASIC_NACK_METHOD: decode(id, arguments, pool).map(Self.basicNack)
        case AMQP_CONFIRM_SELECT_OK_METHOD: .confirmSelectOK
        default: nil
        }
    }

    private static func decode<Method>(
        _ id: amqp_method_number_t, _ arguments: UnsafeRawBufferPointer, _ pool: MemoryPool
    ) -> Method? {
        // librabbitmq only reads, but its bytes are not const.
        let encoded = amqp_bytes_t(
            len: arguments.count, bytes: UnsafeMutableRawPointer(mutating: arguments.baseAddress))
        var decoded: UnsafeMutableRawPointer?
        guard amqp_decode_method(id, pool.pool, encoded, &decoded) >= 0, let decoded else { return nil }
        return decoded.loadUnaligned(as: Method.self)
    }
}

/// `connection.start`: what the broker is and which logins it offers.
struct ConnectionStart {
    var versionMajor: UInt8
    var versionMinor: UInt8
    var serverProperties: FieldTable
    var mechanisms: String

    init?(_ arguments: UnsafeRawBufferPointer) {
        var reader = WireReader(arguments)
        guard let major = reader.octet(), let minor = reader.octet(),
            let properties = reader.longString().flatMap({ FieldTable(content: $0) }),
            let mechanisms = reader.longString()
        else { return nil }
        versionMajor = major
        versionMinor = minor
        serverProperties = properties
        self.mechanisms = String(wire: mechanisms)
    }
}

extension amqp_bytes_t {
    /// The bytes, valid as long as what they point into.
    var buffer: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : len) }
    var string: String { String(wire: buffer) }
}

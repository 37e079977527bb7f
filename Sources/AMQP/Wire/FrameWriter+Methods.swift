import CRabbitMQ

extension FrameWriter {
    /// The size of the arguments of an acknowledgment, in bytes.
    private static let acknowledgmentBytes = 9

    /// Writes `basic.ack`. With `multiple`, the acknowledgment covers all deliveries up to this delivery.
    mutating func acknowledge(_ deliveryTag: UInt64, multiple: Bool, channel: UInt16) {
        let ack = amqp_basic_ack_t(delivery_tag: deliveryTag, multiple: multiple ? 1 : 0)
        frame(AMQP_BASIC_ACK_METHOD, ack, channel, argumentBytesMax: Self.acknowledgmentBytes)
    }

    /// Writes a method. Returns false if an argument cannot be encoded or the arguments do not fit into one frame.
    mutating func write(_ method: ClientMethod, channel: UInt16) -> Bool {
        defer { pool.recycle() }
        let argumentBytesMax = method.argumentBytesMax
        /// Writes a frame from librabbitmq's structure for the method.
        func write<Arguments>(_ id: amqp_method_number_t, _ arguments: Arguments) -> Bool {
            !pool.hasLongName && frame(id, arguments, channel, argumentBytesMax: argumentBytesMax)
        }
        switch method {
        case .connectionStartOK(let clientProperties, let mechanism, let response):
            return write(
                AMQP_CONNECTION_START_OK_METHOD,
                amqp_connection_start_ok_t(
                    client_properties: pool.table(clientProperties), mechanism: pool.bytes(mechanism.rawValue),
                    response: response.withUnsafeBytes { pool.bytes($0) }, locale: pool.bytes("en_US")))
        case .connectionTuneOK(let tuning):
            return write(
                AMQP_CONNECTION_TUNE_OK_METHOD,
                amqp_connection_tune_ok_t(
                    channel_max: tuning.channelMax, frame_max: tuning.frameBytesMax,
                    heartbeat: tuning.heartbeatSeconds))
        case .connectionOpen(let virtualHost):
            return write(
                AMQP_CONNECTION_OPEN_METHOD,
                amqp_connection_open_t(
                    virtual_host: pool.bytes(virtualHost), capabilities: amqp_bytes_t(), insist: 0))
        case .connectionClose:
            return write(
                AMQP_CONNECTION_CLOSE_METHOD,
                amqp_connection_close_t(
                    reply_code: UInt16(AMQP_REPLY_SUCCESS), reply_text: amqp_bytes_t(), class_id: 0, method_id: 0))
        case .connectionCloseOK:
            return write(AMQP_CONNECTION_CLOSE_OK_METHOD, amqp_connection_close_ok_t())
        case .channelOpen:
            return write(AMQP_CHANNEL_OPEN_METHOD, amqp_channel_open_t(out_of_band: amqp_bytes_t()))
        case .channelClose:
            return write(
                AMQP_CHANNEL_CLOSE_METHOD,
                amqp_channel_close_t(
                    reply_code: UInt16(AMQP_REPLY_SUCCESS), reply_text: amqp_bytes_t(), class_id: 0, method_id: 0))
        case .channelCloseOK:
            return write(AMQP_CHANNEL_CLOSE_OK_METHOD, amqp_channel_close_ok_t())
        case .exchangeDeclare(let name, let type, let isPassive, let arguments):
            return write(
                AMQP_EXCHANGE_DECLARE_METHOD,
                amqp_exchange_declare_t(
                    ticket: 0, exchange: pool.bytes(name), type: pool.bytes(type), passive: isPassive ? 1 : 0,
                    durable: 1, auto_delete: 0, internal: 0, nowait: 0, arguments: pool.table(arguments)))
        case .exchangeBind(let name, let source, let routingKey):
            return write(
                AMQP_EXCHANGE_BIND_METHOD,
                amqp_exchange_bind_t(
                    ticket: 0, destination: pool.bytes(name), source: pool.bytes(source),
                    routing_key: pool.bytes(routingKey), nowait: 0, arguments: amqp_table_t()))
        case .exchangeUnbind(let name, let source, let routingKey):
            return write(
                AMQP_EXCHANGE_UNBIND_METHOD,
                amqp_exchange_unbind_t(
                    ticket: 0, destination: pool.bytes(name), source: pool.bytes(source),
                    routing_key: pool.bytes(routingKey), nowait: 0, arguments: amqp_table_t()))
        case .exchangeDelete(let name):
            return write(
                AMQP_EXCHANGE_DELETE_METHOD,
                amqp_exchange_delete_t(ticket: 0, exchange: pool.bytes(name), if_unused: 1, nowait: 0))
        case .queueDeclare(let name, let isPassive, let arguments):
            return write(
                AMQP_QUEUE_DECLARE_METHOD,
                amqp_queue_declare_t(
                    ticket: 0, queue: pool.bytes(name), passive: isPassive ? 1 : 0, durable: 1, exclusive: 0,
                    auto_delete: 0, nowait: 0, arguments: pool.table(arguments)))
        case .exclusiveQueueDeclare(let name, let arguments):
            return write(
                AMQP_QUEUE_DECLARE_METHOD,
                amqp_queue_declare_t(
                    ticket: 0, queue: pool.bytes(name), passive: 0, durable: 0, exclusive: 1, auto_delete: 1, nowait: 0,
                    arguments: pool.table(arguments)))
        case .queueBind(let name, let exchange, let routingKey, let arguments):
            return write(
                AMQP_QUEUE_BIND_METHOD,
                amqp_queue_bind_t(
                    ticket: 0, queue: pool.bytes(name), exchange: pool.bytes(exchange),
                    routing_key: pool.bytes(routingKey), nowait: 0, arguments: pool.table(arguments)))
        case .queueUnbind(let name, let exchange, let routingKey):
            return write(
                AMQP_QUEUE_UNBIND_METHOD,
                amqp_queue_unbind_t(
                    ticket: 0, queue: pool.bytes(name), exchange: pool.bytes(exchange),
                    routing_key: pool.bytes(routingKey), arguments: amqp_table_t()))
        case .queuePurge(let name):
            return write(AMQP_QUEUE_PURGE_METHOD, amqp_queue_purge_t(ticket: 0, queue: pool.bytes(name), nowait: 0))
        case .queueDelete(let name):
            return write(
                AMQP_QUEUE_DELETE_METHOD,
                amqp_queue_delete_t(ticket: 0, queue: pool.bytes(name), if_unused: 0, if_empty: 0, nowait: 0))
        case .basicQos(let prefetch):
            return write(
                AMQP_BASIC_QOS_METHOD, amqp_basic_qos_t(prefetch_size: 0, prefetch_count: prefetch, global: 0))
        case .basicConsume(let queue, let consumerTag, let arguments):
            return write(
                AMQP_BASIC_CONSUME_METHOD,
                amqp_basic_consume_t(
                    ticket: 0, queue: pool.bytes(queue), consumer_tag: pool.bytes(consumerTag), no_local: 0,
                    no_ack: 0, exclusive: 0, nowait: 0, arguments: pool.table(arguments)))
        case .basicConsumeReplies:
            return write(
                AMQP_BASIC_CONSUME_METHOD,
                amqp_basic_consume_t(
                    ticket: 0, queue: pool.bytes(Publisher.directReplyTo), consumer_tag: pool.bytes(""), no_local: 0,
                    no_ack: 1, exclusive: 0, nowait: 0, arguments: pool.table(FieldTable())))
        case .basicCancel(let consumerTag):
            return write(
                AMQP_BASIC_CANCEL_METHOD,
                amqp_basic_cancel_t(consumer_tag: pool.bytes(consumerTag), nowait: 0))
        case .basicGet(let queue):
            return write(AMQP_BASIC_GET_METHOD, amqp_basic_get_t(ticket: 0, queue: pool.bytes(queue), no_ack: 1))
        case .basicReject(let deliveryTag, let requeue):
            return write(
                AMQP_BASIC_REJECT_METHOD,
                amqp_basic_reject_t(delivery_tag: deliveryTag, requeue: requeue ? 1 : 0))
        case .basicNack(let deliveryTag):
            return write(
                AMQP_BASIC_NACK_METHOD, amqp_basic_nack_t(delivery_tag: deliveryTag, multiple: 0, requeue: 1))
        case .confirmSelect:
            return write(AMQP_CONFIRM_SELECT_METHOD, amqp_confirm_select_t(nowait: 0))
        }
    }
}

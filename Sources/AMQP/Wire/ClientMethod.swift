import CRabbitMQ

/// A method that a client sends, as librabbitmq's structure for it.
protocol ClientMethod {
    static var id: amqp_method_number_t { get }
}

extension amqp_connection_start_ok_t: ClientMethod { static let id = AMQP_CONNECTION_START_OK_METHOD }
extension amqp_connection_tune_ok_t: ClientMethod { static let id = AMQP_CONNECTION_TUNE_OK_METHOD }
extension amqp_connection_open_t: ClientMethod { static let id = AMQP_CONNECTION_OPEN_METHOD }
extension amqp_connection_close_t: ClientMethod { static let id = AMQP_CONNECTION_CLOSE_METHOD }
extension amqp_connection_close_ok_t: ClientMethod { static let id = AMQP_CONNECTION_CLOSE_OK_METHOD }
extension amqp_channel_open_t: ClientMethod { static let id = AMQP_CHANNEL_OPEN_METHOD }
extension amqp_channel_close_t: ClientMethod { static let id = AMQP_CHANNEL_CLOSE_METHOD }
extension amqp_channel_close_ok_t: ClientMethod { static let id = AMQP_CHANNEL_CLOSE_OK_METHOD }
extension amqp_exchange_declare_t: ClientMethod { static let id = AMQP_EXCHANGE_DECLARE_METHOD }
extension amqp_exchange_bind_t: ClientMethod { static let id = AMQP_EXCHANGE_BIND_METHOD }
extension amqp_exchange_delete_t: ClientMethod { static let id = AMQP_EXCHANGE_DELETE_METHOD }
extension amqp_exchange_unbind_t: ClientMethod { static let id = AMQP_EXCHANGE_UNBIND_METHOD }
extension amqp_queue_declare_t: ClientMethod { static let id = AMQP_QUEUE_DECLARE_METHOD }
extension amqp_queue_bind_t: ClientMethod { static let id = AMQP_QUEUE_BIND_METHOD }
extension amqp_queue_unbind_t: ClientMethod { static let id = AMQP_QUEUE_UNBIND_METHOD }
extension amqp_queue_purge_t: ClientMethod { static let id = AMQP_QUEUE_PURGE_METHOD }
extension amqp_queue_delete_t: ClientMethod { static let id = AMQP_QUEUE_DELETE_METHOD }
extension amqp_basic_qos_t: ClientMethod { static let id = AMQP_BASIC_QOS_METHOD }
extension amqp_basic_consume_t: ClientMethod { static let id = AMQP_BASIC_CONSUME_METHOD }
extension amqp_basic_cancel_t: ClientMethod { static let id = AMQP_BASIC_CANCEL_METHOD }
extension amqp_basic_publish_t: ClientMethod { static let id = AMQP_BASIC_PUBLISH_METHOD }
extension amqp_basic_get_t: ClientMethod { static let id = AMQP_BASIC_GET_METHOD }
extension amqp_basic_ack_t: ClientMethod { static let id = AMQP_BASIC_ACK_METHOD }
extension amqp_basic_nack_t: ClientMethod { static let id = AMQP_BASIC_NACK_METHOD }
extension amqp_basic_reject_t: ClientMethod { static let id = AMQP_BASIC_REJECT_METHOD }
extension amqp_confirm_select_t: ClientMethod { static let id = AMQP_CONFIRM_SELECT_METHOD }

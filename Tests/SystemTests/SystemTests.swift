import Testing

/// The whole way on real parts: RabbitMQ, the worker as a process, the simulator over TLS. One test at a time, because
/// they share a broker and would only slow each other down.
@Suite(.serialized, .timeLimit(.minutes(LongForm.pick(60, short: 5)))) enum SystemTests {}

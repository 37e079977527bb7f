import TestKit
import Testing

/// The whole way on real parts: RabbitMQ, the worker as a process, the simulator over TLS. One test at a time, because
/// they share a broker and would only slow each other down.
@Suite(.serialized, .timeLimit(.minutes(LongForm.pick(60, short: 10)))) enum SystemTests {}

/// The same on a broker that is stopped, frozen and filled up, beside the tests of the other: those of both wait much.
@Suite(.serialized, .timeLimit(.minutes(LongForm.pick(60, short: 10)))) enum TroubledBrokerTests {}

/// A worker that is changed, told to stop, or started anew, beside the others: these wait much too.
@Suite(.serialized, .timeLimit(.minutes(LongForm.pick(60, short: 10)))) enum ChangingWorkerTests {}

/// What stands beside the worker: the simulator with its page, the validator. One test at a time too, but beside those of
/// the worker, which wait much.
@Suite(.serialized, .timeLimit(.minutes(10))) enum ToolTests {}

/// The benchmark, of which no figure counts here.
@Suite(.serialized, .timeLimit(.minutes(10))) enum BenchmarkTests {}

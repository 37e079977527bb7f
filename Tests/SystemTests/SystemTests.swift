import TestKit
import Testing

/// End-to-end tests with RabbitMQ, worker processes, and the simulator over TLS.
///
/// Most tests share a broker. The tests run one at a time, because concurrent tests would slow each other down.
@Suite(.serialized, .timeLimit(.minutes(LongForm.pick(60, short: 10)))) enum SystemTests {}

/// End-to-end tests that stop, freeze or fill their broker, or close its connections.
///
/// The tests run one at a time, concurrently with the other suites, because they spend most of their time waiting.
@Suite(.serialized, .timeLimit(.minutes(LongForm.pick(60, short: 10)))) enum BrokerFaultTests {}

/// End-to-end tests of a worker that is reloaded, drained, or restarted, and of a request queue that is sharded.
///
/// The tests run one at a time, concurrently with the other suites, because they spend most of their time waiting.
@Suite(.serialized, .timeLimit(.minutes(LongForm.pick(60, short: 10)))) enum ChangingWorkerTests {}

/// End-to-end tests of workers with a store of device registrations, which is disrupted in some of the tests.
///
/// The tests run one at a time, concurrently with the other suites, because they spend most of their time waiting.
@Suite(.serialized, .timeLimit(.minutes(LongForm.pick(60, short: 10)))) enum StoreSystemTests {}

/// Tests that need no worker, such as those of the simulator, its page, and the operator commands.
///
/// The tests run one at a time, concurrently with the tests of the worker.
@Suite(.serialized, .timeLimit(.minutes(10))) enum ToolTests {}

/// Tests of the benchmark's commands. Measured figures need only be plausible.
@Suite(.serialized, .timeLimit(.minutes(10))) enum BenchmarkTests {}

import EventLoop
import Registrations
import TestKit

/// Registrations of stored tokens with later times, in random order. One batch is in flight, as in a worker.
final class RegistrationLoad: StoreLoad {
    private let writer: RegistrationWriter
    private let batchCount: Int
    private var registrations: [NewRegistration]
    private var next = 0
    private var time: Int64

    /// Creates a load.
    ///
    /// - Parameter batchCount: The number of commands in a transaction.
    init(_ writer: RegistrationWriter, _ group: UserGroup, batchCount: Int, on loop: EventLoop) {
        self.writer = writer
        self.batchCount = batchCount
        time = loop.now.unixMilliseconds
        registrations = RandomOrder(group.deviceCount).prefix(StoreClient.registrationsMax).map {
            group.registration($0, at: 0)
        }
        super.init(on: loop)
    }

    override func begin() {
        time = max(time + 1, loop.now.unixMilliseconds)
        var commands: [RegistrationCommand] = []
        commands.reserveCapacity(batchCount)
        for _ in 0..<batchCount {
            registrations[next].registeredAt = time
            commands.append(.register(registrations[next]))
            next = (next + 1) % registrations.count
        }
        writer.apply(Batch(commands, self))
    }

    private final class Batch: CommandBatch {
        private let load: RegistrationLoad

        init(_ commands: [RegistrationCommand], _ load: RegistrationLoad) {
            self.load = load
            super.init(commands, rules: RegistrationRules(now: load.loop.now.unixMilliseconds))
        }

        override func completed(_ outcomes: [CommandOutcome]) {
            guard outcomes.allSatisfy({ $0.reply == .stored && $0.events.isEmpty }) else {
                return load.failed(StoreFault(.data, "a registration was not stored"))
            }
            load.completed(outcomes.count)
        }

        override func failed(_ fault: StoreFault) { load.failed(fault) }
    }
}

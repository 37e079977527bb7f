import AMQP
import APNSProtocol
import APNSSimulator
import BrokerTopology
import Crypto
import EventLoop
import Registrations
import TestKit

@testable import Delivery

/// The store, the users and the observation of one run.
///
/// Loop-bound.
final class SimulatedRegistrations {
    private static let tagHeader = "traceparent"
    private static let tagPrefix = "users "
    /// The pause before a producer repeats a command without a route.
    private static let repeatMilliseconds = 1000
    private static let keyFile =
        #"{"index_key":"\#(Base64.encode([UInt8](repeating: 1, count: 32)))","data_keys":"#
        + #"[{"id":1,"key":"\#(Base64.encode([UInt8](repeating: 2, count: 32)))"}]}"#

    let store: SimulatedStore
    /// A store that receives all commands in the order of their times.
    private let expected: SimulatedStore
    private(set) var record = RegistrationRecord()
    private let population: SimulatedPopulation
    private let requestsByPayload: [[UInt8]: Int]
    private unowned let world: SimulatedWorld
    private var faults: [Int: SimulatedStoreFault] = [:]
    /// The steps after which a worker dies, by disturbance.
    private var fatalSteps: [Int: SimulatedStep] = [:]
    private var arrived: Set<RegistrationCommand> = []

    init(in world: SimulatedWorld) throws {
        self.world = world
        let keys = try RegistrationKeys(json: Array(Self.keyFile.utf8), source: "simulation")
        store = try SimulatedStore(on: world.loop, keys: keys)
        expected = try SimulatedStore(on: world.loop, keys: keys)
        store.answerLatency = .milliseconds(1)
        store.apply([])
        population = SimulatedPopulation(
            world.settings, besides: world.report.messages, start: world.loop.now.unixMilliseconds,
            random: &world.random)
        record.requests = population.requests
        record.endingTokens = Set(population.deviceChanges.map(\.token))
        record.outcomes = population.requests.map { _ in RegistrationRecord.Outcome() }
        requestsByPayload = Dictionary(
            uniqueKeysWithValues: population.requests.enumerated().map { ($1.payload, $0) })
        observeStore()
    }

    private var now: MonotonicTime { world.loop.now.monotonic }
    private var rules: RegistrationRules {
        RegistrationRules(
            now: store.nowMilliseconds, devicesPerUserMax: SimulatedPopulation.devicesPerUserMax)
    }

    /// Whether the store contains no event.
    var isIdle: Bool { store.events.isEmpty }

    private func observeStore() {
        store.onWork = { [unowned self] work, client in
            guard let step = SimulatedStep(work),
                let worker = world.workers.first(where: { $0.storeClient === client })
            else { return }
            performed(step, worker)
        }
        store.onChange = { [unowned self] row, previous in
            let (before, after) = (ownership(previous), ownership(row))
            if let after, row.details?.expiresAt != nil { record.expiring.insert(after) }
            guard before != after else { return }
            for changed in [before, after] {
                if let changed { record.changes[changed, default: []].append(now) }
            }
        }
        store.onEvent = { [unowned self] event in record.events[event.id] = [] }
    }

    private func ownership(_ row: Registration?) -> RegistrationRecord.Ownership? {
        guard let row, let identity = row.details?.identity else { return nil }
        return RegistrationRecord.Ownership(
            app: row.app, user: identity.user, token: identity.token, slot: row.key.slot)
    }

    /// Returns the complete record at the end of the run.
    func finished() throws -> RegistrationRecord {
        record.eventsLeft = store.events.count
        (store.onEvent, store.onChange) = ({ _ in }, { _, _ in })
        for command in record.commands.sorted(by: { $0.time < $1.time }) {
            try expected.apply([command], rules: rules)
        }
        for store in [store, expected] { _ = store.maintain(rules) }
        (record.rows, record.expectedRows) = (store.rows, expected.rows)
        (record.marks, record.expectedMarks) = (store.marks, expected.marks)
        return record
    }
}

/// Disturbances.
extension SimulatedRegistrations {
    func begin(_ fault: SimulatedStoreFault, _ number: Int) {
        faults[number] = fault
        if fault == .failover { store.loseConnections() }
        applyFaults()
    }

    func end(_ number: Int) {
        faults[number] = nil
        fatalSteps[number] = nil
        applyFaults()
    }

    /// Makes the next worker that performs the step die.
    func arm(_ step: SimulatedStep, _ number: Int) { fatalSteps[number] = step }

    private func applyFaults() { store.apply(faults.sorted { $0.key < $1.key }.map(\.value)) }

    private func performed(_ step: SimulatedStep, _ worker: SimulatedWorker) {
        guard let number = fatalSteps.keys.sorted().first(where: { fatalSteps[$0] == step }) else { return }
        fatalSteps[number] = nil
        world.die(worker)
    }

    /// Handles a step of the worker that a header of the message names, or of the first worker if no worker matches.
    private func performed(_ step: SimulatedStep, publishing message: ScriptedMessage) {
        guard fatalSteps.values.contains(step) else { return }
        let name = message.properties.header(MessageHeaderName.worker)?.stringValue
        let worker = world.workers.first { "worker\($0.place)" == name } ?? world.workers[0]
        performed(step, worker)
    }
}

/// Producers and apps.
extension SimulatedRegistrations {
    func schedule() {
        for command in population.commands {
            for time in command.publishedAfterMilliseconds {
                world.schedulePublish(afterMilliseconds: time) { [unowned self] in publish(command) }
            }
        }
        for change in population.deviceChanges {
            world.schedulePublish(afterMilliseconds: change.afterMilliseconds) { [unowned self] in
                world.apns.state.add(
                    Device(
                        token: change.token, bundleID: change.user.bundleID, environment: change.user.environment,
                        condition: change.condition))
            }
        }
        for (number, request) in record.requests.enumerated() {
            for time in request.publishedAfterMilliseconds {
                world.schedulePublish(afterMilliseconds: time) { [unowned self] in publish(request, number) }
            }
        }
    }

    private func publish(_ command: SimulatedPopulation.Command) {
        let names = world.topology.names
        let queues = world.broker.publish(
            exchange: names.registrationsExchange, routingKey: "registration.any",
            messageID: command.id.description, body: command.command.body(id: command.id))
        guard queues == 0 else { return }
        world.schedulePublish(afterMilliseconds: Self.repeatMilliseconds) { [unowned self] in publish(command) }
    }

    /// Publishes a request with a different trace context each time. Otherwise one result could cover two identical
    /// publishes (decision 11).
    private func publish(_ request: UserRequest, _ number: Int) {
        let tag = "\(Self.tagPrefix)\(number) \(record.outcomes[number].publishedAt.count)"
        record.outcomes[number].publishedAt.append(now)
        world.broker.publish(
            exchange: world.topology.names.requestsExchange, routingKey: "any", messageID: request.id.description,
            headers: FieldTable([FieldTable.Entry(Self.tagHeader, .string(tag))]),
            body: request.body)
    }
}

/// Observation of the broker and of APNs.
extension SimulatedRegistrations {
    /// Handles a message that arrives in a queue. Returns false for a message that belongs to a request to a device.
    func arrived(_ message: ScriptedMessage, in queue: ScriptedQueue) -> Bool {
        let names = world.topology.names
        if queue.name == names.registrationsQueue {
            arrived(command: message)
            return true
        }
        if message.routingKey.hasPrefix("result.registration.") {
            arrived(event: message)
            return true
        }
        guard let number = request(of: message) else { return false }
        if world.isForResults(queue) {
            ended(number, message)
        } else if message.properties.header(MessageHeaderName.cursor) != nil {
            performed(.publishedCursor, publishing: message)
        } else if message.properties.header(MessageHeaderName.requestID) != nil {
            performed(.publishedChild, publishing: message)
        }
        return true
    }

    /// Returns the index of the request to users from which a message originates; nil if there is none.
    private func request(of message: ScriptedMessage) -> Int? {
        guard let tag = message.properties.header(Self.tagHeader)?.stringValue, tag.hasPrefix(Self.tagPrefix),
            let word = tag.dropFirst(Self.tagPrefix.count).split(separator: " ").first, let number = Int(word),
            record.outcomes.indices.contains(number)
        else { return nil }
        return number
    }

    private func arrived(command message: ScriptedMessage) {
        if message.properties.header(MessageHeaderName.worker) != nil {
            performed(.publishedRefusal, publishing: message)
        }
        let received = Result { () throws(CommandViolation) in
            try ReceivedCommand(
                message.body, messageID: nil, from: .queue, now: store.nowMilliseconds,
                environment: { _, environment in environment ?? .sandbox })
        }
        guard case .success(let received) = received else {
            record.unreadableCommands += 1
            return
        }
        if arrived.insert(received.command).inserted { record.commands.append(received.command) }
    }

    private func arrived(event message: ScriptedMessage) {
        performed(.publishedEvent, publishing: message)
        guard let id = message.properties.messageID.flatMap({ UUIDValue($0) }), record.events[id] != nil else {
            record.foreignEvents += 1
            return
        }
        let isMarked = message.properties.header(MessageHeaderName.possibleDuplicate)?.booleanValue == true
        record.events[id]?.append(isMarked)
    }

    private func ended(_ number: Int, _ message: ScriptedMessage) {
        let ended = RegistrationRecord.Message(at: now, body: message.body, routingKey: message.routingKey)
        if message.routingKey.hasPrefix("result.fanout.") {
            record.outcomes[number].reports.append(ended)
            performed(.publishedReport, publishing: message)
        } else if message.routingKey.hasPrefix("result.") {
            record.outcomes[number].results.append(ended)
        } else {
            record.outcomes[number].deadLetters.append(ended)
        }
    }

    /// Handles a push. Returns false for the push of a request to a device.
    func requested(
        _ request: LoggedRequest, _ payload: UnsafeRawBufferPointer, _ connection: VirtualConnection, worker: Int
    ) -> Bool {
        guard let number = requestsByPayload[Array(payload)] else { return false }
        guard let token = request.deviceToken else {
            record.foreignPushes += 1
            return true
        }
        var push = RegistrationRecord.Push(
            request: number, token: token, status: request.status ?? 0, at: now, worker: worker)
        push.wasNeedless = record.pushes.contains {
            $0.request == number && $0.token == token && $0.wasAnswered && $0.worker == worker
        }
        record.pushes.append(push)
        guard push.status == 200 else { return true }
        let place = record.pushes.count - 1
        world.afterAnswer { [unowned self] in
            if connection.isOpen { record.pushes[place].wasAnswered = true }
        }
        return true
    }
}

extension RegistrationCommand {
    /// The time by which the rules order commands, in UNIX milliseconds.
    fileprivate var time: Int64 {
        switch self {
        case .register(let registration): registration.registeredAt
        case .unregister(_, let at), .erase(_, _, let at): at
        case .prune(_, let refusal), .suspect(_, let refusal): refusal.timestamp
        }
    }
}

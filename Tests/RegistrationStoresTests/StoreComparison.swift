import Crypto
import EventLoop
import Registrations
import TestKit
import Testing

/// A store and the model of its content. Applies commands to both, and compares their effects.
struct StoreComparison {
    let client: StoreClient
    var model: RegistrationModel
    /// The stored events that the store has handed out, except the deleted ones.
    private(set) var handedOut: [UUIDValue: StoredEvent] = [:]
    /// Events of expirations that the store has not yet handed out.
    private(set) var unclaimed: [RegistrationEvent] = []

    init(_ client: StoreClient, _ keys: RegistrationKeys) throws {
        self.client = client
        model = try RegistrationModel(keys)
    }

    /// Applies a batch, and compares replies and events.
    mutating func apply(_ commands: [RegistrationCommand]) async throws {
        let change = model.apply(try commands.map { try model.keyed($0) })
        expect(change, try await client.apply(commands, rules: model.rules))
    }

    /// Compares replies and events with those of the model.
    private mutating func expect(_ change: RegistrationRules.Change, _ outcomes: [CommandOutcome]) {
        #expect(outcomes.map(\.reply) == change.outcomes.map(\.reply))
        #expect(
            outcomes.map { $0.events.map(EventContent.init) }
                == change.outcomes.map { $0.events.map(EventContent.init) })
        unclaimed += change.expirations
        for event in outcomes.flatMap(\.events) {
            #expect(!event.mayBeDuplicate)
            #expect(handedOut.updateValue(event, forKey: event.id) == nil)
        }
    }

    /// Restores ends, and compares replies and events.
    mutating func restore(_ ends: [StoredEnd]) async throws {
        let change = model.apply(ends.map { .restore($0) })
        expect(change, try await client.apply([], ends: ends, rules: model.rules))
    }

    mutating func apply(_ command: RegistrationCommand) async throws { try await apply([command]) }

    /// Runs maintenance, and compares the claimed events. All events must be old enough to be claimed.
    mutating func maintain(rowsMax: Int = 1000) async throws {
        let claimed = try await client.maintain(rules: model.rules, rowsMax: rowsMax)
        let expirations = model.maintain()
        var events = handedOut
        for var event in claimed where event.mayBeDuplicate {
            event.mayBeDuplicate = false
            #expect(events.removeValue(forKey: event.id) == event)
        }
        #expect(events == [:])
        let firstClaims = claimed.filter { !$0.mayBeDuplicate }
        #expect(firstClaims.map(EventContent.init).sorted() == unclaimed.map(EventContent.init).sorted())
        for event in firstClaims { handedOut[event.id] = event }
        unclaimed = expirations
    }

    /// Deletes all events that were handed out.
    mutating func deleteEvents() async throws {
        try await client.delete(Array(handedOut.keys))
        handedOut = [:]
    }

    func expectEqualRows(rowsMax: Int = 1000) async throws {
        let rows = try await client.rows(rowsMax: rowsMax)
        #expect(rows == model.rows.values.sorted { $0.key < $1.key })
    }

    func expectEqualDevices(_ queries: [DeviceQuery]) async throws {
        let time = client.loop.now.unixMilliseconds
        #expect(try await client.lookUp(queries) == queries.map { try model.devices(of: $0, at: time) })
    }
}

/// The parts of an event that a store and the rules must agree about.
struct EventContent: Hashable, Comparable {
    let app: String
    let body: String

    init(_ event: StoredEvent) {
        (app, body) = (event.app, String(decoding: event.body, as: UTF8.self))
    }

    init(_ event: RegistrationEvent) {
        (app, body) = (event.app, String(decoding: event.body, as: UTF8.self))
    }

    static func < (left: EventContent, right: EventContent) -> Bool { (left.app, left.body) < (right.app, right.body) }
}

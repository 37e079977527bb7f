import APNSProtocol
import Crypto
import EventLoop
import Registrations
import TestKit
import Testing

extension StoreCheck {
    static let batchChecks: [StoreCheck] = [
        StoreCheck("Random batches have the replies, events, rows and devices of the model", withClient: randomBatches),
        StoreCheck("Batches that do not wait for each other are applied in order, once each", withClient: unawaited),
        StoreCheck("A batch whose data is refused changes nothing", withClient: refusedData),
        StoreCheck("A repeated batch changes nothing", withClient: repeated),
        StoreCheck("One name of many installations does not make batches grow", withClient: sharedDeviceName),
        StoreCheck("Installations are compared byte for byte", withClient: installationForms),
        StoreCheck("Apps are compared byte for byte", withClient: appForms),
        StoreCheck("Events remain until they are deleted", withClient: deletion),
    ]

    private static func randomBatches(_ comparison: inout StoreComparison) async throws {
        var mix = CommandMix(seed: 47)
        comparison.model.devicesPerUserMax = 3
        for number in 1...300 {
            // The total of 75 days is longer than tombstones are kept.
            let age = Int64(number) * CommandMix.day / 4
            comparison.model.now = RegistrationModel.start + 10 * CommandMix.day + age
            // Every second batch is small, so that it concerns few of the rows.
            let countMax = number.isMultiple(of: 2) ? 3 : 40
            try await comparison.apply(mix.batch(countMax: countMax, before: 10 * CommandMix.day + age))
            guard number.isMultiple(of: 10) else { continue }
            try await comparison.expectEqualRows(rowsMax: 7)
            try await comparison.expectEqualDevices(
                Array(mix.queries(Array(comparison.model.rows.keys)).prefix(DeviceLookup.queriesMax)))
            comparison.model.now += Maintenance.eventAgeMillisecondsMin
            try await comparison.maintain(rowsMax: 5)
            try await comparison.deleteEvents()
        }
        try await comparison.expectEqualRows()
    }

    private static func unawaited(_ comparison: inout StoreComparison) async throws {
        let (client, rules) = (comparison.client, comparison.model.rules)
        let commands = (1...100).map { number in
            RegistrationCommand.register(number.isMultiple(of: 2) ? "ann" : "bob", "0a", at: Int64(number))
        }
        let replies = try await withThrowingTaskGroup(of: (Int, RegistrationReply?).self) { group in
            nonisolated(unsafe) let client = client
            for (number, command) in commands.enumerated() {
                group.addTask(executorPreference: client.loop) {
                    (number, try await client.apply([command], rules: rules).first?.reply)
                }
            }
            var replies: [Int: RegistrationReply] = [:]
            for try await (number, reply) in group { replies[number] = reply }
            return replies
        }
        #expect(replies == Dictionary(uniqueKeysWithValues: (0..<100).map { ($0, $0 == 0 ? .stored : .moved) }))
        for command in commands { try comparison.model.apply(command) }
        try await comparison.expectEqualRows()
    }

    private static func refusedData(_ comparison: inout StoreComparison) async throws {
        try await comparison.apply(.register("zoe", "0a", at: 1))
        // A token with an odd number of digits cannot be encrypted.
        let commands: [RegistrationCommand] = [.register("bob", "0a", at: 2), .register("zoe", "0b0", at: 2)]
        do {
            _ = try await comparison.client.apply(commands, rules: comparison.model.rules)
            Issue.record("the batch was applied")
        } catch {
            #expect(error.code == .data && !error.sentence.contains("0b0") && !error.sentence.contains("zoe"))
        }
        try await comparison.expectEqualRows()
        try await comparison.apply(commands[0])
        try await comparison.expectEqualRows()
    }

    private static func repeated(_ comparison: inout StoreComparison) async throws {
        let commands: [RegistrationCommand] = [
            .register("ann", "0a", at: 1, device: "phone"), .register("bob", "0a", at: 2, device: "phone"),
            .register("bob", "0b", at: 3, device: "phone"), .suspect("0b", at: 4), .unregister("cid", at: 4),
            .erase("dan", at: 4),
        ]
        try await comparison.apply(commands)
        let rows = comparison.model.rows
        for command in commands { try await comparison.apply(command) }
        #expect(comparison.model.rows == rows)
        try await comparison.expectEqualRows()
    }

    private static func sharedDeviceName(_ comparison: inout StoreComparison) async throws {
        for start in stride(from: 1, to: 600, by: 200) {
            try await comparison.apply(
                (start..<start + 200).map { number in
                    .register("user \(number)", String(number + 0x1000, radix: 16), at: Int64(number), device: "phone")
                })
        }
        try await comparison.expectEqualRows()
        let rows = try await comparison.client.rows()
        #expect(rows.count == 600 && rows.count { $0.details != nil } == 1)
        #expect(rows.count { $0.deviceKey != nil } == 1 + RegistrationRules.endsPerDeviceMax)
    }

    private static func installationForms(_ comparison: inout StoreComparison) async throws {
        // As Swift strings, the two forms of the letter are equal.
        try await comparison.apply(.register("ann", "0a", at: 1, device: "\u{E9}"))
        try await comparison.apply(.register("ann", "0a", at: 2, device: "e\u{301}"))
        try await comparison.apply(.unregister("ann", device: "e\u{301}", at: 3))
        #expect(comparison.model.reached == [])
        try await comparison.expectEqualRows()
    }

    private static func appForms(_ comparison: inout StoreComparison) async throws {
        let apps = ["caf\u{E9}", "cafe\u{301}"]
        let tombstones = apps.enumerated().map { number, app in
            Registration(
                key: Registration.Key(token: UUIDValue(high: 0, low: UInt64(number + 1))), app: app,
                environment: .production, kind: .device, registeredAt: 1, deviceKey: nil, state: .ended(at: 1))
        }
        try await comparison.restore(tombstones.map { .tombstone($0) })
        for (app, tombstone) in zip(apps, tombstones) {
            let rows = try await comparison.client.rows(.app(app))
            #expect(rows.map(\.key) == [tombstone.key])
            #expect(rows.map { Array($0.app.utf8) } == [Array(app.utf8)])
        }
    }

    private static func deletion(_ comparison: inout StoreComparison) async throws {
        try await comparison.apply([.register("ann", "0a", at: 1), .register("bob", "0b", at: 1)])
        try await comparison.apply([.erase("ann", at: 2), .prune("0b", at: 2)])
        let ids = comparison.handedOut.values.sorted { EventContent($0) < EventContent($1) }.map(\.id)
        #expect(ids.count == 2)
        try await comparison.client.delete([ids[0]])
        // An id without an event is not an error, because another process may have deleted the event.
        try await comparison.client.delete([ids[0]])
        try await comparison.client.delete([])
        comparison.model.now += Maintenance.eventAgeMillisecondsMin
        #expect(try await comparison.client.maintain(rules: comparison.model.rules).map(\.id) == [ids[1]])
    }
}

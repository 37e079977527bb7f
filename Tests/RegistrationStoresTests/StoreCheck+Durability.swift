import APNSProtocol
import EventLoop
import Registrations
import TestKit
import Testing

extension StoreCheck {
    static let durabilityChecks: [StoreCheck] = [
        StoreCheck("Rows, tombstones, marks and events remain after the store is opened again", reopening),
        StoreCheck("Rows are encrypted again with the active data key", rekeying),
        StoreCheck("Rows are encrypted again while lookups and batches continue", rekeyingUnderLoad),
        StoreCheck("Work that needs a missing data key changes nothing, and succeeds with the key", missingKey),
        StoreCheck("An exchanged ciphertext affects only its rows", exchange),
        StoreCheck("A closed store has completed or failed all work", closing),
    ]

    private static func reopening(_ fixture: any StoreFixture) async throws {
        let rules = RegistrationRules(now: RegistrationModel.start + 1000)
        let steps: [(RegistrationCommand, RegistrationReply)] = [
            (.register("ann", "0a", at: 1, device: "phone"), .stored), (.unregister(token: "0a", at: 5), .ended),
            (.register("ann", "0a", at: 5), .ended), (.unregister("bob", at: 5), .notFound),
            (.register("bob", "0b", at: 5), .ended), (.erase("cid", at: 5), .notFound),
            (.register("cid", "0c", at: 5), .ended), (.unregister("dan", device: "phone", at: 5), .notFound),
            (.register("dan", "0d", at: 5, device: "phone"), .ended), (.register("eve", "0e", at: 1), .stored),
            (.register("fay", "0e", at: 2), .moved), (.register("eve", "0e", at: 2), .superseded),
        ]
        for (command, reply) in steps {
            try await withClient(fixture, .sample()) { client in
                let outcomes = try await client.apply([command], rules: rules)
                #expect(outcomes.map(\.reply) == [reply])
            }
        }
        try await withClient(fixture, .sample()) { client in
            let later = RegistrationRules(now: rules.now + Maintenance.eventAgeMillisecondsMin)
            let events = try await client.maintain(rules: later)
            #expect(events.map(\.mayBeDuplicate) == [true])
            #expect(events.first.map { String(decoding: $0.body, as: UTF8.self).contains("moved") } == true)
        }
    }

    private static func rekeying(_ fixture: any StoreFixture) async throws {
        let count = 20
        let query = DeviceQuery(
            app: RegistrationModel.app, environment: .production, kind: .device, scope: nil, user: "ann")
        let commands = (16..<16 + count).map { RegistrationCommand.register("ann", String($0, radix: 16), at: 1) }
        let rules = RegistrationRules(now: RegistrationModel.start + 1000)
        try await withClient(fixture, .sample()) { client in
            _ = try await client.apply(commands + [.unregister(token: "0a", at: 1)], rules: rules)
        }
        try await withClient(fixture, .sample(dataKeys: [1, 2])) { client in
            // A registration with the same identity keeps its ciphertext.
            _ = try await client.apply([.register("ann", "10", at: 2)], rules: rules)
            let before = try await client.lookUp([query])
            #expect(try await client.edit(.rekey, rowsMax: 6) == (count, 0))
            #expect(try await client.edit(.rekey, rowsMax: 6) == (0, 0))
            #expect(try await client.lookUp([query]) == before)
        }
        try await withClient(fixture, .sample(dataKeys: [2])) { client in
            let found = try await client.lookUp([query])
            #expect(found.map(\.count) == [count])
        }
        try await withClient(fixture, .sample(dataKeys: [3])) { client in
            let counts = try await client.edit(.rekey, rowsMax: 6)
            #expect(counts == (0, count))
            #expect(try await client.rows().filter { $0.details?.identity == nil }.count == count + 1)
        }
    }

    private static func rekeyingUnderLoad(_ fixture: any StoreFixture) async throws {
        let count = 200
        let rules = RegistrationRules(now: RegistrationModel.start + 1_000_000)
        @Sendable func register(_ number: Int, at: Int64) -> RegistrationCommand {
            .register("user \(number)", String(number + 0x1000, radix: 16), at: at)
        }
        try await withClient(fixture, .sample()) { client in
            _ = try await client.apply((0..<count).map { register($0, at: 1) }, rules: rules)
        }
        let roundCount = try await withClient(fixture, .sample(dataKeys: [1, 2])) { client in
            nonisolated(unsafe) let client = client
            nonisolated(unsafe) var isRekeyed = false
            let load = Task(executorPreference: client.loop) {
                var round = 0
                while !isRekeyed {
                    let query = DeviceQuery(
                        app: RegistrationModel.app, environment: .production, kind: .device, scope: nil,
                        user: "user \(round % count)")
                    let devices = try await client.lookUp([query])
                    #expect(devices.map(\.count) == [1])
                    // A repeated registration, and a new registration.
                    let commands = [
                        register(round % count, at: Int64(round + 2)), register(count + round, at: Int64(round + 2)),
                    ]
                    let outcomes = try await client.apply(commands, rules: rules)
                    #expect(outcomes.map(\.reply) == [.stored, .stored])
                    round += 1
                }
                return round
            }
            #expect(try await client.edit(.rekey, rowsMax: 3).unreadableCount == 0)
            isRekeyed = true
            return try await load.value
        }
        #expect(roundCount > 0)
        try await withClient(fixture, .sample(dataKeys: [2])) { client in
            let rows = try await client.rows()
            #expect(rows.count == count + roundCount && rows.allSatisfy { $0.details?.identity != nil })
        }
    }

    private static func missingKey(_ fixture: any StoreFixture) async throws {
        let queries = ["ann", "bob"].map { user in
            DeviceQuery(app: RegistrationModel.app, environment: .production, kind: .device, scope: nil, user: user)
        }
        let now = RegistrationModel.start + 1000
        let rules = RegistrationRules(now: now)
        let later = RegistrationRules(now: now + Maintenance.eventAgeMillisecondsMin)
        try await withClient(fixture, .sample(dataKeys: [1, 2], active: 1)) { client in
            _ = try await client.apply([.register("bob", "0b", at: 1)], rules: rules)
        }
        try await withClient(fixture, .sample(dataKeys: [1, 2])) { client in
            _ = try await client.apply(
                [
                    .register("ann", "0a", at: 1, device: "phone"), .register("cid", "0c", at: 1, expires: 2000),
                    .register("dan", "0d", at: 1), .register("eve", "0d", at: 2),
                ], rules: rules)
        }
        try await withClient(fixture, .sample()) { client in
            let rows = try await client.rows()
            let found = try await client.find(queries)
            #expect(found.devices[0] == [] && found.devices[1].map(\.token) == ["0b"])
            #expect(found.faults == [0: StoreFault(MissingDataKey(id: 2))])
            for command: RegistrationCommand in [
                .unregister("ann", device: "phone", at: 5), .register("bob", "0a", at: 5), .erase("ann", at: 5),
            ] {
                let fault = await #expect(throws: StoreFault.self) { try await client.apply([command], rules: rules) }
                #expect(fault?.code == .keys)
            }
            // Maintenance omits the expired row of "cid" and the event of "eve".
            #expect(try await client.maintain(rules: later) == [])
            #expect(try await client.missingKey(rules: later) == MissingDataKey(id: 2))
            // Work that needs no missing key continues.
            let replies = try await client.apply([.register("bob", "0b", at: 1)], rules: rules)
            #expect(replies.map(\.reply) == [.unchanged])
            #expect(try await client.rows() == rows)
        }
        try await withClient(fixture, .sample(dataKeys: [1, 2])) { client in
            #expect(try await client.lookUp(queries).map { $0.map(\.token) } == [["0a"], ["0b"]])
            let outcomes = try await client.apply([.unregister("ann", device: "phone", at: 5)], rules: rules)
            #expect(outcomes.map(\.reply) == [.ended])
            let events = try await client.maintain(rules: later)
            #expect(events.contains { String(decoding: $0.body, as: UTF8.self).contains("moved") })
            #expect(try await client.missingKey(rules: later) == nil)
        }
    }

    private static func exchange(_ fixture: any StoreFixture) async throws {
        let query = DeviceQuery(
            app: RegistrationModel.app, environment: .production, kind: .device, scope: nil, user: "ann")
        let rules = RegistrationRules(now: RegistrationModel.start + 1000)
        let devices = try await onEpollLoop { loop in
            let client = try fixture.open(.sample(), on: loop)
            try await client.start()
            _ = try await client.apply(
                [.register("ann", "0a", at: 1), .register("ann", "0b", at: 1), .register("ann", "0c", at: 1)],
                rules: rules)
            let devices = try await client.lookUp([query])[0]
            await client.close()
            return devices
        }
        try await fixture.exchangeCiphertexts(devices[0].key, devices[1].key)
        try await withClient(fixture, .sample()) { client in
            let found = try await client.lookUp([query])
            #expect(found == [[devices[2]]])
            let rows = try await client.rows(.user("ann", app: nil))
            #expect(rows.map { $0.details?.identity?.token } == [nil, nil, devices[2].token])
            // The same registration repairs its row.
            let replies = try await client.apply([.register("ann", devices[0].token, at: 1)], rules: rules)
            #expect(replies.map(\.reply) == [.stored])
            #expect(try await client.lookUp([query]) == [[devices[0], devices[2]]])
        }
    }

    private static func closing(_ fixture: any StoreFixture) async throws {
        let rules = RegistrationRules(now: RegistrationModel.start + 1000)
        try await onEpollLoop { loop in
            let client = try fixture.open(.sample(), on: loop)
            try await client.start()
            nonisolated(unsafe) let shared = client
            let work = Task(executorPreference: loop) {
                await withTaskGroup(of: Bool.self) { group in
                    for number in 0..<50 {
                        group.addTask(executorPreference: loop) {
                            let command = RegistrationCommand.register("ann", "0a", at: Int64(number + 1))
                            return (try? await shared.apply([command], rules: rules)) != nil
                        }
                    }
                    return await group.reduce(into: 0) { count, _ in count += 1 }
                }
            }
            await client.close()
            #expect(await work.value == 50)
            await #expect(throws: StoreFault.self) { try await shared.apply([], rules: rules) }
            await #expect(throws: StoreFault.self) { try await shared.lookUp([]) }
        }
    }
}

import APNSProtocol
import EventLoop
import JSON
import Registrations
import TestKit
import Testing

@testable import RegistrationTools

/// Export, counts, erasure and edits of a store.
@Suite struct StoreToolsTests {
    private static let now: Int64 = 1_750_000_000_000

    @Test func `An imported export gives the same registrations and ends`() async throws {
        let keys = try RegistrationKeys(json: RegistrationKeys.generatedFile(), source: "test")
        try await onEpollLoop { loop in
            let (store, session) = try await Self.store(on: loop, keys: keys)
            let address = TokenAddress(
                app: "com.example.app", environment: .sandbox, kind: .controls, scope: "lamp", token: "0a0b")
            let time = loop.now.unixMilliseconds
            let commands = [
                Self.register("ann", "0a", at: time - 2), Self.register("bob", "0b"),
                Self.register("bob", "0a", at: time - 1, isShared: true),
                .register(
                    NewRegistration(
                        address: address, user: "Zoë, \"Z\"", deviceID: "phone", platform: .ios,
                        registeredAt: time, expiresAt: time + 10_000_000)),
                .unregister(.user(app: "com.example.app", user: "carl"), at: Self.now),
            ]
            _ = try await session.apply(commands)
            _ = try await session.apply([.unregister(.token(Self.address("0b")), at: time + 5)])
            _ = try await session.apply([.erase(user: "dora", app: nil, at: Self.now)])
            var lines: [[UInt8]] = []
            try await session.read(.all) { page in
                lines += page.map {
                    $0.command?.body(id: nil) ?? StoredEnd.tombstone($0).line(indexKey: ImportHarness.indexKey)
                }
                return true
            }
            try await session.readMarks { page in
                lines += page.map { StoredEnd.mark($0).line(indexKey: ImportHarness.indexKey) }
                return true
            }
            // An import restores the ends in any order.
            for lines in [lines, lines.reversed()] {
                let (other, copy) = try await Self.store(on: loop, keys: keys)
                var parser = ImportParser(registeredAt: nil, indexKey: ImportHarness.indexKey) {
                    app, named throws(CommandViolation) in named ?? .production
                }
                for line in lines {
                    switch try parser.content(of: line, now: loop.now.unixMilliseconds) {
                    case .command(let command): _ = try await copy.apply([command])
                    case .end(let end): _ = try await copy.apply([], ends: [end])
                    case .nothing, .violation: Issue.record("\(String(decoding: line, as: UTF8.self))")
                    }
                }
                let isEqual = other.rows == store.rows && other.marks == store.marks
                #expect(isEqual)
                // A late registration has no effect.
                let late = try await copy.apply([Self.register("eve", "0b", at: time + 1)])
                #expect(late.map(\.reply) == [.ended])
            }
        }
    }

    @Test func `Pages cover all registrations once`() async throws {
        try await onEpollLoop { loop in
            let (store, session) = try await Self.store(on: loop)
            for first in stride(from: 0, to: 1250, by: 250) {
                _ = try await session.apply(
                    (first..<first + 250).map { Self.register("user\($0)", ImportHarness.token($0)) })
            }
            var keys: [Registration.Key] = []
            try await session.read(.all) { page in
                keys += page.map(\.key)
                return true
            }
            #expect(keys == keys.sorted() && keys.count == 1250 && store.rows.count == 1250)
        }
    }

    @Test func `Groups count live registrations, and those that are suspended`() {
        var groups = RegistrationGroups(by: [.app, .age])
        groups.add(Self.row(age: 0), now: Self.now)
        groups.add(Self.row(age: 8, suspicions: 3), now: Self.now)
        groups.add(Self.row(age: 9, suspicions: 2), now: Self.now)
        groups.add(Self.row(age: 400), now: Self.now)
        var ended = Self.row(age: 1)
        ended.state = .ended(at: Self.now)
        groups.add(ended, now: Self.now)
        #expect(
            groups.sorted == [
                RegistrationGroups.Group(values: ["com.example.app", "< 30 d"], count: 2, suspendedCount: 1),
                RegistrationGroups.Group(values: ["com.example.app", "< 7 d"], count: 1),
                RegistrationGroups.Group(values: ["com.example.app", ">= 365 d"], count: 1),
            ])
        #expect(groups.count == 4 && groups.suspendedCount == 1)
        // The rows of this test have no identity.
        #expect(groups.unreadableCount == 4)
    }

    @Test func `Groups of apps are compared byte for byte`() {
        var groups = RegistrationGroups(by: [.app])
        // As Swift strings, the two forms of the letter are equal.
        for app in ["cafe\u{301}", "caf\u{E9}", "cafe\u{301}"] { groups.add(Self.row(age: 0, app: app), now: Self.now) }
        #expect(groups.sorted.map(\.count) == [2, 1])
    }

    @Test func `A registration with an extreme time is counted and exported`() {
        var groups = RegistrationGroups(by: [.age])
        for time in [Int64.min, .max] {
            var row = Self.row(age: 0)
            row.registeredAt = time
            groups.add(row, now: Self.now)
        }
        #expect(groups.sorted.map(\.values) == [["< 7 d"], [">= 365 d"]])
        let address = TokenAddress(
            app: "com.example.app", environment: .sandbox, kind: .liveactivity, scope: "race", token: "0a")
        #expect(NewRegistration(address: address, user: "ann", registeredAt: .max).expiresAt == .max)
    }

    @Test func `An erasure reports each registration, and keeps older ones out`() async throws {
        try await onEpollLoop { loop in
            let (store, session) = try await Self.store(on: loop)
            let later = loop.now.unixMilliseconds + 120_000
            _ = try await session.apply([
                Self.register("ann", "0a"), Self.register("ann", "0b", at: later), Self.register("bob", "0c"),
            ])
            let outcome = try await Erasure(user: "ann", app: nil).run(in: session)
            // The clock of the producer was ahead of the store's clock.
            #expect(outcome.at == later && outcome.reply == .ended && outcome.events.count == 2)
            let tokens = outcome.events.compactMap { (try? JSONDocument($0).root)?["device_token"]?.string }
            #expect(Set(tokens) == ["0a", "0b"])
            _ = try await session.apply([Self.register("ann", "0a", at: later)])
            #expect(Self.live(store).count == 1)
            // The store keeps the events until a worker publishes them.
            #expect(store.events.count == 2)
            let again = try await Erasure(user: "ann", app: nil).run(in: session)
            #expect(again.events.isEmpty)
        }
    }

    @Test func `An erasure of one app changes no other app`() async throws {
        try await onEpollLoop { loop in
            let (store, session) = try await Self.store(on: loop)
            _ = try await session.apply([
                Self.register("ann", "0a"), Self.register("ann", "0b", app: "com.example.other"),
            ])
            #expect(try await Erasure(user: "ann", app: "com.example.other").run(in: session).events.count == 1)
            #expect(Self.live(store).values.map(\.app) == ["com.example.app"])
        }
    }

    @Test func `An edit that was stopped continues after its last key`() async throws {
        try await onEpollLoop { loop in
            let (store, session) = try await Self.store(on: loop)
            for first in stride(from: 0, to: 1250, by: 250) {
                let tokens = (first..<first + 250).map { ImportHarness.token($0) }
                _ = try await session.apply(tokens.map { Self.register($0, $0) })
                let refusal = APNSRefusal(status: 400, reason: "BadDeviceToken", timestamp: Self.now)
                _ = try await session.apply(tokens.map { .suspect(Self.address($0), refusal) })
            }
            let first = StoreEdit(.unsuspend(app: "com.example.app"))
            var pages = 0
            let end = await first.run(in: session) {
                defer { pages += 1 }
                return pages == 1
            }
            #expect(end == .stopped && first.editedCount == 1000 && first.readCount == 1000)
            let key = try #require(first.last)
            #expect(Registration.Key(key.text) == key)
            let second = StoreEdit(.unsuspend(app: "com.example.app"), after: key)
            #expect(await second.run(in: session) { false } == .complete)
            #expect(second.editedCount == 250)
            let suspicionCount = store.rows.values.count { $0.details?.suspicion != nil }
            #expect(suspicionCount == 0)
        }
    }

    @Test func `A store that is unreachable or refuses is reported`() async throws {
        try await onEpollLoop { loop in
            let (store, session) = try await Self.store(on: loop)
            let fault = StoreFault(.refused, "the disk is full")
            store.fault = fault
            #expect(await StoreEdit(.rekey).run(in: session) { false } == .failed(fault))
            let other = StoreSession(store.writer(), on: loop, devicesPerUserMax: 1)
            await #expect(throws: fault) { try await other.open() }
        }
    }

    @Test func `A wait for the store is reported, and ends when the store is ready`() async throws {
        try await onEpollLoop { loop in
            let (store, _) = try await Self.store(on: loop)
            let fault = StoreFault(.unreachable, "no connection")
            store.fault = fault
            var reported: [StoreFault] = []
            let session = StoreSession(store.writer(), on: loop, devicesPerUserMax: 1)
            try await session.open { reason in
                reported.append(reason)
                store.fault = nil
            }
            #expect(reported == [fault])
        }
    }

    @Test func `Keys of rows are read as they are written`() throws {
        #expect(Registration.Key("x") == nil && Registration.Key("") == nil)
        let text = "00000000-0000-0001-0000-000000000002"
        #expect(Registration.Key(text)?.text == text)
        #expect(Registration.Key("\(text):\(text)")?.text == "\(text):\(text)")
        #expect(Registration.Key("\(text):") == nil)
    }

    /// Creates a simulated store, and opens a session.
    ///
    /// - Parameter keys: The keys of the store; nil for random ones.
    private static func store(
        on loop: EpollLoop, keys: RegistrationKeys? = nil
    ) async throws -> (SimulatedStore, StoreSession) {
        let keys = try keys ?? RegistrationKeys(json: RegistrationKeys.generatedFile(), source: "test")
        let store = try SimulatedStore(on: loop, keys: keys)
        let session = StoreSession(store.writer(), on: loop, devicesPerUserMax: 10_000)
        try await session.open()
        return (store, session)
    }

    private static func address(_ token: String, app: String = "com.example.app") -> TokenAddress {
        TokenAddress(app: app, environment: .production, kind: .device, scope: nil, token: token)
    }

    private static func register(
        _ user: String, _ token: String, app: String = "com.example.app", at time: Int64 = now, isShared: Bool = false
    ) -> RegistrationCommand {
        .register(
            NewRegistration(
                address: address(token, app: app), user: user, registeredAt: time, isShared: isShared))
    }

    /// Returns the registrations of the live rows by token and user, without the rows' keys.
    private static func live(_ store: SimulatedStore) -> [String: NewRegistration] {
        var rows: [String: NewRegistration] = [:]
        for row in store.rows.values {
            if case .register(let registration)? = row.command {
                rows["\(registration.address.token) \(registration.user)"] = registration
            }
        }
        return rows
    }

    private static func row(
        age days: Int64, suspicions: Int = 0, app: String = "com.example.app"
    ) -> Registration {
        let zero = Registration.Key.unshared
        return Registration(
            key: Registration.Key(token: zero), app: app, environment: .production, kind: .device,
            registeredAt: now - days * 86_400_000, deviceKey: nil,
            state: .live(
                Registration.Details(
                    userKey: zero, identity: nil,
                    suspicion: suspicions > 0 ? Suspicion(count: suspicions, since: now) : nil)))
    }
}

extension NewRegistration {
    fileprivate var app: String { address.app }
}

import APNSProtocol
import Registrations
import TestKit
import Testing

@Suite struct EndTests {
    @Test func `A late registration that is older than an end changes nothing`() throws {
        var store = try RegistrationModel()
        #expect(try store.apply(.unregister(token: "0a", at: 5)).reply == .notFound)
        #expect(try store.apply(.register("ann", "0a", at: 5)).reply == .ended)
        #expect(try store.apply(.unregister("bob", at: 5)).reply == .notFound)
        #expect(try store.apply(.register("bob", "0b", at: 5)).reply == .ended)
        #expect(try store.apply(.unregister("cid", device: "phone", at: 5)).reply == .notFound)
        #expect(try store.apply(.register("cid", "0c", at: 5, device: "phone")).reply == .ended)
        #expect(try store.apply(.erase("dan", at: 5)).reply == .notFound)
        #expect(try store.apply(.register("dan", "0d", at: 5)).reply == .ended)
        #expect(store.reached == [])
        #expect(try store.apply(.register("ann", "0a", at: 6)).reply == .stored)
        #expect(try store.apply(.register("bob", "0b", at: 6)).reply == .stored)
        #expect(try store.apply(.register("cid", "0c", at: 6, device: "phone")).reply == .stored)
        #expect(try store.apply(.register("dan", "0d", at: 6)).reply == .stored)
        #expect(store.reached == ["ann 0a", "bob 0b", "cid 0c", "dan 0d"])
    }

    @Test func `An erasure in all apps counts each registration once, also if an app is named twice`() throws {
        let index = try BlindIndex(RegistrationKeys(json: RegistrationKeys.generatedFile(), source: "test"))
        let command = RegistrationCommand.erase(user: "ann", app: nil, at: 5)
        let app = RegistrationModel.app
        #expect(try index.keyed(command, apps: [app, app]) == index.keyed(command, apps: [app]))
    }

    @Test func `A 410 ends registrations up to its time, and keeps a newer one`() throws {
        var store = try RegistrationModel()
        try store.apply(.register("ann", "0a", at: 5))
        try store.apply(.register("bob", "0b", at: 6))
        let outcome = try store.apply(.prune("0a", at: 5))
        #expect(outcome.reply == .ended && outcome.eventWords == ["pruned ann 0a"])
        #expect(
            outcome.events.map(\.change) == [
                .pruned(APNSRefusal(status: 410, reason: "Unregistered", timestamp: RegistrationModel.start + 5))
            ])
        let older = try store.apply(.prune("0b", at: 5))
        #expect(older.reply == .superseded && older.events == [])
        #expect(store.reached == ["bob 0b"])
        #expect(try store.apply(.prune("0a", at: 5)).reply == .unchanged)
        #expect(try store.apply(.register("ann", "0a", at: 6)).reply == .stored)
        #expect(store.reached == ["ann 0a", "bob 0b"])
    }

    @Test func `A 410 ends all users of a shared token`() throws {
        var store = try RegistrationModel()
        try store.apply(.register("ann", "0a", at: 1, shared: true))
        try store.apply(.register("bob", "0a", at: 2, shared: true))
        try store.apply(.register("cid", "0a", at: 3, shared: true))
        let outcome = try store.apply(.prune("0a", at: 2))
        #expect(outcome.eventWords.sorted() == ["pruned ann 0a", "pruned bob 0a"])
        #expect(try store.apply(.register("dan", "0a", at: 2, shared: true)).reply == .ended)
        #expect(store.reached == ["cid 0a"])
    }

    @Test func `An unregister of an installation keeps other installations and users`() throws {
        var store = try RegistrationModel()
        try store.apply(.register("ann", "0a", at: 1, device: "phone"))
        try store.apply(.register("ann", "0b", at: 1, device: "watch"))
        try store.apply(.register("ann", "0c", at: 1))
        try store.apply(.register("bob", "0d", at: 1, device: "tablet"))
        let outcome = try store.apply(.unregister("ann", device: "phone", at: 2))
        #expect(outcome.reply == .ended && outcome.events == [])
        #expect(store.reached == ["ann 0b", "ann 0c", "bob 0d"])
        #expect(try store.apply(.unregister("ann", device: "phone", at: 2)).reply == .unchanged)
        #expect(try store.apply(.unregister("ann", device: "watch", at: 0)).reply == .superseded)
    }

    @Test func `Users and installations are compared byte for byte`() throws {
        var store = try RegistrationModel()
        // As Swift strings, the composed and the decomposed form of a letter are equal.
        try store.apply(.register("ann", "0a", at: 1, device: "\u{E9}"))
        #expect(try store.apply(.unregister("ann", device: "e\u{301}", at: 2)).reply == .notFound)
        try store.apply(.register("\u{E9}", "0b", at: 1))
        #expect(try store.apply(.unregister("e\u{301}", at: 2)).reply == .notFound)
        #expect(store.reached.count == 2)
    }

    @Test func `An erasure covers one app or all apps, also unknown ones`() throws {
        var store = try RegistrationModel()
        func register(app: String, at: Int64) -> RegistrationCommand {
            .register(
                NewRegistration(
                    address: TokenAddress(
                        app: app, environment: .sandbox, kind: .device, scope: nil, token: "0a"), user: "ann",
                    registeredAt: RegistrationModel.start + at))
        }
        try store.apply(register(app: RegistrationModel.app, at: 1))
        try store.apply(register(app: "com.example.other", at: 1))
        let one = try store.apply(.erase("ann", app: RegistrationModel.app, at: 2))
        #expect(one.events.map(\.app) == [RegistrationModel.app] && one.events.map(\.change) == [.erased])
        let all = try store.apply(.erase("ann", at: 2))
        #expect(all.events.map(\.app) == ["com.example.other"])
        #expect(try store.apply(register(app: "com.example.unknown", at: 2)).reply == .ended)
        #expect(try store.apply(register(app: "com.example.unknown", at: 3)).reply == .stored)
        #expect(store.rows.values.allSatisfy { $0.details == nil || $0.app == "com.example.unknown" })
    }

    @Test func `After an end, the token's older users do not return`() throws {
        var store = try RegistrationModel()
        try store.apply(.register("ann", "0a", at: 2))
        try store.apply(.erase("ann", at: 9))
        #expect(try store.apply(.register("bob", "0a", at: 1)).reply == .ended)
        #expect(store.reached == [])
        // The mark concerns only the erased user.
        #expect(try store.apply(.register("bob", "0a", at: 3)).reply == .stored)
        #expect(store.reached == ["bob 0a"])
    }

    @Test func `Tombstones and marks are forgotten after 30 days, and marks of erasures never`() throws {
        var store = try RegistrationModel()
        try store.apply(.unregister(token: "0a", at: 5))
        try store.apply(.unregister("ann", at: 5))
        try store.apply(.erase("ann", at: 5))
        try store.apply(.erase("cid", app: RegistrationModel.app, at: 4))
        try store.apply(.unregister("cid", at: 5))
        try store.apply(.register("bob", "0b", at: 5))
        let day: Int64 = 24 * 3_600_000
        for (now, isForgotten) in [
            (RegistrationModel.start + 5 + 30 * day, false), (RegistrationModel.start + 6 + 30 * day, true),
        ] {
            let rules = RegistrationRules(now: now)
            #expect(store.rows.values.filter { rules.isForgotten($0) }.count == (isForgotten ? 1 : 0))
            #expect(store.marks.values.filter { rules.isForgotten($0) }.count == (isForgotten ? 1 : 0))
        }
    }
}

import APNSProtocol
import Registrations
import TestKit
import Testing

@Suite struct RegisterTests {
    @Test func `A registration is stored, and an equal one changes nothing`() throws {
        var store = try RegistrationModel()
        #expect(try store.apply(.register("ann", "0a", at: 1)).reply == .stored)
        #expect(store.reached == ["ann 0a"])
        let before = store
        let change = store.apply([try store.keyed(.register("ann", "0A", at: 1))])
        #expect(change.outcomes[0].reply == .unchanged && change.outcomes[0].events == [])
        #expect(change.rows == [] && change.marks == [] && store == before)
    }

    @Test func `A registration again advances the time, so that an older 410 has no effect`() throws {
        var store = try RegistrationModel()
        try store.apply(.register("ann", "0a", at: 1))
        #expect(try store.apply(.register("ann", "0a", at: 5)).reply == .stored)
        #expect(try store.apply(.prune("0a", at: 4)).reply == .superseded)
        #expect(store.reached == ["ann 0a"])
    }

    @Test func `A token moves to the user of its newest registration`() throws {
        var store = try RegistrationModel()
        try store.apply(.register("ann", "0a", at: 1))
        let outcome = try store.apply(.register("bob", "0a", at: 2))
        #expect(outcome.reply == .moved && outcome.eventWords == ["moved ann 0a"])
        #expect(outcome.events.map(\.change) == [.moved(newUser: "bob")])
        #expect(outcome.events.map(\.registeredAt) == [RegistrationModel.start + 1])
        #expect(try store.apply(.register("ann", "0a", at: 1)).reply == .superseded)
        #expect(store.reached == ["bob 0a"])
    }

    @Test func `At equal times, the same user has the token in both orders`() throws {
        var forward = try RegistrationModel()
        var backward = forward
        let commands = [RegistrationCommand.register("ann", "0a", at: 1), .register("bob", "0a", at: 1)]
        let keyed = try commands.map { try forward.keyed($0) }
        forward.apply(keyed)
        backward.apply(keyed.reversed())
        #expect(forward == backward && forward.reached.count == 1)
    }

    @Test func `Users share a token`() throws {
        var store = try RegistrationModel()
        try store.apply(.register("ann", "0a", at: 1, shared: true))
        let outcome = try store.apply(.register("bob", "0a", at: 2, shared: true))
        #expect(outcome.reply == .stored && outcome.events == [])
        #expect(store.reached == ["ann 0a", "bob 0a"])
        try store.apply(.unregister("ann", at: 3))
        #expect(store.reached == ["bob 0a"])
    }

    @Test func `A registration that is not shared ends all older ones of other users`() throws {
        var store = try RegistrationModel()
        try store.apply(.register("ann", "0a", at: 1, shared: true))
        try store.apply(.register("bob", "0a", at: 2, shared: true))
        try store.apply(.register("cid", "0a", at: 9, shared: true))
        let outcome = try store.apply(.register("dan", "0a", at: 5))
        #expect(outcome.reply == .moved)
        #expect(outcome.eventWords.sorted() == ["moved ann 0a", "moved bob 0a"])
        #expect(store.reached == ["cid 0a", "dan 0a"])
        #expect(try store.apply(.register("eve", "0a", at: 4, shared: true)).reply == .superseded)
        #expect(store.reached == ["cid 0a", "dan 0a"])
    }

    @Test func `A user has one row for a token, shared or not`() throws {
        var store = try RegistrationModel()
        try store.apply(.register("ann", "0a", at: 1))
        #expect(try store.apply(.register("ann", "0a", at: 2, shared: true)).events == [])
        #expect(store.reached == ["ann 0a"])
        #expect(try store.apply(.register("ann", "0a", at: 3)).events == [])
        #expect(store.reached == ["ann 0a"])
        #expect(try store.apply(.register("ann", "0a", at: 2, shared: true)).reply == .ended)
        #expect(store.reached == ["ann 0a"])
    }

    @Test func `An installation has only its newest token`() throws {
        var store = try RegistrationModel()
        try store.apply(.register("ann", "0a", at: 1, device: "phone"))
        let outcome = try store.apply(.register("ann", "0b", at: 2, device: "phone"))
        #expect(outcome.reply == .stored && outcome.eventWords == ["replaced ann 0a"])
        #expect(try store.apply(.register("ann", "0c", at: 1, device: "phone")).reply == .superseded)
        #expect(store.reached == ["ann 0b"])
        // The previous token remains replaced after the end of the newest one.
        try store.apply(.unregister(token: "0b", at: 3))
        #expect(try store.apply(.register("ann", "0a", at: 1, device: "phone")).reply == .ended)
        #expect(try store.apply(.register("ann", "0c", at: 1, device: "phone")).reply == .ended)
        #expect(store.reached == [])
    }

    @Test func `After a reinstallation, the previous user's token is replaced as well`() throws {
        var store = try RegistrationModel()
        try store.apply(.register("ann", "0a", at: 1, device: "phone"))
        #expect(try store.apply(.register("bob", "0b", at: 2, device: "phone")).eventWords == ["replaced ann 0a"])
        #expect(store.reached == ["bob 0b"])
    }

    @Test func `Installations of other kinds are independent`() throws {
        var store = try RegistrationModel()
        try store.apply(.register("ann", "0a", at: 1, device: "phone"))
        let address = TokenAddress(
            app: RegistrationModel.app, environment: .production, kind: .voip, scope: nil, token: "0b")
        try store.apply(
            .register(
                NewRegistration(
                    address: address, user: "ann", deviceID: "phone", registeredAt: RegistrationModel.start + 2)))
        #expect(store.reached == ["ann 0a", "ann 0b"])
    }

    @Test func `Above the limit, the oldest registration is evicted`() throws {
        var store = try RegistrationModel()
        store.devicesPerUserMax = 2
        try store.apply(.register("ann", "0a", at: 1))
        try store.apply(.register("ann", "0b", at: 2))
        try store.apply(.register("bob", "0d", at: 1))
        let outcome = try store.apply(.register("ann", "0c", at: 3))
        #expect(outcome.reply == .stored && outcome.eventWords == ["evicted ann 0a"])
        #expect(store.reached == ["ann 0b", "ann 0c", "bob 0d"])
        // Another registration of a live token evicts no token.
        #expect(try store.apply(.register("ann", "0b", at: 4)).events == [])
        let late = try store.apply(.register("ann", "0e", at: 1))
        #expect(late.reply == .superseded && late.eventWords == ["evicted ann 0e"])
        #expect(store.reached == ["ann 0b", "ann 0c", "bob 0d"])
    }

    @Test func `Tokens of Live Activities and channels expire by default`() {
        for kind in TokenKind.allCases {
            let registration = NewRegistration(
                address: TokenAddress(
                    app: "a", environment: .production, kind: kind, scope: kind.scopeRule == .none ? nil : "s",
                    token: "0a"), user: "ann", registeredAt: 1_000)
            let hours: Int64? = kind == .liveactivity ? 12 : kind == .pushtotalk ? 24 : nil
            #expect(registration.expiresAt == hours.map { 1_000 + $0 * 3_600_000 })
        }
    }

    @Test func `An expired registration ends once, and a newer one revives the token`() throws {
        var store = try RegistrationModel()
        try store.apply(.register("ann", "0a", at: 1, expires: 2_000_000))
        store.now = RegistrationModel.start + 1_999_999
        #expect(RegistrationRules(now: store.now).expire(store.rows.values).rows == [])
        store.now += 1
        let change = RegistrationRules(now: store.now).expire(store.rows.values)
        #expect(change.expirations.map(\.change) == [.expired] && change.rows.count == 1)
        for row in change.rows { store.rows[row.key] = row }
        #expect(store.reached == [] && RegistrationRules(now: store.now).expire(store.rows.values).rows == [])
        #expect(try store.apply(.register("ann", "0a", at: 1, expires: 2_000_000)).reply == .ended)
        #expect(try store.apply(.register("ann", "0a", at: 2, expires: 3_000_000)).reply == .stored)
        #expect(store.reached == ["ann 0a"])
    }

    @Test func `A row that expires before a batch is reported apart from the commands`() throws {
        var store = try RegistrationModel()
        try store.apply(.register("ann", "0a", at: 1, expires: 2_000_000))
        store.now = RegistrationModel.start + 2_000_000
        let change = store.apply([try store.keyed(.register("bob", "0a", at: 2))])
        #expect(change.expirations.map(\.identity.user) == ["ann"])
        #expect(change.outcomes == [change.outcomes[0]] && change.outcomes[0].reply == .stored)
        #expect(change.outcomes[0].events == [] && store.reached == ["bob 0a"])
    }

    @Test func `A registration that has expired on arrival is not live`() throws {
        var store = try RegistrationModel()
        #expect(try store.apply(.register("ann", "0a", at: 1, expires: 2)).reply == .ended)
        #expect(store.reached == [] && store.rows.count == 1)
    }

    @Test func `A row that could not be decrypted is replaced, without an event`() throws {
        var store = try RegistrationModel()
        try store.apply(.register("ann", "0a", at: 1))
        var row = try #require(store.rows.values.first)
        var details = try #require(row.details)
        details.identity = nil
        row.state = .live(details)
        store.rows[row.key] = row
        #expect(try store.apply(.register("ann", "0a", at: 1)).reply == .stored)
        #expect(store.reached == ["ann 0a"])
        store.rows[row.key] = row
        #expect(try store.apply(.register("bob", "0a", at: 2)).events == [])
        #expect(store.reached == ["bob 0a"])
    }
}

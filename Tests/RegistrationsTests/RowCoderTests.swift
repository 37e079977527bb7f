import APNSProtocol
import Crypto
import Registrations
import TestKit
import Testing

@Suite struct RowCoderTests {
    private let coder: RowCoder

    init() throws {
        coder = try RowCoder(RegistrationKeys(json: RegistrationKeys.generatedFile(), source: "test"))
    }

    private static func registration(
        token: UInt64 = 1, _ kind: TokenKind = .liveactivity, suspicion: Suspicion? = nil
    ) -> Registration {
        Registration(
            key: Registration.Key(token: UUIDValue(high: 0, low: token)), app: RegistrationModel.app,
            environment: .sandbox,
            kind: kind, registeredAt: 7, deviceKey: UUIDValue(high: 3, low: 4),
            state: .live(
                Registration.Details(
                    userKey: UUIDValue(high: 1, low: 2), scopeKey: UUIDValue(high: 5, low: 6),
                    identity: RegistrationIdentity(token: "0a", user: "ann", deviceID: "phone", scope: "race"),
                    platform: .visionos, expiresAt: 8, suspicion: suspicion)))
    }

    @Test(arguments: [
        registration(), registration(suspicion: Suspicion(count: 2, since: 9)),
        Registration(
            key: Registration.Key(token: UUIDValue(high: 0, low: 1), slot: UUIDValue(high: 0, low: 2)),
            app: RegistrationModel.app, environment: .production, kind: .device, registeredAt: 7, deviceKey: nil,
            state: .ended(at: 9)),
    ])
    func `Rows round-trip`(registration: Registration) throws {
        let row = try coder.row(of: registration, app: 3, replacing: nil)
        #expect(row.app == 3)
        #expect(coder.registration(of: row, app: RegistrationModel.app) == registration)
        #expect(coder.unreadableCount == 0)
    }

    @Test func `A row keeps its ciphertext while its identity is the same`() throws {
        let registration = Self.registration()
        let row = try coder.row(of: registration, app: 1, replacing: nil)
        var newer = registration
        newer.registeredAt = 9
        #expect(try coder.row(of: newer, app: 1, replacing: (row, registration)).sealed == row.sealed)
        var other = registration
        if var details = other.details {
            details.identity?.user = "bob"
            other.state = .live(details)
        }
        #expect(try coder.row(of: other, app: 1, replacing: (row, registration)).sealed != row.sealed)
    }

    @Test func `A row gets a new ciphertext if a text of its identity has other bytes`() throws {
        // As Swift strings, the composed and the decomposed form of a letter are equal.
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        for path in [\RegistrationIdentity.deviceID, \.scope] {
            var (first, second) = (Self.registration(), Self.registration())
            var details = try #require(first.details)
            details.identity?[keyPath: path] = composed
            first.state = .live(details)
            details.identity?[keyPath: path] = decomposed
            second.state = .live(details)
            let row = try coder.row(of: first, app: 1, replacing: nil)
            let replaced = try coder.row(of: second, app: 1, replacing: (row, first))
            #expect(replaced.sealed != row.sealed)
            let identity = coder.registration(of: replaced, app: RegistrationModel.app)?.details?.identity
            #expect(identity?[keyPath: path].map { Array($0.utf8) } == Array(decomposed.utf8))
        }
    }

    @Test func `A ciphertext of another row is unreadable, and the row remains`() throws {
        var row = try coder.row(of: Self.registration(), app: 1, replacing: nil)
        row.sealed = try coder.row(of: Self.registration(token: 2), app: 1, replacing: nil).sealed
        let registration = try #require(coder.registration(of: row, app: RegistrationModel.app))
        #expect(registration.details?.identity == nil && registration.details?.platform == .visionos)
        #expect(coder.unreadableCount == 1)
        #expect(try coder.rekeyed(row) == nil)
    }

    @Test func `A device has the token of its row, unless the ciphertext is that of another row`() throws {
        let row = try coder.row(of: Self.registration(), app: 1, replacing: nil)
        let (userKey, sealed) = (try #require(row.userKey), try #require(row.sealed))
        func device(_ key: Registration.Key) throws(MissingDataKey) -> FoundDevice? {
            try coder.device(key: key, userKey: userKey, registeredAt: 7, sealed: sealed)
        }
        #expect(try device(row.key) == FoundDevice(key: row.key, token: "0a", registeredAt: 7))
        #expect(coder.unreadableCount == 0)
        #expect(try device(Registration.Key(token: UUIDValue(high: 0, low: 2))) == nil)
        #expect(coder.unreadableCount == 1)
    }

    @Test func `The active data key encrypts a row again, once`() throws {
        let row = try coder.row(of: Self.registration(), app: 1, replacing: nil)
        #expect(try coder.rekeyed(row) == nil)
        var earlier = row
        earlier.sealed?.keyID = 2
        #expect(try coder.rekeyed(earlier) == nil)
        #expect(coder.unreadableCount == 1)
        #expect(throws: Never.self) { try coder.requireKeys(of: [row]) }
        #expect(throws: MissingDataKey(id: 2)) { try coder.requireKeys(of: [row, earlier]) }
        let sealed = try #require(earlier.sealed)
        #expect(throws: MissingDataKey(id: 2)) {
            try coder.device(key: row.key, userKey: UUIDValue(high: 1, low: 2), registeredAt: 7, sealed: sealed)
        }
        #expect(throws: MissingDataKey(id: 2)) {
            try coder.event(id: UUIDValue(high: 1, low: 2), sealed: sealed, mayBeDuplicate: true)
        }
    }

    @Test func `A row of a newer version is not read`() throws {
        var row = try coder.row(of: Self.registration(), app: 1, replacing: nil)
        row.kind = 99
        #expect(coder.registration(of: row, app: RegistrationModel.app) == nil)
    }

    @Test func `Events round-trip, and are bound to their ids`() throws {
        let event = StoredEvent(
            id: UUIDValue(high: 1, low: 2), app: RegistrationModel.app, body: Array("{\"a\":\"\u{0}\"}".utf8),
            mayBeDuplicate: true)
        let sealed = try coder.seal(event)
        #expect(try coder.event(id: event.id, sealed: sealed, mayBeDuplicate: true) == event)
        #expect(try coder.event(id: UUIDValue(high: 1, low: 3), sealed: sealed, mayBeDuplicate: true) == nil)
        #expect(coder.unreadableCount == 1)
    }
}

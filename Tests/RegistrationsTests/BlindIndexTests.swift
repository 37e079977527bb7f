import APNSProtocol
import Crypto
import Registrations
import TestKit
import Testing

@Suite struct BlindIndexTests {
    private static func index(_ letter: Character = "A") throws -> BlindIndex {
        let key = String(repeating: letter, count: 42) + "A="
        let other = String(repeating: "Z", count: 42) + "A="
        let text = #"{"index_key":"\#(key)","data_keys":[{"id":1,"key":"\#(other)"}]}"#
        return try BlindIndex(RegistrationKeys(json: Array(text.utf8), source: "test"))
    }

    private static func address(
        app: String = "a", _ environment: APNSEnvironment = .production, _ kind: TokenKind = .controls,
        scope: String? = "s", token: String = "0a"
    ) -> TokenAddress {
        TokenAddress(app: app, environment: environment, kind: kind, scope: scope, token: token)
    }

    /// Changed keys would make every row of a store unreachable. The expected keys were computed with Python's `hmac`.
    @Test func `Keys never change`() throws {
        let index = try Self.index()
        #expect("\(try index.tokenKey(Self.address()))" == "378c8828-a93c-19b1-1cfd-42e0fb0c64da")
        #expect("\(try index.userKey(app: "a", user: "ann"))" == "06a35ca0-ea3d-f071-0721-2d705f09d9f9")
        #expect("\(try index.scopeKey("s"))" == "701ad057-7d60-8b0f-e6be-13de36028713")
        #expect("\(try index.deviceKey(Self.address(), deviceID: "phone"))" == "56351a37-5df5-d237-aa01-beba9b15331f")
        #expect("\(try index.markKey(userInAllApps: "ann"))" == "3d071c5c-4ce1-77bd-5166-e886096044cf")
        let mark = try index.markKey(app: "a", user: "ann", deviceID: "phone")
        #expect("\(mark)" == "9c62e49c-b210-e2ba-1ace-5e3cdd4c22a2")
    }

    @Test func `Each part of an address gives another key`() throws {
        let index = try Self.index()
        let addresses = [
            Self.address(), Self.address(app: "b"), Self.address(.sandbox), Self.address(.production, .liveactivity),
            Self.address(scope: "t"), Self.address(scope: nil), Self.address(scope: ""), Self.address(token: "0b"),
        ]
        #expect(Set(try addresses.map { try index.tokenKey($0) }).count == addresses.count)
        let devices = try addresses.map { try index.deviceKey($0, deviceID: "phone") }
        #expect(Set(devices).count == addresses.count - 1, "the token does not matter")
        #expect(try index.tokenKey(Self.address(token: "0A")) == index.tokenKey(Self.address(token: "0a")))
    }

    @Test func `Parts cannot move into their neighbors`() throws {
        let index = try Self.index()
        #expect(try index.userKey(app: "ab", user: "c") != index.userKey(app: "a", user: "bc"))
        #expect(try index.userKey(app: "", user: "abc") != index.userKey(app: "abc", user: ""))
        let first = try index.markKey(app: "a", user: "b", deviceID: "cd")
        #expect(try first != index.markKey(app: "a", user: "bc", deviceID: "d"))
        #expect(
            try index.tokenKey(Self.address(scope: "s0", token: "a1")) != index.tokenKey(Self.address(token: "0a1")))
    }

    @Test func `Each use and each index key has other keys`() throws {
        let (index, other) = (try Self.index(), try Self.index("B"))
        // Both functions hash the same single text.
        #expect(try index.scopeKey("x") != index.markKey(userInAllApps: "x"))
        #expect(try index.scopeKey("x") != other.scopeKey("x"))
        #expect(try index.userKey(app: "a", user: "x") != other.userKey(app: "a", user: "x"))
    }

    @Test func `A command has the keys of its rows and marks`() throws {
        let index = try Self.index()
        let registration = NewRegistration(
            address: Self.address(), user: "ann", deviceID: "phone", registeredAt: RegistrationModel.start)
        let keyed = try index.keyed(.register(registration), apps: [])
        guard case .register(let content, let keys) = keyed else {
            Issue.record("not a registration")
            return
        }
        let marks = [
            try index.markKey(userInAllApps: "ann"), try index.userKey(app: "a", user: "ann"),
            try index.markKey(app: "a", user: "ann", deviceID: "phone"),
        ]
        #expect(content == registration && keys.marks == marks && keys.user == marks[1])
        #expect(try keys.scope == index.scopeKey("s"))
        #expect(try keys.device == index.deviceKey(Self.address(), deviceID: "phone"))
        let touched = TouchedKeys([keyed])
        #expect(touched.tokens == [keys.token] && touched.users == [keys.user] && touched.marks == Set(marks))
        #expect(touched.locks == touched.locks.sorted() && Set(touched.locks).count == 5)
        let erasure = TouchedKeys([try index.keyed(.erase(user: "ann", app: nil, at: 1), apps: ["a", "b"])])
        #expect(erasure.users == [marks[1], try index.userKey(app: "b", user: "ann")] && erasure.marks == [marks[0]])
    }
}

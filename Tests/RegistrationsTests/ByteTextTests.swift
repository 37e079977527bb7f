import APNSProtocol
import Registrations
import TestKit
import Testing

/// Tests that texts of commands and rows are compared byte for byte.
@Suite struct ByteTextTests {
    /// Two forms of one letter, which are equal as Swift strings.
    private static let forms = ["\u{E9}", "e\u{301}"]

    @Test func `Commands that differ in the form of a letter are different`() {
        let commands: [(String) -> RegistrationCommand] = [
            { .register($0, "0a", at: 1) }, { .register("ann", "0a", at: 1, device: $0) },
            { .register("ann", Self.address(app: $0), at: 1) }, { .register("ann", Self.address(scope: $0), at: 1) },
            { .unregister(.token(Self.address(scope: $0)), at: 1) }, { .unregister($0, at: 1) },
            { .unregister(.user(app: $0, user: "ann"), at: 1) }, { .unregister("ann", device: $0, at: 1) },
            { .unregister(.device(app: $0, user: "ann", deviceID: "phone"), at: 1) },
            { .unregister($0, device: "phone", at: 1) }, { .erase($0, at: 1) }, { .erase("ann", app: $0, at: 1) },
        ]
        for command in commands {
            #expect(Set(Self.forms.map(command)).count == 2)
            #expect(command(Self.forms[0]) == command(Self.forms[0]))
        }
    }

    @Test func `Queries, identities and events that differ in the form of a letter are different`() {
        func query(app: String = "a", scope: String? = nil, user: String = "ann") -> DeviceQuery {
            DeviceQuery(app: app, environment: .production, kind: .device, scope: scope, user: user)
        }
        let queries: [(String) -> DeviceQuery] = [
            { query(app: $0) }, { query(scope: $0) }, { query(user: $0) },
        ]
        for query in queries { #expect(Set(Self.forms.map(query)).count == 2) }
        #expect(Set(Self.forms.map { RegistrationIdentity(token: "0a", user: $0) }).count == 2)
        #expect(Set(Self.forms.map { RegistrationEvent.Change.moved(newUser: $0) }).count == 2)
    }

    @Test func `An erasure concerns each app whose name has other bytes`() throws {
        let index = try BlindIndex(RegistrationKeys(json: RegistrationKeys.generatedFile(), source: "test"))
        let keyed = try index.keyed(.erase("ann", at: 1), apps: Self.forms)
        guard case .endUser(let end) = keyed else {
            Issue.record("the command has other keys")
            return
        }
        #expect(Set(end.users).count == 2)
    }

    private static func address(app: String = RegistrationModel.app, scope: String? = nil) -> TokenAddress {
        TokenAddress(app: app, environment: .production, kind: .controls, scope: scope, token: "0a")
    }
}

import APNSProtocol
import EventLoop
import Registrations
import TestKit
import Testing

extension StoreCheck {
    static let lookupChecks: [StoreCheck] = [
        StoreCheck("A lookup finds the devices of user, environment, kind and scope", withClient: namespaces),
        StoreCheck("A lookup finds no ended, suspended or expired device", withClient: states),
        StoreCheck("The devices of a query are in the order of their keys", withClient: order),
        StoreCheck("A query can name the key of one device", withClient: tokenKeys),
    ]

    private static func query(
        _ user: String, _ address: TokenAddress = .device("0a"), key: Registration.Key? = nil
    ) -> DeviceQuery {
        DeviceQuery(
            app: address.app, environment: address.environment, kind: address.kind, scope: address.scope, user: user,
            tokenKey: key?.token)
    }

    private static func namespaces(_ comparison: inout StoreComparison) async throws {
        var addresses: [TokenAddress] = []
        for app in [RegistrationModel.app, RegistrationModel.otherApp] {
            for environment in APNSEnvironment.allCases {
                for kind in TokenKind.allCases {
                    for scope in kind.scopeRule == .none ? [nil] : ["one", "two"] {
                        let token = "0a" + String(addresses.count + 16, radix: 16)
                        addresses.append(
                            TokenAddress(app: app, environment: environment, kind: kind, scope: scope, token: token))
                    }
                }
            }
        }
        try await comparison.apply(
            addresses.map { .register("ann", $0, at: 1, expires: CommandMix.farFuture) })
        for start in stride(from: 0, to: addresses.count, by: DeviceLookup.queriesMax) {
            let part = addresses[start...].prefix(DeviceLookup.queriesMax)
            let found = try await comparison.client.lookUp(part.map { query("ann", $0) })
            #expect(found.map { $0.map(\.token) } == part.map { [$0.token] })
        }
        let noApp = TokenAddress(
            app: "com.example.none", environment: .production, kind: .device, scope: nil, token: "0a")
        let noScope = TokenAddress(
            app: RegistrationModel.app, environment: .production, kind: .controls, scope: "three", token: "0a")
        let none = try await comparison.client.lookUp([query("bob"), query("ann", noApp), query("ann", noScope)])
        #expect(none == [[], [], []])
    }

    private static func states(_ comparison: inout StoreComparison) async throws {
        var suspicions: [RegistrationCommand] = []
        for number in 0..<Int64(RegistrationRules.suspicionsMax) {
            suspicions.append(.suspect("0a", at: 2 + number * CommandMix.day))
            if number > 0 { suspicions.append(.suspect("0b", at: 2 + number * CommandMix.day)) }
        }
        comparison.model.now += 10 * CommandMix.day
        try await comparison.apply(
            [
                .register("ann", "0a", at: 1), .register("ann", "0b", at: 1), .register("ann", "0c", at: 1),
                // This registration has not expired when the command arrives. On the clock of lookups, it expired long
                // ago.
                .register("ann", "0d", at: 1, expires: 20 * CommandMix.day),
                .register("ann", "0e", at: 1, expires: CommandMix.farFuture), .unregister(token: "0c", at: 2),
            ] + suspicions)
        let found = try await comparison.client.lookUp([query("ann")])
        #expect(found.map { $0.map(\.token).sorted() } == [["0b", "0e"]])
        // A newer registration ends the suspension.
        try await comparison.apply(.register("ann", "0a", at: 5 * CommandMix.day))
        try await comparison.expectEqualDevices([query("ann"), query("bob")])
        #expect(try await comparison.client.lookUp([query("ann")]).first?.count == 3)
    }

    private static func order(_ comparison: inout StoreComparison) async throws {
        let tokens = (16..<116).map { String($0, radix: 16) }
        try await comparison.apply(tokens.map { .register("ann", $0, at: 1) })
        try await comparison.apply(.register("bob", "0f", at: 1))
        // A lookup may contain the same query twice.
        let found = try await comparison.client.lookUp([query("ann"), query("bob"), query("ann")])
        #expect(found.map(\.count) == [tokens.count, 1, tokens.count])
        #expect(found[0] == found[0].sorted { $0.key < $1.key } && found[0] == found[2])
        try await comparison.expectEqualDevices([query("ann")])
    }

    private static func tokenKeys(_ comparison: inout StoreComparison) async throws {
        try await comparison.apply([
            .register("ann", "0a", at: 1), .register("ann", "0b", at: 1), .register("ann", "0c", at: 1, shared: true),
            .register("bob", "0c", at: 1, shared: true), .register("bob", "0d", at: 1),
        ])
        let devices = try await comparison.client.lookUp([query("ann"), query("bob")])
        for device in devices[0] {
            #expect(try await comparison.client.lookUp([query("ann", key: device.key)]) == [[device]])
        }
        let bobs = devices[1].filter { $0.token == "0d" }.map { query("ann", key: $0.key) }
        #expect(try await comparison.client.lookUp(bobs) == [[]])
    }
}

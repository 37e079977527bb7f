import APNSProtocol
import APNSSimulator
import Crypto
import TestKit

@testable import Delivery

/// Three keys of separate teams with their apps, for the workers' configuration and for APNs.
enum SimulatedApps {
    static let keyCount = 3
    static let count = 12
    /// A key that APNs at first accepts only in production, although the workers use it for both environments.
    static let boundKey = 2
    /// An app that has a key only for the sandbox.
    static let pinnedApp = 9
    /// An app that is registered at APNs only later.
    static let newApp = 10

    static func bundleID(_ app: Int) -> String { "com.example.app\(app)" }
    static func key(of app: Int) -> Int { app % keyCount }
    static func keyID(_ key: Int) -> String { "SIMKEY000\(key)" }
    static func teamID(_ key: Int) -> String { "SIMTEAM00\(key)" }

    static func pool(_ key: Int, _ environment: APNSEnvironment) -> Int {
        key * 2 + (environment == .production ? 0 : 1)
    }

    static func directory(limits: [Int: PushLimits]) -> AppDirectory {
        AppDirectory(
            (0..<count).map { app in
                AppDirectory.App(
                    bundleID: bundleID(app), defaultEnvironment: .sandbox,
                    production: app == pinnedApp ? nil : .init(pool(key(of: app), .production)),
                    sandbox: .init(pool(key(of: app), .sandbox)), limits: limits[app] ?? PushLimits())
            })
    }

    static let privateKey = KnownProviderKey.privateKey
}

extension SimulatorState {
    /// Returns the state of APNs at the beginning of a run.
    static func simulated(publicKey: ES256PublicKey) -> SimulatorState {
        var state = SimulatorState()
        for key in 0..<SimulatedApps.keyCount { state.add(.simulated(key, publicKey, isBound: true)) }
        for app in 0..<SimulatedApps.count where app != SimulatedApps.newApp { state.enable(app) }
        state.deviceRules = [
            DeviceRule(prefix: "dead", condition: .unregistered(sinceMilliseconds: 1_700_000_000_123)),
            DeviceRule(prefix: "bad0", condition: .bad),
        ]
        state.unknownDevices = .active
        return state
    }

    mutating func enable(_ app: Int) {
        addApp(bundleID: SimulatedApps.bundleID(app), teamID: SimulatedApps.teamID(SimulatedApps.key(of: app)))
    }
}

extension RegisteredKey {
    /// Returns a key as it is registered at APNs.
    ///
    /// - Parameter isBound: Whether `SimulatedApps.boundKey` is still valid only in production.
    static func simulated(_ key: Int, _ publicKey: ES256PublicKey, isBound: Bool) -> RegisteredKey {
        RegisteredKey(
            id: SimulatedApps.keyID(key), teamID: SimulatedApps.teamID(key), publicKey: publicKey,
            environments: isBound && key == SimulatedApps.boundKey ? [.production] : [.production, .sandbox])
    }
}

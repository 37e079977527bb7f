import APNSProtocol
import Registrations

/// A user of one app in one environment. The same person may be a user of several apps, with the same name.
struct SimulatedUser: Hashable {
    let app: Int
    let environment: APNSEnvironment
    let name: String

    var bundleID: String { SimulatedApps.bundleID(app) }

    /// Returns the address of a device token of the user's app.
    func address(_ token: String) -> TokenAddress {
        TokenAddress(app: bundleID, environment: environment, kind: .device, scope: nil, token: token)
    }
}

/// The prefixes of device tokens, which determine the answers of APNs.
enum SimulatedToken {
    static let active = "a11f"
    /// APNs answers 410 with a time before all registrations, so that a prune has no effect.
    static let unregisteredLongAgo = "dead"
    static let bad = "bad0"

    /// Returns the token with a number. The tokens of requests to single devices differ from all of them.
    static func text(_ prefix: String, _ number: Int) -> String {
        let digits = String(number, radix: 16)
        return prefix + "5e" + String(repeating: "0", count: 58 - digits.count) + digits
    }
}

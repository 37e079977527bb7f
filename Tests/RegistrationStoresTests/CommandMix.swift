import APNSProtocol
import EventLoop
import Registrations
import TestKit

/// Random commands and queries. They use few users, tokens and days, so that many of them concern the same rows.
struct CommandMix {
    static let day: Int64 = 24 * 3_600_000
    /// 100 years. The start of the model plus this time is later than the clock of any test machine.
    static let farFuture = 36_500 * day

    private static let users = ["ann", "bob", "cid", "dan"]
    private static let tokens = ["0a", "0b", "0c", "0d", "0e"]
    private static let devices = ["phone", "phone", "tablet", nil, nil]
    private static let namespaces: [(app: String, APNSEnvironment, TokenKind, scope: String?)] = [
        (RegistrationModel.app, .production, .device, nil), (RegistrationModel.app, .production, .device, nil),
        (RegistrationModel.app, .sandbox, .device, nil), (RegistrationModel.app, .production, .voip, nil),
        (RegistrationModel.app, .production, .controls, "lamp"),
        (RegistrationModel.app, .production, .controls, "door"),
        (RegistrationModel.otherApp, .production, .device, nil),
    ]

    private(set) var random: SeededRandom

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
    }

    mutating func batch(countMax: Int, before: Int64) -> [RegistrationCommand] {
        (0...random.below(countMax)).map { _ in command(before: before) }
    }

    /// Returns a random command.
    ///
    /// - Parameter before: The latest time of the command, in milliseconds after `RegistrationModel.start`.
    private mutating func command(before: Int64) -> RegistrationCommand {
        let at = max(1, before - Int64(random.below(11)) * Self.day - Int64(random.below(4)))
        let time = RegistrationModel.start + at
        let user = Self.users[random.below(Self.users.count)]
        let token = random.below(Self.tokens.count)
        let address = address(token: token)
        switch random.below(12) {
        case 0: return .unregister(.token(address), at: time)
        case 1: return .unregister(.user(app: address.app, user: user), at: time)
        case 2: return .unregister(.device(app: address.app, user: user, deviceID: "phone"), at: time)
        case 3: return .erase(user: user, app: random.chance(percent: 50) ? address.app : nil, at: time)
        case 4: return .prune(address, APNSRefusal(status: 410, reason: "Unregistered", timestamp: time))
        case 5, 6, 7: return .suspect(address, APNSRefusal(status: 400, reason: "BadDeviceToken", timestamp: time))
        default:
            let expiration = [nil, nil, at + Self.day, Self.farFuture][random.below(4)]
            return .register(
                user, address, at: at, device: Self.devices[token], shared: random.chance(percent: 40),
                expires: expiration, platform: random.chance(percent: 50) ? .ios : nil)
        }
    }

    private mutating func address(token: Int) -> TokenAddress {
        let namespace = Self.namespaces[random.below(Self.namespaces.count)]
        return TokenAddress(
            app: namespace.app, environment: namespace.1, kind: namespace.2, scope: namespace.scope,
            token: Self.tokens[token])
    }

    /// Returns queries for all users and an unknown one in all namespaces. Some queries name one of the keys.
    mutating func queries(_ keys: [Registration.Key]) -> [DeviceQuery] {
        var queries: [DeviceQuery] = []
        for user in Self.users + ["eve"] {
            for namespace in Self.namespaces {
                let tokenKey = random.chance(percent: 30) ? keys.randomElement(using: &random)?.token : nil
                queries.append(
                    DeviceQuery(
                        app: namespace.app, environment: namespace.1, kind: namespace.2, scope: namespace.scope,
                        user: user, tokenKey: tokenKey))
            }
        }
        return queries
    }
}

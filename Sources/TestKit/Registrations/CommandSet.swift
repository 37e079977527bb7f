public import EventLoop
public import Registrations

/// Random commands with few users, tokens and times, so that many commands concern the same rows.
public struct CommandSet {
    public private(set) var commands: [RegistrationCommand] = []
    private let users: [String]
    private let tokens: [String]
    private let devices: [String?]

    /// Creates a set of random commands.
    ///
    /// - Parameter number: The number of the set. Sets of different numbers concern different rows.
    public init(_ random: inout SeededRandom, count: Int, number: Int = 0) {
        let suffix = String(0x1000_0000 + number, radix: 16)
        users = ["ann", "bob", "cid"].map { $0 + suffix }
        tokens = ["0a", "0b", "0c", "0d"].map { $0 + suffix }
        // Two tokens share an installation, one token has its own, and one has none.
        devices = ["phone", "phone", "tablet", nil].map { $0.map { $0 + suffix } }
        let timesMax = [4, 12, 60][random.below(3)]
        for _ in 0..<count { commands.append(command(&random, timesMax: timesMax)) }
    }

    private func command(_ random: inout SeededRandom, timesMax: Int) -> RegistrationCommand {
        let at = Int64(1 + random.below(timesMax))
        let user = users[random.below(users.count)]
        let token = random.below(tokens.count)
        let device = devices[token]
        switch random.below(10) {
        case 0: return .unregister(token: tokens[token], at: at)
        case 1: return .unregister(user, device: random.chance(percent: 50) ? device ?? devices[0] : nil, at: at)
        case 2: return .erase(user, app: random.chance(percent: 50) ? RegistrationModel.app : nil, at: at)
        case 3: return .prune(tokens[token], at: at)
        case 4: return .suspect(tokens[token], at: at)
        default:
            return .register(
                user, tokens[token], at: at, device: device, shared: random.chance(percent: 40),
                expires: random.chance(percent: 10) ? at + 1 : nil,
                platform: random.chance(percent: 20) ? .ios : nil)
        }
    }

    /// Whether the order of the commands may matter. Two users then register one token at the same time, and an end
    /// that does not name the token may concern one of these registrations. `RegistrationRules` explains this
    /// exception.
    public var isException: Bool {
        let registrations = commands.compactMap { command -> NewRegistration? in
            if case .register(let registration) = command { registration } else { nil }
        }
        return registrations.contains { first in
            registrations.contains { second in
                first.address == second.address && first.registeredAt == second.registeredAt
                    && first.user.exact != second.user.exact && hasOtherEnd(first, second, among: registrations)
            }
        }
    }

    private func hasOtherEnd(
        _ first: NewRegistration, _ second: NewRegistration, among registrations: [NewRegistration]
    ) -> Bool {
        let pair = [first, second]
        let endsUser = commands.contains { command in
            switch command {
            case .unregister(.user(_, let user), _), .unregister(.device(_, let user, _), _), .erase(let user, _, _):
                pair.contains { $0.user.exact == user.exact }
            case .register, .unregister(.token, _), .prune, .suspect: false
            }
        }
        return endsUser || pair.contains { $0.expiresAt != nil }
            || registrations.contains { other in
                (other.address == first.address && other.isShared)
                    || (other.address != first.address && other.deviceID?.exact == first.deviceID?.exact
                        && other.deviceID != nil)
            }
    }
}

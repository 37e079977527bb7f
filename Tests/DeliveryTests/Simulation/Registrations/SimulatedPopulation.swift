import APNSProtocol
import APNSSimulator
import Crypto
import EventLoop
import Registrations

/// The users and devices of a run, with their commands and requests, derived from its seed.
///
/// All commands have different times. No token changes its installation. The final rows therefore do not depend on the
/// order in which commands arrive (`RegistrationRules`).
struct SimulatedPopulation {
    struct Command {
        let command: RegistrationCommand
        let id: UUIDValue
        let publishedAfterMilliseconds: [Int]
    }

    /// A change of a device at APNs.
    struct DeviceChange {
        let token: String
        let user: SimulatedUser
        let condition: DeviceCondition
        let afterMilliseconds: Int
    }

    static let requestCount = 24
    /// The number of requests that a producer publishes at once to the user with most devices.
    private static let campaignCount = 8
    private static let campaignAfterMilliseconds = 430_000
    /// The limit of devices per user. It exceeds the number of devices of each user, because evictions would depend on
    /// the order in which commands arrive.
    static let devicesPerUserMax = 200
    private static let personCount = 8
    /// The numbers of devices of most users.
    private static let usualDeviceCounts = [0, 0, 1, 1, 1, 1, 2, 2, 3, 5]
    private static let largestDeviceCount = 120
    private static let endsAfterMilliseconds = 480_000

    private(set) var commands: [Command] = []
    private(set) var deviceChanges: [DeviceChange] = []
    private(set) var requests: [UserRequest] = []
    private(set) var groups: [[SimulatedUser]] = []
    private var random: SeededRandom
    private let start: Int64
    private var times: Set<Int> = []
    private var tokenCount = 0

    /// Creates the users, changes and requests of a run.
    ///
    /// - Parameters:
    ///   - messages: The requests to devices, some of which are also devices of users.
    ///   - start: The time of the beginning of the run, in UNIX milliseconds.
    init(
        _ settings: SimulatedSettings, besides messages: [SimulatedMessage], start: Int64, random: inout SeededRandom
    ) {
        self.random = SeededRandom(seed: random.next())
        self.start = start
        // Apps whose keys are valid from the beginning, so that no other fault holds all of their requests.
        let limitedApp = settings.limitedApp ?? -1
        let apps: [Int] = [0, 1, 3, 4].filter { $0 != limitedApp }
        groups = apps.prefix(3).map { app in
            let environment: APNSEnvironment = self.random.chance(percent: 50) ? .production : .sandbox
            return (0..<Self.personCount).map {
                SimulatedUser(app: app, environment: environment, name: "person \($0)")
            }
        }
        let crowd = self.random.chance(percent: 35) ? groups[0][0] : nil
        for group in groups {
            for user in group { add(user, isCrowd: user == crowd) }
        }
        for message in messages where message.kind == .unregistered { addVisitor(message) }
        for _ in 0..<Self.requestCount { addRequest() }
        if let crowd, settings.requestsMax != nil { addCampaign(to: crowd) }
    }

    private mutating func add(_ user: SimulatedUser, isCrowd: Bool) {
        let count =
            isCrowd
            ? 40 + random.below(Self.largestDeviceCount - 39) : Self.usualDeviceCounts.element(random.next())
        for _ in 0..<count { addLife(of: user, stepsMax: isCrowd ? 1 : 4) }
        if random.chance(percent: 12) {
            add(at: eventTime()) { .unregister(.user(app: user.bundleID, user: user.name), at: $0) }
        }
        if random.chance(percent: 10) {
            let app = random.chance(percent: 50) ? user.bundleID : nil
            add(at: eventTime()) { .erase(user: user.name, app: app, at: $0) }
        }
    }

    private mutating func eventTime() -> Int { random.below(Self.endsAfterMilliseconds) }

    /// Adds the commands of one installation of an app.
    private mutating func addLife(of first: SimulatedUser, stepsMax: Int) {
        var (user, token) = (first, newToken())
        let device = random.chance(percent: 60) ? "installation \(tokenCount)" : nil
        var time = -600_000 + random.below(900_000)
        register(token, of: user, device, at: time)
        for _ in 0..<random.below(stepsMax + 1) {
            time += 5_000 + random.below(150_000)
            switch random.below(10) {
            case 0: register(token, of: user, device, at: time)
            case 1:
                user = neighbor(of: user)
                register(token, of: user, device, at: time)
            case 2 where device != nil:
                token = newToken()
                register(token, of: user, device, at: time)
            case 3: add(at: time) { [token] in .unregister(.token(first.address(token)), at: $0) }
            case 4:
                guard let device else { continue }
                add(at: time) { [user] in
                    .unregister(.device(app: user.bundleID, user: user.name, deviceID: device), at: $0)
                }
            case 5: uninstall(token, of: user, device, at: &time)
            case 6: register(token, of: neighbor(of: user), device, at: time, isShared: true)
            case 7: register(token, of: user, device, at: time, lifetime: 20_000 + random.below(200_000))
            default: return
            }
        }
    }

    private mutating func newToken() -> String {
        tokenCount += 1
        let prefix =
            switch random.below(16) {
            case 0: SimulatedToken.unregisteredLongAgo
            case 1: SimulatedToken.bad
            default: SimulatedToken.active
            }
        return SimulatedToken.text(prefix, tokenCount)
    }

    private mutating func neighbor(of user: SimulatedUser) -> SimulatedUser {
        let group = groups.first { $0.contains(user) } ?? [user]
        return group.element(random.next())
    }

    private mutating func register(
        _ token: String, of user: SimulatedUser, _ device: String?, at time: Int, lifetime: Int? = nil,
        isShared: Bool = false
    ) {
        add(at: time) { at in
            .register(
                NewRegistration(
                    address: user.address(token), user: user.name, deviceID: device, registeredAt: at,
                    expiresAt: lifetime.map { at + Int64($0) }, isShared: isShared))
        }
    }

    /// Ends an active token at APNs. In half of these cases, the app later registers the token again.
    private mutating func uninstall(
        _ token: String, of user: SimulatedUser, _ device: String?, at time: inout Int
    ) {
        guard time > 0, token.hasPrefix(SimulatedToken.active) else { return }
        deviceChanges.append(
            DeviceChange(
                token: token, user: user, condition: .unregistered(sinceMilliseconds: start + Int64(time)),
                afterMilliseconds: time))
        guard random.chance(percent: 50) else { return }
        time += 5_000 + random.below(100_000)
        deviceChanges.append(
            DeviceChange(token: token, user: user, condition: .active, afterMilliseconds: time))
        register(token, of: user, device, at: time + 1)
    }

    /// Adds a command with a time of its own. The command may be published late, twice or out of order.
    private mutating func add(at time: Int, _ command: (Int64) -> RegistrationCommand) {
        var time = time
        while !times.insert(time).inserted { time += 1 }
        let lateness =
            switch random.below(10) {
            case 0: random.below(300_000)
            case 1, 2: random.below(20_000)
            default: random.below(200)
            }
        let first = max(0, time) + lateness
        let isRepeated = random.chance(percent: 12)
        commands.append(
            Command(
                command: command(start + Int64(time)), id: nextID(number: commands.count),
                publishedAfterMilliseconds: isRepeated ? [first, first + random.below(300_000)] : [first]))
    }

    /// Registers the token of a request that names the device. APNs reports that the token ended before.
    private mutating func addVisitor(_ message: SimulatedMessage) {
        let user = SimulatedUser(app: message.app, environment: message.environment, name: "visitor")
        register(message.deviceToken, of: user, nil, at: -random.below(600_000))
    }

    private mutating func addCampaign(to user: SimulatedUser) {
        let time = Self.campaignAfterMilliseconds + random.below(50_000)
        for _ in 0..<Self.campaignCount { addRequest(to: [user], isList: false, at: [time]) }
    }

    private mutating func addRequest() {
        let group = groups.element(random.next())
        let isList = random.chance(percent: 35)
        var users = [group.element(random.next())]
        if isList {
            for _ in 0..<random.below(12) { users.append(neighbor(of: users[0])) }
            var seen: Set<SimulatedUser> = []
            users = users.filter { seen.insert($0).inserted }
        }
        let time = 20_000 + random.below(Self.endsAfterMilliseconds)
        let isRepeated = random.chance(percent: 8)
        addRequest(to: users, isList: isList, at: isRepeated ? [time, time + random.below(30_000)] : [time])
    }

    private mutating func addRequest(to users: [SimulatedUser], isList: Bool, at times: [Int]) {
        let number = requests.count
        requests.append(
            UserRequest(
                number, id: nextID(number: 1 << 20 | number), to: users, isList: isList,
                publishedAfterMilliseconds: times))
    }

    private mutating func nextID(number: Int) -> UUIDValue {
        UUIDValue(high: random.next() & ~0xF000 | 0x4000, low: UInt64(number) | 0x8000_0000_0000_0000)
    }
}

import AMQP
import Glibc

/// A user of an app, with registered devices.
struct StoreUser {
    static let app = "com.example.app"
    /// The upper limit of `deviceCount`.
    static let devicesMax = 1000

    private static let digits = 8
    /// The time of all registrations, in UNIX milliseconds.
    private static let registeredAt = Int64(time(nil)) * 1000

    let number: Int
    let deviceCount: Int

    var name: String { "user-\(number)" }

    /// The device tokens. No other user has these tokens. They differ in their first digits, which the simulator
    /// records.
    var tokens: Set<String> {
        Set(
            (0..<deviceCount).map { device in
                let digits = String((number + 1) * Self.devicesMax + device, radix: 16)
                return String(repeating: "0", count: Self.digits - digits.utf8.count) + digits
                    + String(repeating: "f", count: 64 - Self.digits)
            })
    }

    /// Returns the digits of a device token that the simulator records.
    static func recordedDigits(of token: String) -> Substring { token.prefix(digits) }

    /// Returns a user for each number, with 0 to `deviceCountMax` devices.
    static func make(_ count: Int, deviceCountMax: Int) -> [StoreUser] {
        (0..<count).map { StoreUser(number: $0, deviceCount: $0 % (deviceCountMax + 1)) }
    }

    /// Returns commands that register the user's devices.
    ///
    /// - Parameters:
    ///   - user: The user of the registrations; nil for this user.
    ///   - secondsLater: The time between this user's registrations and the commands.
    func commands(to prefix: String, for user: String? = nil, secondsLater: Int64 = 0) -> [OutgoingMessage] {
        tokens.map { token in
            let body = """
                {"command":"register","app":"\(Self.app)","user":"\(user ?? name)","device_token":"\(token)",\
                "registered_at":\(Self.registeredAt + secondsLater * 1000)}
                """
            return OutgoingMessage(
                exchange: "\(prefix).registrations", routingKey: "register", body: Array(body.utf8), messageID: token)
        }
    }

    /// Returns the CSV file of the users' registrations.
    static func csv(_ users: [StoreUser]) -> String {
        "user,app,device_token,registered_at\n"
            + users.map { user in user.tokens.map { "\(user.name),\(app),\($0),\(registeredAt)\n" }.joined() }.joined()
    }
}

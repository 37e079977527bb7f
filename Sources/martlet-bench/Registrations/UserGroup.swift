import APNSProtocol
import Glibc
import Registrations
import TestKit

/// Users with the same number of devices, in the store of a benchmark.
struct UserGroup: Sendable {
    /// A part of the names of the users.
    let name: String
    let count: Int
    /// The number of devices of each user.
    let devices: Int

    /// Returns the users of lookups and registrations.
    static func pairs(_ count: Int) -> UserGroup { UserGroup(name: "pair", count: count, devices: 2) }

    /// Returns the users of requests to one device.
    ///
    /// - Parameter pairs: The number of users with two devices.
    static func single(pairs: Int) -> UserGroup {
        UserGroup(name: "single", count: min(pairs, 10_000), devices: 1)
    }

    /// Returns the users of requests to several devices.
    ///
    /// - Parameter pairs: The number of users with two devices.
    static func octet(pairs: Int) -> UserGroup {
        UserGroup(name: "octet", count: min(pairs, 10_000) / 10, devices: 8)
    }

    var deviceCount: Int { count * devices }

    func user(_ number: Int) -> String { "\(name)-\(number)" }

    /// Returns the registration of a device.
    ///
    /// - Parameters:
    ///   - number: The number of the device in the group. The devices of a user have successive numbers.
    ///   - time: The time of the registration in UNIX milliseconds.
    func registration(_ number: Int, at time: Int64) -> NewRegistration {
        let address = TokenAddress(
            app: BenchMessage.bundleIDs(1)[0], environment: .production, kind: .device, scope: nil,
            token: BenchMessage.digits(devices, count: 2) + BenchMessage.digits(number, count: 62))
        return NewRegistration(
            address: address, user: user(number / devices), deviceID: "\(name)-device-\(number)", platform: .ios,
            registeredAt: time)
    }
}

extension [UserGroup] {
    var deviceCount: Int { map(\.deviceCount).reduce(0, +) }

    /// Writes the registrations of all devices as a CSV file for `martlet registrations import`.
    func write(to path: String) throws(ProcessError) {
        guard let file = fopen(path, "w") else { throw ProcessError(errno, "cannot write \(path)") }
        var isWritten = fputs("app,environment,user,device_token,device_id,platform,registered_at\n", file) >= 0
        // The registrations are older than those that the benchmark makes.
        let time = Int64(Glibc.time(nil) - 3600) * 1000
        for group in self {
            for number in 0..<group.deviceCount {
                let device = group.registration(number, at: time)
                let address = device.address
                let fields = [
                    address.app, address.environment.rawValue, device.user, address.token, device.deviceID ?? "",
                    device.platform?.rawValue ?? "", "\(time)",
                ]
                isWritten = isWritten && fputs(fields.joined(separator: ",") + "\n", file) >= 0
            }
        }
        guard fclose(file) == 0, isWritten else { throw ProcessError(errno, "cannot write \(path)") }
    }
}

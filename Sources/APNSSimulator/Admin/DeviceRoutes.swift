import APNSProtocol
import AdminHTTP
import JSON

/// The routes of `/v1/devices`, the registered devices. `device_rules` and `unknown_devices` of the state apply to all
/// other devices.
struct DeviceRoutes {
    let server: SimulatorServer

    var all: [AdminRoute] {
        [
            AdminRoute(
                .get, "/v1/devices", query: ["limit"],
                "the registered devices, up to limit devices; left_out counts the omitted devices"
            ) { request throws(AdminError) in
                let limit = try request.number("limit", 1...Int.max)
                let devices = server.state.devicesInOrder
                let codec = server.stateCodec.device
                return .object { json in
                    json.list("devices", devices.prefix(limit ?? .max)) { codec.write($1, to: &$0) }
                    if let limit { json.member("left_out", max(0, devices.count - limit)) }
                }
            },
            AdminRoute(.get, "/v1/devices/TOKEN", "a device") { request throws(AdminError) in
                guard let device = server.state.device(token: try token(of: request)) else { throw Self.unknown }
                return shown(device)
            },
            AdminRoute(
                .put, "/v1/devices/TOKEN",
                #"registers or changes a device: {"app": BUNDLE, "state": "unregistered", …}"#
            ) { request throws(AdminError) in
                let token = try token(of: request)
                let known = server.state.device(token: token)
                let device = try request.read(canBeEmpty: known != nil) { value throws(InputError) in
                    var device = known ?? Device(token: String(decoding: token, as: UTF8.self), bundleID: "")
                    try server.stateCodec.device.read(value, into: &device, known == nil ? .identified : .changes)
                    return device
                }
                server.state.add(device)
                return shown(device)
            },
            AdminRoute(.delete, "/v1/devices/TOKEN", "removes a device") { request throws(AdminError) in
                guard server.state.removeDevice(token: try token(of: request)) != nil else { throw Self.unknown }
                return .deleted
            },
        ]
    }

    private static let unknown = AdminError(404, "no device with this token is registered")

    private func shown(_ device: Device) -> AdminResponse {
        .value { server.stateCodec.device.write(device, to: &$0) }
    }

    /// Returns the token in the path, in lower case.
    private func token(of request: AdminRequest) throws(AdminError) -> [UInt8] {
        let token = request.parameter("TOKEN").utf8.map(lowercased)
        guard DeviceToken.isWellFormed(token) else {
            throw AdminError(
                400,
                "the device token must be an even number of hexadecimal digits, at most \(DeviceToken.hexDigitsMax)")
        }
        return token
    }
}

import AdminHTTP
import EventLoop
import JSON

/// The routes of `/v1/clock`, the simulator's clock. If the clock is more than an hour ahead, the simulator considers
/// new provider tokens too old. If the clock is behind, new provider tokens are dated in the future.
struct ClockRoutes {
    let server: SimulatorServer

    var all: [AdminRoute] {
        [
            AdminRoute(.get, "/v1/clock", "the time and the offset of the simulator's clock") {
                _ in shown
            },
            AdminRoute(.put, "/v1/clock", #"sets the clock: {"offset_seconds": N}"#) { request throws(AdminError) in
                server.clockOffset = try request.read { value throws(InputError) in try Self.codec.read(value) }
                return shown
            },
        ]
    }

    private static let codec = ObjectCodec(
        "the clock", from: Duration.zero,
        [
            .required(
                "offset_seconds", \.self, .clockOffset,
                "seconds by which the simulator's clock is ahead of the machine's")
        ])

    private var shown: AdminResponse {
        .object { json in
            Self.codec.writeMembers(server.clockOffset, to: &json)
            json.member("unix_ms", server.now.unixMilliseconds)
        }
    }
}

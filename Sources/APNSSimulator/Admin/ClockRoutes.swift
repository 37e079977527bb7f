import AdminHTTP
import EventLoop
import JSON

/// `/v1/clock`: what time it is here. An hour ahead, provider tokens are too old; behind, they come from the future.
struct ClockRoutes {
    let server: SimulatorServer

    var all: [AdminRoute] {
        [
            AdminRoute(.get, "/v1/clock", "the time, and how far it is ahead of the machine's") { _ in shown },
            AdminRoute(.put, "/v1/clock", #"sets the clock: {"offset_seconds": N}"#) { request throws(AdminError) in
                server.clockOffset = try request.read { value throws(InputError) in
                    let members = try Members(value, "the clock", known: ["offset_seconds"])
                    guard let offset = try members.clockOffset("offset_seconds") else {
                        throw members.error("offset_seconds", "says how far the clock is ahead")
                    }
                    return offset
                }
                return shown
            },
        ]
    }

    private var shown: AdminResponse {
        .object { json in
            json.key("offset_seconds")
            json.double(Double(server.clockOffset.nanosecondsSaturated) / 1_000_000_000)
            json.member("unix_ms", server.now.unixMilliseconds)
        }
    }
}

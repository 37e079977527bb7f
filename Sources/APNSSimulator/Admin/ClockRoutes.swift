import AdminHTTP
import EventLoop
import JSON

/// `/v1/clock`: what time it is here. An hour ahead, provider tokens are too old; behind, they come from the future.
struct ClockRoutes {
    /// Ten years.
    private static let offsetSecondsMax = 315_576_000.0

    let server: SimulatorServer

    var all: [AdminRoute] {
        [
            AdminRoute(.get, "/v1/clock", "the time, and how far it is ahead of the machine's") { _ in shown },
            AdminRoute(.put, "/v1/clock", #"sets the clock: {"offset_seconds": N}"#) { request throws(AdminError) in
                try set(request)
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

    private func set(_ request: AdminRequest) throws(AdminError) -> AdminResponse {
        let document = try request.json()
        do throws(InputError) {
            let members = try Members(document.root, "the clock", known: ["offset_seconds"])
            guard let seconds = try members.number("offset_seconds", -Self.offsetSecondsMax...Self.offsetSecondsMax)
            else { throw members.error("offset_seconds", "says how far the clock is ahead") }
            server.clockOffset = .nanoseconds(Int64(seconds * 1_000_000_000))
        } catch {
            throw error.told(of: document)
        }
        return shown
    }
}

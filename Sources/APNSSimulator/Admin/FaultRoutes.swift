import AdminHTTP
import JSON

/// `/v1/faults`: what goes wrong on purpose, from now on.
struct FaultRoutes {
    let server: SimulatorServer

    var all: [AdminRoute] {
        [
            AdminRoute(.get, "/v1/faults", "the faults in force, and how often they struck") { _ in shown },
            AdminRoute(.post, "/v1/faults", "puts a fault in force, in place of one with the same id") {
                request throws(AdminError) in
                try put(request)
            },
            AdminRoute(.delete, "/v1/faults", "ends all faults") { _ in
                let count = server.faults.entries.count
                server.faults.removeAll()
                return .object { $0.member("deleted", count) }
            },
            AdminRoute(.delete, "/v1/faults/ID", "ends a fault") { request throws(AdminError) in
                guard server.faults.remove(id: request.parameter("ID")) else {
                    throw AdminError(404, "there is no fault of this id")
                }
                return .deleted
            },
        ]
    }

    private var shown: AdminResponse {
        .object { json in
            json.beginArray("faults")
            for entry in server.faults.entries { entry.fault.write(to: &json, struck: entry.struck) }
            json.endArray()
        }
    }

    private func put(_ request: AdminRequest) throws(AdminError) -> AdminResponse {
        let fault = try request.read { value throws(InputError) in
            let fault = try FaultReader().fault(value) { server.faults.makeID() }
            try server.faults.put(fault)
            return fault
        }
        var json = JSONWriter()
        fault.write(to: &json, struck: 0)
        return .json(json.bytes + [UInt8(ascii: "\n")], status: 201)
    }
}

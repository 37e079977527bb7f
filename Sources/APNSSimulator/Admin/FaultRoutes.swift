import AdminHTTP
import JSON

/// The routes of `/v1/faults`, the faults in force.
struct FaultRoutes {
    let server: SimulatorServer

    var all: [AdminRoute] {
        [
            AdminRoute(.get, "/v1/faults", "the faults in force, and how often each has applied") { _ in shown },
            AdminRoute(.post, "/v1/faults", "adds a fault, or replaces the fault with the same ID") {
                request throws(AdminError) in
                try put(request)
            },
            AdminRoute(.delete, "/v1/faults", "removes all faults") { _ in
                let count = server.faults.entries.count
                server.faults.removeAll()
                return .object { $0.member("deleted", count) }
            },
            AdminRoute(.delete, "/v1/faults/ID", "removes a fault") { request throws(AdminError) in
                guard server.faults.remove(id: request.parameter("ID")) else {
                    throw AdminError(404, "no fault has this ID")
                }
                return .deleted
            },
        ]
    }

    private var shown: AdminResponse {
        .object { json in
            json.list("faults", server.faults.entries) { json, entry in
                ReportedFault.codec.write(ReportedFault(fault: entry.fault, struck: entry.struck), to: &json)
            }
        }
    }

    private func put(_ request: AdminRequest) throws(AdminError) -> AdminResponse {
        let fault = try request.read { value throws(InputError) in
            let fault = server.faults.identified(try ReportedFault.codec.read(value).fault)
            try server.faults.put(fault)
            return fault
        }
        return .value(status: 201) { ReportedFault.codec.write(ReportedFault(fault: fault, struck: 0), to: &$0) }
    }
}

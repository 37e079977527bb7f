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

import AdminHTTP
import EventLoop
import Telemetry

/// Where a worker can be asked how it stands, and told to pause. On the control loop, with which it ends.
final class WorkerAdmin {
    private var servers: [AdminServer] = []

    /// Listens as configured; what cannot be had by default is done without, and the log says so.
    ///
    /// - Throws: when an address or path that the configuration names cannot be had.
    init(loop: EpollLoop, _ configuration: Configuration.Admin, _ routes: WorkerRoutes, log: Log) throws(TransportError)
    {
        if configuration.isEnabled {
            let table = RouteTable(routes.views)
            try listen(for: configuration.listen == nil, log) { () throws(TransportError) in
                let endpoint = configuration.listen ?? Configuration.Admin.defaultEndpoint
                let server = try Self.server(loop, endpoint, isDefault: configuration.listen == nil, table)
                log.info(.adminListening, [.adminAddress: .describing(server.endpoint)])
                return server
            }
        }
        let table = RouteTable(routes.views + routes.controls)
        try listen(for: configuration.socketPath == nil, log) { () throws(TransportError) in
            let path = if let path = configuration.socketPath { path } else { try ControlSocket.makePath() }
            let server = try AdminServer(loop: loop, socketPath: path) { table.serve($0) }
            log.info(.adminListening, [.adminSocket: .string(path)])
            return server
        }
    }

    private func listen(
        for isDefault: Bool, _ log: Log, _ open: () throws(TransportError) -> AdminServer
    ) throws(TransportError) {
        do throws(TransportError) {
            servers.append(try open())
        } catch {
            guard isDefault else { throw error }
            log.warning(.adminUnavailable, [.error: .string(error.message)])
        }
    }

    /// Of several workers on a machine one has the default port; the others have any.
    private static func server(
        _ loop: EpollLoop, _ endpoint: Endpoint, isDefault: Bool, _ table: RouteTable
    ) throws(TransportError) -> AdminServer {
        var configuration = AdminConfiguration()
        // Probes and Prometheus call it by an address or a name that only they know.
        configuration.answersAnyHost = !endpoint.isLoopback
        do throws(TransportError) {
            return try AdminServer(loop: loop, endpoint: endpoint, configuration: configuration) { table.serve($0) }
        } catch {
            guard isDefault else { throw error }
            return try AdminServer(loop: loop, endpoint: Endpoint(host: endpoint.host, port: 0)) { table.serve($0) }
        }
    }
}

extension Endpoint {
    fileprivate var isLoopback: Bool { host.hasPrefix("127.") || host == "::1" }
}

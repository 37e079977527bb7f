import AdminHTTP
import Configuration
import ControlProtocol
import EventLoop
import Telemetry

/// The servers of the admin interface. The TCP port serves health checks, status and metrics. The control socket also
/// serves pauses and changes of the SQLite store. Runs on the control loop and ends with the loop.
final class AdminEndpoint {
    private var servers: [AdminServer] = []
    private let closings: AdminClosings

    /// Starts the listeners. If a default listener is unavailable, the worker continues without it and logs the
    /// listener, the cause and the setting.
    ///
    /// - Throws: if an address or path that the configuration names is unavailable.
    init(
        _ configuration: WorkerConfiguration.Admin, _ routes: WorkerRoutes, on loop: EpollLoop,
        metrics: MetricsRegistry,
        log: Log, environment: (String) -> String? = Environment.value
    ) throws(TransportError) {
        closings = AdminClosings(loop: loop, metrics, log: log)
        if configuration.isEnabled {
            let table = RouteTable(routes.views)
            let endpoint = configuration.listen ?? WorkerConfiguration.Admin.defaultEndpoint
            do throws(TransportError) {
                let server = try Self.server(loop, endpoint, isDefault: configuration.listen == nil, table)
                add(server)
                log.info(.adminListening, [.adminAddress: .describing(server.endpoint)])
            } catch {
                guard configuration.listen == nil else { throw Self.naming("admin.listen", error) }
                log.warning(
                    .adminUnavailable,
                    [
                        .adminAddress: .describing(endpoint),
                        .error: .string("\(error.message); \(Self.addressAdvice)"),
                    ])
            }
        }
        let table = RouteTable(routes.views + routes.controls)
        let path = configuration.socketPath ?? ControlSocket.path(environment)
        do throws(TransportError) {
            if configuration.socketPath == nil { try ControlSocket.makeFolder(of: path) }
            var limits = AdminConfiguration()
            limits.bodyBytesMax = StoreChange.bytesMax
            add(try AdminServer(loop: loop, socketPath: path, configuration: limits) { table.serve($0) })
            log.info(.adminListening, [.adminSocket: .string(path)])
        } catch {
            guard configuration.socketPath == nil else { throw Self.naming("admin.socket", error) }
            log.warning(
                .adminUnavailable,
                [.adminSocket: .string(path), .error: .string("\(error.message); \(Self.socketAdvice)")])
        }
    }

    /// Returns the error with the name of the setting that an operator can change.
    private static func naming(_ setting: String, _ error: TransportError) -> TransportError {
        TransportError(error.code, "cannot use \(setting): \(error.message)", underlying: error.underlying)
    }

    private static let addressAdvice =
        "metrics and probes are not served over TCP; set admin.listen to an address of this machine, such as "
        + "127.0.0.1:9781"
    private static let socketAdvice =
        "martlet pause, martlet resume and, without --url, martlet status cannot reach this worker; "
        + "set admin.socket to a path in a folder that only this user can write to"

    private func add(_ server: AdminServer) {
        server.onClosed = { [closings] in closings.add($0) }
        servers.append(server)
    }

    /// Returns a server that listens. If the default port is unavailable, for example because another worker uses it,
    /// the server listens on any free port.
    private static func server(
        _ loop: EpollLoop, _ endpoint: Endpoint, isDefault: Bool, _ table: RouteTable
    ) throws(TransportError) -> AdminServer {
        var configuration = AdminConfiguration()
        // Accept any Host header unless the address is a loopback address. The worker cannot know the address or name
        // that probes and Prometheus use.
        configuration.answersAnyHost = !endpoint.isLoopback
        do throws(TransportError) {
            return try AdminServer(loop: loop, endpoint: endpoint, configuration: configuration) { table.serve($0) }
        } catch {
            guard isDefault else { throw error }
            return try AdminServer(loop: loop, endpoint: Endpoint(host: endpoint.host, port: 0)) { table.serve($0) }
        }
    }
}

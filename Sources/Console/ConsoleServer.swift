import AMQP
import AdminHTTP
import BrokerTopology
package import Configuration
import ControlProtocol
import Crypto
package import EventLoop
import Glibc
import JSON
import Text

/// A console with its HTTP server, its control socket, and its connections to the broker. Loop-bound.
///
/// `@unchecked Sendable`: only the loop uses the object.
package final class ConsoleServer: @unchecked Sendable {
    /// The reason why a console cannot start.
    package struct Failure: Error, Sendable {
        package let sentence: String
    }

    private static let connectionsMax = 512
    private static let connectionsPerHostMax = 256
    private static let pendingMax = 256
    private static let bodyBytesMax = 64 << 10
    private static let passwordBytesMax = 16 << 10

    private let configuration: ConsoleConfiguration
    private let loop: EpollLoop
    private let watch: FleetWatch
    private let desk: LoginDesk
    private let history: HistoryFeed?
    private let runner: ActionRunner
    private let audit: AuditLog
    private var servers: [AdminServer] = []
    /// The address of the page without the login code.
    package private(set) var url = ""

    /// Starts a console.
    ///
    /// - Parameters:
    ///   - configPath: the path of the configuration file, which completes commands.
    ///   - socketPath: the path of the control socket.
    package convenience init(
        _ configuration: ConsoleConfiguration, configPath: String, socketPath: String, on loop: EpollLoop
    ) throws(Failure) {
        try self.init(
            configuration, configPath: configPath, socketPath: socketPath, on: loop, limits: SessionTable.Limits())
    }

    init(
        _ configuration: ConsoleConfiguration, configPath: String, socketPath: String, on loop: EpollLoop,
        limits: SessionTable.Limits
    ) throws(Failure) {
        (self.configuration, self.loop) = (configuration, loop)
        let connector = try Self.connector(configuration)
        let proxyUserID = try configuration.proxy.map { proxy throws(Failure) in try Self.userID(proxy.user) }
        let changes = ChangeFeed(on: loop)
        var desk: LoginDesk?
        watch = FleetWatch(connector, configuration.topology, on: loop, changes: changes) { desk?.isInUse ?? false }
        history = try configuration.history.map { settings throws(Failure) in
            HistoryFeed(connector, try Self.files(settings), on: loop, changes: changes)
        }
        audit = AuditLog(watch, on: loop)
        self.desk = LoginDesk(configuration, proxyUserID: proxyUserID, audit, on: loop, limits: limits)
        desk = self.desk
        runner = ActionRunner(watch, audit, changes, history, configuration, on: loop)
        let routes = ConsoleRoutes(
            configuration: configuration, cluster: "\(connector.names.prefix)@\(connector.name)",
            commands: CommandAdvice(configPath: configPath), desk: self.desk, watch: watch, history: history,
            changes: changes, runner: runner, audit: audit, loop: loop)
        do throws(TransportError) {
            try listen(RouteTable(routes.all + ConsolePageFile.routes))
            let table = RouteTable([openRoute, releaseRoute])
            servers.append(try AdminServer(loop: loop, socketPath: socketPath) { table.serve($0) })
        } catch {
            close()
            throw Failure(sentence: error.message)
        }
        watch.start()
        history?.start()
    }

    private static func files(_ settings: HistorySettings) throws(Failure) -> HistoryFiles {
        do throws(HistoryFiles.Failure) {
            return try HistoryFiles(settings)
        } catch {
            throw Failure(sentence: "console.history: \(error.sentence)")
        }
    }

    private static func connector(_ configuration: ConsoleConfiguration) throws(Failure) -> BrokerConnector {
        do {
            return try BrokerConnector(configuration.broker)
        } catch {
            throw Failure(sentence: error.message)
        }
    }

    private static func userID(_ name: String) throws(Failure) -> UInt32 {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: passwordBytesMax)
        guard getpwnam_r(name, &entry, &buffer, buffer.count, &found) == 0, found != nil else {
            throw Failure(sentence: "console.proxy.user: this machine has no user \(name)")
        }
        return entry.pw_uid
    }

    // MARK: Listening

    private func listen(_ table: RouteTable) throws(TransportError) {
        var limits = AdminConfiguration()
        limits.hostNames = configuration.hostNames
        limits.connectionsMax = Self.connectionsMax
        limits.connectionsPerHostMax = Self.connectionsPerHostMax
        limits.pendingMax = Self.pendingMax
        limits.bodyBytesMax = Self.bodyBytesMax
        switch configuration.listen {
        case .address(let endpoint):
            let server = try AdminServer(loop: loop, endpoint: endpoint, configuration: limits) { table.serve($0) }
            add(server)
            let host = ["0.0.0.0", "::"].contains(endpoint.host) ? "127.0.0.1" : endpoint.host
            url = "http://\(Endpoint(host: host, port: server.endpoint.port))/"
        case .socket(let path):
            // The proxy has another user. The routes of the API need a login.
            let isOpenToAll = configuration.proxy != nil
            add(
                try AdminServer(loop: loop, socketPath: path, isOpenToAll: isOpenToAll, configuration: limits) {
                    table.serve($0)
                })
            url = "https://\(configuration.hostNames.first ?? "localhost")/"
        }
    }

    private func add(_ server: AdminServer) {
        server.onForeign = { [audit] in audit.refusedForeign($0.description) }
        servers.append(server)
    }

    /// The route of the control socket, which only this user and root can open.
    private var openRoute: AdminRoute {
        AdminRoute(
            .post, "/open", query: ["role", "name"], "a login code"
        ) { [unowned self] (request: AdminRequest) throws(AdminError) -> AdminResponse in
            guard let role = (request.query("role") ?? "view").asRole, let name = request.query("name"),
                1...FleetLimits.byBytesMax ~= name.utf8.count, name.printable == name
            else { throw AdminError(400, "role must be view, operate or admin, and name a printable name") }
            let code: String
            do throws(CryptoError) {
                code = try makeCode(name, role)
            } catch {
                throw AdminError(503, error.message)
            }
            var json = JSONWriter()
            json.beginObject()
            json.member("url", "\(url)#code=\(code)")
            json.member("valid_seconds", LoginCodes.validSeconds)
            json.endObject()
            return .json(json.bytes)
        }
    }

    /// The route of the control socket with which `martlet history erase` requests the history's files.
    private var releaseRoute: AdminRoute {
        AdminRoute(
            .post, "/release", query: ["folder"], "the history's files, closed for some seconds",
            later: { [unowned self] exchange throws(AdminError) in
                guard let history, exchange.request.query("folder") == configuration.history?.folder else {
                    throw AdminError(409, "this console has no history in this folder", code: "folder")
                }
                // Only the loop uses the exchange.
                nonisolated(unsafe) let exchange = exchange
                Task(executorPreference: loop) {
                    let isReleased = await history.release()
                    let refusal = AdminError(409, "another command uses the history", code: "released")
                    exchange.answer(isReleased ? .empty : refusal.response)
                }
            })
    }

    /// Returns a new login code.
    func makeCode(_ name: String, _ role: OperatorRole) throws(CryptoError) -> String {
        try desk.makeCode(name, role)
    }

    private func close() {
        for server in servers { server.close() }
        servers = []
    }

    /// Waits for running actions and for records of the audit, for a limited time, and closes all connections.
    package func stop() async {
        close()
        await runner.close()
        await audit.close()
        await history?.close()
        await watch.close()
    }
}

extension String {
    fileprivate var asRole: OperatorRole? { OperatorRole(rawValue: self) }
}

import AdminHTTP
public import EventLoop

/// The admin port of a simulator. Clients view and change the state of the running simulator over HTTP.
///
/// The admin port runs on the simulator's event loop, which owns the state.
public final class SimulatorAdmin {
    /// Maximum bytes of a request's body. The limit suffices for a state with tens of thousands of devices.
    static let bodyBytesMax = 8 * 1024 * 1024

    private let http: AdminServer
    /// The address at which the admin port listens.
    public var endpoint: Endpoint { http.endpoint }

    /// Creates the admin port of `server` and listens for clients. The owner calls ``close()`` before it releases the
    /// admin port.
    ///
    /// - Parameters:
    ///   - hostNames: names that clients may use for this host besides the listening address, `localhost`, `127.0.0.1`
    ///     and `[::1]`.
    ///   - onDisplaced: called with the number of connections that the admin port closed to make room. Called
    ///     immediately for the first connection, then at most once a minute.
    /// - Throws: `TransportError` if the address is not available.
    public init(
        for server: SimulatorServer, on loop: EpollLoop, at endpoint: Endpoint, hostNames: [String] = [],
        onDisplaced: @escaping (Int) -> Void = { _ in }
    ) throws(TransportError) {
        var configuration = AdminConfiguration()
        configuration.hostNames = hostNames
        configuration.bodyBytesMax = Self.bodyBytesMax
        let routes = Self.routes(of: server)
        http = try AdminServer(loop: loop, endpoint: endpoint, configuration: configuration) { routes.serve($0) }
        let report = DisplacementReport(loop: loop, report: onDisplaced)
        http.onClosed = { cause in
            server.counts.countAdminClosing(cause)
            report.add(cause)
        }
    }

    /// Answers pending requests with status 503, and closes the port immediately.
    public func close() { http.close() }

    /// Returns the routes of the admin API and the web page.
    static func routes(of server: SimulatorServer) -> RouteTable {
        RouteTable(
            PageRoutes().all + HealthRoutes(server: server).all + CounterRoutes(server: server).all
                + ConnectionRoutes(server: server).all
                + FaultRoutes(server: server).all + ActionRoutes(server: server).all
                + ClockRoutes(server: server).all + RequestRoutes(server: server).all
                + StateRoutes(server: server).all + TeamRoutes(server: server).all
                + DeviceRoutes(server: server).all + ChannelRoutes(server: server).all)
    }
}

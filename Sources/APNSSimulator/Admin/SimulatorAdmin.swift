import AdminHTTP
public import EventLoop

/// The admin port of a simulator: what it knows and has seen, to be looked at and changed over HTTP while it runs.
/// On the simulator's own loop, which owns all that.
public final class SimulatorAdmin {
    /// Bytes of a request's body: a state of tens of thousands of devices.
    static let bodyBytesMax = 8 * 1024 * 1024

    private let http: AdminServer
    /// Where it listens.
    public var endpoint: Endpoint { http.endpoint }

    /// Listens for whoever wants to look at `server`; to be closed before it is let go of.
    ///
    /// - Parameters:
    ///   - hostNames: what this host may be called besides `localhost` and loopback's addresses.
    ///   - onDisplaced: called with the number of connections that the admin port closed for want of room; the first at
    ///     once, the others once a minute.
    /// - Throws: when the address cannot be had.
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

    /// Ends at once; those who wait for an answer are told.
    public func close() { http.close() }

    /// All that can be asked.
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

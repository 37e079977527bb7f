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
    /// - Parameter hostNames: what this host may be called besides `localhost` and loopback's addresses.
    /// - Throws: when the address cannot be had.
    public init(
        for server: SimulatorServer, on loop: EpollLoop, at endpoint: Endpoint, hostNames: [String] = []
    ) throws(TransportError) {
        var configuration = AdminConfiguration()
        configuration.hostNames = hostNames
        configuration.bodyBytesMax = Self.bodyBytesMax
        let routes = Self.routes(of: server)
        http = try AdminServer(loop: loop, endpoint: endpoint, configuration: configuration) { routes.serve($0) }
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

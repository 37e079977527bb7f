import APNSProtocol
import EventLoop
import HTTP2
public import JSON

extension SimulatorServer {
    /// Does something to connections at once, without waiting for a request.
    ///
    /// - Parameter number: the connection's; nil for all that are open.
    /// - Returns: to how many it was done; 0 when there is no such connection.
    /// - Throws: when it is nothing that is done to connections.
    @discardableResult
    public func perform(_ action: FaultAction, on number: Int? = nil) throws(InputError) -> Int {
        loop.assertOnLoop()
        guard action.isForConnections else {
            throw InputError("\(action.name) happens to requests: put it among the faults")
        }
        let chosen = connectionsInOrder.filter { number == nil || $0.number == number }
        for connection in chosen {
            counts.countFault(action.name)
            connection.perform(action)
        }
        return chosen.count
    }

    /// What strikes a connection that is accepted.
    func actions(onConnection number: Int, of service: Service) -> [FaultAction] {
        guard !faults.isEmpty else { return [] }
        let actions = faults.actions(onConnection: number, of: service).map(\.action)
        for action in actions { counts.countFault(action.name) }
        return actions
    }

    /// Lets faults strike a request. What they do to its connection is done by ``SimulatorConnection/perform(_:)`` once the
    /// request is remembered.
    func strike(_ request: Request, _ stream: HTTP2Stream, on connection: SimulatorConnection) -> FaultedRequest {
        let effect = faults.effect(of: FaultSubject(request, on: connection))
        var struck = FaultedRequest(fate: .silence, latency: effect.latency, faultID: effect.faultID)
        if effect.latency != nil { counts.countFault("latency") }
        if let action = effect.action { counts.countFault(action.name) }
        switch effect.action {
        case nil, .latency, .resumeReading:
            struck.fate = fate(of: request, on: connection)
        case .stopReading, .settings:
            struck.fate = fate(of: request, on: connection)
            struck.connectionAction = effect.action
        case .staleConnection:
            connection.perform(.staleConnection)
            struck.fate = fate(of: request, on: connection)
        case .answer(let answer):
            // Whoever sent it has proved who they are by it, whatever it is told; but it changes nothing.
            let decided = decide(about: request, on: connection, changesState: false)
            struck.fate = .answer(
                answer, isAuthenticated: decided.isAuthenticated, detail: answer.isSuccess ? nil : .fault)
        case .silence:
            _ = fate(of: request, on: connection)
        case .resetStream(.refusedStream):
            // It says that nothing was done, so that the request may be sent again (RFC 9113, 8.7).
            struck.fate = .reset(.refusedStream)
            struck.isProcessed = false
        case .resetStream(let code):
            _ = fate(of: request, on: connection)
            struck.fate = .reset(code)
        case .resetConnection, .closeConnection:
            _ = fate(of: request, on: connection)
            struck.connectionAction = effect.action
        case .goAway(let goAway):
            struck.connectionAction = effect.action
            struck.isProcessed = stream.id <= connection.lastStreamID(goAway) ?? stream.id
            guard struck.isProcessed else { break }
            let decided = fate(of: request, on: connection)
            if goAway.closing != .close { struck.fate = decided }
        }
        return struck
    }
}

/// A request after faults had their chance.
struct FaultedRequest {
    var fate: RequestFate
    /// In place of the delay that all answers have.
    var latency: Duration?
    var faultID: String?
    /// What is to be done to the request's connection.
    var connectionAction: FaultAction?
    /// False when it is as if the request had never come.
    var isProcessed = true
}

extension FaultSubject {
    init(_ request: Request, on connection: SimulatorConnection) {
        self.init(
            service: connection.memory.service, connection: connection.number,
            topic: request[.apnsTopic] ?? request[.path].flatMap(PathText.bundleID)
                ?? connection.memory.presented?.defaultTopic,
            deviceToken: request.deviceToken,
            pushType: request[.apnsPushType].flatMap { PushType($0) }, idle: connection.idle)
    }
}

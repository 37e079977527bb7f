import APNSProtocol
import EventLoop
import HTTP2
public import JSON

extension SimulatorServer {
    /// Applies an action to connections immediately, without a request.
    ///
    /// - Parameter number: number of the connection; nil for all open connections.
    /// - Returns: the number of connections; 0 if no such connection is open.
    /// - Throws: `InputError` if the action applies to requests only.
    @discardableResult
    public func perform(_ action: FaultAction, on number: Int? = nil) throws(InputError) -> Int {
        loop.assertOnLoop()
        guard action.isForConnections else {
            throw InputError("\(action.name) applies to requests only; add a fault with this action")
        }
        let chosen = connectionsInOrder.filter { number == nil || $0.number == number }
        for connection in chosen {
            counts.countFault(action.name)
            connection.perform(action)
        }
        return chosen.count
    }

    /// Returns the actions of faults that apply to a new connection, and counts them.
    func actions(onConnection number: Int, of service: Service) -> [FaultAction] {
        guard !faults.isEmpty else { return [] }
        let actions = faults.actions(onConnection: number, of: service).map(\.action)
        for action in actions { counts.countFault(action.name) }
        return actions
    }

    /// Applies the faults to a request. After logging the request, the caller passes the resulting connection action to
    /// ``SimulatorConnection/perform(_:)``.
    func applyFaults(to request: Request, _ stream: HTTP2Stream, on connection: SimulatorConnection) -> FaultedRequest {
        let effect = faults.effect(of: FaultSubject(request, on: connection))
        var struck = FaultedRequest(response: .silence, latency: effect.latency, faultID: effect.faultID)
        if effect.latency != nil { counts.countFault("latency") }
        if let action = effect.action { counts.countFault(action.name) }
        switch effect.action {
        case nil, .latency, .resumeReading:
            struck.response = response(to: request, on: connection)
        case .stopReading, .settings:
            struck.response = response(to: request, on: connection)
            struck.connectionAction = effect.action
        case .staleConnection:
            connection.perform(.staleConnection)
            struck.response = response(to: request, on: connection)
        case .answer(let answer):
            // The request can authenticate the connection regardless of the answer, but does not change the state.
            let decided = decide(about: request, on: connection, changesState: false)
            struck.response = .answer(
                answer, isAuthenticated: decided.isAuthenticated, detail: answer.isSuccess ? nil : .fault)
        case .silence:
            _ = response(to: request, on: connection)
        case .resetStream(.refusedStream):
            // REFUSED_STREAM means that the request was not processed, so the client may send it again (RFC 9113, 8.7).
            struck.response = .reset(.refusedStream)
            struck.isProcessed = false
        case .resetStream(let code):
            _ = response(to: request, on: connection)
            struck.response = .reset(code)
        case .resetConnection, .closeConnection:
            _ = response(to: request, on: connection)
            struck.connectionAction = effect.action
        case .goAway(let goAway):
            struck.connectionAction = effect.action
            struck.isProcessed = stream.id <= connection.lastStreamID(goAway) ?? stream.id
            guard struck.isProcessed else { break }
            let planned = response(to: request, on: connection)
            if goAway.closing != .close { struck.response = planned }
        }
        return struck
    }
}

/// The result of applying faults to a request.
struct FaultedRequest {
    var response: PlannedResponse
    /// The latency that replaces the delay configured for all answers; nil if no fault with a latency applies.
    var latency: Duration?
    var faultID: String?
    /// The action for the request's connection.
    var connectionAction: FaultAction?
    /// Whether the request counts as processed. The ID of an unprocessed request is not remembered.
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

import EventLoop

/// The rules for all requests. A decision depends only on its arguments: the request, the connection, the rates, the
/// state, the time and random numbers. Only channel management changes the state.
struct SimulatorRules {
    private let devicePushes = DevicePushRules()
    private let broadcasts = BroadcastRules()
    private let channels = ChannelRules()

    func decision(
        about request: Request, on connection: inout ConnectionMemory, rates: inout RateLimit,
        state: inout SimulatorState, now: Now, random: inout SeededRandom
    ) -> Decision {
        switch connection.service.kind {
        case .push where request.isBroadcast:
            broadcasts.decision(about: request, on: &connection, rates: &rates, state: state, now: now)
        case .push:
            devicePushes.decision(about: request, on: &connection, rates: &rates, state: state, now: now)
        case .channelManagement:
            channels.decision(about: request, on: &connection, state: &state, now: now, random: &random)
        }
    }
}

import EventLoop

/// What APNs answers a request, whatever it is for. Pure but for the channels, which requests make and delete: the
/// request, what is known of the connection and of the world, the time and chance go in.
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

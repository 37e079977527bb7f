import EventLoop
import Testing

@testable import AMQP

/// The status of a connection and of a channel, derived from their states.
@Suite struct BrokerStatusTests {
    private static let endpoint = Endpoint(host: "broker", port: 5672)
    private static let error = AMQPError(.timedOut, "late")
    private static let retry = Retry(error: error, delay: .seconds(1), at: MonotonicTime(nanoseconds: 5))
    private static let waiting = BrokerStatus.waiting(error, delay: .seconds(1))
    private static let login = ConnectionMachine.State.loggingIn(
        endpoint, Handshake(wanted: Handshake.Tuning(channelMax: 1, frameBytesMax: 8192, heartbeatSeconds: 0)))

    @Test func theStatusOfAConnection() {
        let statuses: [(ConnectionMachine.State, BrokerStatus?)] = [
            (.idle, .idle), (.connecting(Self.endpoint), .connecting(Self.endpoint)),
            (Self.login, .connecting(Self.endpoint)), (.open(Self.endpoint, blocked: nil), .ready),
            (.open(Self.endpoint, blocked: "alarm"), .blocked(reason: "alarm")), (.waiting(Self.retry), Self.waiting),
            (.closing, nil), (.closed, .closed),
        ]
        for (state, status) in statuses { #expect(BrokerStatus(state) == status) }
    }

    @Test func theStatusOfAChannel() {
        let open = ConnectionMachine.State.open(Self.endpoint, blocked: nil)
        let blocked = ConnectionMachine.State.open(Self.endpoint, blocked: "alarm")
        let waiting = ConnectionMachine.State.waiting(Self.retry)
        let connecting = BrokerStatus.connecting(Self.endpoint)
        let statuses: [(ChannelMachine.State, ConnectionMachine.State, BrokerStatus?)] = [
            (.idle, .idle, .idle), (.idle, .connecting(Self.endpoint), .idle), (.detached, waiting, .disconnected),
            (.detached, .connecting(Self.endpoint), .disconnected), (.opening, open, connecting),
            (.settingUp, blocked, connecting), (.open, open, .ready), (.open, blocked, .blocked(reason: "alarm")),
            // The channel's own failure has precedence over the state of the connection.
            (.interrupted(Self.retry), blocked, Self.waiting), (.reopening(Self.retry), open, Self.waiting),
            (.refused(Self.error), open, .waiting(Self.error, delay: .zero)),
            (.closing(then: .after(Self.retry)), open, Self.waiting), (.closing(then: .atOnce), open, connecting),
            (.closing(then: .never), open, nil), (.open, .closing, nil), (.detached, .closed, nil),
            (.unanswered, open, .closed), (.closed, .closing, .closed), (.closed, .closed, .closed),
        ]
        for (channel, connection, status) in statuses {
            #expect(
                BrokerStatus(channel, on: connection) == status, "the status of \(channel) on \(connection) is wrong")
        }
    }
}

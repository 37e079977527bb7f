/// The client's side of the AMQP 0-9-1 login (section 2.2.4), from `connection.start` to `connection.open-ok`.
///
/// An event out of order fails the login.
package struct Handshake {
    /// The state of the login. Each case lists its possible next states after "To:".
    package enum State: Equatable {
        /// The wait for `connection.start`. To: awaitingTune, failed.
        case awaitingStart
        /// The wait for `connection.tune`. To: awaitingOpenOK, failed.
        case awaitingTune
        /// The wait for `connection.open-ok`. To: open, failed.
        case awaitingOpenOK
        /// The state after a successful login. To: failed.
        case open
        case failed
    }

    package enum Event {
        case start(versionMajor: UInt8, versionMinor: UInt8, mechanisms: String)
        case tune(Tuning)
        case openOK
    }

    package enum Mechanism: String {
        /// User and password (RFC 4616).
        case plain = "PLAIN"
        /// The client certificate of the TLS connection (RFC 4422, appendix A).
        case external = "EXTERNAL"
    }

    package enum Action: Equatable {
        /// `connection.start-ok` with the login and the capabilities.
        case sendStartOK(Mechanism)
        /// `connection.tune-ok`, then `connection.open`.
        case sendTuneOKAndOpen(Tuning)
        case ready
        case fail(AMQPError)
    }

    /// The limits that one side offers, or on which both sides agreed. 0 means no limit, or no heartbeat.
    package struct Tuning: Equatable {
        package var channelMax: UInt16
        package var frameBytesMax: UInt32
        package var heartbeatSeconds: UInt16

        package init(channelMax: UInt16, frameBytesMax: UInt32, heartbeatSeconds: UInt16) {
            self.channelMax = channelMax
            self.frameBytesMax = frameBytesMax
            self.heartbeatSeconds = heartbeatSeconds
        }
    }

    /// The smallest frame limit that a peer may offer (AMQP 0-9-1, section 4.2.3: FRAME-MIN-SIZE).
    static let frameBytesMin: UInt32 = 4096

    package private(set) var state = State.awaitingStart
    /// The mechanism of the login, chosen from the broker's offer in `start`.
    private(set) var mechanism = Mechanism.plain
    private let wanted: Tuning
    private let prefersExternal: Bool

    package init(wanted: Tuning, prefersExternal: Bool = false) {
        self.wanted = wanted
        self.prefersExternal = prefersExternal
    }

    package mutating func handle(_ event: Event) -> Action {
        switch (state, event) {
        case (.awaitingStart, .start(let major, let minor, let mechanisms)):
            guard major == 0, minor == 9 else {
                return fail("the broker uses AMQP \(major)-\(minor), not 0-9-1")
            }
            let offered = mechanisms.split(separator: " ")
            let choice = (prefersExternal ? [.external, .plain] : [Mechanism.plain]).first {
                offered.contains($0.rawValue[...])
            }
            guard let choice else {
                return fail(
                    "the broker offers no supported login mechanism (\(mechanisms)); "
                        + "add PLAIN to auth_mechanisms in rabbitmq.conf")
            }
            mechanism = choice
            state = .awaitingTune
            return .sendStartOK(choice)
        case (.awaitingTune, .tune(let offered)):
            let tuning = Tuning(
                channelMax: Self.lower(wanted.channelMax, offered.channelMax),
                frameBytesMax: Self.lower(wanted.frameBytesMax, offered.frameBytesMax),
                heartbeatSeconds: wanted.heartbeatSeconds == 0
                    ? 0 : Self.lower(wanted.heartbeatSeconds, offered.heartbeatSeconds))
            guard tuning.frameBytesMax >= Self.frameBytesMin else {
                return fail(
                    "the broker allows frames of only \(tuning.frameBytesMax) bytes; "
                        + "set frame_max = 8192 or more in rabbitmq.conf")
            }
            state = .awaitingOpenOK
            return .sendTuneOKAndOpen(tuning)
        case (.awaitingOpenOK, .openOK):
            state = .open
            return .ready
        case (.awaitingStart, _), (.awaitingTune, _), (.awaitingOpenOK, _), (.open, _), (.failed, _):
            return fail("the broker sent a login method out of order")
        }
    }

    private mutating func fail(_ message: String) -> Action {
        state = .failed
        return .fail(AMQPError(.protocolViolation, message, isRetriable: false))
    }

    /// Returns the lower limit, where 0 means no limit.
    private static func lower<Number: FixedWidthInteger>(_ ours: Number, _ theirs: Number) -> Number {
        ours == 0 ? theirs : theirs == 0 ? ours : min(ours, theirs)
    }
}

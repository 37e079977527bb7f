import APNSProtocol
import EventLoop
import HTTP2

// Limits of a connection: streams, refusals and idle time.

extension SimulatorConnection {
    /// Counts and refuses a stream beyond the gate's limit.
    func refuse(_ stream: HTTP2Stream) {
        server.streamRefused()
        switch server.state.rules.gateViolation {
        case .reset: session?.reset(stream, .refusedStream)
        case .goAway:
            // The text that APNs was observed to send.
            goAway(.refusedStream, Array("Maximum active streams violated for this endpoint.".utf8))
        }
    }

    /// Sends GOAWAY, and still answers the streams up to `lastStreamID`. Does nothing if ``end`` is set.
    ///
    /// - Parameter lastStreamID: the last stream to answer; nil for all accepted streams.
    func goAway(_ code: HTTP2ErrorCode, _ debug: [UInt8], lastStreamID: Int32? = nil) {
        guard end == nil else { return }
        end = .goAway
        session?.goAway(code, lastStreamID: lastStreamID ?? self.lastStreamID, debug: debug)
    }

    func enforce(_ consequence: ErrorLimit.Consequence) {
        switch consequence {
        case .none: break
        case .fewerStreams: if gate.setLowered(true) { session?.update(settings) }
        case .allStreams: if gate.setLowered(false) { session?.update(settings) }
        case .end(let reason):
            switch server.state.rules.errorsEnd {
            case .goAway: goAway(.noError, Answer.refused(reason).bodyBytes)
            case .close: endNow(.goAway) { $0.close() }
            }
        }
    }

    /// The time at which the connection became idle; nil while it has a stream.
    var idleSince: MonotonicTime? { gate.streams == 0 ? idleFrom : nil }

    /// Closes the connection because it is idle.
    func endIdle() { goAway(.noError, Answer.refused(.idleTimeout).bodyBytes) }

    /// Returns the answer that replaces the rules' answer; nil if the rules' answer applies. A stale connection gets
    /// such an answer. After too long an idle time, a connection gets one if ``RuleOptions/idleEnd`` is `answer`. The
    /// connection becomes stale if it was idle for ``RuleOptions/staleIdleSeconds``.
    func idleAnswer(_ options: RuleOptions) -> Answer? {
        if let seconds = options.staleIdleSeconds, idle >= .seconds(seconds) { isStale = true }
        if isStale { return .refused(.internalServerError) }
        guard options.idleEnd == .answer, let seconds = options.idleSecondsMax, idle >= .seconds(seconds) else {
            return nil
        }
        return .refused(.idleTimeout)
    }

    /// Counts the connection for the rate limit of its address if the client closed it, the transport failed, or TLS
    /// failed.
    func count(_ end: ConnectionEnd, in rates: inout ConnectionRateLimit) {
        switch end {
        case .client, .lost, .tls:
            rates.closed(
                peerAddress, after: acceptedAt.duration(to: server.loop.now.monotonic), requests: requestsEnded,
                at: server.now.monotonic, server.state.rules)
        case .protocolViolation, .refused, .sentAway, .goAway, .fault, .shutdown: break
        }
    }
}

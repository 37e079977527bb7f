import APNSProtocol
import EventLoop
import HTTP2

// What becomes of a connection whose client asks for too much, is refused too often, or stays idle.

extension SimulatorConnection {
    /// Refuses a stream that the connection may not have.
    func refuse(_ stream: HTTP2Stream) {
        server.streamRefused()
        switch server.state.rules.gateViolation {
        case .reset: session?.reset(stream, .refusedStream)
        case .goAway:
            // The words are those that were seen.
            goAway(.refusedStream, Array("Maximum active streams violated for this endpoint.".utf8))
        }
    }

    /// Answers what was let through, and no more; does nothing when it is to end already.
    ///
    /// - Parameter lastStreamID: what goes on; nil for all that was let through.
    func goAway(_ code: HTTP2ErrorCode, _ debug: [UInt8], lastStreamID: Int32? = nil) {
        guard end == nil else { return }
        end = .goAway
        session?.goAway(code, lastStreamID: lastStreamID ?? self.lastStreamID, debug: debug)
    }

    func follow(_ consequence: ErrorLimit.Consequence) {
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

    /// Since when it has no request; nil while it has one.
    var idleSince: MonotonicTime? { gate.streams == 0 ? idleFrom : nil }

    /// Ends it since it had no request for so long.
    func endIdle() { goAway(.noError, Answer.refused(.idleTimeout).bodyBytes) }

    /// What a request is answered, whatever the rules say, since the connection was idle for too long before.
    func answerOnceIdle(_ options: RuleOptions) -> Answer? {
        if let seconds = options.staleIdleSeconds, idle >= .seconds(seconds) { isStale = true }
        if isStale { return .refused(.internalServerError) }
        guard options.idleEnd == .answer, let seconds = options.idleSecondsMax, idle >= .seconds(seconds) else {
            return nil
        }
        return .refused(.idleTimeout)
    }

    /// Holds it against its client when that has closed it.
    func tell(_ rates: inout ConnectionRateLimit, of end: ConnectionEnd) {
        switch end {
        case .client, .lost, .tls:
            rates.closed(
                peerAddress, after: acceptedAt.duration(to: server.loop.now.monotonic), requests: requestsEnded,
                at: server.now.monotonic, server.state.rules)
        case .protocolViolation, .refused, .sentAway, .goAway, .fault, .shutdown: break
        }
    }
}

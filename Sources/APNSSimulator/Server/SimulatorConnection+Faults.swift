import EventLoop
import HTTP2

extension SimulatorConnection {
    /// Applies the action of a fault to the connection immediately.
    func perform(_ action: FaultAction) {
        guard let session, !isOver else { return }
        switch action {
        case .latency, .silence, .answer: break
        case .resetStream(let code):
            for stream in openStreams { session.reset(stream, code) }
        case .goAway(let goAway): perform(goAway, session)
        case .resetConnection: endNow(.fault) { $0.abort() }
        case .closeConnection: endNow(.fault) { $0.close() }
        case .stopReading(let milliseconds): stopReading(session, milliseconds)
        case .resumeReading: resumeReading(session)
        case .settings(let change):
            apply(change)
            session.update(settings)
        case .staleConnection: isStale = true
        }
    }

    private func perform(_ goAway: FaultGoAway, _ session: HTTP2Server) {
        end = end ?? .goAway
        let keeps = goAway.closing == .keep
        session.goAway(goAway.code, lastStreamID: lastStreamID(goAway.lastStream), debug: goAway.debug, lingers: keeps)
        if let second = goAway.second {
            session.goAway(goAway.code, lastStreamID: lastStreamID(second), lingers: keeps)
        }
        if goAway.closing == .close { endNow(.goAway) { $0.close() } }
    }

    /// Returns the last stream that the simulator still serves after a GOAWAY; nil or `Int32.max` for all accepted
    /// streams.
    func lastStreamID(_ goAway: FaultGoAway) -> Int32? {
        guard let second = goAway.second else { return lastStreamID(goAway.lastStream) }
        return min(lastStreamID(goAway.lastStream) ?? .max, lastStreamID(second) ?? .max)
    }

    /// Returns the last stream identifier of a GOAWAY; nil for the last accepted stream.
    private func lastStreamID(_ last: FaultGoAway.LastStream) -> Int32? {
        switch last {
        case .lastSeen: return nil
        case .id(let id): return id
        case .first(let count):
            let open = openStreams
            guard count > 0 else { return open.first.map { max(0, $0.id - 2) } }
            return count <= open.count ? open[count - 1].id : nil
        }
    }

    /// The streams of unanswered requests, the oldest first.
    private var openStreams: [HTTP2Stream] {
        slots.compactMap { $0.stage == .answered ? nil : $0.stream }.sorted { $0.id < $1.id }
    }

    private func stopReading(_ session: HTTP2Server, _ milliseconds: Int?) {
        if let resumeTimer { server.loop.cancel(resumeTimer) }
        isExcused = true
        session.pauseReading()
        resumeTimer = milliseconds.map { milliseconds in
            server.loop.schedule(after: .milliseconds(milliseconds)) { [timerTarget] in
                guard let connection = timerTarget.object, let session = connection.session else { return }
                connection.resumeReading(session)
            }
        }
    }

    private func resumeReading(_ session: HTTP2Server) {
        if let resumeTimer { server.loop.cancel(resumeTimer) }
        resumeTimer = nil
        session.resumeReading()
    }
}

import AdminHTTP
import EventLoop
import JSON

/// The requests that wait for changes. Changes that follow each other closely are reported together. Loop-bound.
final class ChangeFeed {
    static let waitSecondsMax = 25
    /// Maximum number of waiting requests.
    private static let waitsMax = 128
    /// Maximum number of waiting requests of one session.
    private static let waitsPerSessionMax = 4
    private static let collectMilliseconds: Int64 = 250

    private struct Wait {
        let exchange: AdminExchange
        let session: String
        let after: Int
        let timer: TimerToken
    }

    private let loop: EventLoop
    private(set) var log = ChangeLog()
    private var waits: [ObjectIdentifier: Wait] = [:]
    private var collecting: TimerToken?

    init(on loop: EventLoop) { self.loop = loop }

    func note(_ part: ConsolePart) {
        log.note(part)
        guard collecting == nil, !waits.isEmpty else { return }
        collecting = loop.schedule(after: .milliseconds(Self.collectMilliseconds)) { [self] in
            collecting = nil
            for (key, wait) in waits where !log.changed(after: wait.after).isEmpty { answer(key) }
        }
    }

    /// Answers when a part has changed since a number, when the time has passed, or when the session ends.
    func wait(_ exchange: AdminExchange, session: String, after: Int, seconds: Int) throws(AdminError) {
        guard seconds > 0, log.changed(after: after).isEmpty else { return exchange.answer(.json(text(after))) }
        guard waits.count < Self.waitsMax,
            waits.values.count(where: { $0.session == session }) < Self.waitsPerSessionMax
        else { throw AdminError(429, "too many requests wait for changes", code: "waits") }
        let key = ObjectIdentifier(exchange)
        let timer = loop.schedule(after: .seconds(seconds)) { [self] in answer(key) }
        waits[key] = Wait(exchange: exchange, session: session, after: after, timer: timer)
        exchange.onAbandoned = { [weak self] in self?.remove(key) }
    }

    /// Ends the waits of a session.
    func end(session: String) {
        for (key, wait) in waits where wait.session == session { answer(key) }
    }

    private func answer(_ key: ObjectIdentifier) {
        guard let wait = remove(key) else { return }
        wait.exchange.answer(.json(text(wait.after)))
    }

    @discardableResult
    private func remove(_ key: ObjectIdentifier) -> Wait? {
        guard let wait = waits.removeValue(forKey: key) else { return nil }
        loop.cancel(wait.timer)
        return wait
    }

    private func text(_ after: Int) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("sequence", log.sequence)
        json.list("changed", log.changed(after: after)) { $0.string($1.rawValue) }
        json.endObject()
        return json.bytes
    }
}

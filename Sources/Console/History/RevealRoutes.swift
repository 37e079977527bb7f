import AMQP
import Actions
import AdminHTTP
import Configuration
import ControlProtocol
import EventLoop
import History
import JSON
import SQLite

/// The routes that reveal one value of the history, and that check the body of a request. Loop-bound.
///
/// `@unchecked Sendable`: only the loop uses the object.
final class RevealRoutes: @unchecked Sendable {
    private static let checkDepthMax = 4

    private struct Value: Sendable {
        var text: String
        /// The name of the value for the audit, which identifies it in other records and queues.
        var name: String
        var isTruncated: Bool?
    }

    private let feed: HistoryFeed?
    private let desk: LoginDesk
    private let watch: FleetWatch
    private let audit: AuditLog
    private let loop: EventLoop
    private let check: Result<RequestCheck, AdminError>

    init(
        _ feed: HistoryFeed?, _ desk: LoginDesk, _ watch: FleetWatch, _ audit: AuditLog,
        _ rules: Result<RequestRules, ConfigurationError>?, on loop: EventLoop
    ) {
        (self.feed, self.desk, self.watch, self.audit, self.loop) = (feed, desk, watch, audit, loop)
        check = rules?.map { RequestCheck($0) }.mapError { ConsoleErrors.rules($0) } ?? .success(RequestCheck(nil))
    }

    var all: [AdminRoute] {
        [
            AdminRoute(
                .post, "/api/reveal", "reveal one value of the history",
                later: { [self] exchange throws(AdminError) in
                    let session = try login(exchange.request, "reveal")
                    guard let feed else { throw HistoryRoutes.isOff }
                    let wanted = try RevealRequest(exchange.request.body)
                    let answer = LateAnswer(exchange)
                    feed.store.read(
                        { reader throws(SQLiteError) in try Self.value(wanted.subject, reader) },
                        { [self] result in found(result, wanted, session, answer) })
                }),
            AdminRoute(.post, "/api/check", "check the body of a request") { [self] request throws(AdminError) in
                _ = try login(request, "check")
                return .json(try checked(request.body))
            },
        ]
    }

    private func login(_ request: AdminRequest, _ name: String) throws(AdminError) -> Operator {
        let session = try desk.session(of: request)
        try desk.recheck(session, request, name)
        guard session.login.role >= .operate else {
            audit.refused("\(name): role \(session.login.role.rawValue)", by: session.login.name)
            throw ConsoleErrors.role(.operate, session.login.role)
        }
        return session.login
    }

    // MARK: Reveal

    private static func value(
        _ subject: RevealRequest.Subject, _ reader: HistoryReader
    ) throws(SQLiteError) -> Value? {
        switch subject {
        case .token(let key):
            return try reader.lines(at: key).first { $0.deviceToken != nil }.flatMap { line in
                line.deviceToken.map { Value(text: $0, name: "the device token of \(name(of: line))") }
            }
        case .payload(let group, let index, let at):
            let samples = try reader.samples(of: group)
            guard index < samples.count, at == nil || samples[index].at == at else { return nil }
            let sample = samples[index]
            return Value(
                text: String(decoding: sample.body, as: UTF8.self), name: "the payload of \(name(of: sample))",
                isTruncated: sample.isTruncated)
        }
    }

    private static func name(of line: RequestLine) -> String {
        line.id.map { "the request \($0)" } ?? "a request without an id, completed at \(line.at)"
    }

    private static func name(of sample: JournalSample) -> String {
        let name = sample.id.map { "the dead letter \($0)" } ?? "a dead letter without an id"
        return "\(name), failed at \(sample.at): \(sample.code)"
    }

    private func found(
        _ result: Result<Value?, SQLiteError>, _ wanted: RevealRequest, _ login: Operator, _ answer: LateAnswer
    ) {
        let value: Value
        switch result {
        case .success(let found?): value = found
        case .success(nil):
            return answer.send(
                AdminError(404, "the history has no such value", code: "unknown").response)
        case .failure(let error): return answer.send(HistoryRoutes.refusal(error).response)
        }
        Task(executorPreference: loop) { [self] in
            answer.send(await recorded(value, wanted.why, login))
        }
    }

    /// Returns the answer after the broker has confirmed a record in the audit.
    private func recorded(_ value: Value, _ why: String?, _ login: Operator) async -> AdminResponse {
        let record = audit.record(by: login.name, verb: "reveal", .after, why: why, result: value.name)
        do throws(AMQPError) {
            guard let session = watch.session else { throw AMQPError(.closed, ConsoleErrors.away) }
            try await session.write(record)
        } catch {
            let sentence = "not revealed, because the audit cannot record it: \(error.message)"
            return AdminError(503, sentence, code: "broker").response
        }
        var json = JSONWriter()
        json.beginObject()
        json.member("value", value.text)
        if let isTruncated = value.isTruncated { json.member("truncated", isTruncated) }
        json.endObject()
        return .json(json.bytes)
    }

    // MARK: Check

    private func checked(_ body: [UInt8]) throws(AdminError) -> [UInt8] {
        let limits = JSONLimits(bytesMax: body.count, depthMax: Self.checkDepthMax)
        guard let text = try? JSONDocument(body, limits: limits).root["body"]?.string else {
            throw AdminError(400, "body must be a text: the body of a request", code: "invalid")
        }
        let problem = try check.get().problem(in: Array(text.utf8))
        var json = JSONWriter()
        json.beginObject()
        json.member("valid", problem == nil)
        if let problem { json.problem(problem) }
        json.endObject()
        return json.bytes
    }
}

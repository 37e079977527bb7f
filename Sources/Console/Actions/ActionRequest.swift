import Actions
import AdminHTTP
import ControlProtocol
import Crypto
import Delivery
import JSON

/// The body of a request for an action or its preview.
struct ActionRequest: Sendable, Hashable {
    private static let depthMax = 16

    var action: OperatorAction
    var why: String
    /// The id that the page has made. A preview needs none.
    var id: UUIDValue?
    var phrase: String?
    var expect: String?

    /// Reads a body.
    ///
    /// - Parameter queues: the request queues.
    init(_ body: [UInt8], queues: [String]) throws(AdminError) {
        let limits = JSONLimits(bytesMax: body.count, depthMax: Self.depthMax)
        guard let root = try? JSONDocument(body, limits: limits).root, root.kind == .object
        else { throw Self.invalid("the body must be a JSON object") }
        guard let arguments = root["arguments"], arguments.kind == .object else {
            throw Self.invalid("arguments must be an object")
        }
        guard let why = root["why"]?.string else { throw Self.invalid("why must be a text: the reason") }
        self.why = why
        id = try root["id"].map { value throws(AdminError) in
            guard let id = value.string.flatMap({ UUIDValue($0) }) else { throw Self.invalid("id must be a UUID") }
            return id
        }
        phrase = try Self.text(root, "phrase")
        expect = try Self.text(root, "expect")
        action =
            switch root["action"]?.string {
            case "pause":
                .pause(
                    PauseAction(try Self.scope(arguments), .pause(why: why, seconds: try Self.seconds(arguments))))
            case "resume": .pause(PauseAction(try Self.scope(arguments), .resume))
            case "probe": .probe(FleetProbe(try Self.probeScope(arguments), why: why))
            case "test_push": .test(try Self.test(arguments, queues))
            default: throw Self.invalid("action must be pause, resume, probe or test_push")
            }
        try check()
    }

    /// Checks the limits of the reason, and of the scope of a pause or resumption.
    private func check() throws(AdminError) {
        let change =
            switch action {
            case .pause(let action): PauseAction(action.scope, .pause(why: why, seconds: nil))
            case .probe, .test: PauseAction(.everything, .pause(why: why, seconds: nil))
            }
        guard case .pause(let pause) = change.change(by: "-", at: FleetLimits.times.lowerBound) else { return }
        if let violation = pause.violation { throw Self.invalid(violation.sentence) }
    }

    private static func invalid(_ sentence: String) -> AdminError { AdminError(400, sentence, code: "invalid") }

    private static func text(_ object: JSONValue, _ name: String) throws(AdminError) -> String? {
        guard let value = object[key: name], value.kind != .null else { return nil }
        guard let text = value.string else { throw invalid("\(name) must be a text") }
        return text
    }

    private static func scope(_ arguments: JSONValue) throws(AdminError) -> PauseScope {
        guard let scope = try text(arguments, "scope").flatMap({ PauseScope($0) }) else {
            throw invalid("scope must be everything, key ID, certificate NAME or topic TOPIC")
        }
        return scope
    }

    private static func probeScope(_ arguments: JSONValue) throws(AdminError) -> ProbeScope {
        guard let scope = try text(arguments, "scope").flatMap({ ProbeScope($0) }), FleetCommand.isValid(scope: scope)
        else {
            throw invalid(
                "scope must be everything, key ID, certificate NAME, topic TOPIC, endpoint HOST or store")
        }
        return scope
    }

    private static func seconds(_ arguments: JSONValue) throws(AdminError) -> Int? {
        guard let value = arguments["until_seconds"], value.kind != .null else { return nil }
        guard let seconds = value.int, 1...PauseDuration.secondsMax ~= seconds else {
            throw invalid("until_seconds must be a whole number from 1 to \(PauseDuration.secondsMax)")
        }
        return seconds
    }

    private static func test(_ arguments: JSONValue, _ queues: [String]) throws(AdminError) -> TestRequest {
        var request = TestRequest(
            app: try text(arguments, "app") ?? "", deviceToken: try text(arguments, "device_token") ?? "",
            title: try text(arguments, "title") ?? "Test from Martlet", queue: try text(arguments, "queue"))
        if let violation = request.violation { throw invalid(violation) }
        if let queue = request.queue {
            guard queues.contains(queue) else {
                throw invalid("queue must be one of \(queues.joined(separator: ", "))")
            }
            if queues.count == 1 { request.queue = nil }
        } else if queues.count > 1 {
            throw invalid("queue is required: one of \(queues.joined(separator: ", "))")
        }
        return request
    }
}

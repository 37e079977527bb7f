import Actions
import AdminHTTP
import ControlProtocol
import Crypto
import DeadLetters
import Delivery
import JSON
import Text

/// The body of a request for an action or its preview.
struct ActionRequest: Sendable, Hashable {
    private static let depthMax = 16
    private static let messagesMax = 10_000_000
    private static let codeBytesMax = 128
    private static let idBytesMax = 256
    private static let appsMax = 100
    private static let appBytesMax = 255

    var action: OperatorAction
    var why: String
    /// The id that the page has made. A preview needs none.
    var id: UUIDValue?
    var phrase: String?
    var expect: String?

    /// Reads a body.
    ///
    /// - Parameters:
    ///   - queues: the request queues.
    ///   - now: UNIX milliseconds.
    init(_ body: [UInt8], queues: [String], at now: Int64) throws(AdminError) {
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
            case "redrive": .messages(.resend(try Self.redrive(arguments, at: now)))
            case "bring_back": .messages(.resend(try Self.bringBack(arguments)))
            case "drop": .messages(.drop(try Self.drop(arguments, at: now)))
            case "edit": .messages(.edit(try Self.edit(arguments)))
            default:
                throw Self.invalid(
                    "action must be one of \(OperatorAction.names(for: .admin).joined(separator: ", "))")
            }
        try check()
    }

    /// Checks the limits of the reason, and of the scope of a pause or resumption.
    private func check() throws(AdminError) {
        let change =
            switch action {
            case .pause(let action): PauseAction(action.scope, .pause(why: why, seconds: nil))
            case .probe, .test, .messages: PauseAction(.everything, .pause(why: why, seconds: nil))
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

extension ActionRequest {
    private static func selection(_ arguments: JSONValue, at now: Int64) throws(AdminError) -> DeadLetterSelection {
        let text = try text(arguments, "where")
        if let text {
            guard 1...DeadLetterSelection.filterBytesMax ~= text.utf8.count else {
                throw invalid("where must be a filter of 1 to \(DeadLetterSelection.filterBytesMax) bytes, or null")
            }
            do throws(FilterError) {
                _ = try Filter(text)
            } catch {
                throw AdminError(filter: error)
            }
        }
        // Later failures are not in the preview.
        let until = min(try number(arguments, "until", FleetLimits.times) ?? now, now)
        return DeadLetterSelection(filter: text, until: until)
    }

    private static func redrive(_ arguments: JSONValue, at now: Int64) throws(AdminError) -> ResendAction {
        var action = try limited(.deadLetters(try selection(arguments, at: now)), arguments)
        action.stopAbovePercent = try number(arguments, "stop_above_percent", 1...99).map { Int($0) }
        if action.stopAbovePercent != nil { action.ratePerSecond = action.ratePerSecond ?? ResendAction.watchedRate }
        return action
    }

    private static func bringBack(_ arguments: JSONValue) throws(AdminError) -> ResendAction {
        let mark = MessageHeaderName.heldCode("")
        let code = try text(arguments, "code").map { $0.hasPrefix(mark) ? String($0.dropFirst(mark.count)) : $0 }
        if let code {
            guard 1...codeBytesMax ~= code.utf8.count, code.printable == code else {
                throw invalid("code must be a reason of 1 to \(codeBytesMax) printable bytes, or null")
            }
        }
        let action = try limited(.waits(code: code, apps: try apps(arguments)), arguments)
        guard action.isValid else {
            throw invalid("apps are too long: a filter has at most \(DeadLetterSelection.filterBytesMax) bytes")
        }
        return action
    }

    private static func apps(_ arguments: JSONValue) throws(AdminError) -> [String]? {
        guard let value = arguments["apps"], value.kind != .null else { return nil }
        let apps = value.kind == .array ? Array(value.elements.prefix(appsMax + 1)) : []
        let names = apps.compactMap(\.string).filter { 1...appBytesMax ~= $0.utf8.count && $0.printable == $0 }
        guard 1...appsMax ~= apps.count, names.count == apps.count else {
            throw invalid(
                "apps must be a list of 1 to \(appsMax) bundle IDs of 1 to \(appBytesMax) printable bytes, or null")
        }
        return names.sorted()
    }

    private static func drop(_ arguments: JSONValue, at now: Int64) throws(AdminError) -> DropAction {
        DropAction(try selection(arguments, at: now), limit: try limit(arguments))
    }

    private static func edit(_ arguments: JSONValue) throws(AdminError) -> EditAction {
        guard let id = try text(arguments, "id"), 1...idBytesMax ~= id.utf8.count, id.printable == id else {
            throw invalid("id must be the id of a dead letter, of 1 to \(idBytesMax) printable bytes")
        }
        guard let body = try text(arguments, "body") else { throw invalid("body must be a text: the corrected body") }
        return EditAction(
            id: id, failedAt: try number(arguments, "failed_at", FleetLimits.times), body: Array(body.utf8),
            original: try text(arguments, "original").map { Array($0.utf8) })
    }

    private static func limited(
        _ choice: ResendAction.Choice, _ arguments: JSONValue
    ) throws(AdminError) -> ResendAction {
        ResendAction(
            choice, limit: try limit(arguments),
            ratePerSecond: try number(arguments, "rate_per_second", 1...Int64(ResendAction.rateMax)).map { Int($0) })
    }

    private static func limit(_ arguments: JSONValue) throws(AdminError) -> Int? {
        try number(arguments, "max", 1...Int64(messagesMax)).map { Int($0) }
    }

    private static func number(
        _ arguments: JSONValue, _ name: String, _ range: ClosedRange<Int64>
    ) throws(AdminError) -> Int64? {
        guard let value = arguments[key: name], value.kind != .null else { return nil }
        guard let number = value.int64, range.contains(number) else {
            throw invalid("\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound), or null")
        }
        return number
    }
}

extension MessageAction {
    /// The complete arguments of a request for the action.
    var arguments: [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        switch self {
        case .resend(let action):
            switch action.choice {
            case .deadLetters(let selection):
                selection.write(to: &json)
                json.optional("stop_above_percent", action.stopAbovePercent.map(Int64.init))
            case .waits(let code, let apps):
                json.optional("code", code)
                if let apps {
                    json.list("apps", apps) { $0.string($1) }
                } else {
                    json.optional("apps", nil as String?)
                }
            }
            json.optional("max", action.limit.map(Int64.init))
            json.optional("rate_per_second", action.ratePerSecond.map(Int64.init))
        case .drop(let action):
            action.choice.write(to: &json)
            json.optional("max", action.limit.map(Int64.init))
        case .edit(let action):
            json.member("id", action.id)
            json.optional("failed_at", action.failedAt)
            json.member("body", String(decoding: action.body, as: UTF8.self))
            json.optional("original", action.original.map { String(decoding: $0, as: UTF8.self) })
        }
        json.endObject()
        return json.bytes
    }
}

extension DeadLetterSelection {
    fileprivate func write(to json: inout JSONWriter) {
        json.optional("where", filter)
        json.optional("until", until)
    }
}

extension AdminError {
    /// Creates the refusal of a filter.
    init(filter error: FilterError) {
        self.init(400, "where, byte \(error.offset): \(error.message)".printable, code: "filter")
        offset = error.offset
    }
}

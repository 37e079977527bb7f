import Crypto
import JSON
package import Registrations

extension StoreChange {
    /// The word for the edit that re-encrypts registrations. Earlier builds used another word, and their workers check
    /// no data key. Such a worker refuses this word.
    private static let rekeyWord = "rekey_to"
    private static let unsuspendWord = "unsuspend"
    private static let limits = JSONLimits(bytesMax: bytesMax)

    /// Returns the change as JSON. A secret.
    ///
    /// - Parameter indexKey: The fingerprint of the index key with which the ends were computed.
    package func json(indexKey: String) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("store", path)
        switch work {
        case .probe: json.member("probe", true)
        case .apply(let commands, let ends):
            json.beginArray("commands")
            for command in commands { json.raw(command.body(id: nil)) }
            json.endArray()
            json.beginArray("ends")
            for end in ends { json.raw(end.line(indexKey: indexKey)) }
            json.endArray()
        case .rekey(let dataKey, let key):
            json.member("edit", Self.rekeyWord)
            json.member("data_key", dataKey.id)
            json.member("fingerprint", dataKey.fingerprint)
            if let key { json.member("after", key.text) }
        case .unsuspend(let app, let key):
            json.member("edit", Self.unsuspendWord)
            json.member("app", app)
            if let key { json.member("after", key.text) }
        }
        json.endObject()
        return json.bytes
    }

    /// Reads a change.
    ///
    /// - Parameters:
    ///   - indexKey: The fingerprint of the store's index key.
    ///   - now: UNIX milliseconds.
    /// - Throws: ``CommandViolation`` if the JSON is no change, a command or end is invalid, or an end belongs to
    ///   another index key.
    package init(json: [UInt8], indexKey: String, now: Int64) throws(CommandViolation) {
        guard let root = try? JSONDocument(json, limits: Self.limits).root, let path = root["store"]?.string else {
            throw Self.malformed
        }
        self.path = path
        if root["probe"]?.bool == true {
            work = .probe
        } else if let commands = root["commands"], let ends = root["ends"] {
            guard commands.kind == .array, ends.kind == .array,
                1...CommandBatch.commandsMax ~= commands.count + ends.count
            else { throw Self.malformed }
            work = .apply(try Self.commands(commands, now), ends: try Self.ends(ends, indexKey))
        } else {
            work = try Self.edit(root)
        }
    }

    private static func commands(
        _ commands: JSONValue, _ now: Int64
    ) throws(CommandViolation) -> [RegistrationCommand] {
        var read: [RegistrationCommand] = []
        for command in commands.elements {
            // The id of a command is only for replies. An export omits it, too.
            let received = try ReceivedCommand(
                command.sourceBytes, messageID: UUIDValue(high: 0, low: 0), from: .import, now: now
            ) { (_, named) throws(CommandViolation) in
                guard let named else { throw malformed }
                return named
            }
            read.append(received.command)
        }
        return read
    }

    private static func ends(_ ends: JSONValue, _ indexKey: String) throws(CommandViolation) -> [StoredEnd] {
        var read: [StoredEnd] = []
        for end in ends.elements { read.append(try StoredEnd(end, indexKey: indexKey)) }
        return read
    }

    private static func edit(_ root: JSONValue) throws(CommandViolation) -> Work {
        let key = try key(root)
        switch root["edit"]?.string {
        case rekeyWord:
            guard let id = root["data_key"]?.int, let fingerprint = root["fingerprint"]?.string else { throw malformed }
            return .rekey(to: DataKeySummary(id: id, fingerprint: fingerprint, isActive: true), after: key)
        case unsuspendWord:
            guard let app = root["app"]?.string else { throw malformed }
            return .unsuspend(app: app, after: key)
        default: throw malformed
        }
    }

    private static func key(_ root: JSONValue) throws(CommandViolation) -> Registration.Key? {
        guard let text = root["after"]?.string else { return nil }
        guard let key = Registration.Key(text) else { throw malformed }
        return key
    }

    private static let malformed = CommandViolation(
        .schema, "change", "The body is not a change of a registration store.")
}

extension StoreChangeResponse {
    /// Maximum size of a response as JSON, in bytes. It equals the default limit of an HTTP response.
    private static let bytesMax = 16 << 20

    /// The response as JSON. A secret.
    package var json: [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        switch self {
        case .confirmed: json.member("confirmed", true)
        case .applied(let outcomes):
            json.beginArray("outcomes")
            for outcome in outcomes {
                json.beginObject()
                json.member("outcome", outcome.reply.rawValue)
                json.beginArray("events")
                for event in outcome.events { event.write(to: &json) }
                json.endArray()
                json.endObject()
            }
            json.endArray()
        case .edited(let page):
            if let last = page.last { json.member("last", last.text) }
            json.member("edited", page.editedCount)
            json.member("unreadable", page.unreadableCount)
        case .failed(let fault):
            json.member("fault", fault.code.rawValue)
            json.member("sentence", fault.sentence)
            if let errorClass = fault.errorClass { json.member("error_class", errorClass) }
        }
        json.endObject()
        return json.bytes
    }

    /// Reads a response; nil if the JSON is no response.
    package init?(json: [UInt8]) {
        guard let root = try? JSONDocument(json, limits: JSONLimits(bytesMax: Self.bytesMax)).root else { return nil }
        if let outcomes = root["outcomes"] {
            var read: [CommandOutcome] = []
            for outcome in outcomes.elements {
                guard let reply = outcome["outcome"]?.string.flatMap({ RegistrationReply(rawValue: $0) }) else {
                    return nil
                }
                let events = outcome["events"]?.elements.map { StoredEvent($0) } ?? []
                guard events.allSatisfy({ $0 != nil }) else { return nil }
                read.append(CommandOutcome(reply: reply, events: events.compactMap(\.self)))
            }
            self = .applied(read)
        } else if root["confirmed"]?.bool == true {
            self = .confirmed
        } else if let edited = root["edited"]?.int, let unreadable = root["unreadable"]?.int {
            self = .edited(
                EditedPage(
                    last: root["last"]?.string.flatMap { Registration.Key($0) }, editedCount: edited,
                    unreadableCount: unreadable))
        } else if let code = root["fault"]?.string.flatMap({ StoreFault.Code(rawValue: $0) }) {
            self = .failed(
                StoreFault(code, root["sentence"]?.string ?? "", errorClass: root["error_class"]?.string))
        } else {
            return nil
        }
    }
}

extension StoredEvent {
    fileprivate func write(to json: inout JSONWriter) {
        json.beginObject()
        json.member("id", id.description)
        json.member("app", app)
        json.key("body")
        json.raw(body)
        json.endObject()
    }

    fileprivate init?(_ value: JSONValue) {
        guard let id = value["id"]?.string.flatMap({ UUIDValue($0) }), let app = value["app"]?.string,
            let body = value["body"]?.sourceBytes
        else { return nil }
        self.init(id: id, app: app, body: Array(body), mayBeDuplicate: false)
    }
}

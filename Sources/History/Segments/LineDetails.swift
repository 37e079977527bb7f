import ControlProtocol
import JSON

/// The members of a line that have no column, as JSON. Most results have none.
struct LineDetails: Sendable, Hashable {
    var failure: ResultRecord.Failure?
    var reason: String?
    var history: [ResultEvent] = []
    /// The sentence of a wait.
    var sentence: String?
    /// The end of a wait.
    var until: Int64?

    /// The encoding; nil if all members are missing. If it exceeds `HistoryLimits.detailsBytesMax`, it lacks the
    /// history.
    var bytes: [UInt8]? {
        guard self != LineDetails() else { return nil }
        let bytes = json
        guard bytes.count > HistoryLimits.detailsBytesMax else { return bytes }
        var shorter = self
        shorter.history = []
        return shorter.json
    }

    private var json: [UInt8] {
        var json = JSONWriter(capacity: 256)
        json.beginObject()
        if let failure {
            json.member("class", failure.failureClass)
            json.member("code", failure.code)
            if let path = failure.path { json.member("path", path) }
            if let message = failure.message { json.member("message", message) }
        }
        if let reason { json.member("reason", reason) }
        if !history.isEmpty {
            json.beginArray("history")
            for event in history { event.write(to: &json) }
            json.endArray()
        }
        if let sentence { json.member("sentence", sentence) }
        if let until { json.member("until", until) }
        json.endObject()
        return json.bytes
    }

    init() {}

    /// Reads an encoding. Malformed members count as missing.
    init(_ bytes: [UInt8]) {
        guard let root = try? JSONDocument(bytes, limits: JSONLimits(bytesMax: 64 << 10, depthMax: 8)).root else {
            return
        }
        failure = ResultRecord.Failure(root)
        reason = root["reason"]?.text(JournalLimits.codeBytesMax)
        if let entries = root["history"] { history = ResultRecord.events(entries) }
        sentence = root["sentence"]?.text(FleetLimits.sentenceBytesMax)
        until = root["until"]?.time
    }
}

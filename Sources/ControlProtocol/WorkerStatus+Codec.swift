import Delivery
package import JSON
import Registrations

extension WorkerStatus {
    /// The format of the answer of `/status`. Members that a later version adds are ignored.
    package static let codec = ObjectCodec(
        "a status", from: WorkerStatus(worker: ""), ignoresUnknown: true,
        fields + [
            .member("lanes", \.lanes, .list(of: Lane.codec.value, "a lane")),
            .member("lanes_leaving", \.retiredLanes, .list(of: Lane.codec.value, "a lane")),
        ])

    /// The format of the status in a report to the fleet.
    static let codecWithoutLanes = ObjectCodec(
        "a status", from: WorkerStatus(worker: ""), ignoresUnknown: true, fields)

    private static var fields: [ObjectField<WorkerStatus>] {
        [
            .required("worker", \.worker, .text),
            .member("version", \.version, .text),
            .member("process_id", \.processID, .integer),
            .member("uptime_seconds", \.uptimeSeconds, .integer),
            .member("phase", \.phase, ValueCodec.text.mapped(read: { Phase(rawValue: $0) }, write: { $0.rawValue })),
            .member("ready", \.isReady, .bool),
            .member("reasons", \.reasons, .texts),
            .member("in_flight", \.inFlight, .integer),
            .member("totals", \.totals, WorkerTotals.codec.value),
            .member("broker", \.broker, .text),
            .optional("prefix", \.prefix, .text),
            .member("queues", \.queues, .list(of: Queue.codec.value, "a queue")),
            .optional("queues_seconds_old", \.queuesSecondsOld, .integer),
            .optional("channel_commands", \.channelCommands, ChannelCommands.codec.value),
            .optional("registrations", \.registrations, Registrations.codec.value),
            .optional("fleet", \.fleet, Fleet.codec.value),
            .optional("journal", \.journal, Journal.codec.value),
            .member("breakers", \.breakers, .list(of: OpenBreaker.codec.value, "a breaker")),
            .member("limited_apps", \.limitedApps, .list(of: LimitedApp.codec.value, "a limited app")),
            .member("paused", \.paused, .texts),
            .member("pauses", \.pauses, .list(of: PauseReport.codec.value, "a pause")),
            .member("certificates", \.certificates, .list(of: Certificate.codec.value, "a certificate")),
            .member("log_lines_dropped", \.logLinesDropped, .integer),
            .member("spans_dropped", \.spansDropped, .integer),
        ]
    }

    /// The status as one line of JSON, including the final line feed.
    package var json: [UInt8] {
        var json = JSONWriter()
        Self.codec.write(self, to: &json)
        return json.bytes + [UInt8(ascii: "\n")]
    }
}

extension WorkerStatus.Queue {
    fileprivate static let codec = ObjectCodec(
        "a queue", from: Self(name: "-"), ignoresUnknown: true,
        [
            .member("name", \.name, .text),
            .optional("shard_of", \.shardOf, .text),
            .member("messages", \.messages, .integer),
            .member("consumers", \.consumers, .integer),
        ])
}

extension WorkerStatus.ChannelCommands {
    fileprivate static let codec = ObjectCodec(
        "a state of channel commands", from: Self(), ignoresUnknown: true,
        [
            .member("consumed", \.isConsuming, .bool),
            .member("replying", \.isReplying, .bool),
            .member("reasons", \.reasons, .texts),
        ])
}

extension WorkerStatus.Fleet {
    fileprivate static let codec = ObjectCodec(
        "a state of fleet control", from: Self(), ignoresUnknown: true,
        [
            .optional("pauses_revision", \.pausesRevision, .integer),
            .optional("reason", \.reason, .text),
        ])
}

extension WorkerStatus.Journal {
    fileprivate static let codec = ObjectCodec(
        "a state of the journal", from: Self(), ignoresUnknown: true,
        [
            .member("sequence", \.sequence, .integer),
            .member("lines_published", \.linesPublished, .integer),
            .member("lines_dropped", \.linesDropped, .integer),
            .member("lines_unconfirmed", \.linesUnconfirmed, .integer),
        ])
}

extension WorkerStatus.Registrations {
    fileprivate static let codec = ObjectCodec(
        "a state of device registrations", from: Self(), ignoresUnknown: true,
        [
            .member("consumed", \.isConsuming, .bool),
            .member("publishing", \.isPublishing, .bool),
            .member("storing", \.isStoring, .bool),
            .member("reasons", \.reasons, .texts),
            .member("data_keys", \.dataKeys, .list(of: DataKeySummary.codec.value, "a data key")),
        ])
}

extension DataKeySummary {
    fileprivate static let codec = ObjectCodec(
        "a data key", from: Self(id: 0, fingerprint: "-", isActive: false), ignoresUnknown: true,
        [
            .member("id", \.id, .integer),
            .member("fingerprint", \.fingerprint, .text),
            .member("active", \.isActive, .bool),
        ])
}

extension WorkerStatus.OpenBreaker {
    fileprivate static let codec = ObjectCodec(
        "a breaker", from: Self(), ignoresUnknown: true,
        [
            .member("route", \.route, .text),
            .member("code", \.code, .text),
            .member("sentence", \.sentence, .text),
            .member("seconds_open", \.secondsOpen, .integer),
            .member("apps", \.apps, .texts, omitting: []),
        ])
}

extension WorkerStatus.LimitedApp {
    fileprivate static let codec = ObjectCodec(
        "a limited app", from: Self(), ignoresUnknown: true,
        [
            .member("app", \.bundleID, .text),
            .member("in_flight", \.inFlight, .integer),
            .member("waiting", \.waiting, .integer),
            .member("seconds_limited", \.secondsLimited, .integer),
            .member("seconds_behind", \.secondsBehind, .integer),
        ])
}

extension WorkerStatus.Certificate {
    fileprivate static let codec = ObjectCodec(
        "a certificate", from: Self(), ignoresUnknown: true,
        [
            .member("name", \.name, .text),
            .member("not_after_unix_seconds", \.notAfterSeconds, .integer),
        ])
}

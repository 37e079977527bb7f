import Delivery
package import JSON

extension WorkerStatus.Lane {
    package static let codec = ObjectCodec(
        "a lane", from: Self(), ignoresUnknown: true,
        [
            .member("lane", \.number, .integer),
            .member("turning", \.makesProgress, .bool),
            .optionalGroup(\.report, WorkerStatus.LaneReport.codec),
        ])
}

extension WorkerStatus.LaneReport {
    fileprivate static let codec = ObjectCodec(
        "a lane", from: Self(), ignoresUnknown: true,
        [
            .member("ready", \.isReady, .bool),
            .member("taking_messages", \.wantsRequests, .bool),
            .member("draining", \.isDraining, .bool),
            .member("paused", \.paused, .texts),
            .member("in_flight", \.inFlight, .integer),
            .member("unconfirmed", \.unconfirmed, .integer),
            .member("unpublished", \.unpublished, .integer),
            .optional("publishing_failure", \.publishingFailure, .text),
            .member("queues", \.queues, .list(of: WorkerStatus.ConsumedQueue.codec.value, "a queue")),
            .member("apns", \.pools, .list(of: WorkerStatus.Pool.codec.value, "a pool")),
        ])
}

extension WorkerStatus.ConsumedQueue {
    fileprivate static let codec = ObjectCodec(
        "a queue", from: Self(), ignoresUnknown: true,
        [
            .member("name", \.name, .text),
            .member("consumed", \.isConsumed, .bool),
            .member("unsettled", \.unsettled, .integer),
        ])
}

extension WorkerStatus.Pool {
    fileprivate static let codec = ObjectCodec(
        "a pool", from: Self(), ignoresUnknown: true,
        [
            .member("host", \.host, .text),
            .member("environment", \.environment, .word),
            .optional("key_id", \.keyID, .text),
            .optional("team_id", \.teamID, .text),
            .optional("certificate", \.certificate, .text),
            .member("connections", \.connections, .integer),
            .member("connected", \.isConnected, .bool),
            .member("streams", \.streams, .integer),
            .member("waiting", \.waiting, .integer),
            .optional("token_age_seconds", \.tokenAgeSeconds, .integer),
        ])
}

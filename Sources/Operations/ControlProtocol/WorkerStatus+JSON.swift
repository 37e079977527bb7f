import AMQP
import APNS
import APNSProtocol
import Delivery
import JSON
import Telemetry

extension WorkerStatus {
    /// The answer of `/status`.
    var json: [UInt8] {
        var json = JSONWriter()
        json.object {
            $0.member("worker", worker)
            $0.member("version", version)
            $0.member("process_id", processID)
            $0.member("uptime_seconds", uptimeSeconds)
            $0.member("phase", phase.rawValue)
            $0.member("ready", isReady)
            $0.array("reasons", reasons) { $0.string($1) }
            $0.member("in_flight", inFlight)
            $0.key("totals")
            write(totals, to: &$0)
            $0.member("broker", broker)
            $0.member("prefix", prefix)
            $0.array("queues", queues) { json, queue in
                json.object {
                    $0.member("name", queue.name)
                    if let whole = shardOf[queue.name] { $0.member("shard_of", whole) }
                    $0.member("messages", queue.messages)
                    $0.member("consumers", queue.consumers)
                }
            }
            if let age = queuesSecondsOld { $0.member("queues_seconds_old", age) }
            if let channels {
                $0.key("channel_commands")
                $0.object {
                    $0.member("consumed", channels.isConsuming)
                    $0.member("replying", channels.isPublishing)
                    $0.array("reasons", channels.reasons) { $0.string($1) }
                }
            }
            $0.array("breakers", breakers) { json, breaker in
                json.object {
                    $0.member("route", breaker.route)
                    $0.member("code", breaker.code)
                    $0.member("sentence", breaker.sentence)
                    $0.member("seconds_open", breaker.secondsOpen)
                }
            }
            $0.array("limited_apps", limitedApps) { json, app in
                json.object {
                    $0.member("app", app.bundleID)
                    $0.member("in_flight", app.inFlight)
                    $0.member("waiting", app.waiting)
                    $0.member("seconds_limited", app.secondsLimited)
                    $0.member("seconds_behind", app.secondsBehind)
                }
            }
            $0.array("paused", pauses) { $0.string($1) }
            $0.array("pauses", pauseReports) { json, pause in
                json.object {
                    $0.member("target", pause.target)
                    if let by = pause.note.by { $0.member("by", by) }
                    if let reason = pause.note.reason { $0.member("reason", reason) }
                    $0.member("seconds_paused", pause.seconds)
                }
            }
            $0.array("certificates", certificates) { json, certificate in
                json.object {
                    $0.member("name", certificate.name)
                    $0.member("not_after_unix_seconds", Int(certificate.notAfterSeconds))
                }
            }
            $0.member("log_lines_dropped", logLinesDropped)
            $0.member("spans_dropped", spansDropped)
            $0.array("lanes", lanes) { write($1, to: &$0) }
            $0.array("lanes_leaving", leaving) { write($1, to: &$0) }
        }
        return json.bytes + [UInt8(ascii: "\n")]
    }

    private func write(_ totals: WorkerTotals, to json: inout JSONWriter) {
        json.object {
            $0.member("taken", totals.taken)
            for outcome in Outcome.allCases {
                $0.key(outcome.rawValue)
                $0.int(Int64(totals.ended(outcome)))
            }
            $0.member("dead_letters", totals.deadLetters)
            $0.member("retried", totals.retried)
            $0.member("held", totals.held)
            $0.member("quarantined", totals.quarantined)
            $0.member("requeued", totals.requeued)
            $0.member("duplicates", totals.duplicates)
            $0.member("unknown_outcomes", totals.unknownOutcomes)
            $0.member("publish_repeats", totals.publishRepeats)
            guard let latency = totals.latency else { return }
            $0.key("latency")
            $0.object {
                $0.array("bounds_nanoseconds", latency.bounds) { $0.int(Int64($1)) }
                $0.array("counts", latency.counts) { $0.int(Int64($1)) }
                $0.member("sum_nanoseconds", latency.sum)
            }
        }
    }

    private func write(_ lane: Lane, to json: inout JSONWriter) {
        json.object {
            $0.member("lane", lane.number)
            $0.member("turning", lane.isTurning)
            guard let status = lane.status else { return }
            $0.member("ready", status.state.isReady)
            $0.member("taking_messages", status.state.wantsMessages)
            $0.member("draining", status.state.isDraining)
            $0.array("paused", status.pauses) { $0.string($1) }
            $0.member("in_flight", status.inFlight)
            $0.member("unconfirmed", status.unconfirmed)
            $0.member("unpublished", status.unpublished)
            if let failure = status.state.publishingFailure { $0.member("publishing_failure", failure) }
            $0.array("queues", status.queues) { json, queue in
                json.object {
                    $0.member("name", queue.name)
                    $0.member("consumed", queue.isConsumed)
                    $0.member("unsettled", queue.unsettled)
                }
            }
            $0.array("apns", status.pools) { write($1, to: &$0) }
        }
    }

    private func write(_ pool: PoolStatus, to json: inout JSONWriter) {
        json.object {
            $0.member("host", pool.authority)
            $0.member("environment", pool.environment.rawValue)
            switch pool.credential {
            case .key(let id, let team):
                $0.member("key_id", id)
                $0.member("team_id", team)
            case .certificate(let name):
                $0.member("certificate", name)
            }
            $0.member("connections", pool.connections)
            $0.member("connected", pool.isConnected)
            $0.member("streams", pool.streams)
            $0.member("waiting", pool.waiting)
            if let age = pool.tokenAgeSeconds { $0.member("token_age_seconds", age) }
        }
    }
}

extension JSONWriter {
    fileprivate mutating func object(_ write: (inout JSONWriter) -> Void) {
        beginObject()
        write(&self)
        endObject()
    }

    fileprivate mutating func array<Element>(
        _ name: StaticString, _ elements: [Element], _ write: (inout JSONWriter, Element) -> Void
    ) {
        key(name)
        beginArray()
        for element in elements { write(&self, element) }
        endArray()
    }
}

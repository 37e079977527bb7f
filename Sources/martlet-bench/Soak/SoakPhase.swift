/// A set of faults that are active together.
struct SoakPhase {
    let name: String
    /// The faults as JSON for the simulator's admin API.
    let faults: [String]

    static let all: [SoakPhase] = {
        let mixed = [slow, wrong, cut, moving]
        return [calm] + mixed + [SoakPhase(name: "mixed", faults: mixed.flatMap(\.faults))]
    }()

    private static let calm = SoakPhase(name: "calm", faults: [])

    private static let slow = SoakPhase(
        name: "slow",
        faults: [
            #"{"id": "late", "action": {"latency": {"median_ms": 20, "p99_ms": 400}}, "share": 0.5}"#,
            #"{"id": "silent", "action": "silence", "share": 0.001}"#,
            #"{"id": "deaf", "action": {"stop_reading": {"ms": 500}}, "share": 0.0005}"#,
        ])

    private static let wrong = SoakPhase(
        name: "wrong",
        faults: [
            #"{"id": "down", "action": {"answer": {"reason": "ServiceUnavailable"}}, "share": 0.02}"#,
            #"{"id": "busy", "action": {"answer": {"reason": "TooManyRequests", "retry_after_seconds": 5}}, "share": 0.02}"#,
            #"{"id": "odd", "action": {"answer": {"status": 502, "body": "<html>", "content_type": "text/html"}}, "share": 0.02}"#,
            #"{"id": "refused", "action": {"reset_stream": "REFUSED_STREAM"}, "share": 0.02}"#,
            #"{"id": "cancelled", "action": {"reset_stream": "CANCEL"}, "share": 0.02}"#,
            #"{"id": "stale", "action": "stale_connection", "share": 0.0002}"#,
        ])

    private static let cut = SoakPhase(
        name: "cut",
        faults: [
            #"{"id": "away", "action": {"goaway": {"debug": "{\"reason\":\"Shutdown\"}"}}, "share": 0.0002}"#,
            #"{"id": "half", "action": {"goaway": {"last_stream_id": {"first": 2}, "then": "close"}}, "share": 0.0002}"#,
            #"{"id": "linger", "action": {"goaway": {"then": "keep"}}, "share": 0.0001}"#,
            #"{"id": "reset", "action": "reset_connection", "share": 0.0002}"#,
            #"{"id": "close", "action": "close_connection", "share": 0.0002}"#,
            #"{"id": "unwelcome", "trigger": "connection", "action": "reset_connection", "share": 0.1}"#,
        ])

    private static let moving = SoakPhase(
        name: "moving",
        faults: [
            #"{"id": "narrow", "action": {"settings": {"max_concurrent_streams": 5}}, "share": 0.0005}"#,
            #"{"id": "wide", "action": {"settings": {"max_concurrent_streams": 1000}}, "share": 0.001}"#,
            #"{"id": "table", "action": {"settings": {"header_table_bytes": 0}}, "share": 0.0005}"#,
            #"{"id": "limitless", "trigger": "connection", "action": {"settings": {"max_concurrent_streams": null}}, "share": 0.2}"#,
        ])
}

import APNSProtocol
import HTTP2
import JSON
import Testing

@testable import APNSSimulator

@Suite struct FaultCodecTests {
    // The faults are in the form in which the codec writes them.
    @Test(arguments: [
        #"{"id":"a","action":"silence"}"#,
        #"{"id":"a","action":{"latency":{"constant_ms":20.0}},"share":0.25,"skip_count":4,"count_max":3}"#,
        #"{"id":"a","action":{"latency":{"min_ms":10.0,"max_ms":20.5}}}"#,
        #"{"id":"a","action":{"latency":{"median_ms":20.0,"p99_ms":200.0}}}"#,
        #"{"id":"a","action":{"latency":{"median_ms":0.0,"p99_ms":9.0,"shape":"normal"}}}"#,
        #"{"id":"a","action":{"answer":{"status":429,"reason":"TooManyRequests","retry_after_seconds":30}}}"#,
        #"{"id":"a","action":{"answer":{"status":410,"reason":"Unregistered","timestamp_ms":12}}}"#,
        #"{"id":"a","action":{"answer":{"status":410}}}"#,
        #"{"id":"a","action":{"answer":{"status":400,"reason":"FooBar"}}}"#,
        #"{"id":"a","action":{"answer":{"status":403,"reason":"BadEnvironmentKeyInToken"}}}"#,
        #"{"id":"a","action":{"answer":{"status":502,"body":"<html>é","content_type":"text/html"}}}"#,
        #"{"id":"a","action":{"reset_stream":"REFUSED_STREAM"}}"#,
        #"{"id":"a","action":{"reset_stream":4711}}"#,
        #"{"id":"a","action":{"goaway":{"last_stream_id":"last_seen","code":"NO_ERROR"}}}"#,
        #"{"id":"a","action":{"goaway":{"last_stream_id":{"first":5},"code":"INTERNAL_ERROR","debug":"why"}}}"#,
        #"{"id":"a","action":{"goaway":{"last_stream_id":9,"code":77,"debug_hex":"00ff","second_last_stream_id":0,"#
            + #""then":"close"}}}"#,
        #"{"id":"a","action":{"goaway":{"last_stream_id":1,"code":"NO_ERROR","then":"keep"}}}"#,
        #"{"id":"a","action":"reset_connection"}"#,
        #"{"id":"a","action":"close_connection"}"#,
        #"{"id":"a","action":"stop_reading"}"#,
        #"{"id":"a","action":{"stop_reading":{"ms":5000}}}"#,
        #"{"id":"a","action":{"settings":{"max_concurrent_streams":1,"initial_window_bytes":0}}}"#,
        #"{"id":"a","trigger":"connection","action":{"settings":{"max_concurrent_streams":null}}}"#,
        #"{"id":"a","trigger":"connection","action":{"settings":{"header_table_bytes":0,"max_header_list_bytes":9}}}"#,
        #"{"id":"a","match":{"idle_seconds_min":3600},"action":"stale_connection"}"#,
        #"{"id":"a","match":{"environment":"sandbox","service":"push","topic":"com.example.app","#
            + #""device_prefix":"dEAd","push_type":"voip","connection":3},"action":"silence"}"#,
        #"{"id":"a","trigger":"connection","match":{"service":"channel-management"},"action":"reset_connection"}"#,
    ])
    func readsWhatItWrites(text: String) throws {
        let fault = try read(text)
        var json = JSONWriter()
        Fault.codec.write(fault, to: &json)
        #expect(String(decoding: json.bytes, as: UTF8.self) == text)
    }

    @Test func missingMembersHaveDefaults() throws {
        let fault = try read(#"{"action": "goaway"}"#)
        #expect(fault.id == "made")
        #expect(fault.trigger == .request && fault.share == 1 && fault.countMax == nil && fault.match == FaultMatch())
        #expect(fault.action == .goAway(FaultGoAway()))
        #expect(try read(#"{"action": "reset_stream"}"#).action == .resetStream(.refusedStream))
        #expect(
            try read(#"{"action": {"answer": {"reason": "Unregistered"}}}"#).action
                == .answer(Answer(status: 410, body: .reason(.unregistered))))
        #expect(
            try read(#"{"action": {"answer": {"status": 400, "body": "{\"rea"}}}"#).action
                == .answer(Answer(status: 400, body: .raw(contentType: "application/json", Array(#"{"rea"#.utf8)))))
        #expect(
            try read(#"{"action": {"answer": {"status": 410, "body": ""}}}"#).action == .answer(Answer(status: 410)))
        #expect(try read(#"{"action": "silence", "struck": 7}"#).action == .silence, "struck changed the fault")
    }

    @Test(arguments: [
        ("3", "a fault must be an object", "3"),
        ("{}", "action is missing in a fault", "{}"),
        (#"{"actoin":"silence"}"#, "unknown member 'actoin' in a fault; known: id", #""actoin""#),
        (#"{"action":"silense"}"#, "unknown action 'silense'; known: latency", #""silense""#),
        (#"{"action":{"silence":{"x":1}}}"#, "silence must have no details", #"{"x":1}"#),
        (#"{"action":{"silence":null,"goaway":null}}"#, "action must be a word", #"{"silence":null,"goaway":null}"#),
        (#"{"action":"latency"}"#, "latency must have details", #""latency""#),
        (#"{"action":{"latency":{}}}"#, "a latency requires either constant_ms", "{}"),
        (
            #"{"action":{"latency":{"min_ms":9,"max_ms":1}}}"#, "a latency requires either constant_ms",
            #"{"min_ms":9,"max_ms":1}"#
        ),
        (#"{"action":{"latency":{"constant_ms":-1}}}"#, "constant_ms must be a number from 0.0 to 600000.0", "-1"),
        (#"{"action":{"latency":{"constant_ms":1e999}}}"#, "constant_ms must be a number", "1e999"),
        (#"{"action":{"latency":{"median_ms":0,"p99_ms":1}}}"#, "median_ms must be above 0", "0"),
        (#"{"action":{"answer":{}}}"#, "an answer requires a status", "{}"),
        (#"{"action":{"answer":{"reason":"FooBar"}}}"#, "an answer requires a status", #"{"reason":"FooBar"}"#),
        (#"{"action":{"answer":{"status":199}}}"#, "status must be a whole number from 200 to 599", "199"),
        (
            #"{"action":{"answer":{"status":400,"reason":"X","body":"y"}}}"#, "reason and body are mutually exclusive",
            #""X""#
        ),
        (
            #"{"action":{"answer":{"status":400,"body":"y","content_type":"a\nb"}}}"#, "content_type must be a h",
            #""a\nb""#
        ),
        (#"{"action":{"reset_stream":"OOPS"}}"#, "reset_stream must be a number or a name", #""OOPS""#),
        (#"{"action":{"goaway":{"code":4294967296}}}"#, "code must be a number or a name", "4294967296"),
        (#"{"action":{"goaway":{"last_stream_id":2}}}"#, "last_stream_id must be", "2"),
        (#"{"action":{"goaway":{"last_stream_id":-1}}}"#, "last_stream_id must be", "-1"),
        (#"{"action":{"goaway":{"last_stream_id":2147483649}}}"#, "last_stream_id must be", "2147483649"),
        (#"{"action":{"goaway":{"debug_hex":"0g"}}}"#, "debug_hex must be hexadecimal digits", #""0g""#),
        (#"{"action":{"settings":{}}}"#, "settings must have at least one member", "{}"),
        (#"{"action":{"settings":{"initial_window_bytes":2147483648}}}"#, "initial_window_bytes must be", "2147483648"),
        (#"{"action":"silence","share":1.5}"#, "share must be a number from 0.0 to 1.0", "1.5"),
        (#"{"action":"silence","count_max":0}"#, "count_max must be a whole number from 1", "0"),
        (#"{"id":"a/b","action":"silence"}"#, "id must be 1 to 64 letters", #""a/b""#),
        (#"{"match":{"device_prefix":"xyz"},"action":"silence"}"#, "device_prefix must be hexadecimal", #""xyz""#),
        (#"{"match":{"push_type":"Alert"},"action":"silence"}"#, "push_type must be alert, background", #""Alert""#),
        (#"{"match":{"service":"pull"},"action":"silence"}"#, "service must be push or channel-management", #""pull""#),
        (#"{"action":"resume_reading"}"#, "resume_reading cannot wait for a request", #"{"action":"resume_reading"}"#),
        (
            #"{"trigger":"connection","action":"silence"}"#, "silence applies to requests",
            #"{"trigger":"connection","action":"silence"}"#
        ),
        (
            #"{"trigger":"connection","match":{"topic":"a"},"action":"goaway"}"#, "a fault with the trigger connection",
            #"{"trigger":"connection","match":{"topic":"a"},"action":"goaway"}"#
        ),
    ])
    func errorsHavePositions(text: String, message: String, place: String) throws {
        let document = try JSONDocument(text)
        let error = try #require(throws: InputError.self) { try Fault.codec.read(document.root, "a fault") }
        #expect(error.message.hasPrefix(message))
        let position = document.position(ofNode: try #require(error.node))
        #expect(text.utf8.dropFirst(position.column - 1).starts(with: place.utf8))
    }

    private func read(_ text: String) throws -> Fault { try fault(text) }
}

/// Reads a fault from JSON. The fault's ID is `made` if the text has none.
func fault(_ text: String) throws -> Fault {
    var fault = try Fault.codec.read(try JSONDocument(text).root, "a fault")
    if fault.id.isEmpty { fault.id = "made" }
    return fault
}

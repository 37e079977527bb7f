/// Sample pushes and faults for the tests of the page.
enum Samples {
    struct Push {
        var json: String
        var device = "00fc13adff785122"
        var headers: [String] = []
    }

    /// Returns one push for each style of notification.
    ///
    /// - Parameter longWord: A long text without spaces.
    static func payloads(longWord: String) -> [Push] {
        [
            Push(json: #"{"aps":{"alert":{"title":"\#(longWord)","body":"\#(longWord)"},"thread-id":"t","badge":0}}"#),
            Push(
                json:
                    #"{"aps":{"alert":{"title":"Rain","body":"Soon."},"thread-id":"t","interruption-level":"passive"}}"#
            ),
            Push(
                json: #"{"aps":{"alert":{"title":"Storm","subtitle":"Hamburg","body":"Stay in."},"sound":"default","#
                    + #""badge":12,"interruption-level":"time-sensitive"}}"#),
            Push(json: #"{"aps":{"alert":"Smoke!","sound":{"critical":1,"name":"alarm.caf","volume":0.8}}}"#),
            Push(json: #"{"aps":{"alert":{"title-loc-key":"INVITE","loc-key":"INVITE_BODY","loc-args":["Ada"]}}}"#),
            Push(
                json: #"{"aps":{"content-available":1},"inbox":"\#(longWord)"}"#,
                headers: ["apns-push-type: background", "apns-priority: 5"]),
            Push(
                json: #"{"caller":"Ada","handle":"+49 40 123"}"#,
                headers: ["apns-push-type: voip", "apns-topic: com.example.app.voip"]),
            Push(
                json: #"{"aps":{"event":"start","timestamp":1,"attributes-type":"Match","attributes":{"home":"A"},"#
                    + #""content-state":{"score":"0:0"},"alert":{"title":"Kick-off","body":"It has begun."}}}"#,
                headers: [
                    "apns-push-type: liveactivity", "apns-topic: com.example.app.push-type.liveactivity",
                ]),
            Push(
                json: #"{"aps":{"content-changed":true}}"#,
                headers: ["apns-push-type: widgets", "apns-topic: com.example.app.push-type.widgets"]),
        ]
    }

    /// Faults of different kinds, with the members that the page can show.
    ///
    /// The first fault leaves pushes to devices that start with `ff` unanswered.
    static let faults: [String] = [
        #"{"match":{"device_prefix":"ff"},"action":"silence"}"#,
        #"{"match":{"topic":"com.example.other","push_type":"alert"},"share":0.125,"count_max":1000,"#
            + #""action":{"latency":{"median_ms":20,"p99_ms":2000}}}"#,
        #"{"match":{"environment":"sandbox","service":"push"},"action":{"answer":{"status":503}}}"#,
        #"{"match":{"device_prefix":"\#(String(repeating: "f", count: 64))"},"action":{"reset_stream":"CANCEL"}}"#,
        #"{"trigger":"connection","match":{"environment":"sandbox"},"#
            + #""action":{"settings":{"max_concurrent_streams":1,"header_table_bytes":0}}}"#,
        #"{"match":{"idle_seconds_min":3600},"action":{"goaway":{"debug":"x"}}}"#,
    ]

    /// Malformed and unusual pushes, some of which the simulator refuses.
    static let oddPushes: [Push] =
        oddPayloads.map { Push(json: $0) } + [
            Push(json: #"{"aps":{"alert":"Hello"}}"#, headers: ["apns-push-type: constructor"]),
            Push(json: #"{"aps":{"alert":"Hello"}}"#, headers: ["apns-priority: constructor"]),
            Push(
                json: #"{"aps":{"event":"constructor","timestamp":1,"content-state":{}}}"#,
                headers: ["apns-topic: com.example.app.push-type.liveactivity", "apns-push-type: liveactivity"]),
        ]

    private static let oddPayloads: [String] = [
        #"{}"#, #"{"aps":null}"#, #"{"aps":[]}"#, #"{"aps":"text"}"#, #"{"aps":{"alert":null}}"#,
        #"{"aps":{"alert":[[["a"]]]}}"#, #"{"aps":{"alert":12.5,"badge":"3","sound":[],"thread-id":{}}}"#,
        #"{"aps":{"alert":{"title":{"title":{}},"body":[1],"loc-args":"x","loc-key":"K"}}}"#,
        #"{"aps":{"alert":{"title":{"loc-key":"A","loc-args":[null,{},["b"]]}}}}"#,
        #"{"aps":{"alert":"\u202Etxet\u202C \u0000 \ud800 \ufeff"}}"#,
        #"{"aps":{"badge":-1e308,"sound":{"critical":1,"volume":"loud"}}}"#,
        #"{"aps":{"badge":99999999999999999999}}"#, #"{"__proto__":{"aps":{}},"constructor":1}"#,
        #"{"aps":{"interruption-level":"constructor","alert":"\#(String(repeating: "́", count: 900))"}}"#,
        #"{"deep":"# + String(repeating: "[", count: 1500) + String(repeating: "]", count: 1500) + "}",
        #"{"aps":{"alert":{"body":"\#(String(repeating: #"\n"#, count: 500))"}}}"#,
    ]
}

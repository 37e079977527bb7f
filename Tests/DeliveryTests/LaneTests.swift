import AMQP
import APNSProtocol
import APNSSimulator
import BrokerTopology
import EventLoop
import JSON
import JSONSchema
import Telemetry
import TestKit
import Testing

@testable import Delivery

/// A lane with a scripted broker, on virtual time.
@Suite struct LaneTests {
    @Test func aSilentBrokerDoesNotDelayTheDrain() throws {
        let harness = try LaneHarness()
        try #require(harness.run { harness.isReady })
        let began = harness.loop.now.monotonic
        harness.onLoop { harness.broker.setSilent(true) }
        harness.drain(deadlineSeconds: 3)
        #expect(harness.run { harness.unfinished == 0 })
        // The deadline, two seconds for settlements, and a second for each of the two connections.
        #expect(began.duration(to: harness.loop.now.monotonic) <= .seconds(7))
    }

    @Test func repeatedPublishesDoNotFillTheLog() throws {
        let log = try CapturedLog()
        let harness = try LaneHarness(log: log.log)
        try #require(harness.run { harness.isReady })
        harness.onLoop { harness.broker.behavior.nackPercent = 100 }
        for number in 1...10 { harness.request("nor is \(number)") }
        #expect(harness.run { harness.counters.publishRepeats.value >= 50 })
        #expect(log.lines().count { $0.contains("publishing blocked") } == 1)
        let hourLater = harness.loop.now.monotonic + .seconds(3600)
        #expect(harness.run { harness.loop.now.monotonic >= hourLater })
        #expect(51...61 ~= log.lines().count { $0.contains("publishing blocked") }, "not one line a minute")
    }

    // A lane that kept counting the bytes of lost deliveries would finally stop consuming.
    @Test func deliveriesOfALostChannelAreNotInFlight() throws {
        let harness = try LaneHarness(bodyBytesMax: 20_000)
        try #require(harness.run { harness.isReady })
        var results = 0
        for _ in 0..<50 {
            harness.onLoop {
                for _ in 0..<10 { harness.publish(String(repeating: "x", count: 1000)) }
                harness.broker.closeChannels(541, "INTERNAL_ERROR")
            }
            results += 10
            try #require(harness.run { harness.broker.queue(harness.names.resultsQueue)?.published ?? 0 >= results })
        }
    }

    @Test func aDeadLetterHasTheFirstFailureAndThePossibleDuplicate() throws {
        let harness = try LaneHarness()
        try #require(harness.run { harness.isReady })
        harness.request("not JSON")
        harness.request("nor this", headers: ["push-first-failed-at": 7, "push-possible-duplicate": true])
        harness.request("nor that", headers: ["push-first-failed-at": "yesterday"])
        #expect(harness.run { harness.deadLetters.count == 3 })
        #expect(harness.deadLetters.map { $0.properties.header("push-possible-duplicate") } == [false, true, false])
        #expect(harness.deadLetters.map { $0.properties.header("push-first-failed-at") } == [nil, 7, nil])
    }

    @Test(arguments: [
        (#""collapse_id":"\#(String(repeating: "ü", count: 33))","payload":{"aps":{"alert":"x"}}"#, "collapse_id"),
        (#""payload":{"aps":{"alert":"\#(String(repeating: "x", count: 4096))"}}"#, "payload"),
    ])
    func aRequestThatExceedsALimitInBytesIsInvalid(_ members: String, _ name: String) throws {
        let app = AppDirectory.App(bundleID: "com.example.shop", defaultEnvironment: .sandbox, sandbox: .init(0))
        let harness = try LaneHarness(apps: [app])
        try #require(harness.run { harness.isReady })
        harness.request(
            #"""
            {"id":"6f1c7c1e-3c52-4a53-9c1b-0d6c0a4be1aa","app":"com.example.shop","device_token":"aabb",
             "push_type":"alert",\#(members)}
            """#)
        #expect(harness.run { harness.deadLetters.count == 1 })
        let headers = try #require(harness.deadLetters.first?.properties)
        #expect(headers.header("push-reason-class") == "limit")
        #expect(headers.header("push-reason-code") == .string(name))
        #expect(headers.header("push-error-path") == .string("/\(name)"))
    }

    @Test func aBackgroundPushHasPriorityFive() throws {
        let fixture = try LaneAPNSHarness()
        fixture.harness.request(
            #"""
            {"id":"\#(LaneAPNSHarness.id(0))","app":"\#(SimulatedApps.bundleID(0))","device_token":"aabb",
             "push_type":"background","payload":{"aps":{"content-available":1}}}
            """#)
        #expect(fixture.harness.run { fixture.results == 1 })
        #expect(fixture.pushes.first?.headers.first { $0.name == "apns-priority" }?.value == "5")
    }

    /// Row 50 of the conformance table. A result repeats the device token exactly as the producer wrote it.
    @Test func aDeviceTokenIsSentAndReportedUnchanged() throws {
        let fixture = try LaneAPNSHarness()
        fixture.harness.request(LaneAPNSHarness.message(0, app: 0).replacing("aabb", with: "AAbbCC0d"))
        #expect(fixture.harness.run { fixture.results == 1 })
        #expect(fixture.pushes.map(\.status) == [200] && fixture.pushes.first?.deviceToken == "AAbbCC0d")
        let result = try #require(fixture.harness.queue(fixture.harness.names.resultsQueue)?.ready.first)
        #expect(try JSONDocument(result.body).root["device_token"]?.string == "AAbbCC0d")
    }

    // The limit counts bytes of UTF-8, not characters.
    @Test(arguments: [("alert", 4096, "x"), ("alert", 4096, "ü"), ("voip", 5120, "x"), ("liveactivity", 4096, "x")])
    func theLargestPayloadIsSentAndALargerOneIsNot(type: String, bytesMax: Int, character: String) throws {
        let fixture = try LaneAPNSHarness()
        let aps =
            type == "liveactivity" ? #"{"timestamp":1,"event":"update","content-state":{}}"# : #"{"alert":"x"}"#
        func payload(_ bytes: Int) -> String {
            let frame = #"{"aps":\#(aps),"x":""}"#
            let (count, rest) = (bytes - frame.utf8.count).quotientAndRemainder(dividingBy: character.utf8.count)
            let text = String(repeating: character, count: count) + String(repeating: "-", count: rest)
            return #"{"aps":\#(aps),"x":"\#(text)"}"#
        }
        for (number, bytes) in [bytesMax, bytesMax + 1].enumerated() {
            fixture.harness.request(
                #"""
                {"id":"\#(LaneAPNSHarness.id(number))","app":"\#(SimulatedApps.bundleID(0))","device_token":"aabb",
                 "push_type":"\#(type)","payload":\#(payload(bytes))}
                """#)
        }
        #expect(fixture.harness.run { fixture.results == 2 })
        #expect(fixture.pushes.map(\.payloadByteCount) == [bytesMax])
        let headers = try #require(fixture.harness.deadLetters.first?.properties)
        #expect(headers.header("push-reason-class") == "limit" && headers.header("push-error-path") == "/payload")
    }

    @Test func aPushWithoutACredentialIsInvalid() throws {
        let app = AppDirectory.App(
            bundleID: "com.example.shop", defaultEnvironment: .sandbox,
            sandbox: .init { $0 == .device(.voip) ? 0 : nil })
        let harness = try LaneHarness(apps: [app])
        try #require(harness.run { harness.isReady })
        harness.request(
            #"""
            {"id":"6f1c7c1e-3c52-4a53-9c1b-0d6c0a4be1aa","app":"com.example.shop","device_token":"aabb",
             "push_type":"alert","payload":{"aps":{"alert":"x"}}}
            """#)
        #expect(harness.run { harness.deadLetters.count == 1 })
        let headers = try #require(harness.deadLetters.first?.properties)
        #expect(headers.header("push-reason-class") == "app")
        #expect(
            headers.header("push-reason") == """
                No key or certificate is configured for com.example.shop in sandbox: correct environment, or add a key \
                or certificate to the configuration.
                """)
    }

    @Test(arguments: [(64, nil), (65, "collapse_id")])
    func theLongestCollapseIDIsAccepted(_ bytes: Int, _ code: String?) throws {
        let id = String(repeating: "c", count: bytes)
        let message = try JSONDocument(Array(#"{"push_type":"alert","payload":{},"collapse_id":"\#(id)"}"#.utf8))
        #expect(MessageLimits.violation(of: message.root)?.code == code)
    }

    @Test(arguments: [
        (
            "org.other", nil,
            "No app \"org.other\" is configured here: correct the member app, or add the app under apps in the "
                + "configuration."
        ),
        ("com.a.shp", "com.a.shop", #"No app "com.a.shp" is configured here: did you mean com.a.shop?"#),
        (
            "com.example.shop.voip", nil,
            #"No app "com.example.shop.voip" is configured here: remove .voip from app; push_type adds the suffix."#
        ),
        (
            String(repeating: "0a1b", count: 16), nil,
            "No app \"0a1b0a1b…+56\" is configured here: correct the member app, or add the app under apps in the "
                + "configuration."
        ),
    ])
    func anUnknownAppIsReportedWithASuggestion(_ app: String, _ nearest: String?, _ sentence: String) {
        let violation = RequestViolation.unknownApp(app, nearest: nearest)
        #expect(violation == RequestViolation(.app, "unknown", path: "/app", sentence))
    }

    @Test(arguments: [
        ("com.example.app5.shopp", "com.example.app5.shop"),
        ("Com.Example.App12.Shop", "com.example.app12.shop"), ("org.nobody", nil), ("", nil),
        (String(repeating: "x", count: 400), nil),
    ])
    func theNearestOfManyAppsIsFound(_ name: String, _ nearest: String?) {
        let apps = AppDirectory(
            (0..<1000).map { .init(bundleID: "com.example.app\($0).shop", defaultEnvironment: .production) })
        #expect(apps.nearest(to: name) == nearest)
    }

    // The producer can match the result by the message id.
    @Test func anUnreadableRequestIsReportedByItsMessageID() throws {
        let harness = try LaneHarness()
        try #require(harness.run { harness.isReady })
        let id = "6f1c7c1e-3c52-4a53-9c1b-0d6c0a4be1aa"
        harness.request(id)
        #expect(harness.run { harness.deadLetters.count == 1 })
        #expect(harness.deadLetters.map { $0.properties.header("push-reason-class") } == ["json"])
        #expect(harness.deadLetters.map { $0.properties.header("push-apns-id") } == [.string(id)])
    }

    /// A result repeats the device token of an invalid request if the token is a string of a plausible length.
    @Test(arguments: [
        (#""aabb""#, "aabb"), (#""\u0061abb""#, "aabb"), ("7", nil),
        (#""\#(String(repeating: "a", count: 600))""#, nil),
    ])
    func anInvalidRequestReportsItsDeviceToken(_ token: String, _ reported: String?) throws {
        let harness = try LaneHarness()
        try #require(harness.run { harness.isReady })
        harness.request(#"{"app":"com.example.shop","device_token":\#(token),"push_type":"none","payload":{}}"#)
        try #require(harness.run { harness.queue(harness.names.resultsQueue)?.ready.count == 1 })
        let result = try #require(harness.queue(harness.names.resultsQueue)?.ready.first)
        #expect(try JSONDocument(result.body).root["device_token"]?.string == reported)
    }

    @Test func theBrokerMovesOversizedBodies() throws {
        let harness = try LaneHarness(bodyBytesMax: 100)
        try #require(harness.run { harness.isReady })
        let body = Array(repeating: UInt8(ascii: "x"), count: 101)
        harness.onLoop {
            // The broker's dead letter keeps the message id of the request unchanged.
            for id in [nil, nil, "6F1C7C1E-3C52-4A53-9C1B-0D6C0A4BE1AA"] {
                _ = harness.broker.publish(
                    exchange: harness.names.requestsExchange, routingKey: "-", messageID: id, body: body)
            }
        }
        let hasResults = harness.run {
            harness.queue(harness.names.resultsQueue)?.ready.count == 3 && harness.deadLetters.count == 3
        }
        try #require(hasResults)
        let results = try #require(harness.queue(harness.names.resultsQueue)).ready
        for result in try results.map({ try JSONDocument($0.body).root }) {
            #expect(result["outcome"]?.string == "invalid" && result["error"]?["class"]?.string == "size")
        }
        #expect(Set(results.map(\.properties.messageID)).count == 3, "two results share a message id")
        #expect(results.last?.properties.messageID == harness.deadLetters.last?.properties.messageID)
        #expect(harness.counters.rejected.value == 3 && harness.counters.acknowledged.value == 0)
    }

    @Test(arguments: [
        ("gzip", "property"), ("X-GZIP", "property"), ("identity, br", "property"), ("zstd", "property"),
        ("deflate;q=1", "property"), ("UTF-8", "json"), ("identity", "json"), ("binary", "json"), ("", "json"),
        ("8bit", "json"), ("ascii", "json"), ("utf8", "json"), ("none", "json"),
        (String(repeating: "x", count: 255), "json"),
    ])
    func aBodyMarkedAsCompressedIsNotRead(_ encoding: String, _ refusal: String) throws {
        let harness = try LaneHarness()
        try #require(harness.run { harness.isReady })
        harness.onLoop {
            _ = harness.broker.publish(
                exchange: harness.names.requestsExchange, routingKey: "-", contentEncoding: encoding,
                body: [0x1F, 0x8B])
        }
        #expect(harness.run { harness.deadLetters.count == 1 })
        #expect(harness.deadLetters.first?.properties.header("push-reason-class") == .string(refusal))
        #expect(harness.deadLetters.first?.properties.contentEncoding == encoding)
    }

    // The content encoding may be wrong, so a readable body still identifies the request.
    @Test(arguments: [false, true]) func aBodyMarkedAsCompressedKeepsItsID(_ isEvent: Bool) throws {
        let harness = try LaneHarness()
        try #require(harness.run { harness.isReady })
        let request = LaneAPNSHarness.message(7, app: 0)
        let body =
            isEvent ? #"{"specversion":"1.0","id":"e","source":"s","type":"t","data":\#(request)}"# : request
        harness.onLoop {
            _ = harness.broker.publish(
                exchange: harness.names.requestsExchange, routingKey: "-", messageID: "other", contentEncoding: "gzip",
                body: Array(body.utf8))
        }
        #expect(harness.run { harness.deadLetters.count == 1 })
        let properties = try #require(harness.deadLetters.first?.properties)
        #expect(properties.header("push-apns-id") == .string(LaneAPNSHarness.id(7)))
        #expect(properties.header("push-reason-code") == "content-encoding")
        #expect(properties.header("push-reason")?.stringValue?.contains("(gzip)") == true)
    }

    /// A result repeats the app of an invalid request unless the text is too long for an app.
    @Test(arguments: [(512, true), (513, false)]) func anInvalidRequestReportsItsApp(_ bytes: Int, _ isReported: Bool)
        throws
    {
        let harness = try LaneHarness()
        try #require(harness.run { harness.isReady })
        let app = String(repeating: "a", count: bytes)
        harness.request(#"{"app":"\#(app)"}"#)
        try #require(harness.run { harness.queue(harness.names.resultsQueue)?.ready.count == 1 })
        let result = try #require(harness.queue(harness.names.resultsQueue)?.ready.first)
        #expect(try JSONDocument(result.body).root["app"]?.string == (isReported ? app : nil))
    }

    // The request may be the cause of crashes.
    @Test func aRepeatedlyDeliveredRequestIsLogged() throws {
        let log = try CapturedLog()
        let fixture = try LaneAPNSHarness(log: log.log)
        try fixture.harness.onLoop {
            try fixture.apns.faults.put(Fault(id: "slow", action: .latency(.constant(25_000))))
        }
        fixture.request(1)
        try #require(fixture.harness.run { fixture.pushes.count == 1 })
        for delivery in 2...4 {
            fixture.harness.onLoop { fixture.harness.broker.closeChannels(541, "INTERNAL_ERROR") }
            let deliveries = { fixture.harness.counters.registry.count(of: "martlet_deliveries_total") }
            try #require(fixture.harness.run { deliveries() >= delivery })
        }
        #expect(fixture.harness.run { fixture.harness.counters.quarantined.value == 1 && fixture.results == 1 })
        let lines = log.lines().filter { $0.contains("moved to quarantine") }
        #expect(lines.count == 1 && lines[0].contains("push.requests"))
    }

    // Only redeliveries carry the broker's own count.
    @Test func aProducersDeliveryCountIsIgnored() throws {
        let fixture = try LaneAPNSHarness()
        fixture.harness.request(LaneAPNSHarness.message(0, app: 0), headers: ["x-delivery-count": 9])
        #expect(fixture.harness.run { fixture.results == 1 })
        #expect(fixture.pushes.count == 1 && fixture.harness.counters.quarantined.value == 0)
    }

    @Test(arguments: [
        (
            #"{"specversion":"1.0","id":"1","source":"/shop","type":"push","data_base64":"e30="}"#,
            "because the event has no data, which must be the request; data_base64 is not supported."
        ),
        (
            #"[{"specversion":"1.0","id":"1","source":"/shop","type":"push","data":{}}]"#,
            "because the body is a batch of CloudEvents: publish each event as a separate AMQP message."
        ),
        (
            #"{"specversion":"0.3","id":"1","source":"/shop","type":"push","data":{}}"#,
            "because only CloudEvents 1.0 is supported, and the event has version 0.3."
        ),
        (
            #"{"specversion":"1.0","id":"1","source":"/shop","type":"push","data":"text"}"#,
            "/data must be an object."
        ),
        (
            #"{"app":"com.example.shop","device_token":"aabb","push_type":"alert","payload":{"aps":{"alert":"x"}},"environment":"prod"}"#,
            #"/environment must be one of "production", "sandbox" (did you mean "production"?)."#
        ),
        (
            #"{"app":"com.example.shop","push_type":"alert","device_token":"aabb","aps":{"alert":"hi"}}"#,
            "; aps belongs in payload."
        ),
        (
            #"{"app":"com.example.shop","push_type":"alert","device_token":"aabb","aps":{},"payload":{"aps":{"alert":"x"}}}"#,
            "/aps is not a known property; aps belongs in payload."
        ),
        (
            #"{"app":"com.example.shop","device_token":"aabb","type":"alert","payload":{"aps":{"alert":"x"}}}"#,
            "; use push_type instead of type."
        ),
        (
            #""{\"app\": \"com.example.shop\"}""#,
            "not a string that contains JSON: write the object without quotes around it."
        ),
        (
            #"{"app":"com.example.shop","device_token":"aabb","push_type":"alert","payload":"{\"aps\":{}}"}"#,
            "/payload must be an object, not a string that contains JSON: write the object without quotes around it."
        ),
        (
            #"{"app":"com.example.shop","payload":{"aps":{"badge":1,"badge":2}}}"#,
            "the object already has this key, /payload/aps/badge."
        ),
    ])
    func commonMistakesAreExplained(_ body: String, _ sentence: String) throws {
        let harness = try LaneHarness()
        try #require(harness.run { harness.isReady })
        harness.request(body)
        #expect(harness.run { harness.deadLetters.count == 1 })
        let reason = try #require(harness.deadLetters.first?.properties.header("push-reason")?.stringValue)
        #expect(reason.hasSuffix(sentence), "\(reason)")
    }

    @Test func aRequestWithoutAnIDIsReported() throws {
        let harness = try LaneHarness()
        try #require(harness.run { harness.isReady })
        harness.onLoop {
            for headers: FieldTable in [["cloudEvents_specversion": "1.0"], ["id": "1"]] {
                _ = harness.broker.publish(
                    exchange: harness.names.requestsExchange, routingKey: "-", headers: headers,
                    body: Array(
                        #"{"app":"a","device_token":"aabb","push_type":"alert","payload":{"aps":{"alert":"x"}}}"#.utf8))
            }
            _ = harness.broker.publish(
                exchange: harness.names.requestsExchange, routingKey: "-", headers: [:], body: [0x1F, 0x8B, 8, 0, 0])
        }
        #expect(harness.run { harness.deadLetters.count == 3 })
        let reasons = harness.deadLetters.compactMap { $0.properties.header("push-reason")?.stringValue }
        #expect(reasons.dropLast().allSatisfy { $0.hasSuffix("at every publish.") })
        #expect(
            reasons.last == "The body is not JSON, at line 1, column 1: the text is compressed (gzip, zlib or zstd); "
                + "write uncompressed text.")
    }

    @Test func anAppsPayloadSchemaAppliesAndCanBeReplaced() throws {
        func schemas(_ text: String) throws -> PayloadSchemas {
            PayloadSchemas([try CompiledSchema(JSONDocument(text))], ofApps: [0])
        }
        let app = AppDirectory.App(bundleID: "com.example.shop", defaultEnvironment: .sandbox, sandbox: .init(0))
        let harness = try LaneHarness(apps: [app], payloadSchemas: try schemas(#"{"required":["order"]}"#))
        try #require(harness.run { harness.isReady })
        let request = #"""
            {"id":"6f1c7c1e-3c52-4a53-9c1b-0d6c0a4be1aa","app":"com.example.shop","device_token":"aabb",
             "push_type":"alert","payload":{"aps":{"alert":"x"},"shop":{"number":"7"}}}
            """#
        harness.request(request)
        #expect(harness.run { harness.deadLetters.count == 1 })
        harness.replace(try schemas(#"{"properties":{"shop":{"properties":{"number":{"type":"integer"}}}}}"#))
        harness.request(request)
        #expect(harness.run { harness.deadLetters.count == 2 })
        func headers(_ name: String) -> [FieldValue?] { harness.deadLetters.map { $0.properties.header(name) } }
        #expect(headers("push-reason-class") == ["schema", "schema"])
        #expect(headers("push-reason-code") == ["required", "type"])
        #expect(headers("push-error-path") == ["/payload", "/payload/shop/number"])
    }
}

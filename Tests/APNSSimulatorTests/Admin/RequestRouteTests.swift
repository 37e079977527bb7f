import EventLoop
import JSON
import TestKit
import Testing

@testable import APNSSimulator

@Suite struct RequestRouteTests {
    private static let ids = (1...5).map { "00000000-0000-4000-8000-00000000000\($0)" }

    /// Sends five pushes: valid, valid with the same ID, bad device token, unregistered, valid to another device.
    private static func pushAll(_ simulator: AdminSimulator) async throws {
        let client = try await simulator.connectProvider()
        _ = try await simulator.push(client, id: ids[0], body: #"{"aps":{"alert":"One"}}"#)
        _ = try await simulator.push(client, id: ids[0], body: #"{"aps":{"alert":"Two"}}"#)
        _ = try await simulator.push(client, to: "xyz", id: ids[1])
        _ = try await simulator.push(client, to: "dead01", id: ids[2])
        _ = try await simulator.push(client, to: "abcdef0123456789", id: ids[3])
    }

    private func run(_ talk: @escaping @Sendable (AdminSimulator) async throws -> Void) async throws {
        try await AdminSimulator.run { configuration, state in
            configuration.requestsLoggedMax = 4
            state.deviceRules = [DeviceRule(prefix: "dead", condition: .unregistered(sinceMilliseconds: 12))]
        } _: { simulator in
            try await talk(simulator)
        }
    }

    private func numbers(_ simulator: AdminSimulator, _ query: String) async throws -> [Int?] {
        try #require(try await simulator.json("/v1/requests" + query).root["requests"]).elements.map {
            $0["number"]?.int
        }
    }

    @Test func `Requests are listed in their order`() async throws {
        try await run { simulator in
            try await simulator.expect("GET", "/v1/requests", is: #"{"requests":[],"newest":0,"dropped":0}"#)
            try await Self.pushAll(simulator)
            let page = try await simulator.json("/v1/requests").root
            #expect(page["newest"]?.int == 5 && page["dropped"]?.int == 1)
            let requests = try #require(page["requests"]).elements.map { $0 }
            #expect(requests.map { $0["number"]?.int } == [2, 3, 4, 5])
            #expect(requests.map { $0["status"]?.int } == [200, 400, 410, 200])
            #expect(requests.map { $0["reason"]?.string } == [nil, "BadDeviceToken", "Unregistered", nil])
            #expect(requests.map { $0["duplicate"]?.bool } == [true, false, false, false])
            let first = requests[0]
            #expect(first["payload"]?.string == #"{"aps":{"alert":"Two"}}"#)
            #expect(first["environment"]?.string == "sandbox" && first["service"]?.string == "push")
            #expect(first["connection"]?.int == 1 && first["stream"]?.int == 3)
            #expect(first["topic"]?.string == "com.example.app" && first["push_type"]?.string == "alert")
            let names = try #require(first["headers"]).elements.map { $0["name"]?.string }
            #expect(names.prefix(2) == [":method", ":scheme"])
            let forms = Set(try #require(first["headers"]).elements.map { $0["representation"]?.string })
            #expect(forms.contains("never_indexed") && forms.contains("indexed"))
        }
    }

    @Test func `Device tokens and signatures are not shown`() async throws {
        try await run { simulator in
            try await Self.pushAll(simulator)
            let text = try await simulator.request("GET", "/v1/requests").body
            #expect(!text.contains(Conversation.deviceToken))
            let token = try #require(text.firstMatch(of: /"authorization":"(bearer [^"]*)"/)).1
            #expect(token.split(separator: ".").count == 2, "\(token)")
            let whole = try await simulator.request("GET", "/v1/requests?full_tokens=1").body
            #expect(whole.contains(#""device_token":"\#(Conversation.deviceToken)""#))
        }
    }

    @Test func `Requests are filtered by their values`() async throws {
        try await run { simulator in
            try await Self.pushAll(simulator)
            #expect(try await numbers(simulator, "?after=3") == [4, 5])
            #expect(try await numbers(simulator, "?after=0&limit=2") == [2, 3])
            #expect(try await numbers(simulator, "?limit=2") == [4, 5])
            #expect(try await numbers(simulator, "?after=5") == [])
            #expect(try await numbers(simulator, "?apns_id=\(Self.ids[0])") == [2])
            #expect(try await numbers(simulator, "?apns_id=\(Self.ids[3].uppercased())") == [5])
            #expect(try await numbers(simulator, "?device=ABCDEF") == [5])
            #expect(try await numbers(simulator, "?topic=com.example.app") == [2, 3, 4, 5])
            #expect(try await numbers(simulator, "?topic=com.example") == [])
            #expect(try await numbers(simulator, "?status=410") == [4])
            #expect(try await numbers(simulator, "?reason=BadDeviceToken") == [3])
            #expect(try await numbers(simulator, "?connection=1&status=200") == [2, 5])
            #expect(try await numbers(simulator, "?connection=2") == [])
        }
    }

    @Test(arguments: [
        ("after=x", "after must be a whole number from 0 to 9223372036854775807"),
        ("limit=0", "limit must be a whole number from 1 to 1000"),
        ("limit=", "limit must be a whole number from 1 to 1000"),
        ("apns_id=1", "apns_id must be a UUID"), ("status=99", "status must be a whole number from 100 to 599"),
        ("device=xyz", "device must be the start of a device token, in hexadecimal digits"),
        ("wait_seconds=61", "wait_seconds must be a whole number from 0 to 60"),
        ("full_tokens=yes", "full_tokens must be a whole number from 0 to 1"),
    ])
    func `Invalid queries are refused with the error`(query: String, sentence: String) async throws {
        try await run { simulator in
            try await simulator.expect(
                "GET", "/v1/requests?\(query)", is: #"{"error":"\#(sentence)"}"#, status: 400)
        }
    }

    @Test func `Waiting clients receive a matching request`() async throws {
        try await run { simulator in
            let waiting = try await simulator.connect()
            waiting.send("GET", "/v1/requests?apns_id=\(Self.ids[3])&wait_seconds=20")
            let other = try await simulator.connect()
            other.send("GET", "/v1/requests?status=200&after=0&wait_seconds=20")
            try await Self.pushAll(simulator)
            let page = try JSONDocument(try await waiting.response().body).root
            #expect(page["requests"]?.elements.map { $0["apns_id"]?.string } == [Self.ids[3]])
            let second = try JSONDocument(try await other.response().body).root
            #expect(second["requests"]?.elements.map { $0["number"]?.int } == [1])
            // A matching request that is already in the log ends the wait immediately.
            #expect(try await numbers(simulator, "?status=410&wait_seconds=20") == [4])
        }
    }

    @Test func `A wait without a match times out`() async throws {
        try await run { simulator in
            let body = #"{"error":"no matching request within 1 s"}"#
            try await simulator.expect("GET", "/v1/requests?topic=none&wait_seconds=1", is: body, status: 408)
        }
    }

    @Test func `A closed connection does not wait`() async throws {
        try await run { simulator in
            // The number of consecutive waits may exceed the limit of concurrent waits.
            for _ in 0..<(RequestWaits.waitsMax + 10) {
                let waiting = try await RawHTTPClient.connect(to: simulator.admin.endpoint, on: simulator.loop)
                waiting.send("GET", "/v1/requests?wait_seconds=60")
                waiting.finishWriting()
                _ = try await waiting.rest()
                waiting.close()
            }
            let last = try await simulator.connect()
            last.send("GET", "/v1/requests?wait_seconds=20")
            try await Self.pushAll(simulator)
            #expect(try await last.response().status == 200)
        }
    }

    @Test func `Waiting is refused without a log`() async throws {
        try await AdminSimulator.run { configuration, _ in
            configuration.requestsLoggedMax = 0
        } _: { simulator in
            let body = #"{"error":"requests are not logged: start the simulator with --requests-logged above 0"}"#
            try await simulator.expect("GET", "/v1/requests?wait_seconds=1", is: body, status: 409)
            try await simulator.expect("GET", "/v1/requests", is: #"{"requests":[],"newest":0,"dropped":0}"#)
        }
    }

    @Test func `Duplicate IDs are listed`() async throws {
        try await run { simulator in
            try await simulator.expect("GET", "/v1/duplicates", is: #"{"duplicates":[]}"#)
            try await Self.pushAll(simulator)
            let list = try #require(try await simulator.json("/v1/duplicates").root["duplicates"])
            #expect(list.elements.map { $0["apns_id"]?.string } == [Self.ids[0]])
            #expect(list.elements.map { $0["times"]?.int } == [2])
        }
    }
}

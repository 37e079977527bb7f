import APNSProtocol
import Crypto
import EventLoop
import JSON
import TestKit
import Testing

@testable import APNSSimulator

/// Tests of the routes for the complete state.
@Suite struct StateRouteTests {
    @Test("PUT of the state from GET changes nothing") func roundTrip() async throws {
        try await AdminSimulator.run { _, state in
            state.add(Device(token: "aa01", bundleID: "com.example.app", condition: .expired(sinceMilliseconds: 9)))
            state.deviceRules = [DeviceRule(prefix: "dead", condition: .unregistered(sinceMilliseconds: 5))]
            state.addApp(bundleID: "com.example.live", teamID: "TEAM000001", allowsBroadcasts: true)
            state.add(
                Channel(id: "AAAA", bundleID: "com.example.live", environment: .sandbox, storagePolicy: .newest))
            state.rules.requestsPerDeviceMax = 7
        } _: { simulator in
            try simulator.server.faults.put(
                Fault(id: "f", match: FaultMatch(devicePrefix: "0b"), action: .answer(.refused(.forbidden)), share: 0.5)
            )
            let before = try await simulator.request("GET", "/v1/state")
            #expect(before.status == 200)
            try await simulator.expect("PUT", "/v1/state", before.body, is: String(before.body.dropLast()))
            let client = try await simulator.connectProvider()
            #expect(try await simulator.push(client).status == 200)
            #expect(try await simulator.push(client, to: "AA01").body == #"{"reason":"ExpiredToken","timestamp":9}"#)
            try await simulator.expect("PUT", "/v1/state", "{}", is: Self.emptyState)
            #expect(simulator.server.faults.isEmpty)
            #expect(try await simulator.push(client).body == #"{"reason":"InvalidProviderToken"}"#)
        }
    }

    private static let switches = RuleOptions.codec.help.map(\.name).joined(separator: ", ")

    private static let emptyState: String = {
        var json = JSONWriter()
        StateDocument().write(to: &json)
        return String(decoding: json.bytes, as: UTF8.self)
    }()

    @Test("An invalid state changes nothing, and is refused with the error") func mistakes()
        async throws
    {
        try await AdminSimulator.run { simulator in
            let before = try await simulator.request("GET", "/v1/state").body
            try await simulator.expect(
                "PUT", "/v1/state", "{\"teams\": [],\n \"devices\": [{\"token\": \"aa\"}]}",
                is: #"{"error":"2:14: app is missing in a device"}"#, status: 400)
            try await simulator.expect(
                "PUT", "/v1/state", #"{"rules":{"gaet":"off"}}"#,
                is: #"{"error":"unknown member 'gaet' in rules; known: \#(Self.switches); did you mean gate?"}"#,
                status: 400)
            let notJSON = try await simulator.request("PUT", "/v1/state", "teams:")
            #expect(notJSON.status == 400 && notJSON.body.hasPrefix(#"{"error":"the body is not JSON: "#))
            #expect(try await simulator.request("POST", "/v1/state", "{}").status == 405)
            #expect(try await simulator.request("GET", "/v1/state").body == before)
        }
    }

    @Test("Switches change individually") func rules() async throws {
        try await AdminSimulator.run { simulator in
            try await simulator.expect(
                "PUT", "/v1/rules", #"{"device_requests_per_second_max":1}"#,
                is: {
                    var rules = RuleOptions()
                    rules.gate = .off
                    rules.requestsPerDeviceMax = 1
                    var json = JSONWriter()
                    RuleOptions.codec.write(rules, to: &json)
                    return String(decoding: json.bytes, as: UTF8.self)
                }())
            let client = try await simulator.connectProvider()
            var bodies: Set<String> = []
            for _ in 0..<3 { bodies.insert(try await simulator.push(client).body) }
            #expect(bodies.contains(#"{"reason":"TooManyRequests"}"#))
            let wrong = try await simulator.request("PUT", "/v1/rules", #"{"gate":"of"}"#)
            #expect(wrong.body == #"{"error":"gate must be enforce, announce or off; did you mean off?"}"# + "\n")
            #expect(try await simulator.json("/v1/rules").root["gate"]?.string == "off")
        }
    }

    @Test("A state can have a clock offset") func clock() async throws {
        try await AdminSimulator.run { simulator in
            for (body, seconds) in [(#"{"clock_offset_seconds":-90.5}"#, -90.5), ("{}", -90.5)] {
                #expect(try await simulator.request("PUT", "/v1/state", body).status == 200)
                #expect(try await simulator.json("/v1/clock").root["offset_seconds"]?.double == seconds)
            }
            let wrong = try await simulator.request("PUT", "/v1/state", #"{"clock_offset_seconds":1e300}"#)
            #expect(wrong.status == 400 && wrong.body.contains("clock_offset_seconds must be a number from"))
        }
    }

    @Test("A reset restores the state of the start") func reset() async throws {
        try await AdminSimulator.run { simulator in
            let before = try await simulator.request("GET", "/v1/state").body
            let client = try await simulator.connectProvider()
            #expect(try await simulator.push(client).status == 200)
            for keeps in [true, false] {
                _ = try await simulator.request("PUT", "/v1/devices/aa01", #"{"app":"com.example.app"}"#)
                _ = try await simulator.request("PUT", "/v1/clock", #"{"offset_seconds":30}"#)
                try simulator.server.faults.put(Fault(id: "f", action: .silence))
                try await simulator.expect(
                    "POST", "/v1/reset\(keeps ? "?keep=state" : "")", is: #"{"reset":true}"#)
                #expect(simulator.server.faults.isEmpty)
                #expect((try await simulator.request("GET", "/v1/state").body == before) == !keeps)
                #expect(try await simulator.json("/v1/clock").root["offset_seconds"]?.double == 0)
                #expect(try await simulator.json("/v1/requests").root["requests"]?.count == 0)
            }
            #expect(try await simulator.push(client).status == 200, "the open connection no longer serves pushes")
            try await simulator.expect(
                "POST", "/v1/reset?keep=all", is: #"{"error":"keep must be state"}"#, status: 400)
        }
    }
}

/// Tests of the routes for single devices, teams and channels.
@Suite struct StateMemberRouteTests {
    @Test("A device is registered, becomes unregistered, and is removed") func device() async throws {
        try await AdminSimulator.run { simulator in
            let client = try await simulator.connectProvider()
            let path = "/v1/devices/AA01"
            try await simulator.expect(
                "GET", path, is: #"{"error":"no device with this token is registered"}"#, status: 404)
            try await simulator.expect(
                "PUT", path, #"{"state":"expired"}"#, is: #"{"error":"app is missing in a device"}"#, status: 400)
            let active = #"{"token":"aa01","app":"com.example.app","environment":"sandbox","state":"active"}"#
            try await simulator.expect(
                "PUT", path, #"{"app":"com.example.app","environment":"sandbox"}"#, is: active)
            try await simulator.expect("GET", "/v1/devices", is: #"{"devices":[\#(active)]}"#)
            #expect(try await simulator.push(client, to: "aa01").status == 200)
            let gone = active.replacing("active", with: #"unregistered","since_ms":12"#).replacing(
                #"12"}"#, with: "12}")
            try await simulator.expect("PUT", path, #"{"state":"unregistered","since_ms":12}"#, is: gone)
            #expect(
                try await simulator.push(client, to: "aa01").body == #"{"reason":"Unregistered","timestamp":12}"#)
            try await simulator.expect("PUT", path, #"{"environment":"sandbox"}"#, is: gone)
            try await simulator.expect("DELETE", path, is: #"{"deleted":true}"#)
            #expect(try await simulator.request("DELETE", path).status == 404)
            #expect(
                try await simulator.push(client, to: "aa01").status == 200, "a push to an unknown device was refused")
            try await simulator.expect(
                "PUT", "/v1/devices/xyz", "{}",
                is: #"{"error":"the device token must be an even number of hexadecimal digits, at most 400"}"#,
                status: 400)
            try await simulator.expect(
                "PUT", path, #"{"token":"aa02","app":"a"}"#, is: #"{"error":"token must be the same as in the URL"}"#,
                status: 400)
        }
    }

    @Test(
        "The limit applies to the list of devices, and left_out is the number of omitted devices",
        arguments: [(1, 2), (2, 1), (3, 0), (4, 0)])
    func limit(_ limit: Int, leftOut: Int) async throws {
        let tokens = ["aa01", "aa02", "aa03"]
        try await AdminSimulator.run { _, state in
            for token in tokens.reversed() { state.add(Device(token: token, bundleID: "com.example.app")) }
        } _: { simulator in
            let listed = tokens.prefix(limit).map { #"{"token":"\#($0)","app":"com.example.app","state":"active"}"# }
            try await simulator.expect(
                "GET", "/v1/devices?limit=\(limit)",
                is: #"{"devices":[\#(listed.joined(separator: ","))],"left_out":\#(leftOut)}"#)
            #expect(try await simulator.json("/v1/devices").root["devices"]?.count == tokens.count)
            #expect(
                try await simulator.json("/v1/devices").root["left_out"] == nil, "left_out is present without a limit")
        }
    }

    @Test("A device without a time becomes inactive now, by the simulator's clock") func since() async throws {
        try await AdminSimulator.run { simulator in
            simulator.server.clockOffset = .seconds(-1000)
            let before = simulator.server.now.unixMilliseconds
            let body = try await simulator.request(
                "PUT", "/v1/devices/aa01", #"{"app":"com.example.app","state":"unregistered"}"#
            ).body
            let since = try #require(try JSONDocument(body).root["since_ms"]?.int64)
            #expect((before...simulator.server.now.unixMilliseconds).contains(since))
        }
    }

    @Test("A key in use is revoked, replaced and removed") func key() async throws {
        try await AdminSimulator.run { simulator in
            let client = try await simulator.connectProvider()
            let path = "/v1/teams/TEAM000001/keys/KEY0000001"
            let invalid = #"{"reason":"InvalidProviderToken"}"#
            #expect(try await simulator.push(client).status == 200)
            for (body, answer) in [(#"{"revoked":true}"#, invalid), (#"{"revoked":false}"#, ""), ("{}", "")] {
                let team = try JSONDocument(try await simulator.request("PUT", path, body).body).root
                #expect(team["keys"]?.count == 1)
                #expect(try await simulator.push(client).body == answer)
            }
            _ = try await simulator.request("PUT", path, #"{"environments":["production"]}"#)
            #expect(try await simulator.push(client).body == #"{"reason":"BadEnvironmentKeyIdInToken"}"#)
            let pem = try ES256PrivateKey.generate().publicKeyPEM().replacing("\n", with: "\\n")
            _ = try await simulator.request("PUT", path, #"{"public_key":"\#(pem)"}"#)
            #expect(try await simulator.push(client).body == invalid)
            try await simulator.expect("DELETE", path, is: #"{"deleted":true}"#)
            try await simulator.expect(
                "DELETE", path, is: #"{"error":"team TEAM000001 has no key KEY0000001"}"#, status: 404)
            try await simulator.expect(
                "PUT", path, "{}", is: #"{"error":"a key requires public_key or public_key_file"}"#, status: 400)
            try await simulator.expect(
                "PUT", path, #"{"public_key_file":"/etc/hostname"}"#,
                is: #"{"error":"public_key_file is valid in state files only; pass the text as public_key"}"#,
                status: 400)
            try await simulator.expect(
                "PUT", "/v1/teams/OTHER/keys/K", "{}", is: #"{"error":"team OTHER does not exist"}"#, status: 404)
        }
    }

    @Test("Missing members of a changed key keep their values") func keyMembers() async throws {
        try await AdminSimulator.run { simulator in
            let path = "/v1/teams/TEAM000001/keys/KEY0000001"
            _ = try await simulator.request(
                "PUT", path, #"{"environments":["sandbox"],"topics":["com.example.app"],"related_key":"KEY0000002"}"#)
            let before = try await simulator.request("GET", "/v1/teams/TEAM000001").body
            let revoked = try await simulator.request("PUT", path, #"{"revoked":true}"#).body
            #expect(revoked == before.replacing(#""revoked":false"#, with: #""revoked":true"#) && revoked != before)
            #expect(try await simulator.request("PUT", path, #"{"revoked":false}"#).body == before)
        }
    }

    @Test("Teams are created and removed, and apps move between them") func teams() async throws {
        try await AdminSimulator.run { simulator in
            let empty = #"{"id":"TEAM000002","apps":[],"keys":[],"certificates":[]}"#
            try await simulator.expect("PUT", "/v1/teams/TEAM000002", is: empty)
            try await simulator.expect("GET", "/v1/teams/TEAM000002", is: empty)
            #expect(try await simulator.json("/v1/teams").root["teams"]?.count == 2)
            try await simulator.expect(
                "PUT", "/v1/teams/TEAM000002", #"{"apps":["com.example.app"]}"#,
                is: #"{"error":"app com.example.app already belongs to team TEAM000001"}"#, status: 400)
            let client = try await simulator.connectProvider()
            #expect(try await simulator.push(client).status == 200)
            try await simulator.expect(
                "PUT", "/v1/teams/TEAM000002/apps/com.example.app",
                is: empty.replacing(
                    #""apps":[]"#, with: #""apps":[{"bundle_id":"com.example.app","broadcast":false}]"#))
            #expect(try await simulator.push(client).body == #"{"reason":"TopicDisallowed"}"#)
            try await simulator.expect(
                "DELETE", "/v1/teams/TEAM000001/apps/com.example.app",
                is: #"{"error":"team TEAM000001 has no app com.example.app"}"#, status: 404)
            try await simulator.expect(
                "DELETE", "/v1/teams/TEAM000002/apps/com.example.app", is: #"{"deleted":true}"#)
            try await simulator.expect("DELETE", "/v1/teams/TEAM000002", is: #"{"deleted":true}"#)
            #expect(try await simulator.request("GET", "/v1/teams/TEAM000002").status == 404)
            #expect(try await simulator.request("PUT", "/v1/teams/TEAM000001/apps/a%2Fb").status == 400)
        }
    }

    @Test("An app keeps its channels as long as it may broadcast") func channels() async throws {
        try await AdminSimulator.run { simulator in
            let path = "/v1/channels/a%2Bb%2F?app=com.example.app&environment=sandbox"
            try await simulator.expect(
                "PUT", path, #"{"storage_policy":0}"#,
                is: #"{"error":"app com.example.app does not exist or may not broadcast; "#
                    + #"PUT /v1/teams/TEAM/apps/com.example.app with broadcast true, where TEAM is the app's team"}"#,
                status: 409)
            let app = "/v1/teams/TEAM000001/apps/com.example.app"
            #expect(try await simulator.request("PUT", app, #"{"broadcast":true}"#).status == 200)
            let channel = #"{"app":"com.example.app","environment":"sandbox","id":"a+b/","storage_policy":0}"#
            try await simulator.expect("PUT", path, #"{"storage_policy":0}"#, is: channel)
            try await simulator.expect("GET", "/v1/channels", is: #"{"channels":[\#(channel)]}"#)
            try await simulator.expect(
                "GET", "/v1/channels?app=com.example.app&environment=production", is: #"{"channels":[]}"#)
            let team = try await simulator.request("GET", "/v1/teams/TEAM000001").body
            #expect(try await simulator.request("PUT", "/v1/teams/TEAM000001", team).body == team)
            try await simulator.expect("GET", "/v1/channels", is: #"{"channels":[\#(channel)]}"#)
            try await simulator.expect("DELETE", path, is: #"{"deleted":true}"#)
            try await simulator.expect(
                "DELETE", path, is: #"{"error":"app com.example.app has no channel with this ID in sandbox"}"#,
                status: 404)
            _ = try await simulator.request("PUT", path, #"{"storage_policy":1}"#)
            _ = try await simulator.request("PUT", app, "{}")
            try await simulator.expect("GET", "/v1/channels", is: #"{"channels":[]}"#)
            for (path, body, error) in [
                (
                    "/v1/channels/AAAA", "{}",
                    "the query must name the app and the environment: ?app=BUNDLE&environment=sandbox"
                ),
                (
                    "/v1/channels/%25%25?app=a&environment=sandbox", "{}",
                    "the channel ID must be base64 of at most 64 characters"
                ),
                ("/v1/channels/AAAA?app=a&environment=beta", "{}", "environment must be production or sandbox"),
            ] {
                try await simulator.expect("PUT", path, body, is: #"{"error":"\#(error)"}"#, status: 400)
            }
        }
    }
}

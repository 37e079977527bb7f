import AMQP
import JSON
import TestKit
import Testing

extension SystemTests {
    /// Broadcasts to channels, together with pushes to devices, over TLS.
    @Suite struct Broadcasts {
        private static let app = "com.example.app"
        private static let newest = "bmV3ZXN0LW5ld2VzdA=="
        private static let none = "bm9uZS1ub25lLW5vbmU="

        private static func payload(bytes: Int) -> String {
            let start = #"{"aps":{"timestamp":1750000000,"event":"end","content-state":{"x":""#
            let end = #""}}}"#
            return start + String(repeating: "x", count: bytes - start.utf8.count - end.utf8.count) + end
        }

        /// Covers conformance rows 124, 126, 127, 129, 130, 137 and 141.
        @Test(arguments: [nil, "localhost"]) func eachResultReportsTheAPNsResponse(host: String?) async throws {
            let prefix = host == nil ? "broadcast" : "broadcast-host"
            let fixture = try await SystemFixture(prefix, SystemFixture.Options(broadcastHost: host))
            try await fixture.applyTopology()
            for (id, policy) in [(Self.newest, 1), (Self.none, 0)] {
                let name = id.replacing("=", with: "%3D")
                try await fixture.apns.request(
                    "PUT", "/v1/channels/\(name)?app=\(Self.app)&environment=production",
                    "{\"storage_policy\":\(policy)}")
            }
            await fixture.testClient.collect(fixture.queue("results"))
            let worker = try await fixture.worker()
            let devices = Sample.make(20)
            try await fixture.publish(devices)
            let broadcasts: [(channel: String, more: String, outcome: String, bytes: Int)] = [
                (Self.newest, #""expiration":9999999999,"#, "accepted 200", 100),
                (Self.none, #""expiration":0,"storage_policy":"none","#, "accepted 200", 100),
                (Self.none, "", "accepted 200", 100),
                (Self.none, #""expiration":9999999999,"#, "rejected 400 BadExpirationDate", 100),
                (Self.none, #""expiration":9999999999,"storage_policy":"none","#, "invalid schema.const", 100),
                ("dW5rbm93bi11bmtub3du", "", "rejected 400 ChannelNotRegistered", 100),
                (String(repeating: "abcd", count: 17), "", "rejected 400 BadChannelId", 100),
                // In row 137, the worker sends a payload of 5,120 bytes, but not a payload of 5,121 bytes.
                (Self.newest, "", "accepted 200", 5120),
                (Self.newest, "", "invalid limit.payload", 5121),
            ]
            let ids = broadcasts.indices.map { Sample(1000 + $0).id }
            try await fixture.testClient.publish(
                zip(ids, broadcasts).map { id, broadcast in
                    OutgoingMessage(
                        exchange: "\(prefix).requests", routingKey: "request",
                        body: Array(
                            """
                            {"id":"\(id)","app":"\(Self.app)","channel_id":"\(broadcast.channel)",\(broadcast.more)
                             "push_type":"liveactivity","payload":\(Self.payload(bytes: broadcast.bytes))}
                            """.utf8), messageID: id)
                })
            let results = try await fixture.testClient.collected(
                fixture.queue("results"), atLeast: devices.count + broadcasts.count)
            let contract = try Contract.result()
            var reported: [String: JSONDocument] = [:]
            for result in results {
                #expect(try contract.violation(ofBody: result) == nil)
                let json = try result.json
                reported[json.root["id"]?.string ?? "-"] = json
            }
            for (id, broadcast) in zip(ids, broadcasts) {
                let result = try #require(reported[id]).root
                let words = [
                    result["outcome"]?.string, result["status"]?.int.map(String.init),
                    result["reason"]?.string
                        ?? result["error"].map { "\($0["class"]?.string ?? "-").\($0["code"]?.string ?? "-")" },
                ]
                #expect(words.compactMap(\.self).joined(separator: " ") == broadcast.outcome)
                #expect(result["channel_id"]?.string == broadcast.channel)
                let isSent = result["status"] != nil
                #expect(result["apns_request_id"]?.string?.lowercased() == (isSent ? id : nil))
                #expect((result["apns_unique_id"] != nil) == (result["status"]?.int == 200))
            }
            _ = try await worker.stop()

            let log = try await fixture.apns.request("GET", "/v1/requests?limit=100")
            let seen = Array(try #require(log.root["requests"]).elements)
            let sent = seen.filter { $0["push_type"]?.string == "liveactivity" }
            #expect(sent.count == broadcasts.count - 2 && seen.count == sent.count + devices.count)
            let authorities = Set(sent.compactMap { $0.header(":authority") })
            #expect(authorities == ["\(host ?? "127.0.0.1"):\(fixture.port)"])
            let connections = Set(
                seen.filter { $0["push_type"]?.string == "alert" }.compactMap { $0["connection"]?.int })
            #expect(connections.isDisjoint(with: sent.compactMap { $0["connection"]?.int }) == (host != nil))
            try await fixture.end()
        }

        /// Covers conformance rows 135 and 136. The worker holds the app's broadcasts until the team may send them.
        @Test(arguments: [("FeatureNotEnabled", "DEMOTEAM01"), ("TopicMismatch", "OTHERTEAM1")])
        func heldBroadcastsResumeAfterTheAppIsFixed(reason: String, team: String) async throws {
            let fixture = try await SystemFixture(
                "broadcast-\(team.lowercased())", SystemFixture.Options(delays: ["1s"], broadcastHost: "localhost"))
            try await fixture.applyTopology()
            await fixture.testClient.collect(fixture.queue("results"))
            let worker = try await fixture.worker()
            let devices = Sample.make(1)
            try await fixture.publish(devices)
            _ = try await fixture.results(of: devices)
            if team != "DEMOTEAM01" { try await fixture.apns.request("PUT", "/v1/teams/\(team)", "{}") }
            try await fixture.apns.request("PUT", "/v1/teams/\(team)/apps/\(Self.app)", "{}")
            try await fixture.testClient.publish([
                OutgoingMessage(
                    exchange: fixture.queue("requests"), routingKey: "request",
                    body: Array(
                        """
                        {"id":"\(Sample(9).id)","app":"\(Self.app)","channel_id":"\(Self.newest)",
                         "push_type":"liveactivity","payload":\(Self.payload(bytes: 100))}
                        """.utf8), messageID: Sample(9).id)
            ])
            let line = try await worker.waitForLog("breaker opened, pushes held").root
            #expect(line["apns.reason"]?.string == reason && line["apns.route"]?.string?.contains(Self.app) == true)
            try await fixture.apns.request("PUT", "/v1/teams/DEMOTEAM01/apps/\(Self.app)", #"{"broadcast":true}"#)
            try await worker.waitForLog("breaker closed, pushes resumed")
            // APNs now checks the channel, which does not exist.
            let result = try await fixture.testClient.collected(fixture.queue("results"), atLeast: 2)[1].json.root
            #expect(result["reason"]?.string == "ChannelNotRegistered" && result["channel_id"]?.string == Self.newest)
            _ = try await worker.stop()
            try await fixture.end()
        }
    }
}

extension JSONValue {
    /// Returns a header of a request that the simulator has recorded.
    fileprivate func header(_ name: String) -> String? {
        self["headers"]?.elements.first { $0["name"]?.string == name }?["value"]?.string
    }
}

import AMQP
import JSON
import TestKit
import Testing

extension SystemTests {
    /// Broadcasts to channels, beside pushes to devices, over TLS.
    @Suite struct Broadcasts {
        private static let app = "com.example.app"
        private static let newest = "bmV3ZXN0LW5ld2VzdA=="
        private static let none = "bm9uZS1ub25lLW5vbmU="

        /// Rows 124 to 137 and 141 that a message can bring about; the others cannot be sent.
        @Test(arguments: [nil, "localhost"]) func eachIsToldWhatAPNSSaysOfIt(host: String?) async throws {
            let prefix = host == nil ? "broadcast" : "broadcast-host"
            let stage = try await Stage(prefix, Stage.Options(broadcastHost: host))
            try await stage.applyTopology()
            for (id, policy) in [(Self.newest, 1), (Self.none, 0)] {
                let name = id.replacing("=", with: "%3D")
                try await stage.apns.ask(
                    "PUT", "/v1/channels/\(name)?app=\(Self.app)&environment=production",
                    "{\"storage_policy\":\(policy)}")
            }
            await stage.desk.collect(stage.queue("results"))
            let worker = try await stage.worker()
            let devices = Sample.make(20)
            try await stage.publish(devices)
            let broadcasts: [(channel: String, more: String, outcome: String)] = [
                (Self.newest, #""expiration":9999999999,"#, "accepted 200"),
                (Self.none, #""expiration":0,"storage_policy":"none","#, "accepted 200"),
                (Self.none, "", "accepted 200"),
                (Self.none, #""expiration":9999999999,"#, "rejected 400 BadExpirationDate"),
                (Self.none, #""expiration":9999999999,"storage_policy":"none","#, "invalid schema.const"),
                ("dW5rbm93bi11bmtub3du", "", "rejected 400 ChannelNotRegistered"),
                (String(repeating: "abcd", count: 17), "", "rejected 400 BadChannelId"),
            ]
            let ids = broadcasts.indices.map { Sample(1000 + $0).id }
            try await stage.desk.publish(
                zip(ids, broadcasts).map { id, broadcast in
                    OutgoingMessage(
                        exchange: "\(prefix).requests", routingKey: "request",
                        body: Array(
                            """
                            {"id":"\(id)","app":"\(Self.app)","channel_id":"\(broadcast.channel)",\(broadcast.more)
                             "push_type":"liveactivity",
                             "payload":{"aps":{"timestamp":1750000000,"event":"end","content-state":{}}}}
                            """.utf8), messageID: id)
                })
            let results = try await stage.desk.collected(
                stage.queue("results"), atLeast: devices.count + broadcasts.count)
            let contract = try Contract.result()
            var told: [String: JSONDocument] = [:]
            for result in results {
                #expect(try contract.violation(ofBody: result) == nil)
                let json = try result.json
                told[json.root["id"]?.string ?? "-"] = json
            }
            for (id, broadcast) in zip(ids, broadcasts) {
                let result = try #require(told[id]).root
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

            // Where they went, and over which connections.
            let log = try await stage.apns.ask("GET", "/v1/requests?limit=100")
            let seen = Array(try #require(log.root["requests"]).elements)
            let sent = seen.filter { $0["push_type"]?.string == "liveactivity" }
            #expect(sent.count == broadcasts.count - 1 && seen.count == sent.count + devices.count)
            let authorities = Set(sent.compactMap { $0.header(":authority") })
            #expect(authorities == ["\(host ?? "127.0.0.1"):\(stage.port)"])
            let connections = Set(
                seen.filter { $0["push_type"]?.string == "alert" }.compactMap { $0["connection"]?.int })
            #expect(connections.isDisjoint(with: sent.compactMap { $0["connection"]?.int }) == (host != nil))
            try await stage.end()
        }
    }
}

extension JSONValue {
    /// Of a request that the simulator has logged.
    fileprivate func header(_ name: String) -> String? {
        self["headers"]?.elements.first { $0["name"]?.string == name }?["value"]?.string
    }
}

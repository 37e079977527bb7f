import EventLoop
import HTTP2
import JSON
import TestKit
import Testing

@testable import APNSSimulator

@Suite struct FaultRouteTests {
    @Test func `A fault is added, applies, is counted, and is removed`() async throws {
        try await AdminSimulator.run { simulator in
            let client = try await simulator.connectProvider()
            try await simulator.expect("GET", "/v1/faults", is: #"{"faults":[]}"#)
            try await simulator.expect(
                "POST", "/v1/faults",
                #"{"id": "down", "match": {"device_prefix": "AB"}, "action": {"answer": {"reason": "Shutdown"}}}"#,
                is:
                    #"{"id":"down","match":{"device_prefix":"AB"},"action":{"answer":{"status":503,"reason":"Shutdown"}},"#
                    + #""struck":0}"#, status: 201)
            #expect(try await simulator.push(client, to: "abcd").body == #"{"reason":"Shutdown"}"#)
            #expect(try await simulator.push(client, to: "cdab").body != #"{"reason":"Shutdown"}"#)
            let fault = try #require(
                try await simulator.json("/v1/faults").root["faults"]?.elements.first { _ in true })
            #expect(fault["struck"]?.int == 1)
            let request = try await simulator.json("/v1/requests?limit=1&status=503").root["requests"]
            #expect(request?.elements.first { _ in true }?["fault"]?.string == "down")
            let metrics = try await simulator.request("GET", "/metrics").body.split(separator: "\n")
            for line in [
                #"apns_simulator_faults_total{action="answer"} 1"#, "apns_simulator_faults_in_force 1",
                "apns_simulator_answer_seconds_count 2", #"apns_simulator_answer_seconds_bucket{le="+Inf"} 2"#,
            ] {
                #expect(metrics.contains { $0 == line }, "\(line)")
            }
            try await simulator.expect("DELETE", "/v1/faults/down", is: #"{"deleted":true}"#)
            try await simulator.expect(
                "DELETE", "/v1/faults/down", is: #"{"error":"no fault has this ID"}"#, status: 404)
            #expect(try await simulator.push(client, to: "abcd").body != #"{"reason":"Shutdown"}"#)
        }
    }

    @Test func `A fault without an ID receives one, and an equal ID replaces a fault`() async throws {
        try await AdminSimulator.run { simulator in
            for body in [
                #"{"action": "silence"}"#, #"{"action": "reset_stream"}"#,
                #"{"id": "fault-1", "action": {"latency": {"constant_ms": 5}}, "share": 0.5, "count_max": 7}"#,
            ] {
                #expect(try await simulator.request("POST", "/v1/faults", body).status == 201)
            }
            try await simulator.expect(
                "GET", "/v1/faults",
                is: #"{"faults":[{"id":"fault-1","action":{"latency":{"constant_ms":5.0}},"share":0.5,"count_max":7,"#
                    + #""struck":0},{"id":"fault-2","action":{"reset_stream":"REFUSED_STREAM"},"struck":0}]}"#)
            try await simulator.expect("DELETE", "/v1/faults", is: #"{"deleted":2}"#)
            try await simulator.expect("GET", "/v1/faults", is: #"{"faults":[]}"#)
        }
    }

    @Test func `The number of faults is limited`() async throws {
        try await AdminSimulator.run { simulator in
            for _ in 0..<FaultRules.faultsMax {
                #expect(try await simulator.request("POST", "/v1/faults", #"{"action": "silence"}"#).status == 201)
            }
            try await simulator.expect(
                "POST", "/v1/faults", #"{"action": "silence"}"#,
                is: #"{"error":"cannot add the fault: the limit is 64 faults; delete a fault first"}"#, status: 400)
        }
    }

    @Test func `Invalid faults are refused with the error`() async throws {
        try await AdminSimulator.run { simulator in
            for (body, sentence) in [
                ("", "the body is not JSON"), ("{}", "action is missing in a fault"),
                (#"{"action": "explode"}"#, "unknown action 'explode'"),
                (#"{"action": "resume_reading"}"#, "resume_reading cannot wait for a request"),
                ("{\n\"action\": \"silence\",\n\"share\": 2}", "3:10: share must be a number"),
            ] {
                let response = try await simulator.request("POST", "/v1/faults", body)
                #expect(response.status == 400)
                #expect(response.body.hasPrefix(#"{"error":"\#(sentence)"#), "\(response.body)")
            }
            #expect(simulator.server.faults.isEmpty)
        }
    }

    @Test func `Actions apply to one connection or to all`() async throws {
        try await AdminSimulator.run { simulator in
            let clients = [
                try await simulator.connectProvider(), try await simulator.connectProvider(),
                try await simulator.connectProvider(),
            ]
            try await simulator.expect(
                "POST", "/v1/actions",
                #"{"action": {"goaway": {"code": "INTERNAL_ERROR", "debug": "bye"}}, "connection": 2}"#,
                is: #"{"connections":1}"#)
            try await simulator.loop.wait { clients[1].isClosed }
            #expect(clients.map(\.isClosed) == [false, true, false])
            try await simulator.expect(
                "POST", "/v1/actions", #"{"action": "reset_connection", "connection": 2}"#,
                is: #"{"error":"no connection 2 is open"}"#, status: 404)
            try await simulator.expect(
                "POST", "/v1/actions", #"{"action": {"settings": {"max_concurrent_streams": 3}}}"#,
                is: #"{"connections":2}"#)
            try await simulator.loop.wait { clients[0].streamsMax.last == 3 && clients[2].streamsMax.last == 3 }
            try await simulator.expect(
                "POST", "/v1/actions", #"{"action": "reset_connection"}"#, is: #"{"connections":2}"#)
            try await simulator.loop.wait { clients.allSatisfy(\.isClosed) }
            try await simulator.expect(
                "POST", "/v1/actions", #"{"action": "reset_connection"}"#, is: #"{"connections":0}"#)
        }
    }

    @Test func `Reading stops and resumes`() async throws {
        try await AdminSimulator.run { simulator in
            let client = try await simulator.connectProvider()
            try await simulator.expect("POST", "/v1/actions", #"{"action": "stop_reading"}"#, is: #"{"connections":1}"#)
            let stream = try #require(client.push(id: nil))
            try await simulator.expect(
                "GET", "/v1/requests", is: #"{"requests":[],"newest":0,"dropped":0}"#)
            #expect(client.answers[stream.id]?.end == nil)
            try await simulator.expect(
                "POST", "/v1/actions", #"{"action": "resume_reading"}"#, is: #"{"connections":1}"#)
            try await simulator.loop.wait { client.answers[stream.id]?.status == 200 }
        }
    }

    @Test func `Invalid actions are refused with the error`() async throws {
        try await AdminSimulator.run { simulator in
            for (body, sentence) in [
                ("{}", "action is missing in an order"),
                (#"{"action": "silence"}"#, "action silence applies to requests only; POST a fault to /v1/faults"),
                (#"{"action": "goaway", "connection": 0}"#, "connection must be a whole number from 1"),
                (#"{"action": "goaway", "id": 1}"#, "unknown member 'id' in an order; known: action, connection"),
            ] {
                let response = try await simulator.request("POST", "/v1/actions", body)
                #expect(response.status == 400)
                #expect(response.body.hasPrefix(#"{"error":"\#(sentence)"#), "\(response.body)")
            }
        }
    }
}

import APNSProtocol
import AdminHTTP
import JSON
import Testing

@testable import APNSSimulator

@Suite struct CountersTests {
    @Test func areMembersOfOneObject() {
        var counters = Counters()
        for _ in 0..<3 { counters.countRequest(of: .sandboxPush, bodyBytes: 5) }
        counters.count(.accepted, of: .sandboxPush, after: .zero)
        counters.count(.refused(.badTopic), of: .sandboxPush, after: .zero)
        counters.count(.gone(.unregistered, timestampMilliseconds: 1), of: .productionPush, after: .zero)
        counters.count(Answer(status: 502), of: .sandboxPush, after: .zero)
        counters.countFault("silence")
        counters.count(.lost)
        counters.countAdminClosing(.late)
        #expect(
            text(counters) == """
                {"since_unix_ms":0,"connections":0,"connections_open":0,"connections_open_max":0,"requests":3,\
                "in_flight":3,"in_flight_max":3,"body_bytes":15,"streams_refused":0,"requests_malformed":0,"requests_abandoned":0,\
                "tokens_verified":0,\
                "requests_without_id":0,"distinct_ids":0,"duplicate_ids":0,"ids_forgotten":0,"accepted":1,\
                "refused_by_status":{"400":1,"410":1,"502":1},"refused_by_reason":{"BadTopic":1,"Unregistered":1},\
                "services":{"production push":{"requests":0,"accepted":0,"refused":1},\
                "sandbox push":{"requests":3,"accepted":1,"refused":2}},\
                "faults_by_action":{"silence":1},"connections_by_end":{"lost":1},\
                "admin_connections_closed":{"late":1}}
                """)
    }

    @Test func restartKeepsOpenConnectionsAndRequests() {
        var counters = Counters()
        counters.countRequest(of: .sandboxPush, bodyBytes: 5)
        counters.connectionsOpen = 2
        counters.connectionsOpenMax = 7
        counters.connections = 9
        counters.restart(atUnixMilliseconds: 7)
        #expect(counters.inFlight == 1 && counters.inFlightMax == 1 && counters.requests == 0)
        #expect(counters.connectionsOpen == 2 && counters.connectionsOpenMax == 2 && counters.connections == 0)
    }

    @Test func unknownReasonsAreCountedUpToALimit() {
        var counters = Counters()
        for number in 0..<1000 {
            counters.count(
                Answer(status: 400, body: .reason(.unknown("Reason\(number)"))), of: .sandboxPush, after: .zero)
        }
        counters.count(.refused(.badTopic), of: .sandboxPush, after: .zero)
        #expect(counters.refusedByReason.count < 150)
        #expect(counters.refusedByReason.values.reduce(0, +) == 1001)
        #expect(counters.refusedByReason["BadTopic"] == 1)
    }

    @Test func everyServiceHasItsIndex() {
        #expect(Service.all.map(\.index) == Array(0..<Service.all.count))
    }

    private func text(_ counters: Counters) -> String {
        var json = JSONWriter()
        json.beginObject()
        counters.write(to: &json)
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }
}

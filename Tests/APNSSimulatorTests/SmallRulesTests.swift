import APNSProtocol
import Crypto
import EventLoop
import JSON
import Testing

@testable import APNSSimulator

@Suite struct StreamGateTests {
    @Test func oneStreamUntilTheFirstAuthenticatedPush() {
        var gate = ServerStreamGate(mode: .enforce, streamsMax: 3)
        #expect(gate.announced == 1)
        #expect(gate.opened() == true)
        #expect(gate.opened() == false)
        gate.closed()
        #expect(gate.authenticated() == true)
        #expect(gate.announced == 3)
        #expect(gate.authenticated() == false)
        gate.closed()
        for _ in 0..<3 { #expect(gate.opened() == true) }
        #expect(gate.opened() == false)
    }

    @Test func announcingAloneRefusesNothing() {
        var gate = ServerStreamGate(mode: .announce, streamsMax: 3)
        #expect(gate.announced == 1)
        for _ in 0..<5 { #expect(gate.opened() == true) }
        #expect(gate.authenticated() == true)
        #expect(gate.announced == 3)
    }

    @Test func withoutAGateTheFullNumberIsAnnounced() {
        var gate = ServerStreamGate(mode: .off, streamsMax: 3)
        #expect(gate.announced == 3)
        for _ in 0..<5 { #expect(gate.opened() == true) }
        #expect(gate.authenticated() == false)
    }
}

@Suite struct IDSetTests {
    @Test func tellsNewFromSeen() {
        var ids = IDSet(idsMax: 10_000)
        for number in 0..<5000 as Range<UInt64> {
            #expect(ids.insert(UUIDValue(high: number, low: 0)) == .new)
            #expect(ids.insert(UUIDValue(high: 0, low: number << 32)) == (number == 0 ? .seenBefore : .new))
        }
        #expect(ids.count == 9999)
        for number in 0..<5000 as Range<UInt64> {
            #expect(ids.insert(UUIDValue(high: number, low: 0)) == .seenBefore)
            #expect(ids.contains(UUIDValue(high: 0, low: number << 32)))
        }
        #expect(!ids.contains(UUIDValue(high: 1, low: 1)))
    }

    @Test func takesNoMoreThanItsLimit() {
        var ids = IDSet(idsMax: 2)
        #expect(ids.insert(UUIDValue(high: 0, low: 0)) == .new)
        #expect(ids.insert(UUIDValue(high: 0, low: 1)) == .new)
        #expect(ids.insert(UUIDValue(high: 0, low: 2)) == .full)
        #expect(ids.insert(UUIDValue(high: 0, low: 1)) == .seenBefore)
        #expect(ids.insert(UUIDValue(high: 0, low: 0)) == .seenBefore)
    }
}

@Suite struct RequestLogTests {
    private func request(stream: Int32) -> LoggedRequest {
        LoggedRequest(
            unixMilliseconds: 1_760_000_000_000, connection: 2, stream: stream,
            apnsID: UUIDValue("EABEAE54-14A8-11E5-B60B-1697F925EC7B"),
            shortDeviceToken: withBytes("00112233445566778899") { ShortDeviceToken($0) }, topic: "com.example.app",
            pushType: .alert, priority: .considerate, payloadByteCount: 3,
            payloadHash: withBytes("abc") { SHA256Value(of: $0) },
            answer: .gone(.unregistered, timestampMilliseconds: 5))
    }

    @Test func keepsTheNewest() {
        var log = RequestLog(requestsMax: 3)
        for stream in 1...7 as ClosedRange<Int32> {
            var request = request(stream: stream)
            log.append(&request)
        }
        #expect(log.requests.map(\.stream) == [5, 6, 7])
        #expect(log.requests.map(\.number) == [5, 6, 7])
    }

    @Test func aLineTellsNoWholeDeviceToken() {
        var request = request(stream: 1)
        request.number = 9
        var json = JSONWriter()
        request.write(to: &json)
        #expect(
            String(decoding: json.bytes, as: UTF8.self) == """
                {"number":9,"unix_ms":1760000000000,"connection":2,"stream":1,\
                "apns_id":"eabeae54-14a8-11e5-b60b-1697f925ec7b","device_token":"00112233…+12",\
                "topic":"com.example.app","push_type":"alert","priority":5,"payload_bytes":3,\
                "payload_sha256":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",\
                "status":410,"reason":"Unregistered"}
                """)
    }

    @Test func shortTokensShowHalf() {
        for (token, text) in [
            ("", "…+0"), ("ab", "a…+1"), ("0123456789", "01234…+5"), ("0123456789abcdef01", "01234567…+10"),
        ] {
            #expect(withBytes(token) { ShortDeviceToken($0).description } == text)
        }
    }
}

@Suite struct CountersTests {
    @Test func areOneJSONLine() {
        var counters = Counters()
        counters.requests = 3
        counters.count(.accepted)
        counters.count(.refused(.badTopic))
        counters.count(.gone(.unregistered, timestampMilliseconds: 1))
        var json = JSONWriter()
        json.beginObject()
        counters.write(to: &json)
        json.endObject()
        #expect(
            String(decoding: json.bytes, as: UTF8.self) == """
                {"connections":0,"connections_open":0,"connections_open_max":0,"requests":3,"in_flight":0,\
                "in_flight_max":0,"body_bytes":0,"streams_refused":0,"requests_abandoned":0,"tokens_verified":0,\
                "requests_without_id":0,"distinct_ids":0,"duplicate_ids":0,"ids_not_remembered":0,"accepted":1,\
                "refused_by_status":{"400":1,"410":1},"refused_by_reason":{"BadTopic":1,"Unregistered":1}}
                """)
    }
}

import APNSProtocol
import Crypto
import EventLoop
import HTTP2
import JSON
import Testing

@testable import APNSSimulator

private let id = "eabeae54-14a8-11e5-b60b-1697f925ec7b"
private let token = "00112233445566778899aabbccddeeff"

@Suite struct RequestLogTests {
    private static let headers: [(String, String, HeaderRepresentation)] = [
        (":method", "POST", HeaderRepresentation(.indexed, isNameIndexed: true)),
        (":path", "/3/device/\(token)", HeaderRepresentation(.withoutIndexing, isNameIndexed: true)),
        ("authorization", "bearer head.claims.signature", HeaderRepresentation(.neverIndexed, isValueHuffman: true)),
        ("apns-topic", "com.example.app", HeaderRepresentation(.incremental)),
        ("x-own", "é\"", HeaderRepresentation(nil)), ("apns-priority", "5", HeaderRepresentation(.incremental)),
        ("apns-expiration", "soon", HeaderRepresentation(.incremental)), ("apns-id", id, HeaderRepresentation(nil)),
        ("apns-push-type", "alert", HeaderRepresentation(.indexed, isNameIndexed: true)),
    ]

    private func add(
        to log: RequestLog, _ headers: [(String, String, HeaderRepresentation)] = Self.headers, body: String = "abc",
        status: UInt16 = 410, reason: Reason? = .unregistered, faultID: String? = nil, stream: Int32 = 1,
        connection: Int = 2, id: UUIDValue? = UUIDValue(id)
    ) -> Int {
        let request = Request()
        request.reset(keepsAll: true)
        for (name, value, representation) in headers {
            withBytes(name) { name in
                withBytes(value) { request.addHeader(name: name, value: $0, representation: representation) }
            }
        }
        withBytes(body) { request.addBody($0) }
        let entry = RequestLog.Entry(
            unixMilliseconds: 1_760_000_000_000, connection: connection, payloadByteCount: request.bodyByteCount,
            id: id,
            service: .sandboxPush, stream: stream, status: status, isDuplicate: false)
        return log.append(request, entry, reason: reason, faultID: faultID)
    }

    private func json(
        _ request: LoggedRequest, _ detail: LoggedRequest.Detail = .full, showsTokens: Bool = false
    ) -> String {
        var json = JSONWriter()
        request.write(to: &json, detail, showsTokens: showsTokens)
        return String(decoding: json.bytes, as: UTF8.self)
    }

    private static let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

    @Test func writesAllMembers() throws {
        let log = RequestLog(requestsMax: 3)
        let number = add(to: log, faultID: "gone-1")
        log.answered(number, atUnixMilliseconds: 1_760_000_000_050)
        let request = try #require(log.requests(RequestQuery()).requests.first)
        #expect(
            json(request) == """
                {"number":1,"unix_ms":1760000000000,"answered_unix_ms":1760000000050,"environment":"sandbox",\
                "service":"push","connection":2,"stream":1,"method":"POST","path":"/3/device/00112233…+24","headers":[\
                {"name":":method","value":"POST","representation":"indexed","huffman":false},\
                {"name":":path","value":"/3/device/00112233…+24","representation":"without_indexing","huffman":false},\
                {"name":"authorization","value":"bearer head.claims","representation":"never_indexed","huffman":true},\
                {"name":"apns-topic","value":"com.example.app","representation":"incremental","huffman":false},\
                {"name":"x-own","value":"é\\""},\
                {"name":"apns-priority","value":"5","representation":"incremental","huffman":false},\
                {"name":"apns-expiration","value":"soon","representation":"incremental","huffman":false},\
                {"name":"apns-id","value":"\(id)"},\
                {"name":"apns-push-type","value":"alert","representation":"indexed","huffman":false}],\
                "authorization":"bearer head.claims","apns_id":"\(id)","device_token":"00112233…+24",\
                "device":"\(withBytes(token) { DeviceKey.of($0) })",\
                "topic":"com.example.app","push_type":"alert","priority":5,"expiration":"soon","payload_bytes":3,\
                "payload":"abc","payload_sha256":"\(Self.hash)","status":410,"reason":"Unregistered","fault":"gone-1",\
                "duplicate":false}
                """)
        #expect(
            json(request, .summary) == """
                {"number":1,"unix_ms":1760000000000,"answered_unix_ms":1760000000050,"environment":"sandbox",\
                "service":"push","connection":2,"stream":1,"apns_id":"\(id)","device_token":"00112233…+24",\
                "topic":"com.example.app","push_type":"alert","priority":5,"payload_bytes":3,\
                "payload_sha256":"\(Self.hash)","status":410,"reason":"Unregistered","fault":"gone-1"}
                """)
        #expect(request.deviceToken == token && request.shortDeviceToken == "00112233…+24")
        #expect(request.reason == .unregistered && request.faultID == "gone-1" && request["x-own"] == "é\"")
        #expect(request.headers.map(\.representation) == Self.headers.map(\.2))
    }

    @Test func deviceKeysDistinguishDevices() {
        func key(_ token: String) -> String { withBytes(token) { DeviceKey.of($0) } }
        let padding = String(repeating: "0", count: 62)
        #expect(key(padding + "a1") != key(padding + "b2"))
        #expect(key(padding + "a1") == key(padding + "A1"))
        #expect(key(token).count == 16 && !token.contains(key(token)))
    }

    @Test func deviceTokensAreShortenedByDefault() throws {
        for path in [
            "/3/device/\(token)", "/3/device/\(token)/", "/3/device/\(token)/x", "/3/device/\(token)?x=y",
            "/3/devices/\(token)", "/2/device/\(token)?x", "/3/device//\(token)", "/\(token)", token,
            "/4/broadcasts/apps/\(token)", "/1/apps/\(token)/channels",
        ] {
            let log = RequestLog(requestsMax: 1)
            _ = add(to: log, [(":path", path, HeaderRepresentation(nil))])
            let request = try #require(log.requests(RequestQuery()).requests.first)
            #expect(!json(request).contains(token))
            #expect(json(request, showsTokens: true).contains(token))
        }
    }

    @Test(arguments: [
        ("bearer head.claims.signature", "bearer head.claims"),
        ("bearer head.claims.signature.more", "bearer head.claims"),
        ("bearer head.signature", "bearer"), ("Basic c2VjcmV0", "Basic"), ("secret", ""), ("", ""),
        ("bearer ", "bearer"),
        ("bearer ..", "bearer ."),
    ])
    func keepsNoSignature(value: String, kept: String) throws {
        let log = RequestLog(requestsMax: 1)
        let unknown = HeaderRepresentation(nil)
        _ = add(
            to: log,
            [
                ("a", "b", unknown), ("authorization", value, unknown), ("authorization", value, unknown),
                ("c", "d", unknown),
            ]
        )
        let request = try #require(log.requests(RequestQuery()).requests.first)
        #expect(
            request.headers.map { "\($0.name)=\($0.value)" } == [
                "a=b", "authorization=\(kept)", "authorization=\(kept)", "c=d",
            ])
        #expect(request.payload == Array("abc".utf8))
    }

    @Test func keepsTheNewest() {
        let log = RequestLog(requestsMax: 3)
        for stream in 1...7 as ClosedRange<Int32> { #expect(add(to: log, stream: stream) == Int(stream)) }
        let page = log.requests(RequestQuery())
        #expect(page.requests.map(\.number) == [5, 6, 7] && page.requests.map(\.stream) == [5, 6, 7])
        #expect(page.newest == 7 && page.dropped == 4)
        log.removeAll()
        #expect(log.requests(RequestQuery()).requests.isEmpty)
        #expect(add(to: log) == 1)
        #expect(log.requests(RequestQuery(after: 0)).requests.map(\.number) == [1])
        #expect(log.requests(RequestQuery()).dropped == 0)
    }

    @Test func findsMatchingRequests() {
        let log = RequestLog(requestsMax: 100)
        for number in 1...20 {
            _ = add(
                to: log, status: number % 2 == 0 ? 200 : 400, reason: number % 2 == 0 ? nil : .unknown("Odd"),
                connection: number % 5, id: UUIDValue(high: 0, low: UInt64(number)))
        }
        let channel: [(String, String, HeaderRepresentation)] = [
            (":path", "/1/apps/com.example.app/channels", HeaderRepresentation(nil))
        ]
        _ = add(to: log, channel, status: 0, reason: nil, id: nil)
        func numbers(_ query: RequestQuery) -> [Int] { log.requests(query).requests.map(\.number) }
        #expect(numbers(RequestQuery(limit: 3)) == [19, 20, 21], "requests other than the newest were found")
        #expect(numbers(RequestQuery(after: 0, limit: 3)) == [1, 2, 3])
        #expect(
            numbers(RequestQuery(before: 10, limit: 3)) == [7, 8, 9],
            "requests other than the newest before number 10 were found")
        #expect(numbers(RequestQuery(after: 4, before: 7)) == [5, 6] && numbers(RequestQuery(before: 1)) == [])
        #expect(numbers(RequestQuery(after: 19)) == [20, 21])
        #expect(numbers(RequestQuery(after: 21)) == [] && numbers(RequestQuery(after: .max)) == [])
        #expect(numbers(RequestQuery(after: -5, limit: 1)) == [1] && numbers(RequestQuery(after: 0, limit: 0)) == [1])
        #expect(numbers(RequestQuery(apnsID: UUIDValue(high: 0, low: 7))) == [7])
        #expect(numbers(RequestQuery(status: 200, connection: 0)) == [10, 20])
        #expect(numbers(RequestQuery(after: 4, limit: 2, reason: .unknown("Odd"))) == [5, 7])
        #expect(numbers(RequestQuery(devicePrefix: "001122334455667788 99")) == [])
        #expect(numbers(RequestQuery(limit: 1, devicePrefix: "00112233445566778899AA")) == [20])
        #expect(numbers(RequestQuery(limit: 2, topic: "com.example.app")) == [20, 21])
        #expect(numbers(RequestQuery(topic: "com.example")) == [])
        #expect(numbers(RequestQuery(status: 0)) == [])
    }

    @Test func memoryIsLimited() {
        let log = RequestLog(requestsMax: 50)
        var random = SeededRandom(seed: 3)
        #expect(log.bytesMax < 150_000)
        for number in 1...3000 {
            let body = String(repeating: "x", count: random.chance(percent: 20) ? 5000 : random.below(200))
            let own = String(repeating: "y", count: random.chance(percent: 20) ? 6000 : random.below(20))
            _ = add(
                to: log, random.chance(percent: 5) ? [] : [("own", own, HeaderRepresentation(nil))],
                body: random.chance(percent: 5) ? "" : body + "\(number)", reason: nil)
            let kept = log.requests(RequestQuery()).requests
            #expect(kept.last?.number == number && kept.count <= 50)
            #expect(kept.map(\.number) == Array((number - kept.count + 1)...number))
            let bytes = kept.reduce(0) { $0 + $1.payload.count + ($1["own"]?.count ?? 0) }
            #expect(bytes <= log.bytesMax)
            if let first = kept.first, !first.payload.isEmpty {
                #expect(String(decoding: first.payload, as: UTF8.self).hasSuffix("\(first.number)"))
            }
        }
    }

    @Test func keptPayloadIsLimited() throws {
        let log = RequestLog(requestsMax: 1)
        _ = add(to: log, body: String(repeating: "x", count: 6000))
        let request = try #require(log.requests(RequestQuery()).requests.first)
        #expect(request.payload.count == 5120 && request.payloadByteCount == 6000 && request.payloadHash == nil)
        #expect(!json(request).contains("payload_sha256"))
    }

    @Test func answersToDroppedRequestsAreIgnored() throws {
        let log = RequestLog(requestsMax: 1)
        _ = add(to: log)
        _ = add(to: log)
        for number in [-1, 0, 1, 3] { log.answered(number, atUnixMilliseconds: 1) }
        #expect(log.requests(RequestQuery()).requests.first?.answeredUnixMilliseconds == nil)
    }

    @Test func keptHeadersAreLimited() throws {
        let log = RequestLog(requestsMax: 1)
        let many = (0..<1000).map { ("\($0)", "", HeaderRepresentation(nil)) }
        _ = add(to: log, many + Self.headers)
        let request = try #require(log.requests(RequestQuery()).requests.first)
        #expect(request.headers.count == Request.headersKeptMax + 8, "a header that the rules read was not kept")
        #expect(request.topic == "com.example.app")
    }
}

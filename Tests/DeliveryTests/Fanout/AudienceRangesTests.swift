import APNS
import Crypto
import EventLoop
import Testing

@testable import Delivery

/// The ranges of a request to users, from which a worker makes requests to devices.
@Suite struct AudienceRangesTests {
    private let reader = AudienceReader()

    /// Returns the request with a device token instead of the users, and without a scope. Replaces the id, if any.
    private func child(_ body: String, _ audience: Audience) -> String {
        let bytes = Array(body.utf8)
        var edits = [(audience.targetRange, #""device_token":"aabb""#)]
        if let id = audience.idRange { edits.append((id, #""id":"00000000-0000-0000-0000-000000000001""#)) }
        if let scope = audience.scopeRange { edits.append((scope, "")) }
        var child: [UInt8] = []
        var place = audience.requestRange.lowerBound
        for (range, text) in edits.sorted(by: { $0.0.lowerBound < $1.0.lowerBound }) {
            child += bytes[place..<range.lowerBound] + Array(text.utf8)
            place = range.upperBound
        }
        return String(decoding: child + bytes[place..<audience.requestRange.upperBound], as: UTF8.self)
    }

    private static let id = #""id": "b8a1d3f2-6c4e-4d70-9f55-0c9a7e2b1d64""#
    private static let payload = #""payload": {"aps":{"content-changed":true}, "scope":"s", "user":["{,\"id\":"]}"#
    private static let others = [
        #""app":"com.example.app""#, #""push_type" :"controls""#, payload, #""collapse_id":"user""#,
    ]

    @Test(arguments: [#""user":"a\",}\\\"""#, #""users" : [ "a,b", "\"scope\":1" ]"#, #""\u0075ser":"\u0061""#])
    func `Each order of members leads to a valid child`(_ target: String) throws {
        var random = SeededRandom(seed: 47)
        for _ in 0..<500 {
            var members = Self.others + [target, #""scope":"a,\"}""#]
            if random.chance(percent: 50) { members.append(Self.id) }
            for index in members.indices.dropFirst() { members.swapAt(index, random.below(index + 1)) }
            func space() -> String { String(repeating: [" ", "\n", "\t"][random.below(3)], count: random.below(3)) }
            let request = "{\(members.map { space() + $0 + space() }.joined(separator: ","))}"
            let isEvent = random.chance(percent: 30)
            let body =
                isEvent
                ? #"{"specversion":"1.0","id":"1","source":"user","data":\#(request),"scope":"e"}"#
                : space() + request + space()
            let audience = try #require(reader.audience(body), "\(body)")
            let child = child(body, audience)
            let push = try #require(reader.push(child), "\(child)")
            // The payload keeps its bytes.
            #expect(String(decoding: push.push.payload[push.push.payloadRange], as: UTF8.self) == Self.sentPayload)
            #expect(push.push.id.description.hasSuffix(members.contains(Self.id) ? "000000000001" : "2d3a6d9f2f10"))
            #expect(!child.contains(#""scope":"a"#))
        }
    }

    private static let sentPayload = String(payload.dropFirst(#""payload": "#.count))

    @Test func `A body without a scope keeps its commas`() throws {
        let body = #"{"user":"ann","app":"com.example.app","push_type":"alert","payload":{"aps":{"alert":"x"}}}"#
        let audience = try #require(reader.audience(body))
        #expect(audience.requestRange == 0..<body.utf8.count)
        #expect(audience.targetRange == 1..<13)
        #expect(child(body, audience) == body.replacing(#""user":"ann""#, with: #""device_token":"aabb""#))
    }
}
